package member

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Why describes the state of a lock, as far as its member knows: its holder here, its
// waiters here, and, at a home that has not released it, the processes that the home
// waits for.
type Why struct {
	Name      string
	Algorithm string
	Home      Who  // home of the lock in this view
	Here      bool // this member is the home
	Cleared   bool // the home is known to have released the lock, so that the algorithm decides
	Count     uint64

	Holder  *Holder    // holder here, or nil; of a kept lock, the first one
	Shared  []Holder   // of a kept lock: the other holders here
	Lapsed  bool       // the holder here was notified that the lock is lost, and may act until the lease expires
	Waiters []Waiter   // waiters here, the next one first
	Asked   bool       // the algorithm was asked
	Needs   string     // kind of the message that the algorithm needs before it grants; empty if it does not say
	From    []Who      // members that it needs this message from
	Decided []Decision // decisions of the algorithm here by which requests wait, also those of other members
	Pending bool       // the algorithm has granted the lock, but the member has no lease to use it
	Carried bool       // the waiters here are from an older view: the home will lend to them in turn
	Lent    *Who       // at the home: member that it has lent the lock to
	Borrows bool       // the lock was lent to this member
	Queue   int        // at the home: number of other members with waiters from older views

	Recovering []Suspect // at the home: processes that may still be inside by an older view
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

// Explain describes a lock. It reports false if the member does not know it.
func (m *Member) Explain(name string) (Why, bool) {
	if m.epoch == nil {
		return Why{}, false
	}
	n := find(&m.epoch.table, name, hashName(name))
	if n < 0 {
		return Why{}, false
	}
	return m.explain(n), true
}

// Each describes all locks that are in use here, in a fixed order, until yield returns
// false.
func (m *Member) Each(yield func(Why) bool) {
	if m.epoch == nil {
		return
	}
	for _, u := range m.epoch.uses {
		if u != nil && !yield(m.explain(u.lock)) {
			return
		}
	}
	m.eachKept(func(n int32) bool { return yield(m.explain(n)) })
}

// A Queue is a lock in use, as far as it can be told without effort.
type Queue struct {
	Name    []byte  // valid only until yield returns
	Held    bool    // it is held here
	Entered Instant // when the first of its holders here entered; Never if it is not held here
	Waiting int     // number of requests that wait here
	Since   Instant // when the first of them was made; Never if none waits
}

// Queues describes all locks that are in use here, in no particular order, until yield
// returns false.
func (m *Member) Queues(yield func(Queue) bool) {
	if m.epoch == nil {
		return
	}
	for _, u := range m.epoch.uses {
		if u == nil {
			continue
		}
		q := Queue{m.epoch.table.name(u.lock), u.holder != nil, Never, u.waiting, Never}
		if q.Held {
			q.Entered = u.since
		}
		if u.first != nil {
			q.Since = u.first.since
		}
		if !yield(q) {
			return
		}
	}
	m.eachKept(func(n int32) bool {
		q := Queue{Name: m.epoch.table.name(n), Entered: Never, Since: Never}
		for _, p := range m.kept.names[string(q.Name)] {
			if p.state >= holds {
				if p.state == holds {
					q.Held, q.Entered = true, min(q.Entered, p.since)
				}
				continue
			}
			if p.state == claiming {
				continue
			}
			q.Waiting++
			q.Since = min(q.Since, p.w.since)
		}
		return yield(q)
	})
}

// Counts returns how many holders there are here, and how many requests that wait: as many as
// Each describes.
func (m *Member) Counts() (held, waiting int) {
	if m.epoch == nil {
		return 0, 0
	}
	for _, u := range m.epoch.uses {
		if u != nil {
			waiting += u.waiting
			if u.holder != nil {
				held++
			}
		}
	}
	for _, p := range m.kept.parts {
		switch p.state {
		case holds:
			held++
		case lapsed, claiming:
		default:
			waiting++
		}
	}
	return held, waiting
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

func (m *Member) explain(n int32) Why {
	e := m.epoch
	l := e.table.lock(n)
	y := Why{
		Name: string(e.table.name(n)), Algorithm: e.view.Choices[l.alg].Algorithm, Home: e.view.Members[l.home],
		Here: int(l.home) == e.me, Cleared: l.is(cleared), Count: l.count,
	}
	if e.isKept(n) {
		m.explainKept(n, &y)
		return y
	}
	u := e.found(n)
	if u == nil {
		return y
	}
	if w := u.holder; w != nil {
		y.Holder = &Holder{Ticket: w.ticket, Client: w.client.id, Token: u.token, Since: u.since, Carried: u.carried, Delegated: u.block != nil}
	}
	for w := u.first; w != nil; w = w.next {
		y.Waiters = append(y.Waiters, Waiter{Ticket: w.ticket, Client: w.client.id, Stamp: w.stamp, Since: w.since, Try: w.try})
	}
	e.explainDecided(u, &y)
	y.Asked, y.Carried, y.Borrows, y.Lapsed = u.asked, u.back, u.lent, u.lapsed
	y.Pending = u.inside && !u.taken() && u.first != nil
	if u.asked && !u.inside {
		e.explainNeeds(n, &y)
	}
	if e.isHome(l) {
		m.explainHome(u, &y)
	}
	return y
}

// explainNeeds says which members the algorithm waits for, according to its own state here.
// Algorithms that ask for a token without knowing where it is do not say.
func (e *epoch) explainNeeds(n int32, y *Why) {
	l := e.table.lock(n)
	machine, err := e.machine(n)
	if err != nil {
		return
	}
	fields, shape := machine.Describe(), &e.schools[l.alg].spec.Shape
	read := func(name string) []string {
		i := slices.IndexFunc(fields, func(f host.Field) bool { return name != "" && f.Name == name })
		if i < 0 {
			return nil
		}
		return strings.Fields(fields[i].Value)
	}
	var seats []string // numbered from 1
	y.Needs = shape.Answer
	for _, name := range shape.Awaited {
		if seats = read(name); len(seats) > 0 && seats[0] != "none" {
			break
		}
	}
	switch asked := read(shape.Asked); {
	case len(asked) > 0 && asked[0] == "yes":
		y.Needs, seats = shape.Carrier, read(shape.Pointer)
	case shape.Picture == algorithm.Star:
		hub := 0
		if shape.Hub != nil {
			hub = int(shape.Hub(len(e.view.Members)))
		}
		seats = []string{strconv.Itoa(hub + 1)}
	case shape.Got != "" && shape.Enough == nil:
		got := read(shape.Got)
		for seat := range algorithm.ID(len(e.view.Members)) {
			asks := shape.Sets == nil || shape.Sets(len(e.view.Members))[e.seat(l)].Has(seat)
			if s := strconv.Itoa(int(seat) + 1); asks && !slices.Contains(got, s) && (shape.Sets != nil || seat != e.seat(l)) {
				seats = append(seats, s)
			}
		}
	}
	for _, s := range seats {
		if seat, err := strconv.Atoi(s); err == nil && seat >= 1 && seat <= len(e.view.Members) {
			y.From = append(y.From, e.view.Members[e.view.rankOf(algorithm.ID(seat-1), int(l.home))])
		}
	}
	if len(y.From) == 0 {
		y.Needs = ""
	}
}

func (m *Member) explainHome(u *use, y *Why) {
	e := m.epoch
	if y.Queue = len(u.queue); u.lendee >= 0 {
		y.Lent = &e.view.Members[u.lendee]
	}
	for _, i := range m.suspects(e, u).list() {
		y.Recovering = append(y.Recovering, e.suspect(i, u.held.has(i)))
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

// explainKept describes a kept lock.
func (m *Member) explainKept(n int32, y *Why) {
	e := m.epoch
	for _, p := range m.kept.names[y.Name] {
		switch p.state {
		case holds:
			y.Shared = append(y.Shared, Holder{p.w.ticket, p.w.client.id, p.token, p.since, p.token.Epoch < e.view.Epoch, p.Mode, p.units, uint64(p.Tx), false})
		case lapsed:
			y.Lapsed = true
		case claiming:
		default:
			y.Pending = y.Pending || p.state == granted
			y.Waiters = append(y.Waiters, Waiter{p.w.ticket, p.w.client.id, Stamp{}, p.w.since, p.try, p.Mode, p.units, uint64(p.Tx)})
		}
	}
	if len(y.Shared) > 0 {
		y.Holder, y.Shared = &y.Shared[0], y.Shared[1:]
	}
	b := e.books[n]
	if b == nil {
		return
	}
	for _, i := range b.keeper.Suspects() {
		y.Recovering = append(y.Recovering, e.suspect(int(i), false))
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
