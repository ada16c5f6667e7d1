package member

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
)

// Deliver handles a frame that arrived from a member over the link of this epoch. It
// ignores an unknown frame of an optional kind. After an error the host must end the
// link: the sender is broken, or runs a version that this one cannot talk to.
func (m *Member) Deliver(now Instant, from uint64, b []byte) error {
	m.begin(now)
	defer m.end()
	e := m.epoch
	if e == nil {
		return fmt.Errorf("%w: no view is installed yet", errUnexpected)
	}
	if m.ghost {
		return nil // evicted: the frame no longer matters
	}
	rank := e.view.Rank(from)
	if rank < 0 || rank == e.me {
		return fmt.Errorf("%w: incarnation %d, which sent it, is not another member of epoch %d", errUnexpected, from, e.view.Epoch)
	}
	e.came[rank]++
	f := &m.frame
	if err := f.parse(b); err != nil {
		if errors.Is(err, errOptional) {
			return nil
		}
		return err
	}
	m.clock = max(m.clock, f.clock)
	if len(m.trails) > 0 {
		m.framed(rank, f, false)
	}
	switch f.kind {
	case reportFrame:
		return m.report(e.place(from), f)
	case queryFrame:
		return m.answer(rank, f.names)
	case answerFrame:
		return m.heard(f.may)
	case probeFrame:
		m.probed(rank, f)
		return nil
	case busyFrame, freeFrame:
		m.answered(f)
		return nil
	}
	if !f.kind.named() {
		return m.aboutTx(rank, f)
	}
	n := find(&e.table, f.name, hashName(f.name))
	if n < 0 {
		if err := CheckName(string(f.name)); err != nil {
			return fmt.Errorf("%w: %v: %w", errFrame, f.kind, err)
		}
		n = lockOf(e, f.name)
	}
	if kept := f.kind >= wantFrame; kept != e.isKept(n) {
		return fmt.Errorf("%w: %v for %q, whose choice is %s", errUnexpected, f.kind, f.name, e.view.Choices[e.table.lock(n).alg].Algorithm)
	} else if kept {
		return m.aboutKept(n, rank, f)
	}
	m.recall(n)
	if f.kind == algFrame {
		return m.message(n, rank, f)
	}
	return m.about(n, rank, f)
}

// message handles a message of a lock's algorithm. One that only passes through leaves
// the lock idle.
func (m *Member) message(n int32, rank int, f *frame) error {
	e := m.epoch
	l := e.table.lock(n)
	if f.cleared {
		l.flags |= cleared
	}
	m.counted(l, f)
	if err := m.step(n, host.Input{Kind: host.Receive, From: e.view.seat(rank, int(l.home)), Bytes: f.bytes}); err != nil {
		return fmt.Errorf("%w: ALG for %q: %w", errFrame, f.name, err)
	}
	if e.isHome(l) {
		u := e.use(n)
		u.interest = true
		m.settle(u)
	}
	return nil
}

// about handles another frame about one lock.
func (m *Member) about(n int32, rank int, f *frame) error {
	e := m.epoch
	l := e.table.lock(n)
	home := int(l.home) == rank
	u := e.use(n)
	switch f.kind {
	case touchFrame:
		u.interest = true
	case releasedFrame:
		u.released(e, rank)
	case claimFrame:
		return m.claimant(u, rank, f)
	case claimedFrame:
		if !home {
			return fmt.Errorf("%w: CLAIMED of %q, which has another home", errUnexpected, f.name)
		}
		if f.verdict == disputed {
			m.overruled(n, f.token)
		} else {
			m.claimAnswered(u, f.try, f.verdict)
		}
		return nil
	case lendFrame:
		if !home || u.lent {
			return fmt.Errorf("%w: LEND of %q, which is already lent or has another home", errUnexpected, f.name)
		}
		m.counted(l, f)
		u.lent, u.until, u.handed = true, f.until, 0
	case returnFrame:
		if u.lendee != rank {
			return fmt.Errorf("%w: RETURN of %q, which is not lent to the sender", errUnexpected, f.name)
		}
		m.counted(l, f)
		if u.lendee = -1; f.next != (Stamp{}) {
			u.queueUp(turn{f.next, rank})
		}
	case doneFrame:
		if !home {
			return fmt.Errorf("%w: DONE for %q, which has another home", errUnexpected, f.name)
		}
		u.back = false
	}
	m.settle(u)
	return nil
}

// counted adopts the count of entries.
func (m *Member) counted(l *lock, f *frame) {
	l.count = max(l.count, f.count)
}

// report handles a part of a report.
func (m *Member) report(place int, f *frame) error {
	if place < 0 || place >= m.epoch.survivors() || m.epoch.reported.has(place) {
		return fmt.Errorf("%w: REPORT from a member that has already reported or was not in the previous view", errUnexpected)
	}
	if err := m.heed(place, f); err != nil {
		return err
	}
	if !f.more { // until the last part the sender is a suspect for every lock
		m.reconsider()
	}
	return nil
}

// answer answers which processes may be inside some locks.
func (m *Member) answer(rank int, names []string) error {
	f := frame{kind: answerFrame}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return fmt.Errorf("%w: QUERY: %w", errFrame, err)
		}
		f.may = append(f.may, mayBe{name, m.testimony(name)})
	}
	m.send(rank, &f)
	return nil
}

// heard handles the answers to queries.
func (m *Member) heard(all []mayBe) error {
	e := m.epoch
	for _, x := range all {
		n := find(&e.table, x.name, hashName(x.name))
		if n < 0 {
			return fmt.Errorf("%w: ANSWER about %q, which no QUERY named", errUnexpected, x.name)
		}
		if u := e.found(n); u != nil && e.isHome(e.table.lock(n)) {
			u.may = u.may.and(x.who)
			m.settle(u)
		}
	}
	return nil
}

// aboutKept handles a frame about a kept lock.
func (m *Member) aboutKept(n int32, rank int, f *frame) error {
	e := m.epoch
	home := int(e.table.lock(n).home)
	switch f.kind {
	case waitsFrame, waitedFrame:
		if f.who.Origin != e.view.Members[rank].Inc {
			return fmt.Errorf("%w: %v by a transaction of incarnation %d", errUnexpected, f.kind, f.who.Origin)
		}
		m.awaited(n, f.who, f.kind == waitsFrame)
		return nil
	case wantFrame, endFrame, pathFrame, moveFrame:
		if home != e.me {
			return fmt.Errorf("%w: %v of %q, which has another home", errUnexpected, f.kind, f.name)
		}
		if f.kind == pathFrame {
			m.pushed(n, f.path)
			return nil
		}
		if f.kind == endFrame {
			m.ended(n, rank, f.who, int(f.round))
			return nil
		}
		if f.who.Origin != e.view.Members[rank].Inc {
			return fmt.Errorf("%w: %v of %q by a transaction of incarnation %d", errUnexpected, f.kind, f.name, f.who.Origin)
		}
		if f.kind == moveFrame {
			h := deadlock.Hold{Request: deadlock.Request{Attempt: f.who, Mode: f.mode}, Epoch: f.token.Epoch, Count: f.token.Count}
			return m.moves(n, keptClaim{rank: rank, hold: h, units: f.units, through: f.through, who: f.claimer})
		}
		if err := m.requested(n, rank, deadlock.Request{Attempt: f.who, Mode: f.mode, Ext: f.ext}, f.units, f.again); err != nil {
			return fmt.Errorf("%w: WANT of %q: %w", errUnexpected, f.name, err)
		}
		return nil
	}
	if home != rank {
		return fmt.Errorf("%w: %v of %q, which has another home", errUnexpected, f.kind, f.name)
	}
	switch f.kind {
	case grantFrame:
		m.got(f.who, f.token)
	case movedFrame:
		m.moved(f.who, f.verdict)
	case refuseFrame:
		m.refusedKept(f.who, f.refusal)
	}
	return nil
}

// aboutTx handles a frame about a transaction, or the graph of those that wait.
func (m *Member) aboutTx(rank int, f *frame) error {
	ofCoordinator := f.kind == collectFrame || f.kind == confirmFrame && !f.ext
	toCoordinator := f.kind == demandFrame || f.kind == graphFrame || f.kind == confirmedFrame && !f.ext
	if ofCoordinator && rank != coordinator || toCoordinator && m.epoch.me != coordinator {
		return fmt.Errorf("%w: %v, but the coordinator is %s", errUnexpected, f.kind, m.epoch.view.Members[coordinator].Name)
	}
	switch f.kind {
	case doomFrame:
		m.doom(f.who, f.victim)
	case demandFrame:
		m.demanded()
	case collectFrame:
		m.epoch.graph = &localGraph{f.round, m.localArcs()} // sent by More
	case graphFrame:
		m.graph(rank, f.round, f.arcs, f.more)
	case confirmFrame:
		m.send(rank, &frame{kind: confirmedFrame, who: f.who, lock: m.stillWaits(f.who), ext: f.ext})
	case confirmedFrame:
		m.confirmed(f.who, f.lock, f.ext)
	}
	return nil
}
