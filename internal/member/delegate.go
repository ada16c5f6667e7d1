package member

import (
	"errors"
	"fmt"
)

// Delegation. A member may grant a lock to a client together with a block of counts. Until
// the member recalls it, the client's applications enter and leave without a message; each
// entry takes the next count of the block. For all other processes the lock is held by that
// client: it is reported, lost, claimed and released as every other hold is.
//
// A lock is delegated only if nothing has been heard of it since the last hold here ended.
// Then no other process waits for it, and the next process that wants it sends a frame here, at which
// it is recalled. The client answers a recall with Return, if no application is inside, or
// with Keep, which makes it an ordinary hold.
//
// While the block is out, frames carry the count from before it. Its counts are used up, however
// it ends: the client has a proof that it was granted all of them, so no later entry may have
// one. Return and Keep name the count of the last entry.

// A block is what a client has of a lock that is delegated to it.
type block struct {
	last     uint64  // the last count
	recalled bool    // the client was asked to return it
	probes   []probe // tries of other members, which wait for the answer
	tries    int     // tries here that wait for the answer
	end      due     // when they wait no longer
}

// A probe is a try of another member.
type probe struct {
	rank int
	try  uint64
}

const (
	// recallWait is how long a try waits for the answer to a recall.
	recallWait = 50 * Millisecond

	// fullCount is the count at which a new view is requested, in which counts begin anew.
	fullCount = 1 << 30
)

// ErrCount is the error for a count outside of the block that was delegated.
var ErrCount = errors.New("the count is not in the delegated block")

// delegate returns the block with which a request may enter next; nil if it enters once.
func (m *Member) delegate(u *use, w *waiter) *block {
	l := m.epoch.table.lock(u.lock)
	if w.block == 0 || !l.is(silent) || u.first != nil || u.lent {
		return nil
	}
	b := &block{last: l.count + w.block}
	b.end.block = u
	return b
}

// Return ends the delegation of a lock, with the count of the last entry. The client no
// longer holds it.
func (m *Member) Return(now Instant, name string, t Token, last uint64) error {
	m.begin(now)
	defer m.end()
	u, err := m.delegated(name, t, last)
	if err != nil {
		return err
	}
	m.leave(u)
	return nil
}

// Keep ends the delegation of a lock that is in use, with the count of the present entry. It
// is an ordinary hold from now on, with that token.
func (m *Member) Keep(now Instant, name string, t Token, count uint64) (Token, error) {
	m.begin(now)
	defer m.end()
	u, err := m.delegated(name, t, count)
	if err != nil {
		return Token{}, err
	}
	b := u.block
	u.token.Count = count
	m.undelegate(u)
	m.busy(u, b)
	return u.token, nil
}

// delegated returns the use of a lock that was delegated with a token and a block that
// contains a count.
func (m *Member) delegated(name string, t Token, count uint64) (*use, error) {
	u := m.takenWith(name, t)
	if u == nil || u.lapsed || u.block == nil {
		return nil, ErrNotHeld
	}
	if count < t.Count || count > u.block.last {
		return nil, fmt.Errorf("%w: got %d, want %d to %d", ErrCount, count, t.Count, u.block.last)
	}
	return u, nil
}

// undelegate ends a block, whose counts are used up.
func (m *Member) undelegate(u *use) {
	b := u.block
	if u.block = nil; b == nil {
		return
	}
	m.schedule.remove(&b.end)
	if !u.carried { // otherwise the block is of an older epoch
		l := m.epoch.table.lock(u.lock)
		l.count = b.last
		m.epoch.full = m.epoch.full || l.count >= fullCount
	}
}

// recall notes that a frame about a lock has come or that a request waits here, and recalls
// the lock if it is delegated.
func (m *Member) recall(n int32) {
	m.epoch.table.lock(n).flags &^= silent
	if u := m.epoch.found(n); u != nil {
		m.recallUse(u)
	}
}

func (m *Member) recallUse(u *use) {
	if u.block == nil || u.block.recalled || u.lapsed {
		return
	}
	u.block.recalled = true
	m.Out.Events = append(m.Out.Events, Event{Ticket: u.holder.ticket, Kind: Wanted, Token: u.token})
}

// awaitRecall lets a try wait for the answer to a recall, and reports whether there is one to
// wait for.
func (m *Member) awaitRecall(u *use) bool {
	if u.block == nil || u.lapsed || u.carried {
		return false
	}
	if m.recallUse(u); u.block.end.place == 0 {
		m.schedule.put(&u.block.end, m.now+Instant(recallWait))
	}
	return true
}

// overdue handles a recall that the client has not answered in time for tries.
func (m *Member) overdue(u *use) {
	b := u.block
	m.schedule.remove(&b.end)
	m.busy(u, b)
}

// busy refuses the tries that wait for the answer to a recall: the lock is in use.
func (m *Member) busy(u *use, b *block) {
	for _, p := range b.probes {
		m.send(p.rank, &frame{kind: busyFrame, name: m.epoch.table.name(u.lock), try: p.try})
	}
	b.probes, b.tries = nil, 0
	for w := u.first; w != nil; {
		next := w.next
		if w.try {
			m.refuse(w, Busy)
		}
		w = next
	}
}

// settleTries answers the tries that have waited for the end of a delegation.
func (m *Member) settleTries(n int32, b *block) {
	for _, p := range b.probes {
		m.probed(p.rank, &frame{name: m.epoch.table.name(n), try: p.try})
	}
	if b.tries == 0 {
		return
	}
	var all []Ticket
	if u := m.epoch.found(n); u != nil {
		for w := u.first; w != nil; w = w.next {
			if w.try {
				all = append(all, w.ticket)
			}
		}
	}
	for _, t := range all {
		if w := m.waiter(t); w != nil && w.at.holder != w {
			m.probe(w)
		}
	}
}
