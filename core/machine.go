package core

import "fmt"

// New makes a Machine of the algorithm state s at seat self.
func New[M any, P Message[M]](self ID, v View, s Mutex[M]) Machine {
	m := newMachine[M, P](self, v, s)
	m.mutex = s
	if v.Busy && v.Holder == self {
		m.phase = inside
	}
	return m
}

// NewSite makes a Machine of the site s at seat self.
func NewSite[M any, P Message[M]](self ID, v View, s Site[M]) Machine {
	m := newMachine[M, P](self, v, s)
	m.site = s
	return m
}

// NewElection makes a Machine of the election s at seat self.
func NewElection[M any, P Message[M]](self ID, v View, s Elector[M]) Machine {
	m := newMachine[M, P](self, v, s)
	m.elector = s
	return m
}

func newMachine[M any, P Message[M]](self ID, v View, s receiver[M]) *machine[M, P] {
	m := &machine[M, P]{s: s, self: self, n: v.N}
	m.in.arena.on = true
	m.in.n, m.state.n = v.N, v.N
	m.out.self, m.out.coder.n = self, v.N
	m.out.code = P(&m.out.msg)
	m.count()
	return m
}

// A receiver is what all algorithms are.
type receiver[M any] interface {
	Fielder
	Receive(from ID, m *M, out *Out[M])
}

// machine adapts a typed algorithm to bytes.
type machine[M any, P Message[M]] struct {
	s       receiver[M]
	mutex   Mutex[M]   // s, if it is one
	site    Site[M]    // s, if it is one
	elector Elector[M] // s, if it is one
	self    ID
	n       int
	phase   uint8 // of a lock's application
	msg     M     // the message being received
	in      Coder // decodes messages
	state   Coder // encodes and decodes states
	out     Out[M]
}

// name implements namer.
func (m *machine[M, P]) name(kinds []string) error {
	m.out.kinds, m.out.coder.kinds, m.in.kinds = kinds, len(kinds), len(kinds)
	m.count()
	if last := int(m.out.last); last >= len(kinds) {
		return fmt.Errorf("%w: its messages are of kinds 0 to %d, but the Spec names %d kinds: add the others to Kinds", ErrAlgorithm, last, len(kinds))
	}
	return nil
}

// algorithm returns what the author wrote, for Twin to name its fields.
func (m *machine[M, P]) algorithm() any { return m.s }

// count finds out how many kinds of messages there are.
func (m *machine[M, P]) count() {
	var zero M
	m.out.msg = zero
	c := &m.out.coder
	c.mode = skip
	m.out.code.Fields(c)
	c.mode = encode
	m.out.last = c.last
}

func (m *machine[M, P]) Step(in Input, out *Output) error {
	out.Reset()
	o := &m.out
	o.o = out
	if o.err != nil {
		o.err = nil
	}
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
		if err := m.ask(in, o); err != nil {
			return err
		}
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
		if in.Time >= maxClaim {
			return fmt.Errorf("%w: %v heard a clock of %d, which is not below %d", ErrMalformed, m.self, in.Time, uint64(maxClaim))
		}
		if s, ok := m.s.(Hearer); ok {
			s.Hear(Time{in.Time})
		}
	}
	if len(out.loop) > 0 {
		m.receiveOwn(out)
	}
	if (out.Entered || len(out.Notices) > 0) && m.mutex != nil {
		m.follow(out)
	}
	if o.err != nil {
		out.Reset()
	}
	return o.err
}

// The phases of a lock's application, as the host drives it.
const (
	idle uint8 = iota
	waiting
	inside
)

var phases = [...]string{idle: "idle", waiting: "waiting", inside: "inside"}

// follow notes what a step has come to for the application.
func (m *machine[M, P]) follow(out *Output) {
	for i := range out.Notices {
		if out.Notices[i].Kind == Denied {
			m.phase = idle
		}
	}
	if out.Entered {
		m.phase = inside
	}
}

// pass lets the application of a lock go from one phase to the next.
func (m *machine[M, P]) pass(what string, from, to uint8) error {
	if m.phase != from {
		return fmt.Errorf("%w: %s for %v, which is %s; it must be %s", ErrHost, what, m.self, phases[m.phase], phases[from])
	}
	m.phase = to
	return nil
}

// ask hands over what the application wants, if it may.
func (m *machine[M, P]) ask(in Input, o *Out[M]) error {
	switch {
	case m.mutex != nil && in.Kind == Request:
		if err := m.pass("Request", idle, waiting); err != nil {
			return err
		}
		m.mutex.Request(o)
	case m.mutex != nil && in.Kind == Release:
		if err := m.pass("Release", inside, idle); err != nil {
			return err
		}
		m.mutex.Release(o)
	case m.elector != nil && in.Kind == Request:
		m.elector.Request(o)
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
	return nil
}

// receiveOwn hands over what the machine sent to itself.
func (m *machine[M, P]) receiveOwn(out *Output) {
	for at := 0; at < len(out.loop) && m.out.err == nil; {
		size := int(out.loop[at]) | int(out.loop[at+1])<<8 | int(out.loop[at+2])<<16
		at += 3
		if err := m.decode(out.loop[at:at+size], false); err != nil {
			m.out.fail("%v sent itself what it cannot read: %v", m.self, err)
			return
		}
		at += size
		m.s.Receive(m.self, &m.msg, &m.out)
	}
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
	if m.mutex != nil {
		b = append(b, m.phase)
	}
	c.mode, c.buf = encode, b
	m.s.Fields(c)
	b, c.buf = c.buf, nil
	return b
}

func (m *machine[M, P]) LoadState(b []byte) error {
	c := &m.state
	c.mode, c.buf, c.err = decode, b, nil
	if m.mutex != nil {
		c.Uint8("phase", &m.phase, phases[idle], phases[waiting], phases[inside])
	}
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
