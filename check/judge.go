package check

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// violated finds the shortest way to break a property and reports it.
func (r *run) violated(h *host, name string, bit Broken) error {
	g, err := buildGraph(h, graphLimit{stop: bit, memory: r.Memory, quit: r.quit})
	if err != nil {
		return err
	}
	at, ok := g.found[bit]
	if !ok {
		r.add(Property{Name: name, Verdict: Violated, Note: "found, but there was no room or time left to find the way there"})
		return nil
	}
	start, states, err := g.states(g.pathTo(at.state))
	if err != nil {
		return err
	}
	if at.step != nil {
		var next []byte
		_, err := g.worker.Next(states[len(states)-1], func(s Step, b []byte) {
			if next == nil && s.Label == at.step.Label && s.Broken&bit != 0 {
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

func (r *run) quit() bool {
	return r.Context != nil && r.Context.Err() != nil || r.Time > 0 && r.remaining().Time <= 1
}

// expectation returns what a scenario expects that shows a property broken.
func expectation(bit Broken) []scenario.Expectation {
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
	sc := scenario.Scenario{Options: r.Options}
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
func (r *run) liveness(h *host, e *Exploration) error {
	if _, stuck := e.Broken[brokenDeadlock]; stuck && r.wants(Starvation) {
		if err := r.violated(h, Starvation, brokenDeadlock); err != nil {
			return err
		}
	}
	p := r.passed(e, Starvation)
	b := r.passed(e, Bypass)
	if e.Unfinished == "" && r.Requests > 0 && r.report.Find(Starvation) == nil {
		o, err := outlookOf(h, r.Memory, r.quit)
		if err != nil {
			return err
		}
		if o == unknown {
			p.Verdict, p.Note = Unfinished, "out of time or memory"
		}
		if o != someGoOn {
			r.add(p) // and there is no deadlock
		}
	}
	if r.report.Find(Starvation) != nil && !r.wants(Bypass) {
		return nil
	}
	if need := e.States*perState + e.Transitions*perEdge; e.Unfinished == "" && r.Memory > 0 && need > r.Memory {
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
func (r *run) infinite(h *host, e *Exploration, p, b Property) error {
	g, err := buildGraph(h, graphLimit{edges: true, quit: r.quit, states: e.States, transitions: e.Transitions})
	if err != nil {
		return err
	}
	if !g.full {
		p.Verdict, p.Note = Unfinished, "out of time"
		b.Verdict, b.Note = p.Verdict, p.Note
		r.add(p)
		r.add(b)
		return nil
	}
	var most *bypass
	fromRequest := 0
	var worst *cut
	var bad []uint32
	who := 0
	for _, proc := range g.waiters() {
		c := newCut(g, proc)
		if b := c.starves(); b != nil && (bad == nil || b[len(b)-1] < bad[len(bad)-1]) {
			worst, bad, who = c, b, proc
		}
		by := c.bypass()
		fromRequest = worse(fromRequest, by.fromRequest)
		if most == nil || most.fromCalm != Unbounded && worse(most.fromCalm, by.fromCalm) != most.fromCalm {
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
func (r *run) starves(p *Property, h *host, c *cut, bad []uint32, proc core.ID) error {
	return r.lasso(p, h, c, bad, fmt.Sprintf("%v waits for ever", proc),
		[]scenario.Expectation{{Kind: scenario.PhaseIs, Proc: proc, Phase: scenario.Waits}})
}

// lasso reports a run that goes on for ever.
func (r *run) lasso(p *Property, h *host, c *cut, bad []uint32, what string, expect []scenario.Expectation) error {
	loop := c.loop(bad)
	stem := c.g.pathTo(loop[0])
	start, states, err := c.g.states(append(stem, loop[1:]...))
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
func (r *run) bypass(p *Property, h *host, fromRequest int, most *bypass) error {
	say := func(n int) string {
		if n == Unbounded {
			return "without bound"
		}
		return fmt.Sprintf("at most %d", n)
	}
	fromCalm := most.fromCalm
	p.Note = fmt.Sprintf("entries of others: %s from the request on, %s once its own messages have arrived", say(fromRequest), say(fromCalm))
	claim := r.Spec.Theory.Bypass
	switch {
	case claim != nil && (fromCalm == Unbounded || fromCalm > claim(r.Nodes)):
		p.Note += fmt.Sprintf("; claimed is at most %d", claim(r.Nodes))
	case claim != nil || fromCalm != Unbounded:
		return nil
	}
	stem, rest, loop := most.run()
	start, states, err := most.g.states(append(stem, rest...))
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
