package member

import (
	"slices"

	"github.com/stile-lock/stile/core"
)

// What the home of a lock does until it lets go: it is inside from the start of
// the view, on behalf of whoever may still be by an older epoch.

// suspects returns who may be inside a lock by an older epoch.
func (e *epoch) suspects(u *use) set {
	left := e.everybody
	for i := range left {
		left[i] &= u.may[i] &^ e.over[i] & (u.held[i] | ^e.reported[i])
	}
	return left
}

// reconsider looks again at all locks that the member is the home of and that
// are wanted: somebody has reported, or is over.
func (m *Member) reconsider() {
	e := m.epoch
	for i := range e.uses {
		if u := e.uses[i]; u != nil && u.holder == nil && e.isHome(u) {
			m.settle(u)
		}
	}
	if m.frozen != nil && e.over == ghostsOf(e) && e.reported == first(e.survivors()) {
		m.frozen = nil // nobody can be asked about it any more... by this member
	}
}

func ghostsOf(e *epoch) set {
	var s set
	for i := range e.ghosts {
		s.add(e.survivors() + i)
	}
	return s
}

// serve is what the home does with a lock that nobody here is inside of.
func (m *Member) serve(u *use) {
	e := m.epoch
	if u.lendee >= 0 {
		return
	}
	wanted := u.first != nil || len(u.queue) > 0 || u.interest
	if !wanted {
		e.idle(u)
		return
	}
	if left := e.suspects(u); !left.empty() {
		m.question(u)
		if left = e.suspects(u); !left.empty() {
			return
		}
	}
	if len(u.queue) > 0 && (u.first == nil || u.queue[0].stamp.Less(u.first.stamp)) {
		m.lend(u)
		return
	}
	if u.first != nil && (!u.interest || len(u.queue) > 0 || u.handed < m.Settings.Handover) {
		m.enter(u)
		return
	}
	m.clear(u)
}

// clear lets go of a lock: from now on the algorithm alone says who is inside.
func (m *Member) clear(u *use) {
	l := &m.epoch.table.locks[u.lock]
	l.flags |= cleared
	u.handed, u.interest = 0, false
	u.held, u.queue = set{}, nil
	m.step(u, core.Input{Kind: core.Release, From: core.None})
	m.settle(u)
}

// lend lends the lock to the first of those who waited in older epochs, until
// the next of them, or somebody here, has its turn.
func (m *Member) lend(u *use) {
	e := m.epoch
	t := u.queue[0]
	u.queue = slices.Delete(u.queue, 0, 1)
	until := last
	if len(u.queue) > 0 {
		until = u.queue[0].stamp
	}
	if u.first != nil && u.first.stamp.Less(until) {
		until = u.first.stamp
	}
	u.lendee, u.handed = t.rank, 0
	m.send(t.rank, &frame{kind: lendFrame, name: string(e.table.name(u.lock)), count: e.table.locks[u.lock].count, until: until})
}

// queueUp notes that somebody elsewhere waited in an older epoch.
func (u *use) queueUp(t turn) {
	i := 0
	for i < len(u.queue) && u.queue[i].stamp.Less(t.stamp) {
		i++
	}
	u.queue = slices.Insert(u.queue, i, t)
}

// heed takes in a report of a member, which may be the own one.
func (m *Member) heed(place int, f *frame) {
	e := m.epoch
	rank := e.view.Rank(e.universe[place])
	for _, name := range f.held {
		if u := e.use(e.lock(name)); e.isHome(u) && !u.released.has(place) {
			u.held.add(place)
		}
	}
	e.reported.add(place)
	for _, x := range f.waits {
		u := e.use(e.lock(x.name))
		switch {
		case rank == e.me: // they are here
		case e.isHome(u):
			u.queueUp(turn{x.stamp, rank})
		default:
			m.send(rank, &frame{kind: doneFrame, name: x.name})
		}
	}
}

// question asks those who may know who is inside a lock, itself first.
func (m *Member) question(u *use) {
	e := m.epoch
	if u.queried {
		return
	}
	u.queried = true
	name := string(e.table.name(u.lock))
	u.may = u.may.and(m.testimony(name))
	if e.suspects(u).empty() {
		return
	}
	for _, inc := range e.universe[:e.survivors()] {
		if rank := e.view.Rank(inc); rank != e.me {
			m.send(rank, &frame{kind: queryFrame, names: []string{name}})
		}
	}
}

// testimony returns who may be inside a lock by an older epoch, as far as this
// member knows from the view before. Who was not in that view knows nothing.
func (m *Member) testimony(name string) set {
	e, f := m.epoch, m.frozen
	all := first(len(e.universe))
	if f == nil || f.view.Epoch != e.view.BeforeEpoch {
		return all
	}
	hash := hashName(name)
	if n := e.table.find(name, hash); n >= 0 {
		if b := e.table.locks[n].busy; b >= 0 && e.uses[b].holder != nil && e.uses[b].carried {
			var me set
			me.add(e.place(m.Inc))
			return me
		}
	}
	n := f.table.find(name, hash)
	var may set
	note := func(inc uint64) {
		if i := e.place(inc); i >= 0 {
			may.add(i)
		}
	}
	switch {
	case f.view.Home(hash) == f.me && (n < 0 || !f.table.locks[n].is(cleared)):
		f.bury(m.now)
		u := &use{lendee: -1, may: first(len(f.universe))}
		if n >= 0 && f.table.locks[n].busy >= 0 {
			u = f.uses[f.table.locks[n].busy]
		}
		for _, i := range f.suspects(u).list() {
			note(f.universe[i])
		}
		if u.lendee >= 0 {
			note(f.view.Members[u.lendee].Inc)
		}
		return may
	case n >= 0 && f.table.locks[n].is(cleared):
		l := &f.table.locks[n]
		machine := f.schools[l.alg].machines[f.view.seat(f.me, int(l.home))]
		if machine.LoadState(f.table.stateOf(n)) != nil {
			return all
		}
		for rank, who := range f.view.Members {
			if !machine.Alibi(f.view.seat(rank, int(l.home))) {
				note(who.Inc)
			}
		}
		return may
	}
	return all
}
