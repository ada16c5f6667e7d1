package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// An electorate is the applications of an election: whom each follows, and who
// may lead.
//
// A round is the time between two changes of who is alive, or the correction
// of an error. An election belongs to the round in which it was begun, and so
// does everything that follows from it: messages and timers remember that, by
// their tags. In each round at most one process may win.
type electorate struct {
	*group
	leader []core.ID   // whom each process follows, as it said last; or None
	round  kernel.Tag  // how often somebody has crashed or come back
	began  kernel.Tag  // the round in which what happens now was begun
	winner core.ID     // who won in this round, or None
	news   int64       // when somebody last learnt who leads
	found  []Violation // what is broken
}

// elect makes the group of an election.
func (w *world) elect(spec core.Spec, v core.View) (*electorate, error) {
	g, err := w.add(spec, v, nil)
	if err != nil {
		return nil, err
	}
	e := &electorate{group: g, leader: make([]core.ID, v.N), winner: core.None}
	g.apps, g.tagged = e, true
	for p := range e.leader {
		e.leader[p] = core.None
		if v.Busy {
			e.leader[p], e.winner = v.Holder, v.Holder
		}
	}
	return e, nil
}

func (e *electorate) caused(_ core.ID, t kernel.Tag) { e.began = t }
func (e *electorate) tag() kernel.Tag                { return e.began }

func (e *electorate) crashed(p core.ID) {
	e.leader[p] = core.None
	e.newRound()
}

// returned tells everybody alive that p is back, and p who is dead; in steps a
// line has to tell it.
func (e *electorate) returned(p core.ID) {
	e.crashed(p)
	for q := range e.machines {
		switch id := core.ID(q); {
		case id == p || e.w.Crashed(id) && e.w.Steps():
		case e.w.Crashed(id):
			e.step(p, core.Input{Kind: core.Suspect, From: id})
		default:
			e.step(id, core.Input{Kind: core.Trust, From: p})
		}
	}
}

// trusted: that somebody was taken for dead is put right.
func (e *electorate) trusted(core.ID, core.ID) { e.newRound() }

// newRound begins a round. Who leads at its beginning need not win again.
func (e *electorate) newRound() {
	e.round++
	e.began = e.round
	e.winner = core.None
	if e.agreed() {
		e.winner = e.highest()
	}
}

// hold lets p's application notice that the leader is silent.
func (e *electorate) hold(p core.ID) {
	e.began = e.round
	e.note(trace.Note, p, 0, p.String()+" holds an election")
	e.step(p, core.Input{Kind: core.Request})
}

func (e *electorate) took(p core.ID, _ core.Input, out *core.Output) {
	for _, n := range out.Notices {
		switch n.Kind {
		case core.Leader:
			e.led(p, n.Who)
		case core.Victim:
			e.note(trace.Abort, p, n.Who, "")
		}
	}
}

// led is told whom p follows.
func (e *electorate) led(p, leader core.ID) {
	e.leader[p] = leader
	if leader == core.None {
		return
	}
	e.news = e.w.Now()
	e.note(trace.Lead, p, leader, "")
	if leader != p || e.began != e.round {
		return
	}
	if e.winner != core.None && e.winner != p {
		e.broke(Violation{Property: scenario.OneLeader, At: e.w.Now(), Proc: p, Other: e.winner})
	}
	e.winner = p
}

func (e *electorate) broke(v Violation) {
	e.found = append(e.found, v)
	e.note(trace.Violation, v.Proc, v.Other, v.Property)
}

// highest returns the highest process alive, or None.
func (e *electorate) highest() core.ID {
	for p := core.ID(e.view.N - 1); p >= 0; p-- {
		if !e.w.Crashed(p) {
			return p
		}
	}
	return core.None
}

// agreed reports whether everybody alive follows the highest of them.
func (e *electorate) agreed() bool {
	top := e.highest()
	for p, leader := range e.leader {
		if !e.w.Crashed(core.ID(p)) && leader != top {
			return false
		}
	}
	return true
}

// ended judges a world in which all is quiet.
func (e *electorate) ended() {
	if top := e.highest(); top != core.None && !e.agreed() {
		e.broke(Violation{Property: scenario.Agreement, At: e.w.Now(), Proc: top, Other: core.None})
	}
}
