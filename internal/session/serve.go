package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// A key identifies a request: the client numbers the requests of its session.
type key struct{ session, request uint64 }

// The states of a request, at the node.
const (
	waiting uint8 = iota // or claimed, and not answered yet
	held
	gone // no longer wanted by the client, but the member still has an event to report
)

// A request is a client's request, until the member has reported how it ends.
type request struct {
	of         *session
	number     uint64
	ticket     member.Ticket
	token      member.Token // of a held lock
	block      uint64       // the last count that the client may enter with by itself; 0 if the lock is not delegated
	recalled   bool         // of a lock that is delegated, or may be when it is granted
	name       string
	terms      member.Terms
	through    []uint64       // of a lock that was claimed: the incarnations that its ticket names
	value      *string        // attached by the client; nil if none was
	born       uint64         // stamp of the transaction, of a kept lock
	doom       *member.Victim // of a held lock: why its transaction must abort; nil if it need not
	claim      *Claimed       // nil unless it is a claim that is not answered
	state      uint8
	prev, next *request // in the list of its session
}

// serve handles a frame of a client. The client may repeat anything that it sent before
// on a connection that broke.
func (d *Server) serve(now member.Instant, m *member.Member, s *session, f *Frame) error {
	r := d.requests[key{s.Session, f.Number}]
	switch f.Kind {
	case Renew:
		d.send(s, &Frame{Kind: Renewed, Number: f.Number, Span: d.prolong(now, m, s), Again: m.Again(now, s.length)})
	case Lock:
		switch {
		case r != nil && r.state == held:
			d.grant(r)
		case r == nil && !d.leaves:
			d.lock(now, m, s, f)
		}
	case Claim:
		switch {
		case r != nil && r.state == held:
			if t, err := d.office.Check(f.Ticket, s.Who, r.name); r.block != 0 && err == nil && t.Token.Epoch == r.token.Epoch { // the client is back, and uses the lock with this count
				if err := d.keep(now, m, r, f.Count); err != nil {
					return err
				}
			}
			d.grant(r)
		case r == nil:
			d.claim(now, m, s, f)
		}
	case Check:
		if r != nil && r.state == held {
			d.grant(r)
			return nil
		}
		if r != nil {
			d.withdraw(now, m, r)
		}
		d.send(s, &Frame{Kind: Lost, Number: f.Number})
	case Keep:
		if r != nil && r.state == held && r.block != 0 {
			return d.keep(now, m, r, f.Count)
		}
	case Unlock, Return:
		ok := false
		switch {
		case r == nil: // possibly repeated, because the answer was lost with a connection
			ok = f.Number != 0 && slices.Contains(s.freed[:], f.Number)
		case r.state == held:
			var err error
			if ok, err = d.letGo(now, m, r, f.Count); err != nil {
				return err
			}
		default:
			d.withdraw(now, m, r)
			ok = true
		}
		if ok && r != nil {
			s.freed[s.frees%len(s.freed)] = f.Number
			s.frees++
		}
		d.send(s, &Frame{Kind: Done, Number: f.Number, OK: ok})
	case Value:
		if r != nil {
			value := f.Value // not &f.Value, which would keep the frame
			r.value = &value
			d.show(r)
		}
	case Close:
		if s.asked {
			m.Moved(now, s.Session)
		} else {
			m.Close(now, s.Session)
		}
		d.bye(s.conn, Finished, true)
		d.forget(s)
	}
	return nil
}

// lock asks the member for a lock. The member reports the outcome.
func (d *Server) lock(now member.Instant, m *member.Member, s *session, f *Frame) {
	if s.quota != (Quota{}) && d.count(s.Who).full(&s.quota, f.Name) {
		d.send(s, &Frame{Kind: Over, Number: f.Number, Why: OverQuota})
		return
	}
	ask := member.Ask{Client: s.Session, Deadline: member.Never, Try: f.Try, Terms: f.Terms}
	if f.Terms == (member.Terms{}) && d.streaks.longEnough(f.Name, s.Session) {
		ask.Block = blockLength
	}
	t, err := m.Lock(now, f.Name, ask)
	if err != nil {
		if why, text, alive := refusal(err); alive {
			d.send(s, &Frame{Kind: Over, Number: f.Number, Why: why, Text: text})
		} else {
			d.expire(s)
		}
		return
	}
	d.add(s, f, t).terms = f.Terms
	if w := d.config.Watch; w != nil {
		w.Asked(&s.Owner, t, f.Name, f.Try, f.Terms)
	}
}

// add adds a request to a session.
func (d *Server) add(s *session, f *Frame, t member.Ticket) *request {
	r := &request{of: s, number: f.Number, ticket: t, name: f.Name, next: s.first}
	if s.first != nil {
		s.first.prev = r
	}
	s.first = r
	d.requests[key{s.Session, f.Number}], d.tickets[t] = r, r
	s.waits++
	s.usage.add(f.Name)
	return r
}

// withdraw takes back a waiting request. The member may have granted it in this very
// step; it is then released when the member has reported that.
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

// letGo releases a held lock, and reports whether it was held until now. If not, the
// member has reported the loss in this very step. The count is that of the last entry of a
// delegated lock, 0 if it is not known.
func (d *Server) letGo(now member.Instant, m *member.Member, r *request, count uint64) (bool, error) {
	if r.block != 0 && count != 0 {
		if err := m.Return(now, r.name, r.token, count); errors.Is(err, member.ErrCount) {
			return false, fmt.Errorf("%w: RETURN: %w", ErrFrame, err)
		} else if err == nil {
			d.streaks.ended(r, count)
			d.released(r, count)
			return true, nil
		}
	}
	if m.Unlock(now, r.name, r.token) != nil {
		d.abandon(r)
		return false, nil
	}
	d.released(r, 0)
	return true, nil
}

// released removes a request whose lock is released, with the count that a RETURN names.
func (d *Server) released(r *request, count uint64) {
	d.remove(r)
	if w := d.config.Watch; w != nil {
		w.Unlocked(r.ticket, count)
	}
}

// keep makes a delegated lock an ordinary one, which the client holds with a count.
func (d *Server) keep(now member.Instant, m *member.Member, r *request, count uint64) error {
	t, err := m.Keep(now, r.name, r.token, count)
	if errors.Is(err, member.ErrCount) {
		return fmt.Errorf("%w: KEEP or CLAIM: %w", ErrFrame, err)
	}
	if err == nil {
		d.streaks.ended(r, count)
		r.token, r.block = t, 0
		if w := d.config.Watch; w != nil {
			w.Kept(r.ticket, t)
		}
	}
	return nil
}

// recall asks the client of a delegated lock to return it.
func (d *Server) recall(r *request) {
	r.recalled = true
	d.send(r.of, &Frame{Kind: Recall, Number: r.number})
}

// abandon is remove for a request about which the member still has an event to report.
func (d *Server) abandon(r *request) {
	if r.claim != nil {
		d.answered(r.claim, errWithdrawn)
		r.claim = nil
	}
	if r.state != gone && !r.of.over {
		r.of.usage.remove(r.name)
	}
	switch r.state {
	case waiting:
		r.of.waits--
	case held:
		r.of.holds--
		d.holds--
		d.show(r)
	}
	r.state = gone
	delete(d.requests, key{r.of.Session, r.number})
}

// remove removes a request that has ended.
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

// grant notifies a client that it holds a lock, and that its transaction must abort if so.
func (d *Server) grant(r *request) {
	if r.block == 0 {
		d.send(r.of, &Frame{Kind: Held, Number: r.number, Token: r.token, Born: r.born, Ticket: d.ticket(r)})
	} else {
		d.send(r.of, &Frame{Kind: Delegated, Number: r.number, Token: r.token, Count: r.block, Ticket: d.ticket(r)})
		if r.recalled {
			d.recall(r)
		}
	}
	if r.doom != nil {
		d.send(r.of, &Frame{Kind: Abort, Number: r.number, Victim: r.doom})
	}
}

// Told handles an event of the member, and reports whether it concerns a client.
func (d *Server) Told(e *member.Event) bool {
	r := d.tickets[e.Ticket]
	if r == nil {
		return false
	}
	s, wanted := r.of, r.state != gone
	switch e.Kind {
	case member.Doomed:
		r.doom = e.Victim.Clip()
		if wanted {
			d.send(s, &Frame{Kind: Abort, Number: r.number, Victim: r.doom})
		}
		return true
	case member.Wanted:
		if r.recalled = true; wanted {
			d.recall(r)
		}
		return true
	case member.Held:
		r.token, r.born, r.block = e.Token, e.Born, e.Last
		d.streaks.granted(r.name, s.Session, e.Silent)
		if r.claim != nil {
			d.answered(r.claim, nil)
			r.claim = nil
		}
		if wanted {
			r.state = held
			s.waits--
			s.holds++
			d.holds++
			d.show(r)
			d.grant(r)
		} else {
			d.due = append(d.due, r)
			d.wake()
		}
		return true
	}
	if r.claim != nil {
		d.answered(r.claim, refusedFor(e))
		r.claim = nil
	}
	d.remove(r)
	switch {
	case e.Cause == member.Session:
		d.expire(s)
	case !wanted:
	case e.Kind == member.Stopped:
		if f := stopped(e); f != nil { // otherwise, what stops all sessions sends each the reason
			f.Number = r.number
			d.send(s, f)
		}
	case e.Kind == member.Lost:
		d.send(s, &Frame{Kind: Lost, Number: r.number, Cause: e.Cause})
	case e.Kind == member.Recovering:
		d.send(s, &Frame{Kind: Over, Number: r.number, Why: Recovering})
	default:
		d.send(s, &Frame{Kind: Over, Number: r.number, Why: Busy})
	}
	return true
}

// stopped returns the frame about a request that the member has stopped, if that concerns
// only the request.
func stopped(e *member.Event) *Frame {
	f := &Frame{Kind: Over, Born: e.Born}
	switch e.Cause {
	case member.Deadlock:
		f.Why, f.Victim = Deadlock, e.Victim.Clip()
	case member.Units:
		f.Why = OtherUnits
	case member.Changed:
		f.Why = OtherKind
	case member.Ended:
		f.Why = Ended
	default:
		return nil
	}
	return f
}

// clip shortens a text to what a frame can carry.
func clip(text string) string {
	if len(text) <= MaxText {
		return text
	}
	const more = "..."
	return strings.ToValidUTF8(text[:MaxText-len(more)], "") + more
}

// show reports that a lock with a value is held, that its value is another, or that it is no
// longer held.
func (d *Server) show(r *request) {
	if r.value != nil && r.state == held {
		d.Out.Shown = append(d.Out.Shown, r.name)
	}
}
