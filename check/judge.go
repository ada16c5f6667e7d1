package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/check/group"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/scenario"
)

// violated finds the shortest way to break a property and reports it.
func (r *run) violated(m *group.Model, name string, bits explore.Broken) error {
	l := r.remaining()
	l.Stop = bits
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: l})
	if err != nil {
		return err
	}
	at, bit := first(g, bits)
	if bit == 0 {
		r.add(Property{Name: name, Verdict: Unfinished, Note: "it is broken, but there was no room or time left to find the way there"})
		return nil
	}
	start, states, err := g.Along(g.PathTo(at.State))
	if err == nil && at.Step != nil {
		var next []byte
		_, err = g.Worker().Next(states[len(states)-1], func(s explore.Step, b []byte) {
			if next == nil && s.Label == at.Step.Label && s.Broken&bit != 0 {
				next = slices.Clone(b)
			}
		})
		states = append(states, next)
	}
	if err != nil {
		return err
	}
	p := Property{Name: name, Verdict: Violated}
	steps, err := m.Run(group.Path{Start: start, States: states})
	if err != nil {
		return r.spurious(p, err)
	}
	r.tell(&p, m, start, steps, len(steps), expectation(m, bit))
	if p.Verdict == Violated {
		p.Note = after(p)
		if name == Starvation {
			p.Note += " nothing need happen any more"
		}
	}
	r.add(p)
	return nil
}

// after says how long a counterexample is.
func after(p Property) string { return fmt.Sprintf("after %d steps", len(p.Trace)) }

// first returns where one of some properties is broken first, and which.
func first(g *explore.Graph, bits explore.Broken) (best explore.Place, bit explore.Broken) {
	for b := explore.Broken(1); b != 0 && b <= bits; b <<= 1 {
		if at, ok := g.Found(b & bits); ok && (bit == 0 || at.State < best.State) {
			best, bit = at, b
		}
	}
	return best, bit
}

// spurious reports what exists only among states that are numbered anew.
func (r *run) spurious(p Property, err error) error {
	if !errors.Is(err, group.ErrSpurious) {
		return err
	}
	p.Verdict, p.Note = Unfinished, err.Error()+"; try with a bound on "+r.asked()
	r.add(p)
	return nil
}

// asked says what processes do.
func (r *run) asked() string {
	if r.Family.Sites > 0 {
		return "transactions"
	}
	return "requests"
}

// expectation returns what a scenario expects that shows a property broken.
func expectation(m *group.Model, bit explore.Broken) []scenario.Expectation {
	for _, e := range [...]struct{ property, name string }{
		{MutualExclusion, scenario.MutualExclusion}, {Order, scenario.Order}, {Deadlock, scenario.LostRequest}, {OneLeader, scenario.OneLeader},
	} {
		if m.Bit(e.property) == bit && !m.Sites {
			return []scenario.Expectation{{Kind: scenario.Violated, Name: e.name}}
		}
	}
	return nil
}

func title(algorithm string, nodes int, property string) string {
	return fmt.Sprintf("%s among %d: %s violated", algorithm, nodes, property)
}

// tell puts a counterexample into a property, and lets the simulator confirm
// it. The loop of a lasso begins after so many steps.
func (r *run) tell(p *Property, m *group.Model, start int, steps []group.Step, loop int, expect []scenario.Expectation) {
	sc := r.Scenario
	v := m.Starts[0]
	if !m.Upset {
		v = m.Starts[start]
	}
	sc.Set = m.Settings(start)
	sc.Algorithm, sc.Processes, sc.Network = r.Spec.Name, r.Nodes, m.Network
	sc.Holder, sc.Busy, sc.Steps = v.Holder, v.Busy, true
	sc.Title = title(r.Spec.Name, r.Nodes, p.Name)
	sc.Expect = expect
	sc.Seed = 1 // chance has no say, and so it need not be mentioned
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
	// Of a scenario that says nothing of it, all begin with a start.
	if s, ok := m.Started(start); ok && !slices.ContainsFunc(sc.Actions, func(a scenario.Action) bool { return a.Kind == scenario.Start }) {
		sc.Actions = append(sc.Actions, s.Actions...)
		p.Trace = append(p.Trace, s.Actions[0].String())
	}
	// What is still under way to the dead has to be lost before all is quiet.
	if r.Crashes > 0 && slices.ContainsFunc(expect, func(e scenario.Expectation) bool { return e.Name == scenario.LostRequest }) {
		a := scenario.Action{Kind: scenario.DeliverAll}
		sc.Actions, p.Trace = append(sc.Actions, a), append(p.Trace, a.String())
	}
	p.spec = r.Spec
	if confirmable(r.Family) {
		p.Counterexample = &sc
		p.confirm()
	}
}

// confirmable reports whether the simulator can replay counterexamples of a
// family.
func confirmable(f *family.Family) bool { return f.Sites == 0 }

// waits reports that an application waits for ever.
func (r *run) waits(p *Property, m *group.Model, c *explore.Cut, bad []uint32, who core.ID) error {
	what := fmt.Sprintf("%v waits for ever", who)
	if m.Sites {
		what = fmt.Sprintf("%v never commits", who)
	}
	return r.lasso(p, m, c, bad, who, what, []scenario.Expectation{{Kind: scenario.PhaseIs, Proc: who, Phase: scenario.Waits}})
}

// lasso reports a run that goes on for ever, in which somebody waits, or
// nobody.
func (r *run) lasso(p *Property, m *group.Model, c *explore.Cut, bad []uint32, who core.ID, what string, expect []scenario.Expectation) error {
	loop := c.Loop(bad)
	stem := c.PathTo(loop[0])
	start, states, err := c.Along(slices.Concat(stem, loop[1:]))
	if err != nil {
		return err
	}
	steps, err := m.Run(group.Path{Start: start, States: states, Loop: len(stem) - 1, Waits: who})
	if errors.Is(err, group.ErrSpurious) {
		p.Verdict, p.Note = Unfinished, err.Error()+"; try with a bound on "+r.asked()
		return nil
	}
	if err != nil {
		return err
	}
	p.Verdict = Violated
	p.Note = fmt.Sprintf("%s: after %d steps, %d steps that can be repeated without end", what, len(stem)-1, len(loop)-1)
	if len(loop) == 1 {
		p.Note = fmt.Sprintf("%s: after %d steps nothing need happen any more", what, len(stem)-1)
	}
	r.tell(p, m, start, steps, len(stem)-1, expect)
	return nil
}
