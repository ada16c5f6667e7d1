package member

// A waiter is a request of an application here, until it is refused, cancelled,
// released or lost.
type waiter struct {
	ticket     Ticket
	client     *session
	stamp      Stamp   // when it was first made
	since      Instant // the same by the member's clock
	late       due     // its deadline
	try        bool    // it does not wait behind other requests
	block      uint64  // number of entries that its client may make by itself
	missing    int     // answers missing for a try
	claim      *claim  // nil unless it is a claim: it is then not among the waiters
	at         *use    // the lock that it waits for or holds; nil if it is a kept one
	part       *part   // of a kept lock; else nil
	prev, next *waiter // among the waiters for that lock here
	before     *waiter // among the requests of its client
	after      *waiter
}

// push puts a waiter behind the others.
func (u *use) push(w *waiter) {
	w.at, w.prev, w.next = u, u.last, nil
	if u.last == nil {
		u.first = w
	} else {
		u.last.next = w
	}
	u.last = w
	u.waiting++
}

// take removes a waiter.
func (u *use) take(w *waiter) {
	if w.prev == nil {
		u.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		u.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	u.waiting--
}

// newWaiter makes a waiter with a ticket of its own: its index, and how often that
// index has been used.
func (m *Member) newWaiter(c *session) *waiter {
	var w *waiter
	if k := len(m.spare) - 1; k >= 0 {
		w = m.waiters[m.spare[k]]
		m.spare = m.spare[:k]
		w.ticket += 1 << 32
	} else {
		w = &waiter{ticket: Ticket(len(m.waiters)) | 1<<32}
		m.waiters = append(m.waiters, w)
	}
	w.client, w.since, w.late.waiter = c, m.now, w
	c.put(w)
	return w
}

// waiter returns the request with a ticket, or nil.
func (m *Member) waiter(t Ticket) *waiter {
	if i := uint64(t) & (1<<32 - 1); i < uint64(len(m.waiters)) {
		if w := m.waiters[i]; w.ticket == t && (w.at != nil || w.part != nil) {
			return w
		}
	}
	return nil
}

// forget ends a request.
func (m *Member) forget(w *waiter) {
	w.client.takeOut(w)
	m.schedule.remove(&w.late)
	*w = waiter{ticket: w.ticket}
	m.spare = append(m.spare, uint32(w.ticket))
}

// holds reports whether the request holds its lock.
func (w *waiter) holds() bool {
	if w.part != nil {
		return w.part.state == holds
	}
	return w.at.holder == w
}

// finish ends a waiting request, and reports why. The algorithm's request stands: what
// it grants is given back at once.
func (m *Member) finish(w *waiter, kind EventKind, why Cause) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: kind, Cause: why})
	m.withdraw(w)
}

// withdraw removes a waiting request.
func (m *Member) withdraw(w *waiter) {
	if w.part != nil {
		m.done(w.part)
		return
	}
	u := w.at
	if w.claim != nil {
		n := u.lock
		m.disclaim(w)
		if m.pursue(u); u.lock == n {
			m.settle(u)
		}
		return
	}
	u.take(w)
	m.used(u.lock, MarkLeft, w, Token{}, "")
	m.forget(w)
	m.cancelled(u)
	m.settle(u)
}
