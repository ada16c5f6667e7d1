package member

import "github.com/stile-lock/stile/core"

// A use is a lock in use: somebody here holds it or waits for it, or it is
// wanted and its home is here.
type use struct {
	lock        int32
	holder      *waiter // who is inside here, or nil
	token       Token   // of holder
	carried     bool    // holder entered in an older epoch: the home is inside for it
	first, last *waiter // who waits here
	waiting     int
	handed      int  // how many have entered in a row
	asked       bool // the algorithm was asked, and has not let us in yet
	inside      bool // it has
	back        bool // those who wait here waited in an older epoch: the home lends, or says that it is done
	lent        bool // the home has lent it
	until       Stamp

	// Of the home, until it lets go.
	held     set     // of the universe: who holds it by an older epoch, as they reported
	released set     // who has let go, before its report came
	may      set     // who may be inside by an older epoch, as witnesses know
	queried  bool    // they were asked
	queue    []turn  // who waited in older epochs, by when they first asked
	lendee   int     // the rank of whom it is lent to, or -1
	interest bool    // others use it
	probes   []probe // tries of others that nobody has refused yet
}

// A turn is a member that has somebody waiting who waited in an older epoch.
type turn struct {
	stamp Stamp
	rank  int
}

// An Ask says how a lock is asked for.
type Ask struct {
	Client   uint64  // 0 is the member's own process
	Deadline Instant // Never, or when it is too late
	Try      bool    // do not wait behind anybody
}

// Lock asks for a lock. What becomes of it is an Event.
func (m *Member) Lock(now Instant, name string, a Ask) (Ticket, error) {
	m.begin(now)
	defer m.end()
	if err := checkName(name); err != nil {
		return 0, err
	}
	if m.gone || m.epoch == nil {
		return 0, ErrGone
	}
	if !m.known(a.Client) {
		return 0, ErrSession
	}
	c := m.client(a.Client)
	if c.uses >= m.Limits.Names {
		return 0, ErrNames
	}
	e := m.epoch
	u := e.use(e.lock(name))
	if u.waiting >= m.Limits.Waiters {
		return 0, ErrWaiters
	}
	m.clock++
	w := m.waiter()
	m.serial++
	w.ticket, w.client, w.deadline, w.try = m.serial, a.Client, a.Deadline, a.Try
	w.stamp = Stamp{e.view.Epoch, m.clock, m.Inc}
	m.tickets[w.ticket] = w
	c.uses++
	u.push(w)
	if w.deadline != Never {
		m.late.push(w)
	}
	t := w.ticket
	m.settle(u)
	if a.Try && m.tickets[t] == w && u.holder != w {
		m.probe(u, w)
	}
	return t, nil
}

// waiter returns an empty one.
func (m *Member) waiter() *waiter {
	if k := len(m.spare) - 1; k >= 0 {
		w := m.spare[k]
		m.spare = m.spare[:k]
		return w
	}
	return &waiter{}
}

// forget ends a request.
func (m *Member) forget(w *waiter) {
	delete(m.tickets, w.ticket)
	if c := m.clients[w.client]; c != nil {
		c.uses--
	}
	w.at = nil
	if w.deadline == Never { // others are still among the deadlines
		*w = waiter{}
		m.spare = append(m.spare, w)
	}
}

// Cancel takes a request back. Whoever holds is not affected: that is Unlock.
func (m *Member) Cancel(now Instant, t Ticket) {
	m.begin(now)
	if w := m.tickets[t]; w != nil && w.at.holder != w {
		m.withdraw(w)
	}
	m.end()
}

// withdraw takes out somebody who waits. The algorithm's request stands: what it
// grants is given back at once.
func (m *Member) withdraw(w *waiter) {
	u := w.at
	u.take(w)
	m.forget(w)
	m.settle(u)
}

// Unlock lets go of a lock, if it is held with this token.
func (m *Member) Unlock(now Instant, name string, t Token) error {
	m.begin(now)
	defer m.end()
	if m.epoch == nil {
		return ErrNotHeld
	}
	e := m.epoch
	n := e.table.find(name, hashName(name))
	if n < 0 || e.table.locks[n].busy < 0 {
		return ErrNotHeld
	}
	u := e.uses[e.table.locks[n].busy]
	if u.holder == nil || u.token != t {
		return ErrNotHeld
	}
	m.forget(u.holder)
	m.leave(u)
	return nil
}

// leave is what comes after a holder has let go, or has lost it.
func (m *Member) leave(u *use) {
	e := m.epoch
	u.holder, u.token = nil, Token{}
	if u.carried {
		u.carried = false
		l := &e.table.locks[u.lock]
		if int(l.home) == e.me {
			u.held.drop(e.place(m.Inc))
		} else {
			m.send(int(l.home), &frame{kind: releasedFrame, name: string(e.table.name(u.lock))})
		}
	}
	m.settle(u)
}

// settle lets the next one enter if there is the right to, or else sees to it
// that there will be; and gives the right back if nobody here needs it.
func (m *Member) settle(u *use) {
	e := m.epoch
	switch {
	case u.holder != nil:
		return
	case e.isHome(u):
		m.serve(u)
	case u.lent:
		m.borrow(u)
	case u.inside:
		if u.first == nil || u.handed >= m.Settings.Handover {
			u.inside, u.handed = false, 0
			m.step(u, core.Input{Kind: core.Release, From: core.None})
			m.settle(u)
			return
		}
		m.enter(u)
	case u.first != nil && !u.asked && !u.back:
		m.ask(u)
	default:
		e.idle(u)
	}
}

// ask asks by the algorithm. The home must hear of the first request.
func (m *Member) ask(u *use) {
	e := m.epoch
	l := &e.table.locks[u.lock]
	fresh := !l.is(touched)
	sent := len(m.Out.Frames)
	u.asked = true
	home := e.view.Members[l.home].Inc
	m.step(u, core.Input{Kind: core.Request, From: core.None})
	if !fresh || int(e.table.locks[u.lock].home) == e.me {
		return
	}
	for _, f := range m.Out.Frames[min(sent, len(m.Out.Frames)):] {
		if f.To == home {
			return
		}
	}
	m.send(int(e.table.locks[u.lock].home), &frame{kind: touchFrame, name: string(e.table.name(u.lock))})
}

// enter lets the first who waits in, if the lease allows it. If not, the right
// stays, and is looked at again when there is a lease.
func (m *Member) enter(u *use) {
	if !m.usable() {
		return
	}
	e := m.epoch
	w := u.first
	u.take(w)
	l := &e.table.locks[u.lock]
	l.count++
	u.handed++
	u.holder, u.token = w, Token{e.view.Epoch, l.count}
	w.at = u
	m.Out.Events = append(m.Out.Events, Event{w.ticket, Held, u.token})
	if len(u.probes) > 0 {
		m.entered(u)
	}
}

// borrow uses a lock that was lent: for those who come before its time is over.
func (m *Member) borrow(u *use) {
	e := m.epoch
	if u.first != nil && u.first.stamp.Less(u.until) && m.usable() {
		m.enter(u)
		return
	}
	u.lent, u.handed = false, 0
	l := &e.table.locks[u.lock]
	f := frame{kind: returnFrame, name: string(e.table.name(u.lock)), count: l.count}
	if u.first != nil && u.first.stamp.Epoch < e.view.Epoch {
		f.next = u.first.stamp
	} else {
		u.back = false // whoever waits now asks by the algorithm
	}
	m.send(int(l.home), &f)
	m.settle(u)
}

// step lets the lock's instance take a step, and sends what it wants sent.
func (m *Member) step(u *use, in core.Input) error {
	e := m.epoch
	l := &e.table.locks[u.lock]
	home := int(l.home)
	machine := e.schools[l.alg].machines[e.view.seat(e.me, home)]
	if err := machine.LoadState(e.table.stateOf(u.lock)); err != nil {
		return err
	}
	if err := machine.Step(in, &m.out); err != nil {
		return err
	}
	m.bytes = machine.AppendState(m.bytes[:0])
	e.table.setState(u.lock, m.bytes)
	l.flags |= touched
	for i, s := range m.out.Sends {
		m.send(e.view.rankOf(s.To, home), &frame{
			kind: algFrame, name: string(e.table.name(u.lock)), cleared: l.is(cleared), count: l.count, bytes: m.out.Bytes(i),
		})
	}
	if m.out.Entered {
		u.asked, u.inside, u.handed = false, true, 0
		m.settle(u)
	}
	return nil
}
