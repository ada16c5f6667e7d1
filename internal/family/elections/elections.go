// Package elections is the environment of an election: applications that notice that they
// follow no live process, and the notion of a round.
//
// A round is the time between two changes of the set of live processes: a crash, a
// return, or the correction of a failure detector's error. An election belongs to the
// round in which a process noticed or returned, and so does everything that follows from
// it: messages and timers carry that mark. At most one process may win each round. The
// leader at the beginning of a round counts as its winner.
package elections

import (
	"errors"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// fresh marks what belongs to an election begun in this round.
const fresh family.Tag = 1

// An Env is the applications of an election.
type Env struct {
	leader []algorithm.ID // leader that each process last reported, or None
	dead   []bool
	winner algorithm.ID // winner of this round, or None
	cause  family.Tag   // cause of the current step: not part of the state
}

// New returns the applications of a group of n processes.
func New(n int) *Env { return &Env{leader: make([]algorithm.ID, n), dead: make([]bool, n)} }

// New implements family.Env.
func (e *Env) New() family.Env { return New(len(e.leader)) }

// Copy implements family.Env.
func (e *Env) Copy(from family.Env) {
	o := from.(*Env)
	copy(e.leader, o.leader)
	copy(e.dead, o.dead)
	e.winner = o.winner
}

// Append implements family.Env.
func (e *Env) Append(b []byte) []byte {
	b = append(b, byte(e.winner+1))
	for p, leader := range e.leader {
		x := byte(leader + 1)
		if e.dead[p] {
			x |= 128
		}
		b = append(b, x)
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	e.winner = algorithm.ID(b[0]) - 1
	b = b[1:]
	for p := range e.leader {
		e.leader[p], e.dead[p] = algorithm.ID(b[p]&127)-1, b[p]&128 != 0
	}
	return b[len(e.leader):]
}

// Begin implements family.Env: all follow the holder of the view if it is busy, and
// otherwise no process.
func (e *Env) Begin(_ family.Host, v algorithm.View) {
	e.winner = algorithm.None
	if v.Busy {
		e.winner = v.Holder
	}
	for p := range e.leader {
		e.leader[p], e.dead[p] = e.winner, false
	}
}

// Acts implements family.Env: an application that follows no live process may notice, as
// long as that changes anything.
func (e *Env) Acts(h family.Host, yield func(a family.Act)) (first bool) {
	for p := range e.leader {
		if e.dead[p] || e.leader[p] != algorithm.None && !e.dead[e.leader[p]] {
			continue
		}
		if h.Moves(algorithm.ID(p), host.Input{Kind: host.Request, From: algorithm.None}) {
			yield(family.Act{Kind: script.Ask, Proc: algorithm.ID(p), Fair: true})
		}
	}
	return false
}

// May implements family.Env: any process may notice.
func (e *Env) May(a family.Act) error {
	if a.Kind == script.Leave {
		return errors.New("cannot leave: an election has no critical section")
	}
	return nil
}

// Do implements family.Env.
func (e *Env) Do(h family.Host, a family.Act) {
	if h.Hears() {
		h.Tell(trace.Event{Kind: trace.Note, Proc: a.Proc, Name: a.Proc.String() + " calls an election"})
	}
	h.Step(a.Proc, host.Input{Kind: host.Request, From: algorithm.None})
}

// Action implements family.Env.
func (e *Env) Action(a family.Act) script.Action {
	return script.Action{Kind: a.Kind, Proc: a.Proc}
}

// Caused implements family.Env.
func (e *Env) Caused(_ algorithm.ID, t family.Tag) { e.cause = t }

// Tag implements family.Env.
func (e *Env) Tag(algorithm.ID) family.Tag { return e.cause }

// Took implements family.Env.
func (e *Env) Took(h family.Host, p algorithm.ID, in host.Input, _ bool, notices []host.Notice) {
	switch in.Kind {
	case host.Request, host.Start:
		e.cause = fresh
	case host.Suspect, host.Trust:
		e.cause = 0
	}
	for i := range notices {
		if notices[i].Kind != host.Leader {
			continue
		}
		e.leader[p] = notices[i].Who
		if e.leader[p] != p || e.cause != fresh {
			continue
		}
		if e.winner != algorithm.None && e.winner != p {
			h.Break(OneLeader, p, e.winner)
		}
		e.winner = p
	}
}

// round begins a new round: nothing in flight was begun in it. The leader at its
// beginning need not win again.
func (e *Env) round(h family.Host) {
	e.winner = algorithm.None
	if e.agreed() {
		e.winner = e.highest()
	}
	h.Retag(func(family.Tag) family.Tag { return 0 })
}

// Crashed implements family.Env.
func (e *Env) Crashed(h family.Host, p algorithm.ID) {
	e.leader[p], e.dead[p] = algorithm.None, true
	e.round(h)
}

// Returned implements family.Env.
func (e *Env) Returned(h family.Host, p algorithm.ID) {
	e.leader[p], e.dead[p] = algorithm.None, false
	e.round(h)
}

// Trusted implements family.Env.
func (e *Env) Trusted(h family.Host, _, _ algorithm.ID) { e.round(h) }

// highest returns the highest process alive, or None.
func (e *Env) highest() algorithm.ID {
	for p := len(e.dead) - 1; p >= 0; p-- {
		if !e.dead[p] {
			return algorithm.ID(p)
		}
	}
	return algorithm.None
}

// agreed reports whether all live processes follow the highest of them.
func (e *Env) agreed() bool {
	top := e.highest()
	for p, leader := range e.leader {
		if !e.dead[p] && leader != top {
			return false
		}
	}
	return true
}

// Waits implements family.Env: a live process that does not follow the highest waits for
// agreement.
func (e *Env) Waits(p algorithm.ID) bool { return !e.dead[p] && e.leader[p] != e.highest() }

// Inside implements family.Env.
func (e *Env) Inside(algorithm.ID) bool { return false }

// Look implements family.Env.
func (e *Env) Look(family.Host) {}

// Ended implements family.Env: a process that disagrees now disagrees forever.
func (e *Env) Ended(h family.Host) {
	if !e.agreed() {
		h.Break(Agreement, e.highest(), algorithm.None)
	}
}
