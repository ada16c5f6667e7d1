package transactions

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family"
)

// Took implements family.Env. A cycle is closed by the arrival of a request,
// and opened when it is decided that somebody aborts: so these come first.
func (e *Env) Took(h family.Host, _ core.ID, _ core.Input, _ bool, notices []core.Notice) {
	for i := range notices {
		switch n := &notices[i]; {
		case n.Kind == core.Heard && e.presents(h, n):
			e.clients[n.Who].arrived = e.clients[n.Who].waits
		case n.Kind == core.Doomed && e.presents(h, n):
			e.clients[n.Who].doomed = true
		}
	}
	for i := range notices {
		n := &notices[i]
		switch n.Kind {
		case core.Granted:
			c := &e.clients[n.Who]
			c.got++
			c.waits, c.arrived, c.spared = false, false, false
		case core.Victim:
			e.victim(h, n.Who, n.Cycle)
		case core.Denied:
			e.say(h, e.Layout.Home[n.Who], "%v is refused", n.Who)
			e.abort(h, n.Who)
		}
	}
}

// presents reports whether a notice is about the present attempt of a
// transaction.
func (e *Env) presents(h family.Host, n *core.Notice) bool {
	return e.clients[n.Who].active && n.Attempt == deadlock.Attempt(h.Machine(e.Layout.Home[n.Who]), n.Who)
}

// victim judges whom a detector has told to abort, and lets it.
func (e *Env) victim(h family.Host, id core.ID, cycle []core.ID) {
	c := &e.clients[id]
	members := e.cycle(int(id))
	if len(cycle) == 0 {
		e.say(h, e.Layout.Home[id], "%v aborts", id)
	} else {
		e.say(h, e.Layout.Home[id], "%v aborts: %s", id, deadlock.Round(cycle))
		switch {
		case members == nil && !e.aborts && !e.deaths:
			h.Break(family.FalseReport, id, core.None)
		case members == nil && c.spared && !e.deaths, members != nil && int(id) != e.youngest(h, members):
			h.Break(family.OneVictim, id, core.None)
		}
	}
	for _, other := range members {
		e.clients[other].spared = other != int(id)
	}
	e.abort(h, id)
}

// abort ends the attempt of a process, which may try again.
func (e *Env) abort(h family.Host, id core.ID) {
	e.clients[id] = client{left: e.clients[id].left, active: true}
	e.aborts = true
	h.Step(e.Layout.Home[id], core.Input{Kind: core.Abort, From: id})
}

// youngest returns the member that began last, by the stamps at their homes.
func (e *Env) youngest(h family.Host, members []int) int {
	best, last := -1, core.Time{}
	for _, i := range members {
		stamp := deadlock.Stamp(h.Machine(e.Layout.Home[i]), core.ID(i))
		if best < 0 || stamp.After(last) || stamp == last && i > best {
			best, last = i, stamp
		}
	}
	return best
}

// has reports whether a client has a lock.
func (e *Env) has(i, k int) bool {
	c := &e.clients[i]
	return c.active && slices.Contains(e.Programs[i][:c.got], k)
}

// holder returns who has a lock, or -1.
func (e *Env) holder(k int) int {
	for i := range e.clients {
		if e.has(i, k) {
			return i
		}
	}
	return -1
}

// next returns for whom a client waits, or -1. Who is doomed waits for nobody,
// and is waited for by nobody in vain.
func (e *Env) next(i int) int {
	c := &e.clients[i]
	if !c.waits || !c.arrived || c.doomed {
		return -1
	}
	h := e.holder(e.Programs[i][c.got])
	if h >= 0 && e.clients[h].doomed {
		return -1
	}
	return h
}

// cycle returns the cycle that a client is part of, or nil.
func (e *Env) cycle(i int) []int {
	members := []int{i}
	for at := e.next(i); at >= 0 && len(members) <= len(e.clients); at = e.next(at) {
		if at == i {
			return members
		}
		members = append(members, at)
	}
	return nil
}

// Look implements family.Env: no lock has two holders, and where a method
// prevents deadlocks or avoids them there is never a cycle.
func (e *Env) Look(h family.Host) {
	for k := range e.Layout.At {
		if first := e.holder(k); first >= 0 {
			for i := first + 1; i < len(e.clients); i++ {
				if e.has(i, k) {
					h.Break(family.MutualExclusion, core.ID(i), core.ID(first))
				}
			}
		}
	}
	if e.Method.Family == deadlock.Detection {
		return
	}
	for i := range e.clients {
		if e.cycle(i) != nil {
			h.Break(family.Cycle, core.ID(i), core.None)
		}
	}
}

// Ended implements family.Env: who waits now waits for ever.
func (e *Env) Ended(h family.Host) {
	for i := range e.clients {
		if e.clients[i].waits {
			h.Break(family.Deadlock, core.ID(i), core.None)
		}
	}
}
