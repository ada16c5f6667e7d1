package locks

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// Acts implements family.Env. An application that has been told something asks next, or
// is told more: see talk.
func (e *Env) Acts(h family.Host, yield func(a family.Act)) (first bool) {
	if e.Talk {
		for p := range e.procs {
			if e.procs[p].is(told) {
				yield(family.Act{Kind: script.Ask, Proc: algorithm.ID(p)})
				e.talk(h, algorithm.ID(p), yield)
				return true
			}
		}
	}
	for i := range e.procs {
		p := algorithm.ID(i)
		me := &e.procs[i]
		switch {
		case me.is(inside):
			yield(family.Act{Kind: script.Leave, Proc: p, Fair: true})
		case e.mayAsk(p) && !h.Dead(p):
			yield(family.Act{Kind: script.Ask, Proc: p})
		}
		if me.is(start) {
			yield(family.Act{Kind: script.Start, Proc: p, Fair: true})
		}
	}
	if e.Talk {
		for q := range e.procs {
			if e.mayAsk(algorithm.ID(q)) {
				e.talk(h, algorithm.ID(q), yield)
			}
		}
	}
	return false
}

// mayAsk reports whether p is free to ask.
func (e *Env) mayAsk(p algorithm.ID) bool {
	me := &e.procs[p]
	return !me.is(phase) && e.index[p] >= 0 && (e.Requests == 0 || me.left > 0)
}

// talk lets applications talk to q: an instant message that carries the clock. What q is
// told matters when q asks. A waiting application knows of its own request until it
// enters, so it can tell directly, and as late as that. Applications therefore need to
// talk only right before a request, and nothing else happens in between. The tests
// compare this with applications that talk at any time.
func (e *Env) talk(h family.Host, q algorithm.ID, yield func(a family.Act)) {
	for p := range e.procs {
		if e.procs[p].knows&^e.procs[q].knows != 0 && !h.Dead(algorithm.ID(p)) && !h.Dead(q) {
			yield(family.Act{Kind: script.Tell, Proc: algorithm.ID(p), Peer: q})
		}
	}
}

// May implements family.Env: an idle application may ask, and one inside may leave.
func (e *Env) May(a family.Act) error {
	now := e.Phase(a.Proc)
	is := [...]string{script.Idle: "is idle", script.Waits: "waits", script.Inside: "is inside"}[now]
	switch {
	case a.Kind == script.Ask && now != script.Idle:
		return fmt.Errorf("cannot ask: it %s", is)
	case a.Kind == script.Leave && now != script.Inside:
		return fmt.Errorf("cannot leave: it %s", is)
	}
	return nil
}

// Phase returns what an application is doing.
func (e *Env) Phase(p algorithm.ID) script.Phase {
	switch me := &e.procs[p]; {
	case me.is(inside):
		return script.Inside
	case me.is(waits):
		return script.Waits
	}
	return script.Idle
}

// Do implements family.Env.
func (e *Env) Do(h family.Host, a family.Act) {
	me := &e.procs[a.Proc]
	switch a.Kind {
	case script.Ask:
		me.set(told, false)
		e.put(me, waits)
		if e.Requests > 0 {
			me.left--
		}
		if e.Order {
			me.ahead = me.knows
			if i := e.index[a.Proc]; i >= 0 {
				me.knows |= 1 << i
			}
		}
		tell(h, trace.Ask, a.Proc)
		h.Step(a.Proc, host.Input{Kind: host.Request, From: algorithm.None})
	case script.Leave:
		e.put(me, 0)
		tell(h, trace.Exit, a.Proc)
		h.Step(a.Proc, host.Input{Kind: host.Release, From: algorithm.None})
	case script.Start:
		me.set(start, false)
		h.Step(a.Proc, host.Input{Kind: host.Start, From: algorithm.None})
	case script.Tell:
		you := &e.procs[a.Peer]
		you.knows |= me.knows
		you.set(told, true)
		h.Step(a.Peer, host.Input{Kind: host.Hear, From: algorithm.None, Time: h.ClockOf(a.Proc)})
	}
}

// Caused implements family.Env: the receiver of a message knows what its sender knew.
func (e *Env) Caused(p algorithm.ID, t family.Tag) {
	if t != 0 {
		me := &e.procs[p]
		me.knows |= uint16(t)
		if t&seenTag != 0 {
			me.set(seen, true)
		}
	}
}

// Tag implements family.Env.
func (e *Env) Tag(p algorithm.ID) family.Tag {
	me := &e.procs[p]
	t := family.Tag(me.knows)
	if me.is(seen) {
		t |= seenTag
	}
	return t
}

// Knows reports whether p knows all that a tag says. What a tag says is forgotten
// everywhere at once, so p knows it as long as the tag says it.
func (e *Env) Knows(p algorithm.ID, t family.Tag) bool { return t&^e.Tag(p) == 0 }

// Took implements family.Env.
func (e *Env) Took(h family.Host, p algorithm.ID, _ host.Input, entered bool, notices []host.Notice) {
	for i := range notices {
		if notices[i].Kind == host.Denied {
			e.put(&e.procs[p], 0)
			e.forget(h, p)
			tell(h, trace.Deny, p)
		}
	}
	if entered {
		e.enter(h, p)
	}
}

// enter lets p in.
func (e *Env) enter(h family.Host, p algorithm.ID) {
	me := &e.procs[p]
	tell(h, trace.Enter, p)
	if !me.is(waits) {
		h.Break(family.UnaskedEntry, p, algorithm.None)
	}
	e.put(me, inside)
	if e.nIn > 1 {
		h.Break(family.MutualExclusion, p, e.other(p))
	}
	if e.Fence {
		if !me.is(seen) {
			h.Break(family.Fence, p, algorithm.None)
		}
		for q := range e.procs {
			e.procs[q].set(seen, algorithm.ID(q) == p)
		}
		h.Retag(func(t family.Tag) family.Tag { return t &^ seenTag })
	}
	if e.Order {
		if me.ahead != 0 {
			h.Break(family.Order, p, e.first(me.ahead))
		}
		e.forget(h, p)
	}
}

// other returns another process that is inside.
func (e *Env) other(p algorithm.ID) algorithm.ID {
	for q := range e.procs {
		if e.procs[q].is(inside) && algorithm.ID(q) != p {
			return algorithm.ID(q)
		}
	}
	return algorithm.None
}

// first returns one of the processes in a set of requests.
func (e *Env) first(set uint16) algorithm.ID {
	for p, i := range e.index {
		if i >= 0 && set>>i&1 == 1 {
			return algorithm.ID(p)
		}
	}
	return algorithm.None
}

// forget removes p's request from what others know, because p no longer waits.
func (e *Env) forget(h family.Host, p algorithm.ID) {
	if !e.Order || e.index[p] < 0 {
		return
	}
	bit := uint16(1) << e.index[p]
	for q := range e.procs {
		e.procs[q].knows &^= bit
		e.procs[q].ahead &^= bit
	}
	e.procs[p].ahead = 0
	h.Retag(func(t family.Tag) family.Tag { return t &^ family.Tag(bit) })
}

// tell records what an application does, if the host records.
func tell(h family.Host, kind trace.Kind, p algorithm.ID) {
	if h.Hears() {
		h.Tell(trace.Event{Kind: kind, Proc: p})
	}
}
