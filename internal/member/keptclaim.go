package member

import (
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Claims of kept locks. A client that moves to another member claims there what it holds,
// as it does with other locks: in views later than the one in which it acquired the lock,
// and behind the member's REPORT. The home identifies a hold by its token.
//
//   - If the hold is in the book, because the member that it was held through has reported
//     it, both have it from then on. Each of them ends it for itself, and the hold ends with
//     the last: so it is never counted twice, and no member ends it for another.
//   - Otherwise the home waits for all reports, and as long as it suspects a ghost that the
//     client does not name: that may have been the home in an earlier view, where it goes on
//     granting, once the lease of the member that the hold rests on is over. If the hold then
//     rests on a ghost whose lease may still run, as far as the book knows, nothing incompatible
//     was granted, and the hold enters the book. If not, the claim is refused. A later hold that
//     excludes it shows that it was passed on, which the client may not have heard: an operator
//     may have taken it.
//
// What a claimed hold says about others cannot be relied on, because the client may be about
// to give it up, or holds it through another member as well: see deadlock.Hold.
//
// The claims of a transaction make it a transaction of this member, with the stamp that it
// had. It has another identity than at the former member, where it may still be known, and
// requests nothing before all its claims are answered.

// A keptClaim is a claim of a kept lock that waits at the home.
type keptClaim struct {
	rank  int
	hold  deadlock.Hold
	units int

	through []uint64 // incarnations through which the client holds it, last the one that it rests on
	who     string   // identity of the client
	told    bool     // the holders of earlier holds that exclude this one were told
}

// token returns the token of the hold.
func (c *keptClaim) token() Token { return Token{c.hold.Epoch, c.hold.Count} }

// on returns the incarnation that the hold rests on.
func (c *keptClaim) on() uint64 {
	if len(c.through) == 0 {
		return 0 // which none has
	}
	return c.through[len(c.through)-1]
}

// lastBorn is the highest stamp that frames carry.
const lastBorn = 1<<62 - 1

// moving reports whether a transaction has claims that are not answered.
func (t *transaction) moving() bool {
	return slices.ContainsFunc(t.parts, func(p *part) bool { return p.state == claiming })
}

// claimKept claims a kept lock for a client.
func (m *Member) claimKept(c *session, n int32, name string, t Token, through []uint64, terms Terms) (Ticket, error) {
	e, k := m.epoch, &m.kept
	l := e.table.lock(n)
	if terms.Check() != nil || e.schools[l.alg].fits(terms.Units) != nil || t.IsNone() || len(through) == 0 {
		return 0, ErrNotHeld
	}
	for _, p := range k.names[name] {
		if p.token == t && (p.state != claiming || p.tx.client.who == c.who) {
			return 0, ErrNotHeld // by an earlier session, which has to end first
		}
	}
	prefix := e.view.Choices[l.alg].Prefix
	var tx *transaction
	if terms.Tx != 0 {
		tx = k.named[txKey{c.id, terms.Tx}]
	}
	switch {
	case tx == nil:
		m.clock++
		born := m.clock
		if terms.Born != 0 {
			born = min(terms.Born, lastBorn)
		}
		tx = m.begins(c, prefix, terms.Tx, born)
	case tx.choice != prefix || slices.ContainsFunc(tx.parts, func(p *part) bool { return p.name == name }):
		return 0, ErrNotHeld
	}
	tx.last++
	p := &part{tx: tx, w: m.newWaiter(c), name: name, units: terms.Units, state: claiming, owed: true, place: len(k.parts), token: t, through: slices.Clone(through)}
	p.Attempt, p.Mode = tx.id, terms.Mode
	p.Seq = tx.last
	p.w.part, p.nudge.part = p, p
	k.add(p)
	k.claims++
	ticket := p.w.ticket
	m.pursueOne(p)
	return ticket, nil
}

// pursueKept sends the claims of kept locks whose home is the member of a rank.
func (m *Member) pursueKept(rank int) {
	if m.kept.claims == 0 {
		return
	}
	m.kept.each(func(p *part) {
		if p.state == claiming && m.epoch.view.Home(p.name) == rank {
			m.pursueOne(p)
		}
	})
}

// pursueOne sends a claim, unless it must wait for a later view or for the end of the
// REPORT.
func (m *Member) pursueOne(p *part) {
	e := m.epoch
	home := e.view.Home(p.name)
	if !p.owed || e.view.Epoch <= p.token.Epoch || e.reports[home].owed {
		return
	}
	p.owed = false
	h := deadlock.Hold{Request: p.Request, Epoch: p.token.Epoch, Count: p.token.Count}
	if home == e.me {
		m.moves(lockOf(e, p.name), keptClaim{rank: home, hold: h, units: p.units, through: p.through, who: p.tx.client.who})
		return
	}
	m.send(home, &frame{kind: moveFrame, name: []byte(p.name), who: p.Attempt, mode: p.Mode, units: p.units, token: p.token, through: p.through, claimer: p.tx.client.who})
}

// moves handles a claim at the home.
func (m *Member) moves(n int32, c keptClaim) error {
	b, err := m.book(n, c.units)
	if err != nil {
		return err
	}
	b.where[idOf(c.hold.Attempt)] = c.rank
	i := 0
	for i < len(b.asked) && !b.asked[i].token().Less(c.token()) { // the latest hold first
		i++
	}
	b.asked = slices.Insert(b.asked, i, c)
	m.settleBook(b)
	return nil
}

// settleBook answers the claims that can be decided, and drops the book if nothing is left
// in it.
func (m *Member) settleBook(b *book) {
	for i := 0; i < len(b.asked); i++ {
		if c := b.asked[i]; !m.undecided(b, &c) && !m.overruleKept(b, &b.asked[i]) {
			v := m.honourKept(b, &c)
			b.asked = slices.DeleteFunc(b.asked, func(o keptClaim) bool { return o.hold.Attempt == c.hold.Attempt })
			m.answerKept(b.lock, c, v) // which may end it
			i = -1
		}
	}
	m.shelve(b)
}

// undecided reports whether a claim must wait: if the member that the hold rests on is a
// suspect, for all reports, and for the leases of all ghosts that the client does not name.
func (m *Member) undecided(b *book, c *keptClaim) bool {
	if b.keeper.Has(c.hold.Epoch, c.hold.Count) || !m.mayRest(b, c) {
		return false
	}
	e := m.epoch
	return slices.ContainsFunc(b.keeper.Suspects(), func(i uint64) bool {
		return int(i) < e.survivors() || !slices.Contains(c.through, e.universe[i])
	})
}

// overruleKept has holds of the book taken away that were over when a claimed one began: earlier
// ones that exclude it. It reports whether there are any: then the claim has to wait for their
// ends. See claim.go.
func (m *Member) overruleKept(b *book, c *keptClaim) (waits bool) {
	if b.keeper.Has(c.hold.Epoch, c.hold.Count) || !m.mayRest(b, c) {
		return false
	}
	mine, whole := c.hold.Mode.Of(c.units)
	over := slices.DeleteFunc(b.keeper.Owned(), func(h deadlock.Hold) bool {
		its, _ := h.Mode.Of(c.units)
		return b.units == c.units && mine+its <= whole
	})
	if len(over) == 0 || slices.ContainsFunc(over, func(h deadlock.Hold) bool {
		t := Token{h.Epoch, h.Count}
		return !t.Less(c.token()) || !b.claims[t]
	}) {
		return false
	}
	told := c.told
	c.told = true
	for _, h := range over {
		rank := b.where[idOf(h.Attempt)]
		switch {
		case told:
		case rank != m.epoch.me:
			m.send(rank, &frame{kind: movedFrame, name: m.epoch.table.name(b.lock), who: h.Attempt, verdict: disputed})
		default:
			defer m.moved(h.Attempt, disputed)
		}
	}
	return true
}

// mayRest reports whether the member that a claimed hold rests on may have it, although the
// book does not. If that member has reported, the hold is over. Until the book is closed for
// the first time, a ghost that is no longer a suspect has been cleared.
func (m *Member) mayRest(b *book, c *keptClaim) bool {
	e := m.epoch
	return !e.table.lock(b.lock).is(opened) && c.hold.Epoch < e.view.Epoch && !b.passed(c) &&
		slices.Contains(b.keeper.Suspects(), uint64(e.place(c.on())))
}

// honourKept honours a claim, or refuses it.
func (m *Member) honourKept(b *book, c *keptClaim) verdict {
	known := b.keeper.Has(c.hold.Epoch, c.hold.Count)
	mine := owner{true, c.who}
	ok := known && b.units == c.units && b.owners[c.token()] == mine && m.epoch.mayHold(c.on())
	if !known && m.mayRest(b, c) {
		ok = b.units == c.units || len(b.keeper.Holds()) == 0 && m.remake(b, c.units) == nil
	}
	var effects []deadlock.Effect
	if ok {
		effects, ok = b.keeper.Claim(c.hold, uint64(m.epoch.place(c.on())))
	}
	if !ok {
		delete(b.where, idOf(c.hold.Attempt))
		if b.passed(c) {
			return passedOn
		}
		return refused
	}
	b.knows(c.hold.Mode, c.token())
	b.owners[c.token()] = mine
	if !known {
		b.claims[c.token()] = true
	}
	m.carryOut(b, effects)
	return honoured
}

// A latest is the latest hold of one mode that a home has heard of in a view.
type latest struct {
	mode  deadlock.Mode
	units int
	token Token
}

// knows notes a hold that was reported, claimed or granted.
func (b *book) knows(mode deadlock.Mode, t Token) {
	i := slices.IndexFunc(b.latest, func(l latest) bool { return l.mode == mode && l.units == b.units })
	if i < 0 {
		b.latest = append(b.latest, latest{mode, b.units, t})
	} else if b.latest[i].token.Less(t) {
		b.latest[i].token = t
	}
}

// passed reports whether a later hold excluded the one that is claimed, even if that hold
// is over.
func (b *book) passed(c *keptClaim) bool {
	mine, whole := c.hold.Mode.Of(c.units)
	return slices.ContainsFunc(b.latest, func(l latest) bool {
		its, _ := l.mode.Of(c.units)
		return c.token().Less(l.token) && (l.units != c.units || mine+its > whole)
	})
}

// answerKept answers a claim.
func (m *Member) answerKept(n int32, c keptClaim, v verdict) {
	if c.rank == m.epoch.me {
		m.moved(c.hold.Attempt, v)
		return
	}
	m.send(c.rank, &frame{kind: movedFrame, name: m.epoch.table.name(n), who: c.hold.Attempt, verdict: v})
}

// moved handles the home's answer to a claim. If the claim was withdrawn, the home has been
// notified.
func (m *Member) moved(who deadlock.Attempt, v verdict) {
	p := m.partOf(who)
	switch {
	case p != nil && p.state == holds && p.by == byClaim && v == disputed:
		m.takes(p, Released)
		return
	case p == nil || p.state != claiming:
		return
	case v == passedOn:
		p.owed = true // the home has forgotten it
		m.disclaimKept(p, Released)
		return
	case v != honoured:
		p.owed = true // so it has now
		m.disclaimKept(p, NoCause)
		return
	case !m.usable():
		m.disclaimKept(p, NoCause)
		return
	}
	p.state, p.since, p.by = holds, m.now, byClaim
	m.kept.claims--
	m.kept.holds++
	m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Held, Token: p.token, Born: p.tx.born()})
	if v := p.tx.doomed; v != nil {
		m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Doomed, Cause: Deadlock, Token: p.token, Born: p.tx.born(), Victim: v, Tx: uint64(p.Tx)})
	}
}

// disclaimKept refuses the claim of a client here.
func (m *Member) disclaimKept(p *part, why Cause) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Lost, Cause: why, Token: p.token})
	m.done(p)
}
