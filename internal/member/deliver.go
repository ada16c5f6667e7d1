package member

import (
	"fmt"

	"github.com/stile-lock/stile/core"
)

// Deliver hands over a frame that came from a member over the link of this
// epoch. An error means that the sender is broken: the link is to be ended, and
// complained about.
func (m *Member) Deliver(now Instant, from uint64, b []byte) error {
	m.begin(now)
	defer m.end()
	e := m.epoch
	rank := e.view.Rank(from)
	if rank < 0 || rank == e.me {
		return fmt.Errorf("%w: from incarnation %d, which is no other member of epoch %d", errFrame, from, e.view.Epoch)
	}
	f := &m.frame
	if err := f.parse(b); err != nil {
		return err
	}
	m.clock = max(m.clock, f.clock)
	switch f.kind {
	case reportFrame:
		place := e.place(from)
		if place < 0 || e.reported.has(place) {
			return fmt.Errorf("%w: a report that nobody has to make", errFrame)
		}
		m.heed(place, f)
		m.reconsider()
		return nil
	case queryFrame:
		m.answer(rank, f.names)
		return nil
	case answerFrame:
		m.heard(f.may)
		return nil
	}
	if err := checkName(f.name); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	return m.about(rank, f)
}

// about takes in a frame about one lock.
func (m *Member) about(rank int, f *frame) error {
	e := m.epoch
	u := e.use(e.lock(f.name))
	l := &e.table.locks[u.lock]
	home := int(l.home) == rank
	switch f.kind {
	case algFrame:
		if f.cleared {
			l.flags |= cleared
		}
		l.count = max(l.count, f.count)
		u.interest = true
		if err := m.step(u, core.Input{Kind: core.Receive, From: e.view.seat(rank, int(l.home)), Bytes: f.bytes}); err != nil {
			return err
		}
	case touchFrame:
		u.interest = true
	case releasedFrame:
		if place := e.place(e.view.Members[rank].Inc); place >= 0 {
			u.held.drop(place)
			u.released.add(place)
		}
	case lendFrame:
		if !home {
			return fmt.Errorf("%w: a lock is lent by one that is not its home", errFrame)
		}
		l.count = max(l.count, f.count)
		u.lent, u.until = true, f.until
	case returnFrame:
		if u.lendee != rank {
			return fmt.Errorf("%w: a lock is given back that was not lent", errFrame)
		}
		l.count = max(l.count, f.count)
		if u.lendee = -1; f.next != (Stamp{}) {
			u.queueUp(turn{f.next, rank})
		}
	case probeFrame:
		m.probed(u, rank, f.try)
	case busyFrame:
		m.busy(f)
		u = e.use(u.lock) // it may have been given back
	case doneFrame:
		if !home {
			return fmt.Errorf("%w: a lock is let go of by one that is not its home", errFrame)
		}
		u.back = false
	}
	m.settle(u)
	return nil
}

// answer says who may be inside some locks.
func (m *Member) answer(rank int, names []string) {
	f := frame{kind: answerFrame}
	for _, name := range names {
		f.may = append(f.may, mayBe{name, m.testimony(name)})
	}
	m.send(rank, &f)
}

// heard takes in what others know.
func (m *Member) heard(all []mayBe) {
	e := m.epoch
	for _, x := range all {
		u := e.use(e.lock(x.name))
		u.may = u.may.and(x.who)
		m.settle(u)
	}
}
