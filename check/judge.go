package check

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// violated reports a property that was seen broken. What cannot be shown is
// unfinished.
func (r *run) violated(h *host, e *explore.Exploration, name string, bit explore.Broken) error {
	p, why, err := r.way(h, name, bit, 0)
	if err != nil {
		return err
	}
	if p == nil {
		p = &Property{Name: name, Verdict: Unfinished, Note: fmt.Sprintf("something is wrong after %d steps, but the way there was not found: %s", e.Broken[bit].Steps(), why)}
	}
	r.add(*p)
	return nil
}

// way finds the shortest way to break a property, while so much memory is in
// use. If it is not found it says why.
func (r *run) way(h *host, name string, bit explore.Broken, used int64) (p *Property, why string, err error) {
	w, ok := r.ways[wayTo{h, bit}] // a deadlock breaks two properties
	if !ok {
		if w, why, err = r.search(h, bit, used); err != nil || why != "" {
			return nil, why, err
		}
		if r.ways == nil {
			r.ways = map[wayTo]way{}
		}
		r.ways[wayTo{h, bit}] = w
	}
	moves, err := h.concrete(w.start, w.states)
	if errors.Is(err, errSpurious) {
		return &Property{Name: name, Verdict: Unfinished, Note: err.Error() + "; try with a bound on requests"}, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	p = &Property{Name: name, Verdict: Violated, Note: fmt.Sprintf("after %d steps", len(moves))}
	if name == Starvation {
		p.Note += " nothing need happen any more"
	}
	return p, "", r.tell(p, h, w.start, moves, expectation(bit))
}

// A way is the states that lead to something broken, from start number start.
type way struct {
	start  int
	states [][]byte
}

// A wayTo names what is broken, and where.
type wayTo struct {
	h   *host
	bit explore.Broken
}

// search finds the shortest way to something broken, or says why not.
func (r *run) search(h *host, bit explore.Broken, used int64) (w way, why string, err error) {
	l := r.remaining("the way to a violation")
	l.Stop = bit
	if l.Memory > 0 {
		l.Memory = max(1, l.Memory-used)
	}
	g, err := explore.BuildGraph(h, explore.GraphLimits{Limits: l})
	if err != nil {
		return w, "", err
	}
	r.count(g.States())
	at, ok := g.Found(bit)
	if !ok {
		return w, g.Unfinished, nil
	}
	if w.start, w.states, err = g.Along(g.PathTo(at.State)); err != nil || at.Step == nil {
		return w, "", err
	}
	var next []byte
	_, err = g.Worker().Next(w.states[len(w.states)-1], func(s explore.Step, b []byte) {
		if next == nil && s.Label == at.Step.Label && s.Broken&bit != 0 {
			next = append([]byte{}, b...)
		}
	})
	w.states = append(w.states, next)
	return w, "", err
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
func (r *run) liveness(h *host, e *explore.Exploration) error {
	if _, stuck := e.Broken[brokenDeadlock]; stuck && r.wants(Starvation) {
		if err := r.violated(h, e, Starvation, brokenDeadlock); err != nil {
			return err
		}
	}
	p := r.passed(e, Starvation)
	b := r.passed(e, Bypass)
	if e.Unfinished == "" && r.Requests > 0 && r.report.Find(Starvation) == nil {
		o, err := explore.OutlookOf(h, r.remaining("whether runs end"))
		if err != nil {
			return err
		}
		r.count(o.States)
		if o.Runs == explore.Unknown {
			p.Verdict, p.Note = Unfinished, o.Unfinished
		}
		if o.Runs != explore.SomeGoOn {
			r.add(p) // and there is no deadlock
		}
	}
	if r.report.Find(Starvation) != nil && !r.wants(Bypass) {
		return nil
	}
	if need := explore.GraphBytes(e.States, e.Transitions) + h.Bytes(); e.Unfinished == "" && r.Memory > 0 && need > r.Memory {
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
	l := explore.GraphLimits{Limits: r.remaining("the state graph"), Edges: true, States: e.States, Transitions: e.Transitions}
	g, err := explore.BuildGraph(h, l)
	if err != nil {
		return err
	}
	r.count(g.States())
	var most overtaking
	var worst lasso
	for _, proc := range g.Waiters() {
		c := g.Cut(proc)
		if bad := c.Starves(); bad != nil && worst.better(bad) {
			worst = lasso{bad[len(bad)-1], c.Loop(bad), core.ID(proc), true}
		}
		if by := c.Bypass(); g.Unfinished == "" {
			most.add(by, r.tooOften(by.FromCalm))
		}
	}
	if g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, g.Unfinished
		b.Verdict, b.Note = p.Verdict, p.Note
	}
	if worst.found {
		if err := r.starves(&p, h, g, worst.loop, worst.who); err != nil {
			return err
		}
	}
	r.add(p)
	if most.any && b.Verdict != Unfinished && r.wants(Bypass) {
		if err := r.bypass(&b, h, g, most); err != nil {
			return err
		}
	}
	r.add(b)
	return nil
}

// A lasso is a run without end in which somebody waits.
type lasso struct {
	state uint32 // where it becomes certain
	loop  []uint32
	who   core.ID
	found bool
}

// better reports whether a bad component is reached earlier.
func (l *lasso) better(bad []uint32) bool { return !l.found || bad[len(bad)-1] < l.state }

// starves reports that a process waits for ever.
func (r *run) starves(p *Property, h *host, g *explore.Graph, loop []uint32, proc core.ID) error {
	return r.lasso(p, h, g, loop, fmt.Sprintf("%v waits for ever", proc),
		[]scenario.Expectation{{Kind: scenario.PhaseIs, Proc: proc, Phase: scenario.Waits}})
}

// lasso reports a run that goes on for ever.
func (r *run) lasso(p *Property, h *host, g *explore.Graph, loop []uint32, what string, expect []scenario.Expectation) error {
	if loop == nil {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s in some run, but the way there was not found: %s", what, g.Unfinished)
		return nil
	}
	stem := g.PathTo(loop[0])
	start, states, err := g.Along(append(stem, loop[1:]...))
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

// An overtaking is the most that a waiting process can be overtaken.
type overtaking struct {
	any                   bool
	fromRequest, fromCalm int
	stem, rest            []uint32 // a run that shows it, if it is too often
	loop                  int
}

// add takes one process into account, with a run if that is to be shown.
func (o *overtaking) add(by *explore.Bypass, show bool) {
	o.fromRequest = explore.Worse(o.fromRequest, by.FromRequest)
	if o.any && (o.fromCalm == explore.Unbounded || explore.Worse(o.fromCalm, by.FromCalm) == o.fromCalm) {
		return
	}
	o.any, o.fromCalm = true, by.FromCalm
	if show {
		o.stem, o.rest, o.loop = by.Run()
	}
}

// tooOften reports whether so many entries of others are to be shown: more than
// is claimed, or without a claim, without bound.
func (r *run) tooOften(n int) bool {
	claim := r.Spec.Theory.Bypass
	return n == explore.Unbounded || claim != nil && n > claim(r.Nodes)
}

// bypass reports how often a waiting process can be overtaken, and how if that
// is more often than is claimed.
func (r *run) bypass(p *Property, h *host, g *explore.Graph, most overtaking) error {
	say := func(n int) string {
		if n == explore.Unbounded {
			return "without bound"
		}
		return fmt.Sprintf("at most %d", n)
	}
	p.Note = fmt.Sprintf("entries of others: %s from the request on, %s once its own messages have arrived", say(most.fromRequest), say(most.fromCalm))
	if !r.tooOften(most.fromCalm) {
		return nil
	}
	if claim := r.Spec.Theory.Bypass; claim != nil {
		p.Note += fmt.Sprintf("; claimed is at most %d", claim(r.Nodes))
	}
	if most.stem == nil {
		p.Verdict, p.Note = Unfinished, p.Note+"; a run that shows it was not found: "+g.Unfinished
		return nil
	}
	start, states, err := g.Along(append(most.stem, most.rest...))
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
	if most.loop < 0 {
		most.loop = len(most.rest)
	}
	p.Loop = len(actions(moves[:len(most.stem)-1+most.loop]))
	return r.tell(p, h, start, moves, nil)
}
