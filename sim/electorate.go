package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// An electorate is what a world keeps for an election: whom each process
// follows, and who may lead.
//
// A round is the time between two changes of who is alive, or the
// correction of an error. An election belongs
// to the round in which it was begun, and so does everything that follows from
// it: messages and timers remember that. In each round at most one process may
// win.
type electorate struct {
	leader []core.ID     // whom each process follows, as it said last; or None
	round  int           // how often somebody has crashed or come back
	began  int           // the round in which what happens now was begun
	timers map[timer]int // the same, of what each timer belongs to
	winner core.ID       // who won in this round, or None
	news   int64         // when somebody last learnt who leads
}

func newElectorate(v core.View) *electorate {
	e := &electorate{leader: make([]core.ID, v.N), timers: map[timer]int{}, winner: core.None}
	for p := range e.leader {
		e.leader[p] = core.None
		if v.Busy {
			e.leader[p], e.winner = v.Holder, v.Holder
		}
	}
	return e
}

// changed is told that p has crashed, or has come back remembering nothing.
func (w *world) changed(p core.ID) {
	if w.elects != nil {
		w.elects.leader[p] = core.None
		w.newRound()
	}
}

// newRound begins a round. Who leads at its beginning need not win again.
func (w *world) newRound() {
	e := w.elects
	e.round++
	e.began = e.round
	e.winner = core.None
	if w.agreed() {
		e.winner = w.highest()
	}
}

// elect lets p's application notice that the leader is silent.
func (w *world) elect(p core.ID) error {
	w.elects.began = w.elects.round
	w.note(trace.Event{Kind: trace.Note, Proc: p, Name: p.String() + " holds an election"})
	return w.step(p, core.Input{Kind: core.Request})
}

// led is told whom p follows.
func (w *world) led(p, leader core.ID) {
	e := w.elects
	if e == nil {
		w.note(trace.Event{Kind: trace.Lead, Proc: p, Peer: leader})
		return
	}
	e.leader[p] = leader
	if leader == core.None {
		return
	}
	e.news = w.now
	w.note(trace.Event{Kind: trace.Lead, Proc: p, Peer: leader})
	if leader != p || e.began != e.round {
		return
	}
	if e.winner != core.None && e.winner != p {
		w.oracle.violate(Violation{scenario.OneLeader, w.now, p, e.winner})
		w.note(trace.Event{Kind: trace.Violation, Proc: p, Peer: e.winner, Name: scenario.OneLeader})
	}
	e.winner = p
}

// believe lets p be told that dead is dead, once everything that dead sent has
// arrived. This is the perfect failure detector: nobody is told of a process
// that is alive by then.
func (w *world) believe(p, dead core.ID) {
	if w.elects == nil && !w.spec.Detects || w.manual || p == dead {
		return
	}
	w.queue.pushLast(event{at: w.now + w.net.latency.Max(), proc: int32(p), arg: int32(dead), kind: believe})
}

// believed tells p, if both are what they were.
func (w *world) believed(e event) error {
	p, dead := core.ID(e.proc), core.ID(e.arg)
	if w.faults.crashed[p] || !w.faults.crashed[dead] {
		return nil
	}
	return w.suspect(p, dead)
}

// trusted tells everybody alive that p is back, and p who is dead; in steps a
// line has to tell it.
func (w *world) trusted(p core.ID) error {
	if w.elects == nil {
		return nil
	}
	for q := range w.machines {
		id := core.ID(q)
		var err error
		switch {
		case id == p || w.faults.crashed[q] && w.manual:
		case w.faults.crashed[q]:
			err = w.step(p, core.Input{Kind: core.Suspect, From: id})
		default:
			err = w.step(id, core.Input{Kind: core.Trust, From: p})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trust tells p that peer is back, which begins a round.
func (w *world) trust(p, peer core.ID) error {
	if w.elects != nil {
		w.newRound()
	}
	return w.step(p, core.Input{Kind: core.Trust, From: peer})
}

// highest returns the highest process alive, or None.
func (w *world) highest() core.ID {
	for p := w.view.N - 1; p >= 0; p-- {
		if !w.faults.crashed[p] {
			return core.ID(p)
		}
	}
	return core.None
}

// agreed reports whether everybody alive follows the highest of them.
func (w *world) agreed() bool {
	top := w.highest()
	for p, leader := range w.elects.leader {
		if !w.faults.crashed[p] && leader != top {
			return false
		}
	}
	return true
}

// disagreed judges a world in which all is quiet.
func (w *world) disagreed() {
	if top := w.highest(); top != core.None && !w.agreed() {
		w.oracle.violate(Violation{scenario.Agreement, w.now, top, core.None})
		w.note(trace.Event{Kind: trace.Violation, Proc: top, Peer: core.None, Name: scenario.Agreement})
	}
}
