package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/check/group"
	"github.com/stile-lock/stile/core"
)

// liveness looks at infinite runs.
func (r *run) liveness(m *group.Model, e *explore.Exploration) error {
	if _, stuck := e.Broken[m.Bit(Deadlock)]; stuck && r.wants(Starvation) {
		if err := r.violated(m, Starvation, m.Bit(Deadlock)); err != nil {
			return err
		}
	}
	if e.Unfinished == "" && r.Requests > 0 && r.wants(Starvation) && r.report.Find(Starvation) == nil {
		o, why, err := explore.OutlookOf(m, r.remaining())
		if err != nil {
			return err
		}
		switch o {
		case explore.Unknown:
			r.add(Property{Name: Starvation, Verdict: Unfinished, Note: why})
		case explore.AllEnd:
			r.add(r.passed(e, Starvation)) // and there is no deadlock
		}
	}
	if need := explore.GraphBytes(e.States, e.Transitions); e.Unfinished == "" && r.Memory > 0 && need > r.Memory {
		e.Unfinished = fmt.Sprintf("the state graph needs %d MiB, more than --memory allows", need>>20)
	}
	if e.Unfinished != "" {
		for _, name := range []string{Starvation, Bypass, Agreement} {
			r.add(r.passed(e, name))
		}
		return nil
	}
	if !r.wants(Agreement, Bypass) && r.report.Find(Starvation) != nil {
		return nil
	}
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: r.remaining(), Edges: true, States: e.States, Transitions: e.Transitions})
	if err != nil {
		return err
	}
	e = &explore.Exploration{Unfinished: g.Unfinished}
	if m.Settles {
		return r.agreement(m, g, r.passed(e, Agreement))
	}
	return r.infinite(m, g, r.passed(e, Starvation), r.passed(e, Bypass))
}

// A starved application waits for ever in a component of the graph.
type starved struct {
	cut *explore.Cut
	bad []uint32
	who core.ID
}

// first returns the state of the component that is reached in the fewest steps.
func (s starved) first() uint32 { return s.bad[len(s.bad)-1] }

// infinite judges starvation and bypass, which hold as far as is known, by the
// whole graph.
func (r *run) infinite(m *group.Model, g *explore.Graph, p, b Property) error {
	if g.Unfinished != "" {
		r.add(p)
		r.add(b)
		return nil
	}
	var most *explore.Bypass
	fromRequest := 0
	var starving []starved
	for _, i := range g.Waiters() {
		c := g.Cut(i)
		if bad := c.Starves(); bad != nil {
			starving = append(starving, starved{c, bad, m.Waiters[i]})
		}
		if !r.wants(Bypass) {
			continue
		}
		by := c.Bypass()
		fromRequest = explore.Worse(fromRequest, by.FromRequest)
		if most == nil || most.FromCalm != explore.Unbounded && explore.Worse(most.FromCalm, by.FromCalm) != most.FromCalm {
			most = by
		}
	}
	slices.SortStableFunc(starving, func(a, b starved) int { return cmp.Compare(a.first(), b.first()) })
	for _, s := range starving {
		if r.report.Find(Starvation) != nil || p.Verdict == Violated {
			break // one that a real run confirms
		}
		if err := r.waits(&p, m, s.cut, s.bad, s.who); err != nil {
			return err
		}
	}
	r.add(p)
	if most != nil {
		if err := r.bypass(&b, m, fromRequest, most); err != nil {
			return err
		}
	}
	r.add(b)
	return nil
}

// bypass reports how often a waiting process can be overtaken, and how if that
// is more often than is claimed.
func (r *run) bypass(p *Property, m *group.Model, fromRequest int, most *explore.Bypass) error {
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
	start, states, err := most.Along(slices.Concat(stem, rest))
	if err != nil {
		return err
	}
	steps, err := m.Run(group.Path{Start: start, States: states})
	if errors.Is(err, group.ErrSpurious) {
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
	r.tell(p, m, start, steps, len(stem)-1+loop, nil)
	return nil
}

// agreement looks for a run that ends, or goes on for ever, without agreement:
// a component of the graph in which a fair run can stay, and in which there is
// a state without agreement.
func (r *run) agreement(m *group.Model, g *explore.Graph, p Property) error {
	if g.Unfinished != "" {
		r.add(p)
		return nil
	}
	c := g.Cut(group.Always)
	for id := c.Parts() - 1; id >= 0; id-- {
		members := c.Members(id)
		i := slices.IndexFunc(members, func(s uint32) bool { return g.Waiting(s)>>group.Unsettled&1 != 0 })
		if i < 0 || !c.Bad(members) {
			continue
		}
		start, states, err := g.Along(g.PathTo(members[i]))
		if err != nil {
			return err
		}
		steps, err := m.Run(group.Path{Start: start, States: states})
		if err != nil {
			return r.spurious(p, err)
		}
		p.Verdict = Violated
		r.tell(&p, m, start, steps, len(steps), nil)
		if p.Verdict == Violated {
			p.Note = after(p)
		}
		break
	}
	r.add(p)
	return nil
}
