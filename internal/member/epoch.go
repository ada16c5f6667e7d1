package member

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// An epoch is the member's state of one view.
type epoch struct {
	view    View
	me      int // rank
	table   table
	uses    []*use // by index; nil for one that was given back
	free    []int32
	spare   []*use
	busy    int      // number of uses
	holders int      // number of locks held here
	full    bool     // a lock has had so many entries that its tokens soon cannot be packed
	lapses  int      // number of lost locks that may still be acted on
	schools []school // of the view's choices

	universe  []uint64  // processes that sets refer to
	everybody set       // the whole universe
	reported  set       // members whose REPORT has arrived
	over      set       // ghosts that can no longer act
	ghosts    []Instant // when each ghost's lease has expired
	next      Instant   // when the next of them has
	since     Instant   // when it was installed
	sent      []uint64  // by rank: number of frames sent to each other member
	came      []uint64  // by rank: number of frames that have arrived from it

	reports   []report // by rank: reports that are not complete yet
	reporting int      // number of those
	witnesses int      // number of other members that can be asked which processes may be inside a lock
	queries   []int32  // locks that they must be asked about
	asked     []int    // by rank: how many of these a witness has been asked about
	claims    []int32  // locks that a client here claims, or did

	books    map[int32]*book // of the kept locks whose home it is
	bookList []*book         // the same, in a fixed order; nil if the epoch is frozen
	mine     []*part         // what the member itself must enter into them
	paths    *deadlock.Paths // of distributed detection; nil if it is not in use
	detector *detector       // of the coordinator; nil before the first round
	graph    *localGraph     // that the coordinator waits for; nil if there is none

	newest map[int32]olderHold // at homes that have not released the lock: the one with the highest token that was reported or claimed; kept when no use is
}

// A school runs all locks of one algorithm in a view: one machine for each seat that
// the member may have in a lock, and the state that it is born in.
type school struct {
	method   *deadlock.Method // of kept locks; nil for others
	spec     algorithm.Spec
	machines []algorithm.Machine
	born     [][]byte
	loaded   []int32 // lock whose state each machine is in, or -1
	bytes    []byte
}

func (m *Member) newEpoch(v View) (*epoch, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	e := &epoch{view: v, me: v.Rank(m.Inc), universe: v.universe(), next: Never, since: m.now}
	if e.me < 0 {
		return nil, fmt.Errorf("epoch %d: incarnation %d is not among its members: %w", v.Epoch, m.Inc, ErrGone)
	}
	if err := e.open(m.Spec); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", v.Epoch, err)
	}
	e.everybody = firstOf(len(e.universe))
	e.reports, e.asked = make([]report, len(v.Members)), make([]int, len(v.Members))
	e.sent, e.came = make([]uint64, len(v.Members)), make([]uint64, len(v.Members))
	e.witnesses = e.survivors()
	for _, g := range v.Ghosts {
		e.ghosts = append(e.ghosts, m.expires(&v, g))
	}
	if i := e.place(m.Inc); i >= 0 {
		e.reported.add(i)
		e.witnesses--
	}
	e.bury(m.now)
	return e, nil
}

// expires returns when the lease of a ghost of a new view has expired. A member that was in
// the view before has counted since then if that view names the ghost too: a rest counts
// once. Without that view it cannot know that the ghost was one all the time: if the disks
// of most voters were replaced by older copies, it may have been a member again.
func (m *Member) expires(v *View, g Ghost) Instant {
	at := m.now + Instant(m.Settings.outwait(g.Rest))
	if old := m.epoch; old != nil && old.view.Epoch == v.BeforeEpoch {
		if i := old.place(g.Inc) - old.survivors(); i >= 0 {
			at = min(at, old.ghosts[i])
		}
	}
	return at
}

// open makes the schools of the view's choices.
func (e *epoch) open(specs func(string, int) (algorithm.Spec, error)) error {
	for _, c := range e.view.Choices {
		if name, kept := IsKept(c.Algorithm); kept {
			method, err := findKept(name)
			if err != nil {
				return err
			}
			e.schools = append(e.schools, school{method: &method})
			continue
		}
		spec, err := specs(c.Algorithm, c.Version)
		if err != nil {
			return err
		}
		all, err := spec.Group(algorithm.View{N: len(e.view.Members), Holder: 0, Busy: true})
		if err != nil {
			return err
		}
		s := school{spec: spec, machines: all}
		for _, one := range all {
			s.born = append(s.born, one.AppendState(nil))
			s.loaded = append(s.loaded, -1)
		}
		e.schools = append(e.schools, s)
	}
	return nil
}

// note notes at the home how a lock was held.
func (e *epoch) note(n int32, h olderHold) {
	was := e.newest[n]
	if was.token == h.token && !was.byClaim && !was.token.IsNone() {
		h.byClaim = false
	}
	if was.token.Less(h.token) || was.token == h.token && (h.last < was.last || was.byClaim && !h.byClaim) {
		if e.newest == nil {
			e.newest = map[int32]olderHold{}
		}
		e.newest[n] = h
	}
}

// survivors is the number of members in the universe.
func (e *epoch) survivors() int { return len(e.universe) - len(e.view.Ghosts) }

// place returns the index of an incarnation in the universe, or -1.
func (e *epoch) place(inc uint64) int { return slices.Index(e.universe, inc) }

// bury notes which ghosts' leases have expired by now.
func (e *epoch) bury(now Instant) {
	e.next = Never
	for i, at := range e.ghosts {
		if at <= now {
			e.over.add(e.survivors() + i)
		} else {
			e.next = min(e.next, at)
		}
	}
}

// settled reports whether no process is left that may be inside a lock by an older
// epoch without having reported it.
func (e *epoch) settled() bool {
	return e.next == Never && e.reported.len() == e.survivors()
}

// lockOf returns the number of the lock with this name, which becomes known.
func lockOf[S ~string | ~[]byte](e *epoch, name S) int32 {
	hash := hashName(name)
	if n := find(&e.table, name, hash); n >= 0 {
		return n
	}
	n := add(&e.table, name, hash)
	l := e.table.lock(n)
	l.home = uint8(e.view.home(hash))
	if len(e.schools) > 1 {
		l.alg = uint8(e.view.Choose(string(name)))
	}
	if s := &e.schools[l.alg]; s.method == nil {
		e.table.setState(n, s.born[e.seat(l)])
	}
	return n
}

// isKept reports whether a lock is a kept one.
func (e *epoch) isKept(n int32) bool { return e.schools[e.table.lock(n).alg].method != nil }

// schoolOf returns what runs the lock of a name.
func (e *epoch) schoolOf(name string) *school { return &e.schools[e.view.Choose(name)] }

// fits reports why a kept lock cannot be a semaphore with so many units.
func (s *school) fits(units int) error { return s.method.Fits(units) }

// seat returns the member's own seat in a lock.
func (e *epoch) seat(l *lock) algorithm.ID { return e.view.seat(e.me, int(l.home)) }

// machine returns the instance of a lock, in its current state.
func (e *epoch) machine(n int32) (algorithm.Machine, error) {
	l := e.table.lock(n)
	s, seat := &e.schools[l.alg], e.seat(l)
	machine := s.machines[seat]
	if s.loaded[seat] == n {
		return machine, nil
	}
	if old := s.loaded[seat]; old >= 0 {
		e.keep(old)
	}
	s.loaded[seat] = -1
	if err := machine.LoadState(e.table.state(n)); err != nil {
		return nil, err
	}
	s.loaded[seat] = n
	return machine, nil
}

// keep copies the state of a lock's instance into the table. While a machine is in that
// state, the table may have an older one.
func (e *epoch) keep(n int32) {
	l := e.table.lock(n)
	s, seat := &e.schools[l.alg], e.seat(l)
	if s.loaded[seat] == n {
		s.bytes = s.machines[seat].AppendState(s.bytes[:0])
		e.table.setState(n, s.bytes)
	}
}

// unload has the state of a lock's instance read from the table before its next step.
func (e *epoch) unload(n int32) {
	l := e.table.lock(n)
	e.schools[l.alg].loaded[e.seat(l)] = -1
}

// isHome reports whether the member is the home of a lock and has not released it.
func (e *epoch) isHome(l *lock) bool { return int(l.home) == e.me && !l.is(cleared) }

// found returns the use of a lock, or nil.
func (e *epoch) found(n int32) *use {
	if b := e.table.lock(n).busy; b >= 0 {
		return e.uses[b]
	}
	return nil
}

// use returns the use of a lock, and makes one if there is none.
func (e *epoch) use(n int32) *use {
	if u := e.found(n); u != nil {
		return u
	}
	var u *use
	if k := len(e.spare) - 1; k >= 0 {
		u, e.spare = e.spare[k], e.spare[:k]
	} else {
		u = &use{}
	}
	u.lock, u.lendee, u.may = n, -1, e.everybody
	e.busy++
	l := e.table.lock(n)
	if k := len(e.free) - 1; k >= 0 {
		l.busy, e.free = e.free[k], e.free[:k]
		e.uses[l.busy] = u
		return u
	}
	l.busy = int32(len(e.uses))
	e.uses = append(e.uses, u)
	return u
}

// idle gives a use back if nothing is kept in it. The home keeps what it has learned of older
// epochs, but the lock is idle nevertheless.
func (m *Member) idle(u *use) {
	e := m.epoch
	l := e.table.lock(u.lock)
	if u.taken() || u.first != nil || u.asked || u.inside || u.back || u.lent || u.claimed() {
		return
	}
	home := e.isHome(l)
	if home && (u.lendee >= 0 || len(u.queue) > 0 || u.interest) {
		return
	}
	l.flags |= silent
	if home && (!u.held.empty() || u.may != e.everybody) {
		return
	}
	e.uses[l.busy] = nil
	e.free = append(e.free, l.busy)
	e.busy--
	l.busy = -1
	e.recycle(u)
}

// recycle keeps a use for another lock. Until then it has no lock's number, so that
// acting on it panics instead of changing whichever lock is the first.
func (e *epoch) recycle(u *use) {
	queue, decided := u.queue[:0], u.decided[:0]
	*u = use{}
	u.lock, u.queue, u.decided = -1, queue, decided
	e.spare = append(e.spare, u)
}

// Install begins a view. Making the report, stopping everything of the old view and beginning
// anew is one step. A view that is not newer than the current one changes nothing.
// After an error the member is of no use any more: it cannot follow the others, which
// wait for its report. So it must leave, or be notified that it is gone. Links of the
// new epoch begin after this, and before Out is taken.
func (m *Member) Install(now Instant, v View) error {
	m.now = max(m.now, now)
	err := m.install(v) // what is due by time comes after it: nothing more is done in the older epoch
	m.begin(now)
	m.end()
	return err
}

func (m *Member) install(v View) error {
	if m.ghost {
		return ErrGone
	}
	old := m.epoch
	if old != nil && v.Epoch <= old.view.Epoch {
		return nil
	}
	e, err := m.newEpoch(v)
	if err != nil {
		return err
	}
	if old != nil && e.place(m.Inc) < 0 {
		return fmt.Errorf("epoch %d: incarnation %d was in epoch %d, but the view does not list it as an earlier member: the view service is broken", v.Epoch, m.Inc, old.view.Epoch)
	}
	m.frozen, m.epoch = old, e
	if len(m.trails) > 0 {
		m.beginTrails()
	}
	if old != nil {
		clear(old.reports) // they are void, and so are its queries and its graph
		old.reporting, old.queries, old.graph = 0, nil, nil
		old.bookList, old.detector, old.paths = nil, nil, nil // its books testify
		m.schedule.remove(&m.rest)
		m.carry(old)
		m.carryKept()
	}
	if e.place(m.Inc) >= 0 { // a member that joins has nothing to report
		m.beginReports()
	}
	for rank := range e.view.Members {
		m.pursueAll(rank)
	}
	m.reconsider()
	if err := m.reportMine(); err != nil {
		return err
	}
	m.pursueKept(e.me)
	m.kept.each(func(p *part) {
		if p.state == wants {
			m.awaits(p, true)
		}
	})
	return nil
}

// beginReports makes the first part of the REPORT to each other member, which is the
// only one unless the report is long. More makes the others.
func (m *Member) beginReports() {
	e := m.epoch
	for rank := range e.reports {
		if rank == e.me {
			continue
		}
		e.reports[rank].owed = true
		if e.reporting++; !m.later {
			m.reportPart(rank)
		}
	}
}

// carry carries holders and waiters over, and notes what to report of them.
func (m *Member) carry(old *epoch) {
	e := m.epoch
	for _, was := range old.uses {
		if was == nil || !was.taken() && was.first == nil && (was.claims == nil || len(was.claims.mine) == 0) {
			continue
		}
		n := lockOf(e, old.table.name(was.lock))
		if e.isKept(n) {
			m.adopt(was, string(old.table.name(was.lock)))
			continue
		}
		u := e.use(n)
		if was.taken() {
			u.holder, u.lapsed, u.token, u.since, u.carried = was.holder, was.lapsed, was.token, was.since, true
			u.client, u.who, u.byClaim, u.shared, u.rests, u.proof = was.client, was.who, was.byClaim, was.shared, was.rests, was.proof
			if u.block = was.block; u.block != nil {
				m.schedule.remove(&u.block.end)
				u.block.probes, u.block.tries, u.block.end.block = nil, 0, u // those tries have ended with the view
			}
			if was.lapsed {
				e.lapses++
			} else {
				u.holder.at = u
				e.holders++
				m.recallUse(u)
			}
			u.owed |= owedHold
		}
		for was.first != nil {
			w := was.first
			was.take(w)
			u.push(w)
		}
		if c := was.claims; c != nil && len(c.mine) > 0 {
			u.claim().mine, c.mine = c.mine, nil
			for _, w := range u.claims.mine {
				w.at, w.claim.sent = u, false
			}
			e.claims = append(e.claims, n)
		}
		m.again(u)
		m.owe(e, n)
	}
}

// again makes the waiters of the previous epoch ask again. Tries do not wait.
func (m *Member) again(u *use) {
	for w := u.first; w != nil; {
		next := w.next
		if w.try {
			m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Recovering})
			u.take(w)
			m.forget(w)
		}
		w = next
	}
	if u.first == nil {
		m.idle(u)
		return
	}
	u.back = int(m.epoch.table.lock(u.lock).home) != m.epoch.me // the home knows its own
	u.owed |= owedWait
}
