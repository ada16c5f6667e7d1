package storm

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/sim/kernel"
)

// A client is a process that is no member. It has a session with one, and holds
// a lock only until its own clock says that the session may be over: before the
// member's lease can be.
type client struct {
	w       *world
	id      core.ID
	number  int
	clock   clock
	chance  kernel.Rand
	boots   int
	up      bool
	inc     uint64 // the member that it has a session with; 0 if it has none
	session uint64 // its number, unique for ever
	until   member.Instant
	hellos  []renewal // that were not answered yet
	hello   uint64
	request uint64 // the number of the one that is under way; 0 if none is
	lock    int
	asked   int64
	holds   bool
	errand  errand // with the bank
	token   member.Token
	letGo   uint64 // the number of a request that was let go of, until that is confirmed
	letTok  member.Token
	letLock int
	next    int64 // when it asks or lets go, by true time
	seq     int
	curious curious
}

// sessionLength is how long a client may be silent.
func (w *world) sessionLength() member.Span { return w.Settings.Lease }

func newClient(w *world, number int, id core.ID) *client {
	return &client{w: w, id: id, number: number, chance: kernel.NewRand(w.Seed, 500+uint64(number)), curious: curious{chance: kernel.NewRand(w.Seed, 700+uint64(number)), voter: core.None}}
}

func (c *client) now() member.Instant { return c.clock.at(c.w.Now()) }

// begin starts the client anew, with nothing remembered.
func (c *client) begin() {
	c.boots++
	c.up = true
	c.clock = clock{base: c.w.Now(), read: member.Instant(1 + c.chance.Below(1000*ms)), rate: c.w.rate(&c.chance)}
	c.inc, c.request, c.letGo, c.holds = 0, 0, 0, false
	c.curious.open = c.curious.open[:0]
	c.pulse(c.chance.Below(10 * ms))
}

// crash ends the client without a word.
func (c *client) crash() {
	c.w.oracle.clientLeft(c)
	c.up = false
}

func (c *client) pulse(d int64) {
	c.seq++
	c.w.At(c.w.Now()+1+d, pulse, c.id, c.seq)
}

// valid reports whether the client sees its lock as valid.
func (c *client) valid() bool { return c.up && c.holds && c.now() < c.until }

// happen lets the client do what is due: it looks often, and is lazy otherwise.
func (c *client) happen(seq int) {
	if !c.up || seq != c.seq {
		return
	}
	w := c.w
	if c.holds && c.errand.state == fetched && w.Now() >= c.next {
		c.settle() // it may have looked at its clock just before it stood still
	}
	if c.holds && c.now() >= c.until {
		c.lose()
	}
	if c.inc == 0 || len(c.hellos) > 6 {
		c.connect()
	}
	if c.inc != 0 {
		c.renew()
		c.ask()
	}
	if w.Questions && w.phase > forming && w.phase < draining {
		c.wonder()
	}
	every := int64(w.Settings.Renew)
	d := every/2 + c.chance.Below(every/2)
	if c.holds {
		d = min(d, max(0, c.clock.when(c.until)-w.Now()), max(0, c.next-w.Now()))
	}
	if w.phase < draining || c.request != 0 || c.letGo != 0 {
		c.pulse(d)
	}
}

// connect begins a session with some member.
func (c *client) connect() {
	w := c.w
	if c.holds {
		c.lose()
	}
	q := w.procs[c.chance.Below(int64(len(w.procs)))]
	c.inc, c.request, c.letGo, c.hellos, c.until = 0, 0, 0, c.hellos[:0], 0
	if q.state == taking {
		w.orders.sessions++
		c.inc, c.session = q.inc, w.orders.sessions
	}
}

// renew prolongs the session: it counts from before this is sent.
func (c *client) renew() {
	c.hello++
	c.hellos = append(c.hellos, renewal{c.hello, c.now(), c.w.Now()})
	c.w.tell(c.id, c.w.at(c.inc).id, helloMsg, c.inc, c.session, c.hello)
}

// ask asks for a lock, asks again, lets go, or says again that it has.
func (c *client) ask() {
	w := c.w
	to := w.at(c.inc).id
	switch {
	case c.holds:
		if w.Now() >= c.next {
			c.settle()
		}
	case c.letGo != 0:
		w.tell(c.id, to, unlockMsg, c.inc, c.session, c.letGo, uint64(c.letLock), c.letTok.Epoch, c.letTok.Count)
	case c.request != 0:
		w.tell(c.id, to, lockMsg, c.inc, c.session, c.request, uint64(c.lock))
	case w.phase < draining && w.phase > forming && c.now() < c.until && c.chance.Below(2) == 0:
		w.orders.requests++
		c.request, c.lock, c.asked = w.orders.requests, w.somewhere(&c.chance), w.Now()
		w.tell(c.id, to, lockMsg, c.inc, c.session, c.request, uint64(c.lock))
	}
}

// leave lets go of the lock.
func (c *client) leave() {
	w := c.w
	w.oracle.clientLeft(c)
	w.remark(c.id, "lets go of %s", w.names[c.lock])
	c.holds = false
	c.letGo, c.letLock, c.letTok, c.request = c.request, c.lock, c.token, 0
	w.tell(c.id, w.at(c.inc).id, unlockMsg, c.inc, c.session, c.letGo, uint64(c.letLock), c.letTok.Epoch, c.letTok.Count)
	w.note(uint64(c.id), c.letTok.Count)
}

// lose is what the client does when its session may be over.
func (c *client) lose() {
	c.w.remark(c.id, "its session is over")
	c.w.oracle.clientLeft(c)
	c.holds, c.request = false, 0
	c.inc = 0
}

// receive takes a message.
func (c *client) receive(kind byte, l letter) {
	if !c.up {
		return
	}
	switch {
	case c.w.Bank && (kind == valueMsg || kind == savedMsg):
		c.banked(kind, l)
		return
	case kind == valueMsg:
		c.w.deposit(c.id, l)
		return
	}
	if c.holds && c.now() >= c.until {
		c.lose()
	}
	if l.next() != c.session || c.inc == 0 {
		return
	}
	number := l.next()
	switch kind {
	case spanMsg:
		c.prolonged(number, member.Span(l.next()))
	case grantMsg:
		if number == c.request && !c.holds {
			c.enter(member.Token{Epoch: l.next(), Count: l.next()})
		}
	case refuseMsg:
		if number == c.request {
			if c.holds {
				c.leave()
			}
			c.request = 0
		}
	case doneMsg:
		if number == c.letGo {
			c.letGo = 0
		}
	}
}

// prolonged takes the answer to a renewal.
func (c *client) prolonged(number uint64, span member.Span) {
	for i, h := range c.hellos {
		if h.number == number {
			from := h.at
			if c.w.misreads(LateClient) {
				from = c.now()
			}
			c.until = max(c.until, from+member.Instant(span))
			c.hellos = append(c.hellos[:0], c.hellos[i+1:]...)
			return
		}
	}
}

// enter is what the client does with a grant: nothing, if its session may be
// over by now.
func (c *client) enter(t member.Token) {
	w := c.w
	if c.now() >= c.until {
		return
	}
	c.holds, c.token, c.errand = true, t, errand{}
	w.oracle.clientEntered(c)
	w.remark(c.id, "enters %s with %v", w.names[c.lock], t)
	hold := c.chance.Below(shortHold)
	if w.phase == stormy && c.chance.Below(4) == 0 {
		hold = c.chance.Below(int64(w.Settings.Lease) * 3 / 2)
	}
	if w.phase == stormy && w.wire.cutOff(w.at(c.inc).id) {
		hold = 2 * int64(w.Settings.Lease) // its member will lose it
	}
	c.next = w.Now() + hold
	if c.chance.Below(2) == 0 {
		w.visit(c.id, c.lock, t, &c.errand)
	}
	c.pulse(min(hold, int64(w.Settings.Renew), max(0, c.clock.when(c.until)-w.Now())))
}

// A guest is the session of a client, at the member.
type guest struct {
	session uint64
	id      core.ID
	request uint64 // the last one
	ask     *ask   // of it; nil when it is over
}

func (q *proc) guest(session uint64) *guest {
	for i := range q.guests {
		if q.guests[i].session == session {
			return &q.guests[i]
		}
	}
	return nil
}

// serve does what a client wants.
func (q *proc) serve(from core.ID, kind byte, l letter) {
	w := q.w
	session, number := l.next(), l.next()
	g := q.guest(session)
	switch kind {
	case helloMsg:
		if q.parting {
			return
		}
		var span member.Span
		var err error
		q.use(func(m *member.Member) { span, err = m.Renew(q.now(), session, w.sessionLength()) })
		if err != nil || q.state != taking {
			return
		}
		if g == nil {
			q.guests = append(q.guests, guest{session: session, id: from})
		}
		w.tell(q.id, from, spanMsg, session, number, uint64(span))
	case lockMsg:
		if q.parting {
			w.tell(q.id, from, refuseMsg, session, number)
		} else if g != nil {
			q.lockGuest(g, number, int(l.next()))
		}
	case unlockMsg:
		if g == nil {
			return
		}
		if x := g.ask; x != nil && g.request == number {
			if x.held {
				q.unlock(x)
			} else {
				q.withdraw(x)
			}
			g.ask = nil
		}
		w.tell(q.id, from, doneMsg, session, number)
	}
}

// lockGuest takes a client's request, which may have come before.
func (q *proc) lockGuest(g *guest, number uint64, lock int) {
	w := q.w
	switch {
	case number < g.request:
	case number == g.request && g.ask == nil:
		w.tell(q.id, g.id, refuseMsg, g.session, number)
	case number == g.request && g.ask.held:
		w.tell(q.id, g.id, grantMsg, g.session, number, g.ask.token.Epoch, g.ask.token.Count)
	case number > g.request:
		if g.ask != nil { // the client has given that one up
			if x := g.ask; x.held {
				q.unlock(x)
			} else {
				q.withdraw(x)
			}
		}
		g.request = number
		x := &ask{lock: lock, app: -1, guest: g.session, deadline: member.Never}
		g.ask = x
		if q.lock(x) != nil {
			g.ask = nil
			w.tell(q.id, g.id, refuseMsg, g.session, number)
		}
	}
}

// grantGuest tells a client that it may enter.
func (q *proc) grantGuest(x *ask) {
	if g := q.guest(x.guest); g != nil {
		g.ask = x
		q.w.tell(q.id, g.id, grantMsg, g.session, g.request, x.token.Epoch, x.token.Count)
	}
}

// refuseGuest tells a client that its request is over.
func (q *proc) refuseGuest(x *ask) {
	if g := q.guest(x.guest); g != nil && (g.ask == x || g.ask == nil) {
		g.ask = nil
		q.w.tell(q.id, g.id, refuseMsg, g.session, g.request)
	}
}
