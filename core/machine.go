package core

import (
	"fmt"
	"slices"
)

// Mutex is what the author of an algorithm writes: a state with its fields and
// the paper's three verbs, over messages of type M.
//
// The message that Receive gets lives only until it returns: copy lists out of
// it. A message to self is received within the same step, after the verb that
// sent it has returned.
type Mutex[M any] interface {
	Fielder
	Request(out *Out[M])
	Release(out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// Site is what the author of a method against deadlock writes. A seat is then
// a site, with locks and transactions of its own: a transaction asks for locks
// one by one, each granted by a notice, and ends by Release, which frees them
// all, or by Abort, which does too, and it will try again.
type Site[M any] interface {
	Fielder
	Claim(tx ID, lock int)
	Acquire(tx ID, lock int, out *Out[M])
	Finish(tx ID, out *Out[M])
	Abort(tx ID, out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// A Starter moves without being asked to, once the group runs.
type Starter[M any] interface{ Start(out *Out[M]) }

// An Expirer sets timers.
type Expirer[M any] interface{ Expire(timer int, out *Out[M]) }

// A Suspecter wants to know who is believed dead.
type Suspecter[M any] interface{ Suspect(id ID, out *Out[M]) }

// A Truster wants to know who is back.
type Truster[M any] interface{ Trust(id ID, out *Out[M]) }

// A Hearer has a logical clock and lets it take part in the messages between
// applications.
type Hearer interface {
	Clock() Time
	Hear(t Time)
}

// An Alibier can vouch for others; see Machine.Alibi.
type Alibier interface{ Alibi(d ID) bool }

// A Message is a pointer to an algorithm's message struct M.
type Message[M any] interface {
	*M
	Fielder
}

// New makes a Machine of the algorithm state s at seat self.
func New[M any, P Message[M]](self ID, v View, s Mutex[M]) Machine {
	m := newMachine[M, P](self, v, s)
	m.mutex = s
	return m
}

// NewSite makes a Machine of the site s at seat self.
func NewSite[M any, P Message[M]](self ID, v View, s Site[M]) Machine {
	m := newMachine[M, P](self, v, s)
	m.site = s
	return m
}

func newMachine[M any, P Message[M]](self ID, v View, s receiver[M]) *machine[M, P] {
	m := &machine[M, P]{s: s, self: self, n: v.N}
	m.in.arena.on = true
	m.in.n, m.state.n = v.N, v.N
	m.out.self, m.out.coder.n = self, v.N
	m.out.code = P(&m.out.msg)
	return m
}

// A receiver is what all algorithms are.
type receiver[M any] interface {
	Fielder
	Receive(from ID, m *M, out *Out[M])
}

// machine adapts a typed algorithm to bytes.
type machine[M any, P Message[M]] struct {
	s     receiver[M]
	mutex Mutex[M] // s, if it is one
	site  Site[M]  // s, if it is one
	self  ID
	n     int
	msg   M     // the message being received
	in    Coder // decodes messages
	state Coder // encodes and decodes states
	out   Out[M]
}

func (m *machine[M, P]) Step(in Input, out *Output) error {
	out.Reset()
	o := &m.out
	o.o = out
	switch in.Kind {
	case Receive:
		if in.From < 0 || int(in.From) >= m.n || in.From == m.self {
			return fmt.Errorf("%w: %v got a message from seat %d of %d", ErrMalformed, m.self, in.From, m.n)
		}
		if err := m.decode(in.Bytes, true); err != nil {
			return err
		}
		m.s.Receive(in.From, &m.msg, o)
	case Request, Release, Claim, Abort:
		m.ask(in, o)
	case Start:
		if s, ok := m.s.(Starter[M]); ok {
			s.Start(o)
		}
	case Expire:
		if s, ok := m.s.(Expirer[M]); ok {
			s.Expire(in.Timer, o)
		}
	case Suspect:
		if s, ok := m.s.(Suspecter[M]); ok && in.From >= 0 && int(in.From) < m.n {
			s.Suspect(in.From, o)
		}
	case Trust:
		if s, ok := m.s.(Truster[M]); ok && in.From >= 0 && int(in.From) < m.n {
			s.Trust(in.From, o)
		}
	case Hear:
		if s, ok := m.s.(Hearer); ok && in.Time < maxTime {
			s.Hear(Time{in.Time})
		}
	}
	if len(out.loop) > 0 {
		return m.receiveOwn(out)
	}
	return nil
}

// ask hands over what the application wants.
func (m *machine[M, P]) ask(in Input, o *Out[M]) {
	switch {
	case m.mutex != nil && in.Kind == Request:
		m.mutex.Request(o)
	case m.mutex != nil && in.Kind == Release:
		m.mutex.Release(o)
	case m.site == nil:
	case in.Kind == Request:
		m.site.Acquire(in.From, in.Arg, o)
	case in.Kind == Release:
		m.site.Finish(in.From, o)
	case in.Kind == Claim:
		m.site.Claim(in.From, in.Arg)
	case in.Kind == Abort:
		m.site.Abort(in.From, o)
	}
}

// receiveOwn hands over what the machine sent to itself.
func (m *machine[M, P]) receiveOwn(out *Output) error {
	for at := 0; at < len(out.loop); {
		size := int(out.loop[at]) | int(out.loop[at+1])<<8 | int(out.loop[at+2])<<16
		at += 3
		if err := m.decode(out.loop[at:at+size], false); err != nil {
			return err
		}
		at += size
		m.s.Receive(m.self, &m.msg, &m.out)
	}
	return nil
}

// decode reads a message into m.msg. It is told whether a peer wrote it.
func (m *machine[M, P]) decode(b []byte, claims bool) error {
	var zero M
	m.msg = zero
	c := &m.in
	c.mode, c.buf, c.err, c.claims = decode, b, nil, claims
	c.arena.reset()
	P(&m.msg).Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d bytes too many", len(c.buf))
	}
	c.buf = nil
	return c.err
}

func (m *machine[M, P]) AppendState(b []byte) []byte {
	c := &m.state
	c.mode, c.buf = encode, b
	m.s.Fields(c)
	b, c.buf = c.buf, nil
	return b
}

func (m *machine[M, P]) LoadState(b []byte) error {
	c := &m.state
	c.mode, c.buf, c.err = decode, b, nil
	m.s.Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d bytes too many", len(c.buf))
	}
	c.buf = nil
	return c.err
}

func (m *machine[M, P]) Visit(c *Coder) { m.s.Fields(c) }

func (m *machine[M, P]) VisitMessage(b []byte, c *Coder) error {
	if err := m.decode(b, true); err != nil {
		return err
	}
	P(&m.msg).Fields(c)
	return nil
}

func (m *machine[M, P]) RecodeMessage(dst, b []byte, c *Coder) ([]byte, error) {
	if err := m.VisitMessage(b, c); err != nil {
		return dst, err
	}
	e := &m.state
	e.mode, e.buf = encode, dst
	P(&m.msg).Fields(e)
	dst, e.buf = e.buf, nil
	return dst, nil
}

func (m *machine[M, P]) Clock() uint64 {
	if h, ok := m.s.(Hearer); ok {
		return h.Clock().v
	}
	return 0
}

func (m *machine[M, P]) Alibi(d ID) bool {
	a, ok := m.s.(Alibier)
	return ok && d >= 0 && int(d) < m.n && d != m.self && a.Alibi(d)
}

// Out is how an algorithm says what it wants done.
type Out[M any] struct {
	o     *Output
	self  ID
	msg   M
	code  Fielder // msg, as something that encodes
	coder Coder
}

// Send sends m to one process.
func (o *Out[M]) Send(to ID, m M) {
	if to == o.self {
		o.keep(m)
		return
	}
	lo, hi, kind := o.encode(m)
	o.o.Sends = append(o.o.Sends, Send{To: to, Kind: kind, Group: o.group(), lo: lo, hi: hi})
}

// Broadcast sends m to all others, as one multicast.
func (o *Out[M]) Broadcast(m M) {
	if o.coder.n < 2 {
		return
	}
	group := o.group()
	lo, hi, kind := o.encode(m)
	for id := range ID(o.coder.n) {
		if id != o.self {
			o.o.Sends = append(o.o.Sends, Send{To: id, Kind: kind, Group: group, lo: lo, hi: hi})
		}
	}
}

// Multicast sends m to every member of the set, as one multicast.
func (o *Out[M]) Multicast(to *Set, m M) {
	group := o.group()
	var lo, hi int32
	var kind uint8
	for id := to.Next(0); id != None; id = to.Next(id + 1) {
		if id == o.self {
			o.keep(m)
			continue
		}
		if hi == 0 {
			lo, hi, kind = o.encode(m)
		}
		o.o.Sends = append(o.o.Sends, Send{To: id, Kind: kind, Group: group, lo: lo, hi: hi})
	}
}

// Enter says that the process is now inside the critical section.
func (o *Out[M]) Enter() { o.o.Entered = true }

// Deny refuses the process's request: it is idle again.
func (o *Out[M]) Deny() { o.tell(Notice{Kind: Denied}) }

// Lead tells the application who leads, or with None that nobody is known to.
func (o *Out[M]) Lead(id ID) { o.tell(Notice{Kind: Leader, Who: id}) }

// Abort names the victim that is to break a deadlock.
func (o *Out[M]) Abort(victim ID, cycle []ID) {
	o.tell(Notice{Kind: Victim, Who: victim, Cycle: slices.Clone(cycle)})
}

// Refuse tells a transaction that it may not have the lock it asked for.
func (o *Out[M]) Refuse(tx ID) { o.tell(Notice{Kind: Denied, Who: tx}) }

// Grant tells a transaction that it has the lock it asked for.
func (o *Out[M]) Grant(tx ID) { o.tell(Notice{Kind: Granted, Who: tx}) }

// Hear tells that a request of a transaction has come to the site of the lock.
func (o *Out[M]) Hear(tx ID, attempt uint64) {
	o.tell(Notice{Kind: Heard, Who: tx, Attempt: attempt})
}

// Doom tells that a transaction, which is at home at another site, must abort:
// a message that says so is on its way.
func (o *Out[M]) Doom(tx ID, attempt uint64) {
	o.tell(Notice{Kind: Doomed, Who: tx, Attempt: attempt})
}

// SetTimer asks for Expire(timer) after so many units; see Notice.
func (o *Out[M]) SetTimer(timer, after int) {
	o.tell(Notice{Kind: SetTimer, Timer: timer, After: after})
}

// StopTimer lets a timer that was set never run out.
func (o *Out[M]) StopTimer(timer int) { o.tell(Notice{Kind: SetTimer, Timer: timer}) }

func (o *Out[M]) tell(n Notice) { o.o.Notices = append(o.o.Notices, n) }

func (o *Out[M]) group() int32 {
	if n := len(o.o.Sends); n > 0 {
		return o.o.Sends[n-1].Group + 1
	}
	return 0
}

func (o *Out[M]) encode(m M) (lo, hi int32, kind uint8) {
	lo = int32(len(o.o.buf))
	o.msg = m
	o.coder.buf = o.o.buf
	o.code.Fields(&o.coder)
	o.o.buf = o.coder.buf
	return lo, int32(len(o.o.buf)), o.o.buf[lo]
}

func (o *Out[M]) keep(m M) {
	at := len(o.o.loop)
	o.msg = m
	o.coder.buf = append(o.o.loop, 0, 0, 0)
	o.code.Fields(&o.coder)
	o.o.loop = o.coder.buf
	size := len(o.o.loop) - at - 3
	o.o.loop[at], o.o.loop[at+1], o.o.loop[at+2] = byte(size), byte(size>>8), byte(size>>16)
}
