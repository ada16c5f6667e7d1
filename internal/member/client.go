package member

// Client sessions: a client that is no member holds locks through one, and never
// longer than that member may act.

// Renew begins a client's session or prolongs it, for so long. It returns for how
// long the client may act, by its own clock, counted from before it asked: less
// than the member, whatever the two clocks do. The client 0 is the member's own
// process, and needs no session.
func (m *Member) Renew(now Instant, client uint64, session Span) (Span, error) {
	m.begin(now)
	defer m.end()
	if !m.usable() {
		return 0, ErrGone
	}
	c := m.client(client)
	c.until = m.now + Instant(m.Settings.stretch(session, m.Settings.Drift, -m.Settings.Drift))
	left := min(session, Span(m.lease-m.now)-m.Settings.act())
	const million = 1_000_000
	return left / Span(million+m.Settings.Drift) * Span(million-m.Settings.Drift), nil
}

// A session is what is known of a client.
type session struct {
	id    uint64
	until Instant // when it is over; Never for the member's own process
	uses  int     // how many locks it holds or waits for
}

// client returns the session of a client, new or old.
func (m *Member) client(id uint64) *session {
	c := m.clients[id]
	if c == nil {
		c = &session{id: id, until: Never}
		m.clients[id] = c
		m.order = append(m.order, c)
	}
	return c
}

// known reports whether a client may ask for something.
func (m *Member) known(id uint64) bool {
	return id == 0 || m.clients[id] != nil && m.clients[id].until != Never
}

// nextSession returns when the next session is over.
func (m *Member) nextSession() Instant {
	next := Never
	for _, c := range m.order {
		next = min(next, c.until)
	}
	return next
}

// endSessions ends those whose time is over, with all that they hold.
func (m *Member) endSessions() {
	over := false
	for _, c := range m.order {
		if c.until <= m.now {
			over = true
			m.Close(m.now, c.id)
		}
	}
	if !over {
		return
	}
	left := m.order[:0]
	for _, c := range m.order {
		if c.until > m.now {
			left = append(left, c)
		}
	}
	clear(m.order[len(left):])
	m.order = left
}

// Close ends a client's session: it holds nothing and waits for nothing any more.
func (m *Member) Close(now Instant, client uint64) {
	m.now = max(m.now, now)
	c := m.clients[client]
	if c == nil || m.epoch == nil {
		return
	}
	for i := range m.epoch.uses {
		u := m.epoch.uses[i]
		if u == nil {
			continue
		}
		for w := u.first; w != nil; {
			next := w.next
			if w.client == client {
				m.tell(w, Stopped)
				u.take(w)
				m.forget(w)
			}
			w = next
		}
		if w := u.holder; w != nil && w.client == client {
			m.Out.Events = append(m.Out.Events, Event{w.ticket, Lost, u.token})
			m.forget(w)
			m.leave(u)
		} else {
			m.settle(u)
		}
	}
	c.until = min(c.until, m.now)
	delete(m.clients, client)
}
