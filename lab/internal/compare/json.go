package compare

import (
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/sim"
)

// A Report is a Map for programs.
type Report struct {
	Algorithms []string    `json:"algorithms"`
	Topology   string      `json:"topology,omitempty"` // if one was chosen
	Nodes      []int       `json:"nodes"`
	Think      []string    `json:"think"`
	Hold       []string    `json:"hold"`
	Entries    int         `json:"entries"` // entries of each run
	Seed       uint64      `json:"seed"`
	Runs       []RunReport `json:"runs"`
	Best       []BestAt    `json:"best"`
	Stopped    bool        `json:"stopped,omitempty"` // stopped before all runs were made
}

// A RunReport is one algorithm at one place. Delays and times are means, in T.
type RunReport struct {
	Algorithm string `json:"algorithm"`
	Nodes     int    `json:"nodes"`
	Think     string `json:"think"`
	Hold      string `json:"hold"`
	Skipped   string `json:"skipped,omitempty"` // why it cannot run there
	Stopped   bool   `json:"stopped,omitempty"` // the comparison ended before the run did
	*Measured        // nil if skipped or stopped
}

// Measured is what a run measured, next to theory.
type Measured struct {
	PerEntry   float64     `json:"messages_per_entry"`
	Constant   *float64    `json:"messages_per_sqrt_n,omitempty"` // only for algorithms that ask quorums
	Client     *float64    `json:"client_delay"`
	Sync       *float64    `json:"sync_delay"`
	Response   *float64    `json:"response_time"`
	Throughput float64     `json:"throughput"`
	MaxBypass  int         `json:"max_bypass"`
	Violations int         `json:"violations"`
	Theory     TheoryOfRun `json:"theory"`
}

// TheoryOfRun is what theory says; nil where it says nothing.
type TheoryOfRun struct {
	PerEntry   *algorithm.Range `json:"messages_per_entry"`
	Sync       *algorithm.Range `json:"sync_delay"`
	Throughput *algorithm.Range `json:"throughput"`
}

// BestAt says which algorithms are best at one place by one measure.
type BestAt struct {
	Measure    string   `json:"measure"`
	Nodes      int      `json:"nodes"`
	Think      string   `json:"think"`
	Hold       string   `json:"hold"`
	Value      float64  `json:"value"`
	Algorithms []string `json:"algorithms"` // the best one and those within one per cent of it
}

// Report returns the map for programs.
func (m *Map) Report() Report {
	r := Report{Topology: m.Topology, Nodes: m.Nodes, Entries: m.Entries, Seed: m.Seed, Runs: []RunReport{}, Best: []BestAt{}, Stopped: m.Stopped() != ""}
	for _, s := range m.Specs {
		r.Algorithms = append(r.Algorithms, s.Name)
	}
	for _, d := range m.Think {
		r.Think = append(r.Think, d.String())
	}
	for _, d := range m.Hold {
		r.Hold = append(r.Hold, d.String())
	}
	for i := range m.Cells {
		r.Runs = append(r.Runs, m.Cells[i].Report())
	}
	for _, by := range Measures() {
		for i, p := range m.Places() {
			best := m.Best(by, i)
			if len(best.Specs) == 0 {
				continue
			}
			b := BestAt{Measure: by.Key, Nodes: p.Nodes, Think: p.Think.String(), Hold: p.Hold.String(), Value: best.Value}
			for _, s := range best.Specs {
				b.Algorithms = append(b.Algorithms, m.Specs[s].Name)
			}
			r.Best = append(r.Best, b)
		}
	}
	return r
}

// Report returns the result of a run, for programs.
func (c *Cell) Report() RunReport {
	r := RunReport{Algorithm: c.Spec.Name, Nodes: c.Nodes, Think: c.Think.String(), Hold: c.Hold.String(), Skipped: c.Skipped, Stopped: c.Stopped}
	if c.Result == nil {
		return r
	}
	r.Measured = &Measured{
		PerEntry: c.Result.PerEntry, Client: meanOf(c.Result.Client), Sync: meanOf(c.Result.Sync), Response: meanOf(c.Result.Response),
		Throughput: c.Result.Throughput, MaxBypass: c.Result.MaxBypass, Violations: c.Result.Violations,
	}
	if x := c.Constant(); !math.IsNaN(x) {
		r.Constant = &x
	}
	for _, by := range Measures() {
		says, ok := by.Range(c)
		if !ok {
			continue
		}
		switch by.Key {
		case "messages_per_entry":
			r.Theory.PerEntry = &says
		case "sync_delay":
			r.Theory.Sync = &says
		case "throughput":
			r.Theory.Throughput = &says
		}
	}
	return r
}

func meanOf(s *sim.Stats) *float64 {
	if s == nil {
		return nil
	}
	return &s.Mean
}

// A DeadlockReport is one run of a method against deadlock, for programs.
type DeadlockReport struct {
	Method    string      `json:"method"`
	Mode      string      `json:"mode"`
	Processes int         `json:"processes"`
	Result    *sim.Ledger `json:"result"`            // null if stopped
	Stopped   bool        `json:"stopped,omitempty"` // the comparison ended before the run did
}

// Report returns the runs for programs.
func (m *DeadlockMap) Report() []DeadlockReport {
	var all []DeadlockReport
	for _, r := range m.Rows {
		for n, x := range r.Results {
			all = append(all, DeadlockReport{r.Method.Name, r.Mode, m.Processes[n], x, x == nil})
		}
	}
	return all
}
