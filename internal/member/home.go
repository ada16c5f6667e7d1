package member

import (
	"fmt"
	"slices"
)

// What the home of a lock does until it releases it. It is inside from the start of the
// view, on behalf of the processes that may still be inside by an older epoch.

// suspects returns the processes that may be inside a lock by an older epoch.
func (m *Member) suspects(e *epoch, u *use) set {
	left := e.everybody
	for i := range left { // no witness strikes out a member that has itself reported the lock
		left[i] &= ^e.over[i] & (u.held[i] | u.may[i] & ^e.reported[i])
	}
	return left
}

// vacant reports whether no process may be inside a lock by an older epoch.
func (m *Member) vacant(u *use) bool {
	return (u.claims == nil || u.claims.by == 0) && m.suspects(m.epoch, u).empty()
}

// reconsider visits all wanted locks whose home is here, because a member has reported
// or a ghost's lease has expired.
func (m *Member) reconsider() {
	e := m.epoch
	for i := range e.uses {
		if u := e.uses[i]; u != nil && e.isHome(e.table.lock(u.lock)) {
			m.settle(u)
		}
	}
	if m.frozen != nil && e.settled() {
		m.frozen = nil // its testimony would no longer help any member
	}
}

// serve is what the home does with a lock that no process here is inside.
func (m *Member) serve(u *use) {
	if u.lendee >= 0 {
		return
	}
	if u.first == nil && len(u.queue) == 0 && !u.interest && (u.claims == nil || len(u.claims.asked) == 0) {
		m.idle(u)
		return
	}
	if !m.vacant(u) {
		if m.question(u); !m.vacant(u) {
			return
		}
	}
	switch {
	case len(u.queue) > 0 && (u.first == nil || u.queue[0].stamp.Less(u.first.stamp)):
		m.lend(u)
	case u.first != nil && m.mayGoOn(u):
		m.enter(u)
	default:
		m.clear(u)
	}
}

// mayGoOn reports whether the next waiter here enters before the home releases the
// lock: if no other member wants it, if the waiter is from an older epoch and it is its
// turn, and up to the bound.
func (m *Member) mayGoOn(u *use) bool {
	return !u.interest || len(u.queue) > 0 || u.first.stamp.Epoch < m.epoch.view.Epoch || m.bounded(u)
}

// clear releases a lock: from now on only the algorithm decides which
// process is inside.
func (m *Member) clear(u *use) {
	m.epoch.table.lock(u.lock).flags |= cleared
	m.used(u.lock, MarkCleared, nil, Token{}, "")
	u.handed, u.interest, u.back = 0, false, false
	u.held, u.queue = set{}, u.queue[:0]
	delete(m.epoch.newest, u.lock) // claims are refused from now on
	m.release(u)
}

// lend lends the lock to the first member with waiters from older epochs, until it is
// the turn of the next such member, or of a waiter here.
func (m *Member) lend(u *use) {
	e := m.epoch
	t := u.queue[0]
	u.queue = slices.Delete(u.queue, 0, 1)
	until := lastStamp()
	if len(u.queue) > 0 {
		until = u.queue[0].stamp
	}
	if u.first != nil && u.first.stamp.Less(until) {
		until = u.first.stamp
	}
	u.lendee, u.handed = t.rank, 0
	e.table.lock(u.lock).flags |= opened
	m.send(t.rank, &frame{kind: lendFrame, name: e.table.name(u.lock), count: e.table.lock(u.lock).count, until: until})
}

// queueUp notes that another member has a waiter from an older epoch.
func (u *use) queueUp(t turn) {
	i := 0
	for i < len(u.queue) && u.queue[i].stamp.Less(t.stamp) {
		i++
	}
	u.queue = slices.Insert(u.queue, i, t)
}

// heed handles one part of a report.
func (m *Member) heed(place int, f *frame) error {
	e := m.epoch
	inc := e.universe[place]
	rank := e.view.Rank(inc)
	for _, x := range f.held {
		n, err := m.homed(x.name)
		switch {
		case err != nil:
			return err
		case x.token.IsNone() || x.token.Epoch >= e.view.Epoch || x.last < x.token.Count:
			return fmt.Errorf("%w: REPORT: the token %v of %q is not from an earlier epoch, or has no last count", errUnexpected, x.token, x.name)
		case !e.isHome(e.table.lock(n)):
			return fmt.Errorf("%w: REPORT: incarnation %d holds %q, which its home has released: mutual exclusion is violated", errUnexpected, inc, x.name)
		}
		e.use(n).held.add(place)
		e.note(n, x.olderHold)
	}
	for _, x := range f.waits {
		n, err := m.homed(x.name)
		switch {
		case err != nil:
			return err
		case x.stamp.Inc != inc || x.stamp.Epoch >= e.view.Epoch:
			return fmt.Errorf("%w: REPORT: the stamp of a waiter for %q is not the sender's, or not from an earlier epoch", errUnexpected, x.name)
		case e.isHome(e.table.lock(n)):
			e.use(n).queueUp(turn{x.stamp, rank})
		default:
			m.send(rank, &frame{kind: doneFrame, name: []byte(x.name)})
		}
	}
	if err := m.heedKept(place, rank, f.kept); err != nil {
		return err
	}
	if !f.more {
		e.reported.add(place)
		m.clearedOf(place)
	}
	return nil
}

// homed returns the number of a lock whose home must be here.
func (m *Member) homed(name string) (int32, error) {
	if err := CheckName(name); err != nil {
		return 0, fmt.Errorf("%w: REPORT: %w", errFrame, err)
	}
	n := lockOf(m.epoch, name)
	if int(m.epoch.table.lock(n).home) != m.epoch.me {
		return 0, fmt.Errorf("%w: REPORT about %q, which has another home", errUnexpected, name)
	}
	m.recall(n)
	return n, nil
}

// question asks the members that may know which processes are inside a lock, itself
// first.
func (m *Member) question(u *use) {
	if u.queried {
		return
	}
	u.queried = true
	u.may = u.may.and(m.testimony(string(m.epoch.table.name(u.lock))))
	if !m.suspects(m.epoch, u).empty() {
		m.epoch.ask(u)
	}
}
