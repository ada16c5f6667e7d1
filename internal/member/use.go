package member

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/codec"
)

// A use is a lock in use: it is held or waited for here, or it is wanted and its home
// is here.
type use struct {
	lock        int32
	query       int32   // at the home: 1 + its index among the epoch's queries, or 0
	holder      *waiter // request that is inside here, or nil
	token       Token   // of holder
	since       Instant // when holder entered
	lapsed      bool    // the holder was notified that the lock is lost; it is not passed on yet: see pass
	rests       Instant // of lapsed: until when the former holder may act
	proof       uint64  // of lapsed: the renewal that must be confirmed before the lock is passed on; 0 if none
	client      bool    // a client holds it, or held it, not the member's own process
	who         string  // of client: its identity
	block       *block  // of client: the lock is delegated to it; nil if it is not
	byClaim     bool    // of client: it has claimed the lock here, and entered through another member
	shared      bool    // of lapsed: it was a kept lock, and was shared
	carried     bool    // holder entered in an older epoch: the home is inside for it
	first, last *waiter // requests that wait here
	waiting     int
	handed      int  // number of entries in a row
	asked       bool // the algorithm was asked, and has not granted entry yet
	inside      bool // the algorithm has granted entry
	back        bool // the waiters here are from an older epoch: the home lends, or sends DONE
	owed        owed // what the REPORT to the home has not said yet
	lent        bool // the home has lent the lock
	until       Stamp
	claims      *claims       // nil if there are none
	decided     []host.Reason // decisions of the algorithm here by which requests wait: see heed

	// Of the home, until it releases the lock.
	held     set    // of the universe: processes that hold it by an older epoch, as they reported
	may      set    // processes that may be inside by an older epoch, as witnesses know
	queried  bool   // the witnesses were asked
	queue    []turn // members with waiters from older epochs, by when they first asked
	lendee   int    // rank of the member that it is lent to, or -1
	interest bool   // others use it
}

// taken reports whether a request here is inside, or a former holder may
// still act as if it were.
func (u *use) taken() bool { return u.holder != nil || u.lapsed }

// A turn is a member with a waiter from an older epoch.
type turn struct {
	stamp Stamp
	rank  int
}

// An Ask has the options of a request.
type Ask struct {
	Client   uint64  // 0 for the member's own process
	Deadline Instant // Never if there is none
	Try      bool    // do not wait behind other requests
	Block    uint64  // of a client: number of entries that it may make by itself, if the lock can be delegated
	Terms
}

// Terms are the options of a request that only kept locks have.
type Terms struct {
	Mode  deadlock.Mode
	Units int    // of a semaphore, all together; 0 for a lock
	Tx    uint64 // the client's number of the transaction to which the request belongs; 0 if to none
	Born  uint64 // stamp of the transaction, if it has begun before
}

// MaxUnits is the maximum number of units of a semaphore.
const MaxUnits = 1 << 20

// UnitsOf returns the terms of a request for some of the units of a semaphore.
func UnitsOf(some, all int) (Terms, error) {
	t := Terms{Mode: deadlock.Mode(some), Units: all}
	if some < 1 || all < 1 {
		return t, fmt.Errorf("%w: %d units of %d: want at least one", ErrMode, some, all)
	}
	return t, t.Check()
}

// Check reports why no lock can be requested on these terms.
func (t *Terms) Check() error {
	err := t.Mode.Check(t.Units)
	if t.Units < 0 || t.Units > MaxUnits {
		err = fmt.Errorf("semaphore of %d units: want 1 to %d", t.Units, MaxUnits)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMode, err)
	}
	return nil
}

// Code codes them.
func (t *Terms) Code(c *codec.Coder) {
	mode := t.Mode - deadlock.Shared // the least one
	codec.Within(c, &mode, 0, MaxUnits+1)
	t.Mode = mode + deadlock.Shared
	codec.Within(c, &t.Units, 0, MaxUnits)
	c.Number(&t.Tx)
	c.Number(&t.Born)
}

// Lock requests a lock. The outcome is an Event.
func (m *Member) Lock(now Instant, name string, a Ask) (Ticket, error) {
	m.begin(now)
	defer m.end()
	if err := CheckName(name); err != nil {
		return 0, err
	}
	if m.gone || m.epoch == nil {
		return 0, ErrGone
	}
	c := m.client(a.Client)
	switch {
	case c == nil:
		return 0, ErrSession
	case c.uses >= m.Limits.Names:
		return 0, ErrNames
	}
	e := m.epoch
	n := lockOf(e, name)
	if e.isKept(n) {
		return m.want(c, n, name, a)
	}
	if a.Terms != (Terms{}) {
		return 0, ErrOrdinary
	}
	u := e.use(n)
	if u.waiting >= m.Limits.Waiters {
		m.settle(u)
		return 0, ErrWaiters
	}
	m.clock++
	w := m.newWaiter(c)
	w.try, w.block = a.Try, a.Block
	w.stamp = Stamp{e.view.Epoch, m.clock, m.Inc}
	u.push(w)
	m.used(n, MarkQueued, w, Token{}, "")
	if a.Deadline != Never {
		m.schedule.put(&w.late, a.Deadline)
	}
	t := w.ticket
	m.recallUse(u)
	m.settle(u)
	if a.Try && u.holder != w {
		m.probe(w)
	}
	return t, nil
}

// Cancel withdraws a waiting request. It does not affect a held lock: see Unlock.
func (m *Member) Cancel(now Instant, t Ticket) {
	m.begin(now)
	if w := m.waiter(t); w != nil && !w.holds() {
		m.withdraw(w)
	}
	m.end()
}

// Unlock releases a lock, if it is held with this token.
func (m *Member) Unlock(now Instant, name string, t Token) error {
	m.begin(now)
	defer m.end()
	if p := m.keptWith(name, t); p != nil {
		return m.unkeep(p)
	}
	u := m.takenWith(name, t)
	if u == nil {
		return ErrNotHeld
	}
	if u.shared {
		return ErrNotHeld // others have shared it, and may still act
	}
	lost := u.lapsed
	if m.leave(u); lost { // the caller confirms that it no longer acts
		return ErrNotHeld
	}
	return nil
}

// Release takes a lock from its holder here, if it is held with this token: an
// operator's last resort.
func (m *Member) Release(now Instant, name string, t Token) error {
	m.begin(now)
	defer m.end()
	if p := m.keptWith(name, t); p != nil && p.state == holds {
		m.takes(p, Released)
		return nil
	}
	u := m.takenWith(name, t)
	if u == nil || u.lapsed {
		return ErrNotHeld
	}
	m.drop(u, Released)
	return nil
}

// takenWith returns the use of a lock that was entered with a token, or nil.
func (m *Member) takenWith(name string, t Token) *use {
	if m.epoch == nil {
		return nil
	}
	n := find(&m.epoch.table, name, hashName(name))
	if n < 0 {
		return nil
	}
	u := m.epoch.found(n)
	if u == nil || !u.taken() || u.token != t {
		return nil
	}
	return u
}

// leave handles a holder that releases the lock, or no longer acts.
func (m *Member) leave(u *use) {
	e, n, b := m.epoch, u.lock, u.block
	m.used(n, MarkReleased, u.holder, u.token, "")
	m.undelegate(u)
	if u.lapsed {
		e.lapses--
	} else {
		m.forget(u.holder)
		e.holders--
	}
	u.holder, u.lapsed, u.token, u.client, u.who, u.byClaim, u.shared = nil, false, Token{}, false, "", false, false
	if u.carried {
		u.carried = false
		if home := int(e.table.lock(u.lock).home); home == e.me {
			u.released(e, e.me)
		} else if u.owed&owedHold != 0 {
			u.owed &^= owedHold // the home never hears of it
		} else {
			m.send(home, &frame{kind: releasedFrame, name: e.table.name(u.lock)})
		}
	}
	m.settle(u)
	if b != nil {
		m.settleTries(n, b)
	}
}

// settle lets the next waiter enter if the member has the right to, or else sees to it
// that it will; and gives the right back if no request here needs it.
func (m *Member) settle(u *use) {
	if u.claims != nil && len(u.claims.asked) > 0 {
		n := u.lock
		if m.honour(u); u.lock != n {
			return
		}
	}
	switch {
	case u.taken():
	case m.epoch.isHome(m.epoch.table.lock(u.lock)):
		m.serve(u)
	case u.lent:
		m.borrow(u)
	case u.inside:
		m.proceed(u)
	case u.first != nil && !u.asked && !u.back:
		m.request(u)
	default:
		m.idle(u)
	}
}

// proceed uses the entry that the algorithm has granted: for the waiters here, up to a
// bound; then it is the others' turn.
func (m *Member) proceed(u *use) {
	if u.first != nil && m.bounded(u) {
		m.enter(u)
		return
	}
	u.inside, u.handed = false, 0
	m.release(u)
}

// release has the algorithm release a lock, and settles its use, unless the step has
// ended that. The caller must not refer to it afterwards.
func (m *Member) release(u *use) {
	n := u.lock
	m.step(n, host.Input{Kind: host.Release, From: algorithm.None})
	if u.lock == n {
		m.settle(u)
	}
}

// bounded reports whether one more request may enter here before the others.
func (m *Member) bounded(u *use) bool { return u.handed < m.Settings.Handover }

// request asks through the algorithm. The home must hear of the first request.
func (m *Member) request(u *use) {
	e, n := m.epoch, u.lock
	l := e.table.lock(n)
	fresh := !l.is(touched)
	sent := len(m.Out.Frames)
	home := int(l.home)
	u.asked = true
	m.step(n, host.Input{Kind: host.Request, From: algorithm.None}) // which may end the use
	if !fresh || home == e.me {
		return
	}
	for _, f := range m.Out.Frames[sent:] {
		if f.To == e.view.Members[home].Inc {
			return
		}
	}
	m.send(home, &frame{kind: touchFrame, name: e.table.name(n)})
}

// enter lets the first waiter enter, if the lease allows it. If not, the right stays,
// and is checked again when there is a lease.
func (m *Member) enter(u *use) {
	if !m.usable() {
		return
	}
	e := m.epoch
	w := u.first
	m.loseClaims(u, NoCause, true) // what their clients held has been passed on
	u.take(w)
	m.schedule.remove(&w.late)
	l := e.table.lock(u.lock)
	t := Token{e.view.Epoch, l.count + 1}
	if u.block = m.delegate(u, w); u.block == nil {
		l.count++
		e.full = e.full || l.count >= fullCount
	}
	u.handed++
	if int(l.home) == e.me {
		l.flags |= opened
	}
	u.holder, u.token, u.since, u.client, u.who = w, t, m.now, w.client != &m.own, w.client.who
	e.holders++
	if l.is(followed) {
		m.used(u.lock, MarkGranted, w, u.token, u.how(e.isHome(l)))
	}
	granted := Event{Ticket: w.ticket, Kind: Held, Token: t, Silent: l.is(silent)}
	if u.block != nil {
		granted.Last = u.block.last
	}
	m.Out.Events = append(m.Out.Events, granted)
}

// borrow uses a lock that was lent, for the waiters that precede its limit.
func (m *Member) borrow(u *use) {
	e := m.epoch
	if u.first != nil && u.first.stamp.Less(u.until) && (u.first.stamp.Epoch < e.view.Epoch || m.bounded(u)) {
		m.enter(u)
		return
	}
	u.lent, u.handed = false, 0
	l := e.table.lock(u.lock)
	f := frame{kind: returnFrame, name: e.table.name(u.lock), count: l.count}
	if u.first != nil && u.first.stamp.Epoch < e.view.Epoch {
		f.next = u.first.stamp
	} else {
		u.back = false // requests that wait now ask through the algorithm
	}
	m.send(int(l.home), &f)
	m.settle(u)
}

// step makes the instance of a lock take a step, and sends its messages. It may give
// the lock's use back, or make one.
func (m *Member) step(n int32, in host.Input) error {
	e := m.epoch
	machine, err := e.machine(n)
	if err != nil {
		return err
	}
	if in.Kind == host.Receive {
		e.keep(n)
	}
	u := e.found(n)
	m.out.Listen, m.out.Waits = u != nil, true
	if err := machine.Step(in, &m.out); err != nil {
		if in.Kind == host.Receive { // a malformed message counts as not received
			e.unload(n)
		}
		return err
	}
	l := e.table.lock(n)
	l.flags |= touched
	if u != nil {
		u.heed(e.schools[l.alg].spec.Rules, in.Kind, &m.out)
	}
	if l.is(followed) {
		m.stepped(n, &in, machine.AppendState(nil))
	}
	for i, s := range m.out.Sends {
		f := frame{kind: algFrame, name: e.table.name(n), cleared: l.is(cleared), count: l.count, bytes: m.out.Bytes(i)}
		m.send(e.view.rankOf(s.To, int(l.home)), &f)
	}
	if m.out.Entered {
		u := e.use(n)
		u.asked, u.inside, u.handed = false, true, 0
		m.settle(u)
	}
	return nil
}
