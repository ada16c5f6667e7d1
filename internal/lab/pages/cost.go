package pages

import (
	"fmt"
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lab/compare"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// Settings of all measurements. The texts below say them in words.
const (
	entries      = 500
	transactions = 1000
	locks, sites = 10, 3
)

// sizes are the numbers of processes, and loads the think times: rare requests, and each
// process at once again.
func sizes() []int { return []int{3, 5, 9, 25} }

func loads() []scenario.Dist {
	return []scenario.Dist{scenario.Exponential(5000 * scenario.T), scenario.Always(0)}
}

// costs are the measurements of all pages.
type costs struct {
	locks   *compare.Map
	methods *compare.DeadlockMap
}

// measure simulates everything with fixed seeds.
func measure(groups []group) (*costs, error) {
	c := compare.Config{Nodes: sizes(), Think: loads(), Hold: []scenario.Dist{scenario.Always(scenario.T)}, Entries: entries, Seed: 1}
	d := compare.DeadlockConfig{Processes: []int{4, 8, 16}, Locks: locks, Sites: sites, Transactions: transactions, Seed: 1}
	for _, g := range groups {
		for _, s := range g.subjects {
			switch {
			case s.spec.Family == algorithm.Transactions:
				d.Methods = append(d.Methods, s.method)
			case s.spec.Family == algorithm.MutualExclusion && s.name != recoveryName:
				c.Specs = append(c.Specs, s.spec)
			}
		}
	}
	all := &costs{}
	var err error
	if all.locks, err = compare.Run(c); err != nil {
		return nil, err
	}
	all.methods, err = compare.RunDeadlock(d)
	return all, err
}

// cost writes what was measured, beside what theory says.
func (p *page) cost() {
	switch {
	case p.name == recoveryName:
		p.heading("Cost")
		p.text("Nothing while no process crashes or joins. What a view costs then, by election and size, is in [Elections](../elections.md#what-a-view-costs-and-why-no-process-takes-over-a-voters-role).")
	case p.spec.Family == algorithm.Transactions:
		p.methodCost()
	case p.isLock():
		p.lockCost()
	default:
		p.callCost()
	}
}

func (p *page) lockCost() {
	p.heading("Cost")
	p.text("Measured by the simulator (%d entries, every message takes T, a process stays inside for T, seed 1), beside what theory says for the same load. *Rare*: a process rests for 5000 T on average, so that requests hardly ever meet. *Busy*: every process asks again at once.", entries)
	p.line("")
	header, rule := "| |", "|---|"
	for _, n := range sizes() {
		header += fmt.Sprintf(" N=%d |", n)
		rule += "--:|"
	}
	p.line("%s\n%s", header, rule)
	t := p.spec.Theory
	row := func(title string, think int, of func(r *sim.Result) float64, cost algorithm.Cost) {
		line, theory := "| **"+title+"** |", "| theory: "+cost.Text+" |"
		if cost.Text == "" {
			theory = "| theory |"
		}
		said := false
		at := slices.IndexFunc(p.costs.locks.Specs, func(s algorithm.Spec) bool { return s.Name == p.name })
		for i, n := range sizes() {
			line += " " + number(p.costs.locks.Find(at, i, think, 0), of) + " |"
			r, ok := cost.At(n, [...]algorithm.Load{algorithm.Light, algorithm.Saturated}[think])
			if !ok {
				theory += " – |"
				continue
			}
			said = true
			theory += " " + ranged(r) + " |"
		}
		p.line("%s", line)
		if said {
			p.line("%s", theory)
		}
	}
	row("messages per entry, rare", 0, func(r *sim.Result) float64 { return r.PerEntry }, t.Messages)
	row("messages per entry, busy", 1, func(r *sim.Result) float64 { return r.PerEntry }, t.Messages)
	row("client delay, rare, in T", 0, func(r *sim.Result) float64 { return mean(r.Client) }, t.Client)
	row("synchronisation delay, busy, in T", 1, func(r *sim.Result) float64 { return mean(r.Sync) }, t.Sync)
	row("entries per T, busy", 1, func(r *sim.Result) float64 { return r.Throughput }, algorithm.Cost{})
	if t.Multicasts.Text != "" {
		p.text("With a native multicast that counts as one message: %s.", t.Multicasts.Text)
	}
	if t.WaitText != "" {
		p.text("The longest wait, if no process stays inside longer than H: `%s`.", t.WaitText)
	}
	p.text("`stile sim %s --nodes 5` measures one load, and `stile compare` shows all algorithms side by side.", p.name)
}

func mean(s *sim.Stats) float64 {
	if s == nil || s.Samples < 20 {
		return math.NaN()
	}
	return s.Mean
}

// number formats what a run measured.
func number(c *compare.Cell, of func(r *sim.Result) float64) string {
	if c == nil || c.Result == nil || math.IsNaN(of(c.Result)) {
		return "–"
	}
	return words.Compact(of(c.Result))
}

// ranged formats a range of theory, whose end may be infinite.
func ranged(r algorithm.Range) string {
	if math.IsInf(r.Hi, 1) {
		return "≥ " + words.Plain(r.Lo)
	}
	return words.Range(r.Lo, r.Hi)
}

// callCost counts the messages of elections in a group whose highest process has crashed.
func (p *page) callCost() {
	p.heading("Cost")
	p.text("Messages in theory, with N processes of which A are alive: %s. Measured by the simulator, after the crash of the highest process, with every message taking T:", p.spec.Theory.Messages.Text)
	p.line("\n| messages | N=3 | N=5 | N=9 | N=25 |\n|---|--:|--:|--:|--:|")
	for _, c := range []struct {
		title string
		first func(n int) int
		last  func(n int) int
	}{
		{"the lowest process starts", func(int) int { return 1 }, func(int) int { return 1 }},
		{"the next leader starts", func(n int) int { return n - 1 }, func(n int) int { return n - 1 }},
		{"all start", func(int) int { return 1 }, func(n int) int { return n - 1 }},
	} {
		line := "| " + c.title + " |"
		for _, n := range sizes() {
			count, err := p.called(n, c.first(n), c.last(n))
			if err != nil {
				line += " – |"
				continue
			}
			line += " " + words.Grouped(count) + " |"
		}
		p.line("%s", line)
	}
}

// called counts the messages after the processes from first to last have called, in a group
// of n that followed the crashed process n.
func (p *page) called(n, first, last int) (int, error) {
	text := fmt.Sprintf("algorithm %s\nprocesses %d\nholder %d busy\nat 1 crash P%d\n", p.name, n, n, n)
	for i := first; i <= last; i++ {
		text += fmt.Sprintf("at 3 P%d asks\n", i)
	}
	sc, err := scenario.Parse(p.name, text)
	if err != nil {
		return 0, err
	}
	back, err := sim.Replay(p.spec, sc, sim.ReplayOptions{})
	if err == nil && len(back.Violations) > 0 {
		err = fmt.Errorf("%s: %v", p.name, back.Violations[0])
	}
	if err != nil {
		return 0, err
	}
	return back.Messages, nil
}

// methodCost shows the comparison of methods.
func (p *page) methodCost() {
	p.heading("Cost")
	p.text("Measured by the simulator: %s transactions over %d locks at %d sites, of 4, 8 and 16 processes, seed 1. `stile compare --deadlock` shows all methods side by side.", words.Grouped(transactions), locks, sites)
	p.line("\n| | 4 processes | 8 | 16 |\n|---|--:|--:|--:|")
	for _, r := range p.costs.methods.Rows {
		if r.Method.Name != p.name {
			continue
		}
		mode := ""
		if r.Mode != "" {
			mode = r.Mode + ": "
		}
		for _, m := range compare.DeadlockMeasures() {
			if p.method.Family != deadlock.Detection && (m.Title == "Detection delay" || m.Title == "False positives per 1,000 transactions") {
				continue
			}
			line := "| " + mode + m.Title + " |"
			for _, x := range r.Results {
				if v := m.Value(x); math.IsNaN(v) {
					line += " – |"
				} else {
					line += " " + words.Compact(v) + " |"
				}
			}
			p.line("%s", line)
		}
	}
}
