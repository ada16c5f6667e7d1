package member

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Claims. A client that holds a lock through a member and loses that member attaches to
// another one, which claims the lock from its home. The home then is inside on behalf of
// the claiming member, as it is for members that have reported the lock as held.
//
// A claim is made only in views later than the one in which the lock was entered, and
// behind the member's REPORT. The home refuses it if it has released, lent or entered
// the lock in this view. Otherwise it waits until the only processes left that may be
// inside are those through which the client was confirmed to hold the lock. These are
// ghosts, or members that have reported or claimed the lock themselves: none of them can
// pass it on without the client's word, and none can be inside on its own account.
//
// An operator can: a member passes on what is released by force without the client's
// word, and the client may not have heard of it. So the home also refuses a claim if it
// knows of a later entry, by a token that was reported or claimed, or if the member that
// the hold rests on says that it no longer has it. If that member was evicted and the
// next holder has not reported, the home cannot know.
//
// A claim proves that the client was granted the lock: see package ticket. It does not prove
// that the client has not released it since. So a client may claim a lock that it has released,
// and that another one has entered since through a member that cannot be asked: a ghost, which
// both holds rest on. If that one claims the lock too, its later token proves that the first
// hold was over. The home then has the first one taken away, and goes on with the later one. Until
// the ghost's lease is over it lets no other process in, whatever becomes of these claims.
//
// Kept locks have claims of their own: see keptclaim.go.

// claims is what a member knows of the claims of one lock.
type claims struct {
	mine  []*waiter // claims of clients of this member, not answered yet: one for each identity
	asked []asked   // at the home: claims that wait
	by    uint64    // at the home: members, by rank, whose claims were honoured
	late  Token     // at the home: the latest entry that was claimed while an earlier one seemed to be held; that one is over
	told  uint64    // at the home: members, by rank, that were told so
}

// An asked is a claim that waits at the home.
type asked struct {
	rank    int
	number  uint64 // the claiming member's number for it
	token   Token
	through []uint64 // incarnations through which the client was confirmed to hold the lock, last the one that it rests on
	who     string   // identity of the client
}

// A verdict is the home's answer to a claim.
type verdict uint8

const (
	honoured verdict = iota
	refused
	passedOn // refused: the lock has been passed on, and another process has entered since
	disputed // another process has the lock by an earlier entry, which must end first
	undecided
)

// A claim is a client's claim, at the member that it has attached to.
type claim struct {
	number  uint64 // counts the claims of this member
	token   Token
	through []uint64
	sent    bool // to the home of this view
}

// Claim claims a lock that a client holds, with this token, through other incarnations.
// Its hold rests on the last of them. The event is Held if the home honours the claim, and
// Lost if it is refused; the cause is Released if an operator has taken the lock from the
// client. The terms are those on which a kept lock was acquired.
func (m *Member) Claim(now Instant, name string, t Token, client uint64, through []uint64, terms Terms) (Ticket, error) {
	m.begin(now)
	defer m.end()
	if err := CheckName(name); err != nil {
		return 0, err
	}
	if m.gone || m.epoch == nil {
		return 0, ErrGone
	}
	c := m.clients[client]
	switch {
	case c == nil:
		return 0, ErrSession
	case c.uses >= m.Limits.Names:
		return 0, ErrNames
	}
	e := m.epoch
	n := lockOf(e, name)
	if e.isKept(n) {
		return m.claimKept(c, n, name, t, through, terms)
	}
	if terms.Mode != deadlock.Exclusive || terms.Units != 0 {
		return 0, ErrNotHeld // it was a kept one, and shared
	}
	u := e.use(n)
	was := u.claimOf(c.who)
	if u.taken() && !u.falselyBefore(t) || was != nil && !was.claim.token.Less(t) {
		m.settle(u)
		return 0, ErrNotHeld
	}
	if was != nil {
		m.refuseClaim(was, NoCause) // which may end the use
		u = e.use(lockOf(e, name))
	}
	w := m.newWaiter(c)
	m.claims++
	w.at, w.claim = u, &claim{number: m.claims, token: t, through: slices.Clone(through)}
	u.claim().mine = append(u.claim().mine, w)
	e.claims = append(e.claims, u.lock)
	ticket := w.ticket
	m.pursue(u)
	return ticket, nil
}

// claim returns the claims of a lock, to be changed.
func (u *use) claim() *claims {
	if u.claims == nil {
		u.claims = &claims{}
	}
	return u.claims
}

// claimOf returns the claim of a client here with an identity, or nil.
func (u *use) claimOf(who string) *waiter {
	if u.claims == nil {
		return nil
	}
	for _, w := range u.claims.mine {
		if w.client.who == who {
			return w
		}
	}
	return nil
}

// claimed reports whether a claim of this lock waits here, or was honoured.
func (u *use) claimed() bool {
	return u.claims != nil && (len(u.claims.mine) > 0 || len(u.claims.asked) > 0 || u.claims.by != 0)
}

// pursue sends the claims of clients here to the home, unless they must wait for a later
// view or for the end of the REPORT. It may end the use.
func (m *Member) pursue(u *use) {
	e, n := m.epoch, u.lock
	home := int(e.table.lock(n).home)
	if u.claims == nil || e.reports[home].owed {
		return
	}
	for _, w := range slices.Clone(u.claims.mine) {
		if u.lock != n || u.claims == nil || !slices.Contains(u.claims.mine, w) {
			continue // the answer to another one has ended it
		}
		if w.claim.sent || e.view.Epoch <= w.claim.token.Epoch {
			continue
		}
		w.claim.sent = true
		if home == e.me {
			m.consider(u, asked{home, w.claim.number, w.claim.token, w.claim.through, w.client.who})
			continue
		}
		m.send(home, &frame{kind: claimFrame, name: e.table.name(n), token: w.claim.token, through: w.claim.through, try: w.claim.number, claimer: w.client.who})
	}
}

// pursueAll sends the claims whose home is the member of a rank.
func (m *Member) pursueAll(rank int) {
	e := m.epoch
	for _, n := range e.claims {
		if u := e.found(n); u != nil && int(e.table.lock(n).home) == rank {
			m.pursue(u)
		}
	}
	if rank != e.me { // what is claimed of itself follows its own report
		m.pursueKept(rank)
	}
}

// consider handles a claim at the home.
func (m *Member) consider(u *use, a asked) {
	l := m.epoch.table.lock(u.lock)
	if l.is(cleared) || l.is(opened) {
		m.answerClaim(u, a, refused)
		return
	}
	c := u.claim()
	c.asked = slices.DeleteFunc(c.asked, func(o asked) bool { return o.rank == a.rank && o.who == a.who })
	i := 0
	for i < len(c.asked) && !c.asked[i].token.Less(a.token) { // the latest entry first
		i++
	}
	c.asked = slices.Insert(c.asked, i, a)
	m.settle(u)
}

// honour answers the claims that can be decided.
func (m *Member) honour(u *use) {
	n := u.lock
	for u.lock == n && u.claims != nil && len(u.claims.asked) > 0 {
		i, v := m.decide(u)
		if v == undecided {
			m.question(u)
			i, v = m.decide(u)
		}
		switch v {
		case undecided:
			return
		case disputed:
			m.overrule(u, u.claims.asked[i].token)
			return
		}
		c := u.claims
		a := c.asked[i]
		c.asked = slices.Delete(c.asked, i, i+1)
		if v == honoured {
			c.by |= 1 << a.rank
			m.epoch.note(n, olderHold{a.token, a.token.Count, owner{true, a.who}, true})
		}
		m.answerClaim(u, a, v) // which may refuse it, and end the use
	}
}

// decide returns the first claim that can be decided, and how.
func (m *Member) decide(u *use) (int, verdict) {
	for i, a := range u.claims.asked {
		if v := m.judge(u, &a); v != undecided {
			return i, v
		}
	}
	return 0, undecided
}

// judge decides a claim. It is honoured if no other process is left that may be inside.
func (m *Member) judge(u *use, a *asked) verdict {
	rests, known := m.rests(u, a.through)
	newest, reported := m.epoch.newest[u.lock]
	switch {
	case a.token.Less(newest.token) || a.token.Less(u.claims.late):
		return passedOn
	case reported && !newest.is(a.token, a.who) && !newest.byClaim:
		return refused
	case reported && !newest.is(a.token, a.who) && u.olderHeld(m.epoch):
		return disputed
	case known && !rests && newest.is(a.token, a.who) && u.olderHeld(m.epoch) && m.epoch.wasMember(a.through):
		return undecided // the client may hold it through a member that has claimed it since
	case known && !rests:
		return refused
	case !known || m.blocked(u, a.through):
		return undecided
	}
	return honoured
}

// wasMember reports whether a hold rests on a process that is no longer a member, and is known.
func (e *epoch) wasMember(through []uint64) bool {
	if len(through) == 0 {
		return false
	}
	on := through[len(through)-1]
	return e.view.Rank(on) < 0 && e.place(on) >= 0
}

// olderHeld reports, at the home, whether a process has the lock by an entry of an older epoch.
func (u *use) olderHeld(e *epoch) bool {
	for i := range u.held {
		if u.held[i]&^e.over[i] != 0 {
			return true
		}
	}
	return u.claims.by != 0
}

// falselyBefore reports whether a client has claimed the lock here by an entry before the one
// with a token, which shows that it was over.
func (u *use) falselyBefore(t Token) bool {
	return u.holder != nil && u.byClaim && u.carried && u.token.Less(t)
}

// overrule notifies, at the home, all members that have the lock by an earlier entry than one
// that was claimed. Each takes it from the client that has claimed it there.
func (m *Member) overrule(u *use, t Token) {
	e, c, n := m.epoch, u.claims, u.lock
	if c.late.Less(t) {
		c.late, c.told = t, 0
	}
	has := c.by
	for rank := range e.view.Members {
		if place := e.place(e.view.Members[rank].Inc); place >= 0 && u.held.has(place) {
			has |= 1 << rank
		}
	}
	tell := has &^ c.told
	c.told |= has
	for ; tell != 0; tell &= tell - 1 {
		if rank := bits.TrailingZeros64(tell); rank != e.me {
			m.send(rank, &frame{kind: claimedFrame, name: e.table.name(n), verdict: disputed, token: c.late})
		} else {
			defer m.overruled(n, c.late) // it may end the use
		}
	}
}

// overruled takes the lock from a client that has claimed it here with a lower token. Its home
// forgets with it what else was claimed here.
func (m *Member) overruled(n int32, t Token) {
	u := m.epoch.found(n)
	if u == nil || !u.falselyBefore(t) {
		return
	}
	m.drop(u, Released)
	if u = m.epoch.found(n); u == nil || u.claims == nil {
		return
	}
	m.renumber(u)
	m.pursue(u)
}

// renumber has claims sent again that the home has forgotten. An answer under way no longer counts.
func (m *Member) renumber(u *use) {
	for _, w := range u.claims.mine {
		if w.claim.sent {
			m.claims++
			w.claim.number, w.claim.sent = m.claims, false
		}
	}
}

// rests reports whether the process that a client's hold rests on still has it, and
// whether that is known. A ghost cannot be asked; its client's time bounds the hold. The
// hold of a process that is not known, or whose lease has expired, is over.
func (m *Member) rests(u *use, through []uint64) (rests, known bool) {
	e := m.epoch
	if len(through) == 0 || !e.mayHold(through[len(through)-1]) {
		return false, true
	}
	on := through[len(through)-1]
	rank, place := e.view.Rank(on), e.place(on)
	if rank < 0 || u.claims.by>>rank&1 == 1 || place >= 0 && u.held.has(place) {
		return true, true
	}
	suspects := m.suspects(e, u) // witnesses may have ruled it out
	return false, place < 0 || e.reported.has(place) || !suspects.has(place)
}

// blocked reports whether a process may be inside that is not among those through which
// a client holds a lock, or one of those has not reported it yet.
func (m *Member) blocked(u *use, through []uint64) bool {
	e := m.epoch
	for _, i := range m.suspects(e, u).list() {
		if !slices.Contains(through, e.universe[i]) || i < e.survivors() && !u.held.has(i) {
			return true
		}
	}
	for by := u.claims.by; by != 0; by &= by - 1 {
		if !slices.Contains(through, e.view.Members[bits.TrailingZeros64(by)].Inc) {
			return true
		}
	}
	return false
}

// answerClaim answers a claim.
func (m *Member) answerClaim(u *use, a asked, v verdict) {
	e := m.epoch
	if a.rank == e.me {
		m.claimAnswered(u, a.number, v)
		return
	}
	m.send(a.rank, &frame{kind: claimedFrame, name: e.table.name(u.lock), try: a.number, verdict: v})
}

// claimAnswered handles the home's answer to a claim. If the claim was withdrawn, the
// home has been notified.
func (m *Member) claimAnswered(u *use, number uint64, v verdict) {
	if u.claims == nil {
		return
	}
	i := slices.IndexFunc(u.claims.mine, func(w *waiter) bool { return w.claim.number == number })
	if i < 0 {
		return
	}
	w := u.claims.mine[i]
	if v != honoured || !m.usable() {
		w.claim.sent = v == honoured // the home has nothing to forget of a claim that it refuses
		why := NoCause
		if v == passedOn {
			why = Released
		}
		m.refuseClaim(w, why)
		return
	}
	u.claims.mine = slices.Delete(u.claims.mine, i, i+1)
	u.claims.mine = slices.DeleteFunc(u.claims.mine, func(o *waiter) bool {
		over := !w.claim.token.Less(o.claim.token) // a later entry goes on: it shows that this one is over
		if over {
			m.Out.Events = append(m.Out.Events, Event{Ticket: o.ticket, Kind: Lost, Token: o.claim.token})
			m.forget(o)
		}
		return over
	})
	u.holder, u.token, u.since, u.carried, u.client, u.who, u.byClaim = w, w.claim.token, m.now, true, true, w.client.who, true
	w.claim = nil
	m.epoch.holders++
	m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Held, Token: u.token})
}

// refuseClaim refuses the claim of a client here.
func (m *Member) refuseClaim(w *waiter, why Cause) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Lost, Cause: why, Token: w.claim.token})
	m.withdraw(w)
}

// loseClaims refuses the claims of all clients here, and withdraws them if the home should
// be notified.
func (m *Member) loseClaims(u *use, why Cause, notify bool) {
	if u.claims == nil {
		return
	}
	sent := false
	for _, w := range u.claims.mine {
		m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Lost, Cause: why, Token: w.claim.token})
		sent = sent || w.claim.sent
		m.forget(w)
	}
	if u.claims.mine = nil; sent && notify {
		m.unclaim(u)
	}
}

// disclaim withdraws the claim of a client here. Its home forgets all claims of this
// member with it: the others must be pursued again.
func (m *Member) disclaim(w *waiter) {
	u, sent := w.at, w.claim.sent
	u.claims.mine = remove(u.claims.mine, w)
	m.forget(w)
	if !sent {
		return
	}
	m.unclaim(u)
	m.renumber(u)
}

// unclaim withdraws the claims of a lock that were sent. The home is notified, because it
// may have honoured one.
func (m *Member) unclaim(u *use) {
	e := m.epoch
	if home := int(e.table.lock(u.lock).home); home != e.me {
		m.send(home, &frame{kind: releasedFrame, name: e.table.name(u.lock)})
	} else {
		u.released(e, e.me)
	}
}

// released notes at the home that a member no longer holds or claims a lock by an older
// epoch.
func (u *use) released(e *epoch, rank int) {
	if place := e.place(e.view.Members[rank].Inc); place >= 0 {
		u.held.drop(place)
	}
	if u.claims != nil {
		u.claims.by &^= 1 << rank
		u.claims.asked = slices.DeleteFunc(u.claims.asked, func(a asked) bool { return a.rank == rank })
	}
}

// claimant handles a CLAIM.
func (m *Member) claimant(u *use, rank int, f *frame) error {
	if home := int(m.epoch.table.lock(u.lock).home); home != m.epoch.me {
		return fmt.Errorf("%w: CLAIM of %q, which has another home", errUnexpected, f.name)
	}
	m.consider(u, asked{rank, f.try, f.token, slices.Clone(f.through), f.claimer})
	return nil
}
