package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
)

// Properties of methods against deadlock, beside MutualExclusion (no lock has
// two holders), Deadlock and Starvation. For a method that prevents or avoids,
// Deadlock means that there is never a cycle of who waits for whom; for one
// that detects, that nothing ever ends with somebody waiting; and Starvation
// that every transaction commits in every fair run, so every deadlock is found
// in the end.
const (
	FalseReport = "false-report" // a deadlock is reported that is none, though nobody has aborted yet
	OneVictim   = "one-victim"   // of a deadlock exactly the youngest is told to abort
)

// A DeadlockConfig says which method to check, and over what: transaction i
// asks for the locks of Programs[i] one by one.
type DeadlockConfig struct {
	Method   deadlock.Method
	Mode     string
	Layout   deadlock.Layout
	Programs [][]int
	Rounds   int            // how many transactions each process runs one after the other; 0 means any number
	Crash    bool           // one site may die, at any time
	First    bool           // end at the first thing that is broken
	Found    func(Property) // as in Config
	Limits
}

// Dinner returns the smallest case with a ring: n processes, n locks, each takes
// its own lock and then the next one's.
func Dinner(m deadlock.Method, mode string, sites, n, rounds int) DeadlockConfig {
	c := DeadlockConfig{Method: m, Mode: mode, Layout: deadlock.Spread(sites, n, n), Rounds: rounds}
	for p := range n {
		program := []int{p, (p + 1) % n}
		if m.Sorted {
			slices.Sort(program)
		}
		c.Programs = append(c.Programs, program)
	}
	return c
}

// Crowd returns the smallest case in which two wait for one lock: three
// processes over two locks, of which the second takes them the other way
// round.
func Crowd(m deadlock.Method, mode string, sites, rounds int) DeadlockConfig {
	c := Dinner(m, mode, sites, 2, rounds)
	c.Layout = deadlock.Spread(sites, 3, 2)
	c.Programs = append(c.Programs, c.Programs[0])
	return c
}

// What can be seen broken in a state or a step.
const (
	brokenTwoHolders explore.Broken = 1 << iota
	brokenCycle                     // a cycle, where there must never be one
	brokenStuck                     // nothing can happen, and somebody waits
	brokenFalse
	brokenVictim
)

// RunDeadlock checks a method in every order of events.
func RunDeadlock(c DeadlockConfig) (*Report, error) {
	started := time.Now()
	m, err := newSites(c)
	if err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Method.Name, err)
	}
	r := &Report{Algorithm: c.Method.Name, Nodes: len(c.Programs), Requests: Bound(c.Rounds), Network: core.FIFO.String()}
	d := &deadlockRun{DeadlockConfig: c, model: m, report: r}
	limit := explore.GraphLimits{Limits: c.Limits, Edges: true, Seen: d.seen}
	limit.Pass = MutualExclusion + "..."
	if c.First {
		limit.Stop = brokenTwoHolders | brokenCycle | brokenStuck | brokenFalse | brokenVictim
	}
	g, err := explore.BuildGraph(m, limit)
	if err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Method.Name, err)
	}
	d.graph = g
	r.States, r.Transitions, r.Depth = g.States(), g.Transitions(), g.Levels()-1
	if err := d.starvation(); err != nil {
		return nil, err
	}
	for _, l := range sitesLines() {
		if err := d.judge(l.name, l.bits); err != nil {
			return nil, err
		}
	}
	order := []string{MutualExclusion, Deadlock, Starvation, FalseReport, OneVictim}
	slices.SortFunc(r.Properties, func(a, b Property) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	r.judge()
	r.Seconds = time.Since(started).Seconds()
	r.Rate = float64(r.States) / r.Seconds
	r.Collision = explore.Collision(r.States)
	return r, nil
}

// Only leaves out all but these properties.
func (r *Report) Only(names []string) {
	r.Properties = slices.DeleteFunc(r.Properties, func(p Property) bool { return !slices.Contains(names, p.Name) })
	r.judge()
}

// judge gives the report the worst verdict of its properties.
func (r *Report) judge() {
	r.Verdict = NotChecked
	for _, p := range r.Properties {
		if p.Verdict != NotChecked && (r.Verdict == NotChecked || p.Verdict.rank() > r.Verdict.rank()) {
			r.Verdict = p.Verdict
		}
	}
}

// A deadlockRun is one check under way.
type deadlockRun struct {
	DeadlockConfig
	model  *sites
	graph  *explore.Graph
	report *Report
}

// A sitesLine is a property, and what breaks it.
type sitesLine struct {
	name string
	bits explore.Broken
}

func sitesLines() []sitesLine {
	return []sitesLine{{MutualExclusion, brokenTwoHolders}, {Deadlock, brokenCycle | brokenStuck}, {FalseReport, brokenFalse}, {OneVictim, brokenVictim}}
}

// seen judges what is broken as soon as that is seen.
func (d *deadlockRun) seen(g *explore.Graph, now explore.Broken) error {
	d.graph = g
	for _, l := range sitesLines() {
		if l.bits&now == 0 {
			continue
		}
		if err := d.judge(l.name, l.bits); err != nil {
			return err
		}
	}
	return nil
}

// judge gives a property its verdict.
func (d *deadlockRun) judge(name string, bits explore.Broken) error {
	if d.report.Find(name) != nil {
		return nil
	}
	if (name == FalseReport || name == OneVictim) && d.Method.Family != deadlock.Detection {
		d.add(Property{Name: name, Verdict: NotChecked, Note: "it reports no deadlocks"})
		return nil
	}
	best, found := explore.Place{}, false
	for bit := explore.Broken(1); bit <= brokenVictim; bit <<= 1 {
		if at, ok := d.graph.Found(bit); ok && bits&bit != 0 && (!found || at.State < best.State) {
			best, found = at, true
		}
	}
	if !found {
		d.add(d.passed(name))
		return nil
	}
	trace, labels, err := d.trace(d.graph.PathTo(best.State), best.Step)
	if err != nil {
		return err
	}
	if d.Rounds == 0 && !d.real(labels, len(labels), 0) {
		d.add(spurious(name))
		return nil
	}
	d.add(Property{Name: name, Verdict: Violated, Note: fmt.Sprintf("after %d steps", len(trace)), Trace: trace})
	return nil
}

func (d *deadlockRun) add(p Property) {
	d.report.Properties = append(d.report.Properties, p)
	if p.Verdict == Violated && d.DeadlockConfig.Found != nil {
		d.DeadlockConfig.Found(p)
	}
}

func (d *deadlockRun) passed(name string) Property {
	if d.graph.Unfinished != "" {
		return Property{Name: name, Verdict: Unfinished, Note: fmt.Sprintf("%s after %d states", d.graph.Unfinished, d.graph.States()) + d.sound(name)}
	}
	if d.Rounds == 0 {
		return Property{Name: name, Verdict: Holds, Note: "any number of transactions and restarts"}
	}
	return Property{Name: name, Verdict: HoldsBounded, Note: fmt.Sprintf("up to %d transactions of each process, any number of restarts", d.Rounds)}
}

// sound is what can be said of short runs.
func (d *deadlockRun) sound(name string) string {
	if name == Starvation {
		return ""
	}
	return sound(d.graph.Whole())
}

// starvation looks for a fair run in which a transaction never commits.
func (d *deadlockRun) starvation() error {
	p := d.passed(Starvation)
	if d.graph.Unfinished == "" {
		for _, proc := range d.graph.Waiters() {
			c := d.graph.Cut(proc)
			bad := c.Starves()
			if bad == nil {
				continue
			}
			loop := c.Loop(bad)
			if loop == nil {
				break
			}
			stem := d.graph.PathTo(loop[0])
			steps, labels, err := d.trace(append(stem, loop[1:]...), nil)
			if err != nil {
				return err
			}
			if d.Rounds == 0 && !d.real(labels, len(stem)-1, proc) {
				p = spurious(Starvation)
				continue
			}
			p = Property{Name: Starvation, Verdict: Violated, Trace: steps, Loop: len(stem) - 1}
			p.Note = fmt.Sprintf("%v never commits: after %d steps, %d that can be repeated without end", core.ID(proc), p.Loop, len(steps)-p.Loop)
			if len(loop) == 1 {
				p.Note = fmt.Sprintf("%v waits for ever after %d steps", core.ID(proc), p.Loop)
			}
			break
		}
		if p.Verdict != Violated && d.graph.Unfinished != "" {
			p = d.passed(Starvation)
		}
	}
	d.add(p)
	return nil
}

// trace tells the steps along a path of states, and one more if there is one.
func (d *deadlockRun) trace(path []uint32, last *explore.Step) (lines []string, labels []uint32, err error) {
	_, states, err := d.graph.Along(path)
	if err != nil {
		return nil, nil, err
	}
	w := d.graph.Worker().(*sitesWorker)
	for i, state := range states {
		told := false
		var want []byte
		if i+1 < len(states) {
			want = states[i+1]
		} else if last == nil {
			break
		}
		_, err := w.Next(state, func(s explore.Step, next []byte) {
			if !told && (want != nil && slices.Equal(next, want) || want == nil && s.Label == last.Label) {
				lines, labels = append(lines, w.said), append(labels, s.Label)
				told = true
			}
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return lines, labels, nil
}

// spurious is the verdict if only stamps that are renumbered break a property.
func spurious(name string) Property {
	return Property{Name: name, Verdict: Unfinished, Note: errSpurious.Error() + "; try with a bound on transactions"}
}

// real reports whether steps can be made with stamps that are not renumbered,
// going round the loop some times in which the process never commits.
func (d *deadlockRun) real(labels []uint32, loop, proc int) bool {
	c := d.DeadlockConfig
	c.Rounds = 100
	m, err := newSites(c)
	if err != nil {
		return false
	}
	w := m.Worker().(*sitesWorker)
	var at []byte
	if w.Init(func(state []byte) bool { at = slices.Clone(state); return false }) != nil {
		return false
	}
	steps := slices.Clone(labels)
	for range 4 {
		steps = append(steps, labels[loop:]...)
	}
	for i, label := range steps {
		var next []byte
		_, err := w.Next(at, func(s explore.Step, b []byte) {
			if next == nil && s.Label == label {
				next = slices.Clone(b)
			}
		})
		if err != nil || next == nil {
			return false
		}
		if at = next; i >= loop {
			if waiting, _ := w.Waiting(at); waiting>>proc&1 == 0 {
				return false
			}
		}
	}
	return true
}
