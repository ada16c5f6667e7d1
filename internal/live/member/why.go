package member

// A Why says what is going on with a lock, as far as its member knows: who holds
// it here, who waits here, and, at a home that has not let go of it, whom it
// waits for.
type Why struct {
	Name      string
	Algorithm string
	Home      Who  // of the lock in this view
	Here      bool // it is this member
	Cleared   bool // it is known that the home has let go, so that the algorithm decides
	Count     uint64

	Holder  *Holder  // who holds it here
	Lapsed  bool     // who held it here was told that it is lost, and may act until the lease is over
	Waiters []Waiter // who wait here, the next one first
	Asked   bool     // the algorithm was asked
	Pending bool     // it has granted the lock, and the member has no lease to use it
	Carried bool     // those who wait here waited in an older view: the home will lend to them in turn
	Lent    *Who     // at the home: to whom it has lent the lock
	Borrows bool     // it was lent to this member
	Queue   int      // at the home: how many other members have waiters from older views

	Recovering []Suspect // at the home: who may still be inside by an older view
}

// A Holder is somebody who holds a lock here.
type Holder struct {
	Ticket  Ticket
	Client  uint64
	Token   Token
	Since   Instant // when it entered
	Carried bool    // it did so in an older view
}

// A Waiter is somebody who waits for a lock here.
type Waiter struct {
	Ticket Ticket
	Client uint64
	Stamp  Stamp
	Since  Instant
	Try    bool
}

// A Reason says why somebody is suspected to be inside a lock by an older view.
type Reason uint8

// Why somebody is suspected.
const (
	Unreported Reason = iota // its report has not come
	Holds                    // it has reported that it holds the lock, and has not let go since
	Ghostly                  // it was evicted, and its lease may still run
)

// String names a reason.
func (r Reason) String() string {
	return [...]string{"has not reported", "holds it", "lease runs"}[r]
}

// A Suspect is somebody who may be inside a lock by an older view.
type Suspect struct {
	Inc    uint64
	Name   string // empty if it is no member any more
	Reason Reason
	Since  Instant // when the view began
	Until  Instant // of a ghost: when it is over; else Never
}

// Explain says what is going on with a lock. It reports false if the member
// knows nothing of it.
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

// Each explains all locks that are in use here, in a fixed order, until it is told
// that these are enough.
func (m *Member) Each(yield func(Why) bool) {
	if m.epoch == nil {
		return
	}
	for _, u := range m.epoch.uses {
		if u != nil && !yield(m.explain(u.lock)) {
			return
		}
	}
}

// Known returns how many locks the member knows, how many of them are in use,
// and how many bytes they take, with those of the view before.
func (m *Member) Known() (known, busy, bytes int) {
	for _, e := range []*epoch{m.epoch, m.frozen} {
		if e != nil {
			bytes += e.table.bytes()
		}
	}
	if m.epoch == nil {
		return 0, 0, 0
	}
	return m.epoch.table.len(), m.epoch.busy, bytes
}

func (m *Member) explain(n int32) Why {
	e := m.epoch
	l := e.table.lock(n)
	y := Why{
		Name: string(e.table.name(n)), Algorithm: e.view.Choices[l.alg].Algorithm, Home: e.view.Members[l.home],
		Here: int(l.home) == e.me, Cleared: l.is(cleared), Count: l.count,
	}
	u := e.found(n)
	if u == nil {
		return y
	}
	if w := u.holder; w != nil {
		y.Holder = &Holder{w.ticket, w.client.id, u.token, u.since, u.carried}
	}
	for w := u.first; w != nil; w = w.next {
		y.Waiters = append(y.Waiters, Waiter{w.ticket, w.client.id, w.stamp, w.since, w.try})
	}
	y.Asked, y.Borrows, y.Lapsed = u.asked, u.lent, u.lapsed
	y.Pending = u.inside && !u.taken() && u.first != nil
	y.Carried = u.back && !e.isHome(l)
	if e.isHome(l) {
		m.explainHome(u, &y)
	}
	return y
}

func (m *Member) explainHome(u *use, y *Why) {
	e := m.epoch
	if y.Queue = len(u.queue); u.lendee >= 0 {
		y.Lent = &e.view.Members[u.lendee]
	}
	for _, i := range m.suspects(e, u).list() {
		s := Suspect{Inc: e.universe[i], Since: e.since, Until: Never}
		switch {
		case i >= e.survivors():
			s.Reason, s.Until = Ghostly, e.ghosts[i-e.survivors()]
		case u.held.has(i):
			s.Reason = Holds
		}
		if rank := e.view.Rank(s.Inc); rank >= 0 {
			s.Name = e.view.Members[rank].Name
		}
		y.Recovering = append(y.Recovering, s)
	}
}
