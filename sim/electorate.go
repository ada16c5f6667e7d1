package sim

import (
	"bytes"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/family/elections"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// An electorate is the group of an election. What a round is and what breaks an
// election is said by package elections, in the checker too.
type electorate struct {
	*group
	news int64 // when somebody last learnt who leads
}

// elect makes the group of an election.
func (w *world) elect(spec core.Spec, v core.View) (*electorate, error) {
	g, err := w.add(spec, v, nil)
	if err != nil {
		return nil, err
	}
	e := &electorate{group: g}
	g.env, g.tagged, g.watch = elections.New(v.N), true, e
	g.env.Begin(g, v)
	return e, nil
}

// hold lets p's application notice that the leader is silent.
func (e *electorate) hold(p core.ID) {
	e.note(trace.Note, p, 0, p.String()+" holds an election")
	e.env.Do(e, family.Act{Kind: scenario.Ask, Proc: p})
}

func (e *electorate) took(p core.ID, out *core.Output) {
	for _, n := range out.Notices {
		switch {
		case n.Kind == core.Leader && n.Who != core.None:
			e.news = e.w.Now()
			e.note(trace.Lead, p, n.Who, "")
		case n.Kind == core.Victim:
			e.note(trace.Abort, p, n.Who, "")
		}
	}
}

func (e *electorate) crashed(core.ID) {}

func (e *electorate) returned(p core.ID) { e.announce(p) }

// leader returns whom all who are alive follow, the highest of them, or None.
func (e *electorate) leader() core.ID {
	top := core.None
	for p := range core.ID(e.view.N) {
		if e.env.Waits(p) {
			return core.None
		}
		if !e.w.Crashed(p) {
			top = p
		}
	}
	return top
}

// leaderless returns a process alive that follows nobody alive, or None.
func (e *electorate) leaderless() core.ID {
	first := core.None
	e.env.Acts(e, func(a family.Act) {
		if first == core.None {
			first = a.Proc
		}
	})
	return first
}

// due reports whether something is still to come that in steps a line has to
// say: that somebody notices that it follows nobody alive, or is told who is
// dead and who is not. Until then nobody knows what there will be in the end.
func (e *electorate) due() bool {
	due := false
	e.env.Acts(e, func(a family.Act) {
		due = due || e.stirs(a.Proc, core.Input{Kind: core.Request, From: core.None})
	})
	for p := range core.ID(e.view.N) {
		for q := range core.ID(e.view.N) {
			truth := core.Input{Kind: core.Trust, From: q}
			if e.Dead(q) {
				truth.Kind = core.Suspect
			}
			due = due || p != q && !e.Dead(p) && e.stirs(p, truth)
		}
	}
	return due
}

// stirs reports whether anything would come of an input.
func (g *group) stirs(seat core.ID, in core.Input) bool {
	state := g.machines[seat].AppendState(nil)
	m := g.birth(seat, g.view)
	var out core.Output
	if m.LoadState(state) != nil || m.Step(in, &out) != nil {
		return true
	}
	return len(out.Sends)+len(out.Notices) > 0 || !bytes.Equal(state, m.AppendState(nil))
}
