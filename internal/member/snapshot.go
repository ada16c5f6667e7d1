package member

import (
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Snapshot is the state of a lock, as far as its member knows: its holder here, its
// waiters here, and, at a home that has not released it, the processes that the home
// waits for. Package explain says in words what it means.
type Snapshot struct {
	Name      string
	Algorithm string
	Home      Who  // home of the lock in this view
	Here      bool // this member is the home
	Cleared   bool // the home is known to have released the lock, so that the algorithm decides
	Count     uint64

	Holder  *Holder  // holder here, or nil; of a kept lock, the first one
	Shared  []Holder // of a kept lock: the other holders here
	Lapsed  bool     // the holder here was notified that the lock is lost, and may act until the lease expires
	Waiters []Waiter // waiters here, the next one first
	More    int      // of InspectFirst: the number of other holders and waiters here
	Asked   bool     // the algorithm was asked
	Granted bool     // the algorithm has granted the lock
	Pending bool     // the algorithm has granted the lock, but the member has no lease to use it
	Carried bool     // the waiters here are from an older view: the home will lend to them in turn
	Lent    *Who     // at the home: member that it has lent the lock to
	Borrows bool     // the lock was lent to this member
	Queue   int      // at the home: number of other members with waiters from older views

	Recovering []Suspect // at the home: processes that may still be inside by an older view

	Seat    algorithm.ID    // of the member, in the algorithm
	Spec    *algorithm.Spec // of the algorithm; nil of a kept lock
	Decided []host.Reason   // decisions of the algorithm here by which requests wait, also those of other members: see heed

	epoch *epoch
	lock  int32
}

// Seats returns the number of seats of the algorithm.
func (s *Snapshot) Seats() int { return len(s.epoch.view.Members) }

// At returns the member that has a seat.
func (s *Snapshot) At(seat algorithm.ID) Who {
	v := &s.epoch.view
	return v.Members[v.rankOf(seat, int(s.epoch.table.lock(s.lock).home))]
}

// Instance describes the state of the algorithm's instance. Like the snapshot, it must be
// used before the next method of the member is called.
func (s *Snapshot) Instance() []host.Field {
	machine, err := s.epoch.machine(s.lock)
	if err != nil {
		return nil
	}
	return machine.Describe()
}

// A Holder is the holder of a lock here.
type Holder struct {
	Ticket  Ticket
	Client  uint64
	Token   Token
	Since   Instant // when it entered
	Carried bool    // it entered in an older view
	Mode    deadlock.Mode
	Units   int    // of the semaphore; 0 if it is none
	Tx      uint64 // number of its transaction, unique at this member; 0 if the lock is not a kept one

	Delegated bool // its client enters and leaves by itself
}

// A Waiter is a request that waits for a lock here.
type Waiter struct {
	Ticket Ticket
	Client uint64
	Stamp  Stamp
	Since  Instant
	Try    bool
	Mode   deadlock.Mode
	Units  int
	Tx     uint64
}

// A Reason is why a process may be inside a lock by an older view.
type Reason uint8

// Why a process is a suspect.
const (
	Unreported Reason = iota // its report has not arrived
	Holds                    // it has reported that it holds the lock, and has not released it since
	Ghostly                  // it was evicted, and its lease may still run
)

// A Suspect is a process that may be inside a lock by an older view.
type Suspect struct {
	Inc    uint64
	Name   string // empty if it is no longer a member
	Reason Reason
	Since  Instant // when the view began
	Until  Instant // of a ghost: when its lease has expired; else Never
}

// Inspect returns the state of a lock. It reports false if the member does not know it.
func (m *Member) Inspect(name string) (Snapshot, bool) {
	return m.InspectFirst(name, math.MaxInt, math.MaxInt)
}

// InspectFirst is Inspect with at most so many waiters, and of a kept lock at most so many
// holders besides the first. It copies no others, of which there may be very many.
func (m *Member) InspectFirst(name string, waiters, shared int) (Snapshot, bool) {
	if m.epoch == nil {
		return Snapshot{}, false
	}
	n := find(&m.epoch.table, name, hashName(name))
	if n < 0 {
		return Snapshot{}, false
	}
	return m.inspect(n, waiters, shared), true
}

// A Queue is a lock in use, as far as it can be told without effort.
type Queue struct {
	Name    []byte  // valid only until yield returns
	Held    bool    // it is held here
	Entered Instant // when the first of its holders here entered; Never if it is not held here
	Waiting int     // number of requests that wait here
	Since   Instant // when the first of them was made; Never if none waits
	Part    bool    // of Scan: it is one request for a kept lock
}

// Queues describes all locks that are in use here, in no particular order, until yield
// returns false. Scan does that piece by piece.
func (m *Member) Queues(yield func(Queue) bool) {
	if m.epoch == nil {
		return
	}
	for _, u := range m.epoch.uses {
		if u != nil && !yield(m.queueOf(u)) {
			return
		}
	}
	m.eachKept(func(n int32) bool {
		q := Queue{Name: m.epoch.table.name(n), Entered: Never, Since: Never}
		for _, p := range m.kept.names[string(q.Name)] {
			q.count(p)
		}
		return yield(q)
	})
}

// Counts returns how many holders there are here, and how many requests that wait, those of
// ordinary locks with claims that are not answered yet. It looks at none of them.
func (m *Member) Counts() (held, waiting int) {
	if m.epoch == nil {
		return 0, 0
	}
	held = m.epoch.holders + m.kept.holds
	return held, len(m.waiters) - len(m.spare) - held - m.kept.claims
}

// Names returns how many locks the member knows.
func (m *Member) Names() int {
	if m.epoch == nil {
		return 0
	}
	return m.epoch.table.len()
}

// Known returns how many locks the member knows, how many of them are in use, and how
// many bytes they take, with those of the previous view.
func (m *Member) Known() (known, busy, bytes int) {
	for _, e := range []*epoch{m.epoch, m.frozen} {
		if e != nil {
			bytes += e.table.bytes()
		}
	}
	if m.epoch == nil {
		return 0, 0, 0
	}
	busy = m.epoch.busy
	m.eachKept(func(int32) bool { busy++; return true })
	return m.epoch.table.len(), busy, bytes
}

func (m *Member) inspect(n int32, waiters, shared int) Snapshot {
	e := m.epoch
	l := e.table.lock(n)
	s := Snapshot{
		Name: string(e.table.name(n)), Algorithm: e.view.Choices[l.alg].Algorithm, Home: e.view.Members[l.home],
		Here: int(l.home) == e.me, Cleared: l.is(cleared), Count: l.count, Seat: e.seat(l), epoch: e, lock: n,
	}
	if e.isKept(n) {
		m.inspectKept(n, &s, waiters, shared)
		return s
	}
	s.Spec = &e.schools[l.alg].spec
	u := e.found(n)
	if u == nil {
		return s
	}
	if w := u.holder; w != nil {
		s.Holder = &Holder{Ticket: w.ticket, Client: w.client.id, Token: u.token, Since: u.since, Carried: u.carried, Delegated: u.block != nil}
	}
	for w := u.first; w != nil && len(s.Waiters) < waiters; w = w.next {
		s.Waiters = append(s.Waiters, Waiter{Ticket: w.ticket, Client: w.client.id, Stamp: w.stamp, Since: w.since, Try: w.try})
	}
	s.More = u.waiting - len(s.Waiters)
	s.Asked, s.Granted, s.Carried, s.Borrows, s.Lapsed, s.Decided = u.asked, u.inside, u.back, u.lent, u.lapsed, slices.Clone(u.decided)
	s.Pending = u.inside && !u.taken() && u.first != nil
	if e.isHome(l) {
		m.inspectHome(u, &s)
	}
	return s
}

func (m *Member) inspectHome(u *use, s *Snapshot) {
	e := m.epoch
	if s.Queue = len(u.queue); u.lendee >= 0 {
		s.Lent = &e.view.Members[u.lendee]
	}
	for _, i := range m.suspects(e, u).list() {
		s.Recovering = append(s.Recovering, e.suspect(i, u.held.has(i)))
	}
}

// suspect describes a process that may be inside a lock, by its index in the universe.
func (e *epoch) suspect(i int, holds bool) Suspect {
	s := Suspect{Inc: e.universe[i], Since: e.since, Until: Never}
	switch {
	case i >= e.survivors():
		s.Reason, s.Until = Ghostly, e.ghosts[i-e.survivors()]
	case holds:
		s.Reason = Holds
	}
	if rank := e.view.Rank(s.Inc); rank >= 0 {
		s.Name = e.view.Members[rank].Name
	}
	return s
}

// eachKept calls f for all kept locks in use here, until it returns false.
func (m *Member) eachKept(f func(n int32) bool) {
	for _, p := range m.kept.parts {
		if m.kept.names[p.name][0] == p && !f(lockOf(m.epoch, p.name)) {
			return
		}
	}
	for _, b := range m.epoch.bookList {
		if len(m.kept.names[string(m.epoch.table.name(b.lock))]) == 0 && !f(b.lock) {
			return
		}
	}
}

// inspectKept adds what only a kept lock has.
func (m *Member) inspectKept(n int32, s *Snapshot, waiters, shared int) {
	e := m.epoch
	for _, p := range m.kept.names[s.Name] {
		switch p.state {
		case holds:
			if len(s.Shared) > shared {
				s.More++
				continue
			}
			s.Shared = append(s.Shared, Holder{p.w.ticket, p.w.client.id, p.token, p.since, p.token.Epoch < e.view.Epoch, p.Mode, p.units, uint64(p.Tx), false})
		case lapsed:
			s.Lapsed = true
		case claiming:
		default:
			if s.Pending = s.Pending || p.state == granted; len(s.Waiters) >= waiters {
				s.More++
				continue
			}
			s.Waiters = append(s.Waiters, Waiter{p.w.ticket, p.w.client.id, Stamp{}, p.w.since, p.try, p.Mode, p.units, uint64(p.Tx)})
		}
	}
	if len(s.Shared) > 0 {
		s.Holder, s.Shared = &s.Shared[0], s.Shared[1:]
	}
	b := e.books[n]
	if b == nil {
		return
	}
	for _, i := range b.keeper.Suspects() {
		s.Recovering = append(s.Recovering, e.suspect(int(i), false))
	}
}

// An Edge is an edge of a wait-for graph: a transaction waits for another at a kept lock.
// The lock's home knows all of them. Units and Spare are those of a deadlock.Arc.
type Edge struct {
	From, To     Wait
	Holds        bool // To holds the lock; otherwise it waits before From
	Units, Spare int
}

// Edges returns the wait-for graph of a kept lock whose home is here.
func (m *Member) Edges(name string) []Edge {
	if m.epoch == nil {
		return nil
	}
	n := find(&m.epoch.table, name, hashName(name))
	if n < 0 || m.epoch.books[n] == nil {
		return nil
	}
	wait := func(a deadlock.Attempt) Wait {
		w := Wait{Inc: a.Origin, Tx: uint64(a.Tx), Lock: name}
		if rank := m.epoch.view.Rank(a.Origin); rank >= 0 {
			w.Node = m.epoch.view.Members[rank].Name
		}
		return w
	}
	var all []Edge
	for _, a := range m.epoch.books[n].keeper.Arcs() {
		all = append(all, Edge{wait(a.From), wait(a.To), a.To.Seq == 0, a.Units, a.Spare})
	}
	return all
}
