package member

import "github.com/stile-lock/stile/algorithm/deadlock"

// What becomes of requests when an operator chooses another kind of lock for their names.
// An exclusive hold goes on as the other kind. A hold that only a kept lock can have is
// lost, and so is one of a lock that is delegated; its lock is passed on when the former holder
// can no longer act.

// adopt makes the requests of a lock into those of a kept one.
func (m *Member) adopt(was *use, name string) {
	choice := m.epoch.view.Choices[m.epoch.view.Choose(name)].Prefix
	adopt := func(w *waiter, c *session) *part {
		m.clock++
		tx := m.begins(c, choice, 0, m.clock)
		tx.last = 1
		p := &part{tx: tx, w: w, name: name, place: len(m.kept.parts), Request: deadlock.Request{Attempt: tx.id}}
		p.Seq, p.nudge.part = 1, p
		if w != nil {
			w.at, w.part, p.try = nil, p, w.try
		}
		m.kept.add(p)
		return p
	}
	if was.taken() {
		c := &m.own
		if was.holder != nil {
			c = was.holder.client
		} else if was.client {
			c = &session{who: was.who} // only to say that it is not the own one
		}
		p := adopt(was.holder, c)
		p.token, p.since, p.rests, p.proof = was.token, was.since, was.rests, was.proof
		switch {
		case was.byClaim:
			p.by = byClaim
		case was.client:
			p.by = byClient
		}
		if p.state = holds; was.lapsed {
			p.state = lapsed
			m.kept.lapses++
		} else {
			m.kept.holds++
		}
		if b := was.block; b != nil { // its client may be inside with a later token than the one that is reported
			m.schedule.remove(&b.end)
			if p.state == holds {
				m.lapses(p, m.lease, Changed)
			}
		}
	}
	for was.first != nil {
		w := was.first
		was.take(w)
		adopt(w, w.client)
	}
	m.loseClaims(was, Changed, false)
}

// disown makes a request for a kept lock into one for an ordinary lock.
func (m *Member) disown(p *part) {
	e, w, state := m.epoch, p.w, p.state
	plain := p.Mode == deadlock.Exclusive && p.units == 0
	switch {
	case state == claiming:
		m.disclaimKept(p, Changed)
		return
	case state == lapsed:
	case state == holds && !plain:
		m.lapses(p, m.lease, Changed)
		state = lapsed
	case state != holds && (!plain || p.tx.number != 0):
		m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Stopped, Cause: Changed})
		m.drops(p)
		return
	}
	if p.w = nil; w != nil {
		w.part = nil
	}
	by := m.owner(p)
	m.drops(p)
	n := lockOf(e, p.name)
	u := e.use(n)
	switch {
	case state == holds:
		w.at = u
		u.holder, u.token, u.since, u.carried, u.client, u.who, u.byClaim = w, p.token, p.since, true, by.client, by.who, p.by == byClaim
		u.owed |= owedHold
		e.holders++
	case state == lapsed && u.lapsed: // several have shared it
		u.rests, u.client, u.proof = max(u.rests, p.rests), u.client || by.client, 0
		if u.token.Less(p.token) {
			u.token = p.token
		}
	case state == lapsed:
		u.lapsed, u.shared, u.token, u.rests, u.carried, u.client, u.who, u.byClaim = true, !plain, p.token, p.rests, true, by.client, by.who, p.by == byClaim
		u.owed |= owedHold
		e.lapses++
	default:
		m.clock++
		w.stamp = Stamp{e.view.BeforeEpoch, m.clock, m.Inc}
		u.push(w)
	}
	m.again(u)
	m.owe(e, n)
}

// outlaw ends a request for a semaphore whose method has become one that knows none. It
// reports whether nothing is left of it: a hold is lost, and its home hears of it until the
// former holder can no longer act.
func (m *Member) outlaw(p *part) bool {
	switch p.state {
	case claiming:
		m.disclaimKept(p, Changed)
		return true
	case holds:
		m.lapses(p, m.lease, Changed)
	case wants, granted:
		m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Stopped, Cause: Changed})
		m.drops(p)
		return true
	}
	return false
}
