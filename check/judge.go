package check

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// violated finds the shortest way to break a property and reports it.
func (r *run) violated(h *host, name string, bit explore.Broken) error {
	g, err := explore.BuildGraph(h, r.until(bit))
	if err != nil {
		return err
	}
	at, ok := g.Found(bit)
	if !ok {
		r.add(Property{Name: name, Verdict: Violated, Note: "found, but there was no room or time left to find the way there"})
		return nil
	}
	start, states, err := g.Along(g.PathTo(at.State))
	if err != nil {
		return err
	}
	if at.Step != nil {
		var next []byte
		_, err := g.Worker().Next(states[len(states)-1], func(s explore.Step, b []byte) {
			if next == nil && s.Label == at.Step.Label && s.Broken&bit != 0 {
				next = append([]byte{}, b...)
			}
		})
		if err != nil {
			return err
		}
		states = append(states, next)
	}
	moves, err := h.concrete(start, states)
	if errors.Is(err, errSpurious) {
		r.add(Property{Name: name, Verdict: Unfinished, Note: err.Error() + "; try with a bound on requests"})
		return nil
	}
	if err != nil {
		return err
	}
	p := Property{Name: name, Verdict: Violated, Note: fmt.Sprintf("after %d steps", len(moves))}
	if name == Starvation {
		p.Note += " nothing need happen any more"
	}
	if err := r.tell(&p, h, start, moves, expectation(bit)); err != nil {
		return err
	}
	r.add(p)
	return nil
}

// until returns the limits of a search for one thing.
func (r *run) until(bit explore.Broken) explore.GraphLimits {
	l := r.remaining()
	l.Stop = bit
	return explore.GraphLimits{Limits: l}
}

// expectation returns what a scenario expects that shows a property broken.
func expectation(bit explore.Broken) []scenario.Expectation {
	switch bit {
	case brokenExclusion:
		return []scenario.Expectation{{Kind: scenario.Violated, Name: scenario.MutualExclusion}}
	case brokenOrder:
		return []scenario.Expectation{{Kind: scenario.Violated, Name: scenario.Order}}
	case brokenDeadlock:
		return []scenario.Expectation{{Kind: scenario.Violated, Name: scenario.LostRequest}}
	}
	return nil
}

// tell puts a counterexample into a property.
func (r *run) tell(p *Property, h *host, start int, moves []move, expect []scenario.Expectation) error {
	sc := r.Scenario
	v := h.Starts[0]
	if h.Upset {
		sc.Set = h.settings(start)
	} else {
		v = h.Starts[start]
	}
	sc.Algorithm, sc.Processes, sc.Network = r.Spec.Name, r.Nodes, h.Network
	sc.Holder, sc.Busy, sc.Steps = v.Holder, v.Busy, true
	sc.Title = fmt.Sprintf("%s among %d: %s violated", r.Spec.Name, r.Nodes, p.Name)
	sc.Actions = actions(h.started(start, moves))
	sc.Expect = expect
	sc.Seed = 1 // chance has no say, and so it need not be mentioned
	p.Counterexample, p.spec = &sc, r.Spec
	for _, a := range sc.Actions {
		p.Trace = append(p.Trace, a.String())
	}
	return p.confirm()
}

// liveness looks at infinite runs.
func (r *run) liveness(h *host, e *explore.Exploration) error {
	if _, stuck := e.Broken[brokenDeadlock]; stuck && r.wants(Starvation) {
		if err := r.violated(h, Starvation, brokenDeadlock); err != nil {
			return err
		}
	}
	p := r.passed(e, Starvation)
	b := r.passed(e, Bypass)
	if e.Unfinished == "" && r.Requests > 0 && r.report.Find(Starvation) == nil {
		o, why, err := explore.OutlookOf(h, r.remaining())
		if err != nil {
			return err
		}
		if o == explore.Unknown {
			p.Verdict, p.Note = Unfinished, why
		}
		if o != explore.SomeGoOn {
			r.add(p) // and there is no deadlock
		}
	}
	if r.report.Find(Starvation) != nil && !r.wants(Bypass) {
		return nil
	}
	if need := explore.GraphBytes(e.States, e.Transitions); e.Unfinished == "" && r.Memory > 0 && need > r.Memory {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("the state graph needs %d MiB, more than --memory allows", need>>20)
		b.Verdict, b.Note = p.Verdict, p.Note
	}
	if b.Verdict == Unfinished {
		r.add(p)
		r.add(b)
		return nil
	}
	return r.infinite(h, e, p, b)
}

// infinite judges starvation and bypass, which hold as far as is known, by the
// whole graph.
func (r *run) infinite(h *host, e *explore.Exploration, p, b Property) error {
	l := explore.GraphLimits{Limits: r.remaining(), Edges: true, States: e.States, Transitions: e.Transitions}
	l.Memory = 0 // it is known to fit
	g, err := explore.BuildGraph(h, l)
	if err != nil {
		return err
	}
	if g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, g.Unfinished
		b.Verdict, b.Note = p.Verdict, p.Note
		r.add(p)
		r.add(b)
		return nil
	}
	var most *explore.Bypass
	fromRequest := 0
	var worst *explore.Cut
	var bad []uint32
	who := 0
	for _, proc := range g.Waiters() {
		c := g.Cut(proc)
		if b := c.Starves(); b != nil && (bad == nil || b[len(b)-1] < bad[len(bad)-1]) {
			worst, bad, who = c, b, proc
		}
		by := c.Bypass()
		fromRequest = explore.Worse(fromRequest, by.FromRequest)
		if most == nil || most.FromCalm != explore.Unbounded && explore.Worse(most.FromCalm, by.FromCalm) != most.FromCalm {
			most = by
		}
	}
	if bad != nil {
		if err := r.starves(&p, h, worst, bad, core.ID(who)); err != nil {
			return err
		}
	}
	r.add(p)
	if most != nil && r.wants(Bypass) {
		if err := r.bypass(&b, h, fromRequest, most); err != nil {
			return err
		}
	}
	r.add(b)
	return nil
}

// starves reports that a process waits for ever.
func (r *run) starves(p *Property, h *host, c *explore.Cut, bad []uint32, proc core.ID) error {
	return r.lasso(p, h, c, bad, fmt.Sprintf("%v waits for ever", proc),
		[]scenario.Expectation{{Kind: scenario.PhaseIs, Proc: proc, Phase: scenario.Waits}})
}

// lasso reports a run that goes on for ever.
func (r *run) lasso(p *Property, h *host, c *explore.Cut, bad []uint32, what string, expect []scenario.Expectation) error {
	loop := c.Loop(bad)
	stem := c.PathTo(loop[0])
	start, states, err := c.Along(append(stem, loop[1:]...))
	if err != nil {
		return err
	}
	moves, err := h.concrete(start, states)
	if errors.Is(err, errSpurious) {
		p.Verdict, p.Note = Unfinished, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	p.Verdict = Violated
	p.Loop = len(actions(moves[:len(stem)-1]))
	p.Note = fmt.Sprintf("%s: after %d steps, %d steps that can be repeated without end", what, len(stem)-1, len(loop)-1)
	if len(loop) == 1 {
		p.Note = fmt.Sprintf("%s: after %d steps nothing need happen any more", what, len(stem)-1)
	}
	return r.tell(p, h, start, moves, expect)
}

// bypass reports how often a waiting process can be overtaken, and how if that
// is more often than is claimed.
func (r *run) bypass(p *Property, h *host, fromRequest int, most *explore.Bypass) error {
	say := func(n int) string {
		if n == explore.Unbounded {
			return "without bound"
		}
		return fmt.Sprintf("at most %d", n)
	}
	fromCalm := most.FromCalm
	p.Note = fmt.Sprintf("entries of others: %s from the request on, %s once its own messages have arrived", say(fromRequest), say(fromCalm))
	claim := r.Spec.Theory.Bypass
	switch {
	case claim != nil && (fromCalm == explore.Unbounded || fromCalm > claim(r.Nodes)):
		p.Note += fmt.Sprintf("; claimed is at most %d", claim(r.Nodes))
	case claim != nil || fromCalm != explore.Unbounded:
		return nil
	}
	stem, rest, loop := most.Run()
	start, states, err := most.Along(append(stem, rest...))
	if err != nil {
		return err
	}
	moves, err := h.concrete(start, states)
	if errors.Is(err, errSpurious) {
		p.Verdict, p.Note = Unfinished, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	p.Verdict = Violated
	if loop < 0 {
		loop = len(rest)
	}
	p.Loop = len(actions(moves[:len(stem)-1+loop]))
	return r.tell(p, h, start, moves, nil)
}
