package check

import (
	"fmt"
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// liveness checks infinite runs.
func (r *run) liveness(m *model.Model, e *explore.Exploration) error {
	if stuck := m.Bit(Deadlock); e.StepsTo(stuck) >= 0 && r.wants(Starvation) {
		if err := r.violated(m, e, Starvation, stuck); err != nil {
			return err
		}
	}
	if e.Unfinished == "" && r.Requests > 0 && r.wants(Starvation) && r.report.Find(Starvation) == nil {
		o, err := explore.OutlookOf(m, r.remaining("whether runs end"))
		if err != nil {
			return err
		}
		r.report.count(o.States)
		switch o.Runs {
		case explore.Unknown:
			r.add(Property{Name: Starvation, Verdict: Unfinished, Note: o.Unfinished})
		case explore.AllEnd:
			r.add(r.passed(e, Starvation)) // and there is no deadlock
		}
	}
	if need := explore.GraphBytes(e.States, e.Transitions, m.Renames()) + m.Bytes(); e.Unfinished == "" && r.Memory > 0 && need > r.Memory {
		e.Unfinished = fmt.Sprintf("the state graph needs %d MiB, more than --memory allows", need>>20)
	}
	if e.Unfinished != "" {
		for _, p := range r.endless() {
			r.add(r.passed(e, p.Name))
		}
		return nil
	}
	if !slices.ContainsFunc(r.endless(), func(p family.Property) bool { return r.report.Find(p.Name) == nil }) {
		return nil
	}
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: r.remaining("the state graph"), Edges: true, States: e.States, Transitions: e.Transitions})
	if err != nil {
		return err
	}
	r.report.count(g.States())
	r.report.Memory = max(r.report.Memory, explore.GraphBytes(e.States, e.Transitions, m.Renames())+m.Bytes())
	if m.Settles {
		return r.agreement(m, g, r.passed(e, r.wanted(family.InTheEnd)[0].Name))
	}
	return r.infinite(m, g, r.passed(e, Starvation), r.passed(e, Bypass))
}

// endless returns the properties of infinite runs to check.
func (r *run) endless() []family.Property {
	return slices.Concat(r.wanted(family.InRuns), r.wanted(family.InTheEnd), r.wanted(family.ByCounting))
}

// infinite judges starvation and bypass, which hold as far as is known, on the whole
// graph.
func (r *run) infinite(m *model.Model, g *explore.Graph, p, b Property) error {
	var most overtaking
	var starving []starved
	for _, i := range g.Waiters() {
		c := g.Cut(i)
		if bad := c.Starves(); bad != nil {
			starving = append(starving, starved{bad[len(bad)-1], c.Loop(bad), m.Waiters[i]})
		}
		if !r.wants(Bypass) {
			continue
		}
		if by := c.Bypass(); g.Unfinished == "" {
			most.add(by, r.tooOften(by.FromCalm))
		}
	}
	if g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, g.Unfinished
		b.Verdict, b.Note = p.Verdict, p.Note
	}
	sort.SliceStable(starving, func(i, j int) bool { return starving[i].state < starving[j].state })
	for _, s := range starving {
		if r.report.Find(Starvation) != nil || p.Verdict == Violated {
			break // one that a real run confirms
		}
		if err := r.waits(&p, m, g, s.loop, s.who); err != nil {
			return err
		}
	}
	r.add(p)
	if most.any && b.Verdict != Unfinished {
		if err := r.bypass(&b, m, g, most); err != nil {
			return err
		}
	}
	r.add(b)
	return nil
}

// A starved application waits forever.
type starved struct {
	state uint32 // state in which that becomes certain
	loop  *explore.Walk
	who   algorithm.ID
}

// An overtaking is the most that a waiting process can be overtaken.
type overtaking struct {
	any                   bool
	fromRequest, fromCalm int
	stem                  []uint32 // a run that shows it, if it is too often: states, and then edges
	rest                  []uint64
	loop                  int // number of the edge from which it can be repeated, or -1
}

// add takes one process into account, with a run if show is set.
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

// tooOften reports whether n entries of others must be demonstrated: more than is claimed
// or, without a claim, without bound.
func (r *run) tooOften(n int) bool {
	claim := r.Spec.Theory.Bypass
	return n == explore.Unbounded || claim != nil && n > claim(r.Nodes)
}

// bypass reports how often a waiting process can be overtaken, and demonstrates it if
// that is more often than is claimed.
func (r *run) bypass(p *Property, m *model.Model, g *explore.Graph, most overtaking) error {
	say := func(n int) string {
		if n == explore.Unbounded {
			return "without bound"
		}
		return fmt.Sprintf("at most %d", n)
	}
	p.Note = fmt.Sprintf("entries by others: %s from the request on, %s after its own messages have arrived", say(most.fromRequest), say(most.fromCalm))
	if !r.tooOften(most.fromCalm) {
		return nil
	}
	if claim := r.Spec.Theory.Bypass; claim != nil {
		p.Note += fmt.Sprintf("; it claims at most %d", claim(r.Nodes))
	}
	if most.stem == nil {
		p.Verdict, p.Note = Unfinished, p.Note+"; no run that shows it was found: "+g.Unfinished
		return nil
	}
	start, states, labels, err := g.Along(most.stem, most.rest)
	if err != nil {
		return err
	}
	path := model.Path{Start: start, States: states, Labels: labels}
	if most.loop >= 0 {
		path.Loop = len(most.rest) - most.loop
	}
	steps, loop, err := m.Run(path)
	if err != nil {
		return r.spurious(p, err)
	}
	p.Verdict = Violated
	r.tell(p, m, start, steps, loop, nil)
	return nil
}

// agreement looks for a run that ends, or goes on forever, without agreement: a component
// of the graph in which a fair run can stay, and in which there is a state without
// agreement.
func (r *run) agreement(m *model.Model, g *explore.Graph, p Property) error {
	c := g.Cut(model.Always)
	if g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, g.Unfinished
		r.add(p)
		return nil
	}
	for id := c.Parts() - 1; id >= 0; id-- {
		members := c.Members(id)
		i := slices.IndexFunc(members, func(s uint32) bool { return g.Waiting(s)>>model.Unsettled&1 != 0 })
		if i < 0 || !c.Bad(members) {
			continue
		}
		start, states, _, err := g.Along(g.PathTo(members[i]), nil)
		if err != nil {
			return err
		}
		steps, _, err := m.Run(model.Path{Start: start, States: states})
		if err != nil {
			err = r.spurious(&p, err)
			r.add(p)
			return err
		}
		p.Verdict = Violated
		r.tell(&p, m, start, steps, len(steps), nil)
		if p.Verdict == Violated {
			p.Note = r.after(steps)
		}
		break
	}
	r.add(p)
	return nil
}
