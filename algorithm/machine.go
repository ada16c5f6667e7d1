package algorithm

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm/host"
)

// A machine adapts an algorithm to bytes, whatever the type of its messages: see typed.
type machine struct {
	parts
	self  ID
	n     int
	lock  bool  // whether its application enters and leaves
	phase uint8 // phase of a lock's application
	in    Coder // decodes messages
	state Coder // encodes and decodes states
}

// parts are the parts of a machine that depend on the type of its messages, behind
// interfaces that do not.
type parts struct {
	s     Fielder // the state that the author wrote
	actor actor   // the same, as an actor
	msg   Fielder // the message being received
	out   *outbox
}

// An actor hands inputs to an algorithm.
type actor interface {
	blank()               // resets the message being received to zero
	receive(from ID)      // passes the message being received
	notice(in host.Input) // passes a Start, Expire, Suspect or Trust, if the algorithm handles it
	ask(in host.Input)    // passes a Request, Release, Claim or Abort
	made() string         // the constructor used: New, NewSite or NewElection
}

// begin initializes a machine for n seats.
func (m *machine) begin(self ID, n int, p parts) {
	m.parts, m.self, m.n = p, self, n
	m.in.arena.on = true
	m.in.n, m.state.n = n, n
	m.out.self, m.out.coder.n = self, n
	m.count()
}

// adopt implements adopter.
func (m *machine) adopt(s Spec) error {
	if f := s.Family; int(f) < len(families) && families[f].made != m.actor.made() {
		return fmt.Errorf("%w: the Family of its Spec is that of %s, whose machines are made by algorithm.%s, but its machines are made by algorithm.%s: change one or the other",
			host.ErrAlgorithm, f.One(), families[f].made, m.actor.made())
	}
	kinds := s.Kinds
	m.out.kinds, m.out.coder.kinds, m.in.kinds = kinds, len(kinds), len(kinds)
	m.out.firm, m.out.rules = !s.TryLock, s.Rules
	m.count()
	if last := int(m.out.last); last >= len(kinds) {
		return fmt.Errorf("%w: its messages have kinds 0 to %d, but the Spec names %d kinds: add the missing ones to Kinds", host.ErrAlgorithm, last, len(kinds))
	}
	return nil
}

// Author returns the state that the author wrote, so that a host can name its fields.
func (m *machine) Author() any { return m.s }

// count finds out how many message kinds there are.
func (m *machine) count() {
	m.actor.blank()
	c := &m.out.coder
	c.mode = skip
	m.msg.Fields(c)
	c.mode = encode
	m.out.last = c.last
}

func (m *machine) Step(in host.Input, out *host.Output) error {
	out.Reset()
	o := m.out
	o.o, o.loop = out, o.loop[:0]
	if o.err != nil {
		o.err = nil
	}
	switch in.Kind {
	case host.Receive:
		if in.From < 0 || int(in.From) >= m.n || in.From == m.self {
			return fmt.Errorf("%w: %v got a message from seat %d of %d", host.ErrMalformed, m.self, in.From, m.n)
		}
		if err := m.decode(in.Bytes, true); err != nil {
			return err
		}
		m.actor.receive(in.From)
	case host.Request, host.Release, host.Claim, host.Abort, host.Cancel:
		if err := m.pass(in.Kind); err != nil {
			return err
		}
		m.actor.ask(in)
	case host.Start, host.Expire:
		m.actor.notice(in)
	case host.Suspect, host.Trust:
		if in.From >= 0 && int(in.From) < m.n {
			m.actor.notice(in)
		}
	case host.Hear:
		if in.Time >= maxClaim {
			return fmt.Errorf("%w: %v heard a clock of %d, which is not below %d", host.ErrMalformed, m.self, in.Time, uint64(maxClaim))
		}
		if s, ok := m.s.(Hearer); ok {
			s.Hear(Time{in.Time})
		}
	}
	if len(o.loop) > 0 {
		m.receiveOwn()
	}
	switch {
	case !out.Entered && len(out.Notices) == 0:
	case m.lock:
		m.follow(out)
	case out.Entered:
		o.fail("%v entered, but it is not a lock: only a lock may call Enter", m.self)
	}
	if o.err != nil {
		out.Reset()
	}
	return o.err
}

// The phases of a lock's application, as the host drives it. A process that was let in
// without a request may leave and may request: that is not the host's fault.
const (
	idle uint8 = iota
	waiting
	inside
	unasked
)

var phases = [...]string{idle: "idle", waiting: "waiting", inside: "inside", unasked: "inside unasked"}

// follow records the outcome of a step for the application. Only a waiting process can be
// denied, once, and it does not then enter.
func (m *machine) follow(out *host.Output) {
	denied := false
	for i := range out.Notices {
		switch {
		case out.Notices[i].Kind != host.Denied:
		case denied || m.phase != waiting:
			m.out.fail("%v denied a request, but has none: it is %s", m.self, phases[m.phase])
		default:
			denied, m.phase = true, idle
		}
	}
	switch {
	case !out.Entered:
	case denied:
		m.out.fail("%v denied and granted a request in the same step", m.self)
	case m.phase == waiting:
		m.phase = inside
	case m.phase == idle:
		m.phase = unasked
	}
}

// pass moves the application of a lock to its next phase, if the move is allowed.
func (m *machine) pass(what host.InputKind) error {
	if !m.lock {
		return nil
	}
	switch what {
	case host.Request:
		return m.enter("Request", idle, waiting)
	case host.Release:
		return m.enter("Release", inside, idle)
	}
	return nil
}

// enter moves from one phase to another.
func (m *machine) enter(what string, from, to uint8) error {
	if m.phase != from && m.phase != unasked {
		return fmt.Errorf("%w: %s for %v, which is %s; it must be %s", host.ErrHost, what, m.self, phases[m.phase], phases[from])
	}
	m.phase = to
	return nil
}

// maxOwn limits how many messages a machine may send to itself in one step. A site with
// tens of thousands of locks may need as many; a machine that sends more never stops.
const maxOwn = 100_000

// receiveOwn delivers the messages that the machine sent to itself.
func (m *machine) receiveOwn() {
	for at, n := 0, 0; at < len(m.out.loop) && m.out.err == nil; n++ {
		if n == maxOwn {
			m.out.fail("%v keeps sending to itself: %d messages in one step", m.self, n)
			return
		}
		size := int(m.out.loop[at]) | int(m.out.loop[at+1])<<8 | int(m.out.loop[at+2])<<16
		at += 3
		if err := m.decode(m.out.loop[at:at+size], false); err != nil {
			m.out.fail("%v sent itself a message that it cannot read: %v", m.self, err)
			return
		}
		at += size
		m.actor.receive(m.self)
	}
}

// decode reads a message into m.msg. claims says whether a peer wrote it.
func (m *machine) decode(b []byte, claims bool) error {
	m.actor.blank()
	c := &m.in
	c.mode, c.buf, c.err, c.claims = decode, b, nil, claims
	c.arena.reset()
	m.msg.Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d unexpected bytes", len(c.buf))
	}
	c.buf = nil
	return c.err
}

func (m *machine) AppendState(b []byte) []byte {
	c := &m.state
	if m.lock {
		b = append(b, m.phase)
	}
	c.mode, c.buf = encode, b
	m.s.Fields(c)
	b, c.buf = c.buf, nil
	return b
}

func (m *machine) LoadState(b []byte) error {
	c := &m.state
	c.mode, c.buf, c.err = decode, b, nil
	if m.lock {
		c.Uint8("phase", &m.phase, phases[idle], phases[waiting], phases[inside], phases[unasked])
	}
	m.s.Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d unexpected bytes", len(c.buf))
	}
	c.buf = nil
	return c.err
}

// visitMessage decodes a message and passes its fields to c.
func (m *machine) visitMessage(b []byte, c *Coder) error {
	if err := m.decode(b, true); err != nil {
		return err
	}
	m.msg.Fields(c)
	return nil
}

// visitor returns a Coder that shows times and counters to v.
func (m *machine) visitor(v host.TimeVisitor) *Coder {
	m.state.mode, m.state.times = visit, v
	return &m.state
}

func (m *machine) VisitTimes(v host.TimeVisitor) { m.s.Fields(m.visitor(v)) }

func (m *machine) VisitMessageTimes(b []byte, v host.TimeVisitor) error {
	return m.visitMessage(b, m.visitor(v))
}

func (m *machine) RecodeMessage(dst, b []byte, v host.TimeVisitor) ([]byte, error) {
	if err := m.decode(b, true); err != nil {
		return dst, err
	}
	if v != nil {
		m.msg.Fields(m.visitor(v))
	}
	e := &m.state
	e.mode, e.buf = encode, dst
	m.msg.Fields(e)
	dst, e.buf = e.buf, nil
	return dst, nil
}

func (m *machine) Clock() uint64 {
	if h, ok := m.s.(Hearer); ok {
		return h.Clock().v
	}
	return 0
}

func (m *machine) Alibi(d ID) bool {
	a, ok := m.s.(Alibier)
	return ok && d >= 0 && int(d) < m.n && d != m.self && a.Alibi(d)
}
