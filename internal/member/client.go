package member

import "fmt"

// Client sessions. A client is not a member: it holds locks through one, and never
// longer than that member may act. When a client's span is over, so is its session, for
// the client: it must not use what is granted in it later.

// A session is the member's record of a client.
type session struct {
	id    uint64
	who   string // identity; empty if it has none
	end   due
	uses  int     // number of locks it holds or waits for
	first *waiter // the first of those requests
}

func (c *session) put(w *waiter) {
	c.uses++
	if w.after = c.first; c.first != nil {
		c.first.before = w
	}
	c.first = w
}

func (c *session) takeOut(w *waiter) {
	c.uses--
	if w.before == nil {
		c.first = w.after
	} else {
		w.before.after = w.after
	}
	if w.after != nil {
		w.after.before = w.before
	}
}

// Renew begins a client's session or renews it, for this length. It returns how long
// the client may act, by its own clock, counted from before it asked: what it does ends
// before the member's lease does, whatever the two clocks do. Like the member, it must
// begin nothing for some time before that. The client 0 is the member's own process, and
// needs no session.
func (m *Member) Renew(now Instant, client uint64, length Span) (Span, error) {
	m.begin(now)
	defer m.end()
	switch {
	case client == 0 || length <= 0 || length > MaxSpan:
		return 0, fmt.Errorf("%w: got client %d and length %v, want a client above 0 and a length of up to 24h", ErrSession, client, length)
	case m.gone:
		return 0, ErrGone
	case !m.usable():
		return 0, ErrLease
	}
	c := m.clients[client]
	if c == nil {
		c = &session{id: client}
		c.end.session = c
		m.clients[client] = c
	}
	m.schedule.put(&c.end, max(c.end.at, m.now+Instant(length)))
	return m.Settings.within(min(length, Span(m.lease-m.now))), nil
}

// Again returns how long a client should wait, after a renewal, before the next. It renews
// about five times in the length of its session, and soon after the member has renewed its
// own lease: the client may act for as long as that lets it.
func (m *Member) Again(now Instant, length Span) Span {
	step, late := length/5, m.Settings.Renew/10
	wait := Span(max(0, m.renewAt-now)) + late
	if wait > step+step/5 {
		return step
	}
	return wait + max(0, step-wait)/m.Settings.Renew*m.Settings.Renew
}

// Close ends a client's session: the client holds nothing and waits for nothing any
// more. Only the client itself can ask for that: one whose connection is broken may
// still act.
func (m *Member) Close(now Instant, client uint64) {
	m.begin(now)
	if c := m.clients[client]; c != nil {
		m.close(c, Closed)
	}
	m.end()
}

// Moved ends the session of a client that holds its locks through other members. It is not the
// client's word that it has stopped: its locks are passed on as when a session expires.
func (m *Member) Moved(now Instant, client uint64) {
	m.begin(now)
	if c := m.clients[client]; c != nil {
		m.close(c, Moved)
	}
	m.end()
}

func (m *Member) close(c *session, why Cause) {
	wordless := why == Session || why == Moved
	delete(m.clients, c.id)
	m.schedule.remove(&c.end)
	for w := c.first; w != nil; { // waiting requests first, so that none of them is granted what another releases
		next := w.after
		if !w.holds() {
			m.finish(w, Stopped, why)
		}
		w = next
	}
	for c.first != nil {
		switch w := c.first; {
		case w.part != nil && wordless:
			m.lapses(w.part, m.now, why)
		case w.part != nil:
			m.takes(w.part, why)
		case wordless:
			m.expired(w.at, m.now, why)
		default:
			m.drop(w.at, why)
		}
	}
}

// client returns the session of a client, or nil if it has none.
func (m *Member) client(id uint64) *session {
	if id == 0 {
		return &m.own
	}
	return m.clients[id]
}
