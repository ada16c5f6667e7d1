package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
	"github.com/stile-lock/stile/lab/scenario"
)

// violated reports a property that was seen violated. A violation that cannot be
// demonstrated is unfinished.
func (r *run) violated(m *model.Model, e *explore.Exploration, name string, bits explore.Broken) error {
	p, why, err := r.way(m, name, bits, 0)
	if err != nil {
		return err
	}
	if p == nil {
		p = &Property{Name: name, Verdict: Unfinished, Note: fmt.Sprintf("violated after %s, but no run to it was found: %s", words.Plural(e.StepsTo(bits), "step"), why)}
	}
	r.add(*p)
	return nil
}

// way finds the shortest path to a violation of a property, while used bytes of memory
// are in use. If there is none it says why.
func (r *run) way(m *model.Model, name string, bits explore.Broken, used int64) (p *Property, why string, err error) {
	w, ok := r.ways[wayTo{m, bits}] // a deadlock violates two properties
	if !ok {
		if w, why, err = r.search(m, bits, used); err != nil || why != "" {
			return nil, why, err
		}
		if r.ways == nil {
			r.ways = map[wayTo]way{}
		}
		r.ways[wayTo{m, bits}], r.ways[wayTo{m, w.bit}] = w, w
	}
	p = &Property{Name: name, Verdict: Violated}
	steps, _, err := m.Run(model.Path{Start: w.start, States: w.states})
	if err != nil {
		return p, "", r.spurious(p, err)
	}
	r.tell(p, m, w.start, steps, len(steps), r.expectation(m, w.bit))
	if p.Verdict == Violated {
		p.Note = r.after(steps)
		if name == Starvation {
			p.Note += " nothing more need happen"
		}
		p.Note += p.where
	}
	return p, "", nil
}

// A way is the states that lead to a violation, from start number start.
type way struct {
	start  int
	states [][]byte
	bit    explore.Broken // what is violated there
}

// A wayTo identifies a violation, and its model.
type wayTo struct {
	m    *model.Model
	bits explore.Broken
}

// search finds the shortest path to a violation, or says why not.
func (r *run) search(m *model.Model, bits explore.Broken, used int64) (w way, why string, err error) {
	l := r.remaining("the way to a violation")
	l.Stop = bits
	if l.Memory > 0 {
		l.Memory = max(1, l.Memory-used)
	}
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: l})
	switch {
	case beyond(err):
		return w, err.Error(), nil
	case err != nil:
		return w, "", err
	}
	r.report.count(g.States())
	at, bit := first(g, bits)
	if bit == 0 {
		return w, g.Unfinished, nil
	}
	w.bit = bit
	if w.start, w.states, _, err = g.Along(g.PathTo(at.State), nil); err != nil || at.Step == nil {
		return w, "", err
	}
	var next []byte
	_, err = g.Worker().Next(w.states[len(w.states)-1], func(s explore.Step, b []byte) {
		if next == nil && s.Label == at.Step.Label && s.Broken&bit != 0 {
			next = slices.Clone(b)
		}
	})
	if next == nil {
		return w, "", err
	}
	w.states = append(w.states, next) // whatever other steps lead to
	return w, "", nil
}

// after says how long a counterexample is. Where time passes, a step may correspond to
// none in a scenario, or to several.
func (r *run) after(steps []model.Step) string {
	n := len(steps)
	if r.Family.Timers == family.InUnits {
		n = 0
		for _, s := range steps {
			n += len(s.Actions)
		}
	}
	return "after " + howMany(n, "step")
}

// first returns where one of some properties is violated first, and which.
func first(g *explore.Graph, bits explore.Broken) (best explore.Place, bit explore.Broken) {
	for b := explore.Broken(1); b != 0 && b <= bits; b <<= 1 {
		if at, ok := g.Found(b & bits); ok && (bit == 0 || at.State < best.State) {
			best, bit = at, b
		}
	}
	return best, bit
}

// spurious reports a violation that exists only among renumbered states, as far as is
// known.
func (r *run) spurious(p *Property, err error) error {
	if !errors.As(err, new(model.Spurious)) {
		return err
	}
	p.Verdict, p.Note = Unfinished, err.Error()+"; try a bound on "+r.asked()
	return nil
}

// asked describes what processes do.
func (r *run) asked() string {
	if r.Family.Sites > 0 {
		return "transactions"
	}
	return "requests"
}

// expectation returns the expectations of a scenario that demonstrates a violated
// property.
func (r *run) expectation(m *model.Model, bit explore.Broken) []script.Expectation {
	for _, s := range r.Family.Signs {
		if m.Bit(s.Name) == bit && s.Shown != nil {
			return []script.Expectation{*s.Shown}
		}
	}
	return nil
}

// isStandstill reports whether a process is expected to wait when nothing more need
// happen.
func isStandstill(e script.Expectation) bool {
	return e.Kind == script.Stuck || e.Kind == script.Violated && e.Name == script.LostRequest
}

func title(algorithm string, nodes int, property string) string {
	return fmt.Sprintf("%s among %d: %s violated", algorithm, nodes, property)
}

// tell puts a counterexample into a property, and has the simulator confirm it. The loop
// of a lasso begins after loop steps.
func (r *run) tell(p *Property, m *model.Model, start int, steps []model.Step, loop int, expect []script.Expectation) {
	sc := scenario.Scenario{Options: r.Options}
	v := m.Starts[0]
	if !m.Upset {
		v = m.Starts[start]
	}
	sc.Set = m.Settings(start)
	sc.Algorithm, sc.Processes, sc.Network = r.Spec.Name, r.Nodes, m.Network
	sc.Holder, sc.Busy, sc.Steps = v.Holder, v.Busy, true
	sc.Title = title(r.Spec.Name, r.Nodes, p.Name)
	sc.Expect = expect
	if r.Family.Scene != nil {
		r.Family.Scene(&sc)
	}
	sc.Seed = 1 // nothing is random, so it need not be mentioned
	p.Trace = nil
	for i, s := range steps {
		if i == loop {
			p.Loop = len(p.Trace)
		}
		sc.Actions = append(sc.Actions, s.Actions...)
		if m.Sites {
			p.Trace = append(p.Trace, s.Words)
			continue
		}
		for _, a := range s.Actions {
			p.Trace = append(p.Trace, a.String())
		}
	}
	if loop == len(steps) {
		p.Loop = len(p.Trace)
	}
	// In a scenario that does not say otherwise, all processes begin with a start.
	if s, ok := m.Started(start); ok && !slices.ContainsFunc(sc.Actions, func(a script.Action) bool { return a.Kind == script.Start }) {
		sc.Actions = append(sc.Actions, s.Actions...) // not a step of the path
	}
	// Messages in flight to the dead must be lost before all is quiet.
	dead := func(a script.Action) bool { return a.Kind == script.CrashSite }
	if r.Crashes > 0 && slices.ContainsFunc(expect, isStandstill) && (!m.Sites || slices.ContainsFunc(sc.Actions, dead)) {
		a := script.Action{Kind: script.DeliverAll}
		sc.Actions, p.Trace = append(sc.Actions, a), append(p.Trace, a.String())
		p.Loop = len(p.Trace) // there is none
	}
	inSections(&sc)
	p.spec, p.family, p.Counterexample = r.Spec, r.Family, &sc
	p.confirm()
}

// waits reports that an application waits forever.
func (r *run) waits(p *Property, m *model.Model, g *explore.Graph, loop *explore.Walk, who algorithm.ID) error {
	what := fmt.Sprintf("%v waits forever", who)
	if m.Sites {
		what = fmt.Sprintf("%v never commits", who)
	}
	return r.lasso(p, m, g, loop, what, []script.Expectation{{Kind: script.PhaseIs, Proc: who, Phase: script.Waits}})
}

// lasso reports a run that goes on forever.
func (r *run) lasso(p *Property, m *model.Model, g *explore.Graph, loop *explore.Walk, what string, expect []script.Expectation) error {
	if loop == nil {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s in some run, but that run was not found: %s", what, g.Unfinished)
		return nil
	}
	start, states, labels, err := g.Along(g.PathTo(loop.From), loop.Edges)
	if err != nil {
		return err
	}
	steps, begin, err := m.Run(model.Path{Start: start, States: states, Labels: labels, Loop: len(loop.Edges), Fair: true})
	if err != nil {
		return r.spurious(p, err)
	}
	p.Verdict = Violated
	after := words.Plural(begin, "step")
	p.Note = fmt.Sprintf("%s: after %s, %s that can be repeated without end", what, after, words.Plural(len(steps)-begin, "step"))
	if len(loop.Edges) == 0 {
		p.Note = fmt.Sprintf("%s: after %s nothing more need happen", what, after)
	}
	r.tell(p, m, start, steps, begin, expect)
	p.Note += p.where
	return nil
}
