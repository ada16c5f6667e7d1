package session

import (
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
)

// A key names a request: those of a session are numbered by its client.
type key struct{ session, request uint64 }

// The states of a request, at the node.
const (
	waiting uint8 = iota
	held
	gone // the client wants it no more, and the member has still something to tell
)

// A request is one of a client, until the member has told how it ends.
type request struct {
	of         *session
	number     uint64
	ticket     member.Ticket
	token      member.Token // held
	name       string
	state      uint8
	prev, next *request // of its session
}

// serve does what a client wants. Whatever it has said before, on a connection that
// broke, it may say again.
func (d *Server) serve(now member.Instant, m *member.Member, s *session, f *Frame) {
	r := d.requests[key{s.id, f.Number}]
	switch f.Kind {
	case Renew:
		d.send(s, &Frame{Kind: Renewed, Number: f.Number, Span: d.prolong(now, m, s)})
	case Lock:
		switch {
		case r != nil && r.state == held:
			d.grant(r)
		case r == nil && !d.leaves:
			d.lock(now, m, s, f)
		}
	case Check:
		if r != nil && r.state == held {
			d.grant(r)
			return
		}
		if r != nil {
			d.withdraw(now, m, r)
		}
		d.send(s, &Frame{Kind: Lost, Number: f.Number})
	case Unlock:
		ok := false
		switch {
		case r == nil: // it may be said again, since the answer was lost with a connection
			ok = f.Number != 0 && slices.Contains(s.freed[:], f.Number)
		case r.state == held:
			ok = d.letGo(now, m, r)
		default:
			d.withdraw(now, m, r)
			ok = true
		}
		if ok && r != nil {
			s.freed[s.frees%len(s.freed)] = f.Number
			s.frees++
		}
		d.send(s, &Frame{Kind: Done, Number: f.Number, OK: ok})
	case Close:
		m.Close(now, s.id)
		d.bye(s.conn, Finished, true)
		d.forget(s)
	}
}

// lock asks the member for a lock. What becomes of it the member tells.
func (d *Server) lock(now member.Instant, m *member.Member, s *session, f *Frame) {
	t, err := m.Lock(now, f.Name, member.Ask{Client: s.id, Deadline: member.Never, Try: f.Try})
	if err != nil {
		if why, alive := refusal(err); alive {
			d.send(s, &Frame{Kind: Over, Number: f.Number, Why: why})
		} else {
			d.expire(s)
		}
		return
	}
	r := &request{of: s, number: f.Number, ticket: t, name: f.Name, next: s.first}
	if s.first != nil {
		s.first.prev = r
	}
	s.first = r
	d.requests[key{s.id, f.Number}], d.tickets[t] = r, r
	if w := d.config.Watch; w != nil {
		w.Asked(t, f.Name, f.Try)
	}
}

// withdraw takes back a request that waits. It may have been granted in this very
// step: then it is let go of when the member has told so.
func (d *Server) withdraw(now member.Instant, m *member.Member, r *request) {
	m.Cancel(now, r.ticket)
	for i := range m.Out.Events {
		if m.Out.Events[i].Ticket == r.ticket {
			d.abandon(r)
			return
		}
	}
	d.remove(r)
	if w := d.config.Watch; w != nil {
		w.Cancelled(r.ticket)
	}
}

// letGo lets go of what is held, and reports whether it was held until now. If not,
// the member has told so in this very step.
func (d *Server) letGo(now member.Instant, m *member.Member, r *request) bool {
	if m.Unlock(now, r.name, r.token) != nil {
		d.abandon(r)
		return false
	}
	d.remove(r)
	if w := d.config.Watch; w != nil {
		w.Unlocked(r.ticket)
	}
	return true
}

// abandon is remove for a request of which the member has still something to tell.
func (d *Server) abandon(r *request) {
	if r.state == held {
		d.holds--
	}
	r.state = gone
	delete(d.requests, key{r.of.id, r.number})
}

// remove takes out a request that is over.
func (d *Server) remove(r *request) {
	d.abandon(r)
	delete(d.tickets, r.ticket)
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		r.of.first = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
}

// grant tells a client that it holds a lock.
func (d *Server) grant(r *request) {
	d.send(r.of, &Frame{Kind: Held, Number: r.number, Token: r.token})
}

// Told takes an event of the member, and reports whether it is of a client.
func (d *Server) Told(e *member.Event) bool {
	r := d.tickets[e.Ticket]
	if r == nil {
		return false
	}
	s, wanted := r.of, r.state != gone
	if e.Kind == member.Held {
		r.token = e.Token
		if wanted {
			r.state = held
			d.holds++
			d.grant(r)
		} else {
			d.due = append(d.due, r)
			d.wake()
		}
		return true
	}
	d.remove(r)
	switch {
	case e.Cause == member.Session:
		d.expire(s)
	case !wanted || e.Kind == member.Stopped: // whoever stops all sessions says why to each
	case e.Kind == member.Lost:
		d.send(s, &Frame{Kind: Lost, Number: r.number, Cause: e.Cause})
	case e.Kind == member.Recovering:
		d.send(s, &Frame{Kind: Over, Number: r.number, Why: Recovering})
	default:
		d.send(s, &Frame{Kind: Over, Number: r.number, Why: Busy})
	}
	return true
}
