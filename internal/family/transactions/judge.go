package transactions

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
)

// Took implements family.Env. The arrival of a request closes a cycle, and the decision
// that a transaction aborts opens it, so these come first.
func (e *Env) Took(h family.Host, site algorithm.ID, in host.Input, _ bool, notices []host.Notice) {
	heard := false
	for i := range notices {
		switch n := &notices[i]; {
		case n.Kind == host.Heard && e.presents(h, n):
			e.arrives(n.Who)
			if heard = true; e.exact {
				e.jam(n.Who)
			}
		case n.Kind == host.Doomed && e.presents(h, n):
			e.change(n.Who, func(c *client) { c.doomed = true })
		}
	}
	for i := range notices {
		switch n := &notices[i]; n.Kind {
		case host.Granted:
			e.granted(h, n.Who)
		case host.Victim:
			e.victim(h, n.Who, n.Cycle, in.Kind == host.Suspect)
		case host.Denied:
			if h.Hears() {
				e.say(h, e.Layout.Home[n.Who], "%v is denied", n.Who)
			}
			e.abort(h, n.Who)
		case host.Leader:
			if h.Hears() {
				e.say(h, site, "the coordinator is now site %d", n.Who+1)
			}
		}
	}
	for i := 0; heard && e.watch != nil && i < len(notices); i++ {
		if n := &notices[i]; n.Kind == host.Heard && e.lasts(h, n) {
			e.watch.Arrived(n.Who)
		}
	}
}

// presents reports whether a notice is about the current attempt of a transaction.
// Between two attempts there is none: a notice that arrives then is about the previous
// one.
func (e *Env) presents(h family.Host, n *host.Notice) bool {
	c := &e.clients[n.Who]
	return (c.waits || c.got > 0) && e.lasts(h, n)
}

// lasts reports whether a notice is about the last attempt of a transaction in progress.
func (e *Env) lasts(h family.Host, n *host.Notice) bool {
	return e.clients[n.Who].active && n.Attempt == deadlock.AttemptOf(h.Machine(e.Layout.Home[n.Who]), n.Who)
}

// granted gives a process the lock that it waits for.
func (e *Env) granted(h family.Host, p algorithm.ID) {
	c := &e.clients[p]
	if !c.waits {
		h.Break(family.UnaskedGrant, p, algorithm.None)
		return
	}
	k := c.program[c.got]
	if !e.fits(p) {
		h.Break(family.MutualExclusion, p, algorithm.ID(e.holders[k][0]))
	}
	e.change(p, func(c *client) {
		e.holders[k] = append(e.holders[k], int32(p))
		e.unwait(p)
		c.got++
	})
	if e.watch != nil {
		e.watch.Got(p, k)
	}
}

// victim judges a method's choice of a process to abort, and aborts it.
func (e *Env) victim(h family.Host, p algorithm.ID, cycle []algorithm.ID, burying bool) {
	if !e.clients[p].active {
		h.Break(family.IdleVictim, p, algorithm.None)
		return
	}
	wrong := e.judge(h, p, cycle)
	switch {
	case e.watch != nil:
		e.watch.Told(p, cycle, wrong, burying)
	case wrong != "":
		h.Break(wrong, p, algorithm.None)
	}
	switch {
	case !h.Hears():
	case len(cycle) > 0:
		e.say(h, e.Layout.Home[p], "%v aborts: %s", p, deadlock.Round(cycle))
	default:
		e.say(h, e.Layout.Home[p], "%v aborts", p)
	}
	e.abort(h, p)
}

// judge returns the property that is violated by telling a process to abort, or nothing.
func (e *Env) judge(h family.Host, p algorithm.ID, cycle []algorithm.ID) string {
	members := e.Cycle(p)
	for _, m := range members {
		e.clients[m].spared = m != p || e.clients[m].spared
	}
	switch {
	case len(cycle) == 0:
	case e.exact && !e.clients[p].jammed, !e.exact && members == nil && !e.aborts && !e.deaths:
		return family.FalseReport
	case e.shared: // a process may be in several deadlocks
		if e.stands(cycle) && p != e.Youngest(h, cycle) {
			return family.OneVictim
		}
	case members == nil && e.clients[p].spared && !e.deaths, members != nil && p != e.Youngest(h, members):
		return family.OneVictim
	}
	return ""
}

// abort ends the attempt of a process, which may try again.
func (e *Env) abort(h family.Host, p algorithm.ID) {
	if e.watch != nil {
		e.watch.Aborts(p)
	}
	e.free(p)
	e.aborts = true
	h.Step(e.Layout.Home[p], host.Input{Kind: host.Abort, From: p})
	if e.watch != nil {
		e.watch.Aborted(p)
	}
}

// Youngest returns the member of a cycle that began last, by the stamps at their home
// sites.
func (e *Env) Youngest(h family.Host, members []algorithm.ID) algorithm.ID {
	best, last := algorithm.None, algorithm.Time{}
	for _, p := range members {
		stamp := deadlock.Stamp(h.Machine(e.Layout.Home[p]), p)
		if best == algorithm.None || stamp.After(last) || stamp == last && p > best {
			best, last = p, stamp
		}
	}
	return best
}

// arrives records that the request of a process has arrived at its lock.
func (e *Env) arrives(p algorithm.ID) {
	e.change(p, func(c *client) { c.arrived = c.waits })
	if c := &e.clients[p]; e.shared && c.waits {
		k := c.program[c.got]
		e.queues[k] = append(without(e.queues[k], p), int32(p))
	}
}

// jam marks the processes that are in a deadlock, now that the request of p has arrived.
// Nothing else brings one about: where locks have one holder each, p is part of it.
func (e *Env) jam(p algorithm.ID) {
	if !e.shared {
		for _, m := range e.Cycle(p) {
			e.clients[m].jammed = true
		}
		return
	}
	all := e.waits()
	for i := range e.clients {
		if !e.clients[i].jammed && deadlock.Jammed(all, i) != nil {
			e.clients[i].jammed = true
		}
	}
}

// fits reports whether the lock that a process waits for has room for it.
func (e *Env) fits(p algorithm.ID) bool {
	c := &e.clients[p]
	k := c.program[c.got]
	n, whole := c.mode(c.got).Of(e.Layout.UnitsOf(k))
	for _, h := range e.holders[k] {
		if h != int32(p) {
			n += e.amount(h, k)
		}
	}
	return n <= whole
}

// amount returns how much of a lock a process has, or waits for.
func (e *Env) amount(p int32, k int) int {
	c := &e.clients[p]
	n, _ := c.mode(slices.Index(c.program, k)).Of(e.Layout.UnitsOf(k))
	return n
}

// arcs appends those for which a process waits. A doomed process waits for no other, and
// no process waits for it in vain. Where locks have several holders, a process also waits
// for those that have asked before it, if locks are granted in that order.
func (e *Env) arcs(all []deadlock.Arc, p algorithm.ID) []deadlock.Arc {
	c := &e.clients[p]
	if !c.waits || !c.arrived || c.doomed {
		return all
	}
	k := c.program[c.got]
	units, fits := e.Layout.UnitsOf(k), e.fits(p)
	add := func(to int32) {
		if e.clients[to].doomed || to == int32(p) {
			return
		}
		a := deadlock.Arc{From: deadlock.Attempt{Tx: int(p)}, To: deadlock.Attempt{Tx: int(to)}, Lock: k, Units: 1}
		if units > 1 {
			n, whole := c.mode(c.got).Of(units)
			a.Units, a.Spare = e.amount(to, k), whole-n
		}
		all = append(all, a)
	}
	for _, h := range e.holders[k] {
		if !fits || units > 1 {
			add(h)
		}
	}
	if prevents := e.Method.Family == deadlock.Prevent && !e.Method.Sorted; !e.shared || prevents || !fits && units < 2 {
		return all
	}
	for _, q := range e.queues[k] {
		if q == int32(p) {
			break
		}
		if o := &e.clients[q]; units > 1 || c.mode(c.got) != deadlock.Shared || o.mode(o.got) != deadlock.Shared {
			add(q)
		}
	}
	return all
}

// waits returns the wait-for graph.
func (e *Env) waits() []deadlock.Arc {
	var all []deadlock.Arc
	for p := range algorithm.ID(len(e.clients)) {
		all = e.arcs(all, p)
	}
	return all
}

// Next returns the processes that p waits for.
func (e *Env) Next(p algorithm.ID) []algorithm.ID {
	var all []algorithm.ID
	for _, a := range e.arcs(nil, p) {
		all = append(all, algorithm.ID(a.To.Tx))
	}
	return all
}

// stands reports whether each of these waits for the next.
func (e *Env) stands(cycle []algorithm.ID) bool {
	for i, p := range cycle {
		if !slices.Contains(e.Next(p), cycle[(i+1)%len(cycle)]) {
			return false
		}
	}
	return true
}

// only returns the one process that p waits for where locks have one holder, or None.
func (e *Env) only(p algorithm.ID) algorithm.ID {
	c := &e.clients[p]
	if !c.waits || !c.arrived || c.doomed {
		return algorithm.None
	}
	h := e.holders[c.program[c.got]]
	if len(h) == 0 || e.clients[h[0]].doomed {
		return algorithm.None
	}
	return algorithm.ID(h[0])
}

// Cycle returns a cycle that a process is part of, beginning with it, or nil.
func (e *Env) Cycle(p algorithm.ID) []algorithm.ID {
	if e.shared {
		return deadlock.Jammed(e.waits(), int(p))
	}
	at, n := e.only(p), 1
	for ; at != p; n++ {
		if at == algorithm.None || n > len(e.clients) {
			return nil
		}
		at = e.only(at)
	}
	members := make([]algorithm.ID, 0, n)
	for len(members) < n {
		members = append(members, at)
		at = e.only(at)
	}
	return members
}

// Look implements family.Env: if a method prevents or avoids deadlocks, there is never a
// cycle.
func (e *Env) Look(h family.Host) {
	if e.Method.Family == deadlock.Detection {
		return
	}
	for i := range e.clients {
		if e.Cycle(algorithm.ID(i)) != nil {
			h.Break(family.Cycle, algorithm.ID(i), algorithm.None)
		}
	}
}

// Ended implements family.Env: a process that waits now waits forever.
func (e *Env) Ended(h family.Host) {
	for i := range e.clients {
		if e.clients[i].waits {
			h.Break(family.Deadlock, algorithm.ID(i), algorithm.None)
		}
	}
}
