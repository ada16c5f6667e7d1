package mutex

import "github.com/stile-lock/stile/core"

// Lamport is the algorithm in which everybody keeps the queue of all requests,
// ordered by stamp, and knows when no earlier one can come any more.
//
// L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System.
// Communications of the ACM 21(7), 1978, pages 558-565; the five rules are on
// page 561.
//
// Channels must be FIFO: a later stamp from a process is the proof that all
// its earlier requests have arrived.
//
// Departures: a REPLY names the request it answers and counts for no other
// (one that is counted unseen lets two in: it may belong to an earlier request,
// that was granted without it). Clocks move on requests only: a clock is what
// the next request would be stamped with, so whoever has heard of a request has
// a clock above it, and a message is later than a request if the clock it
// carries is.
func Lamport() core.Spec {
	return core.Spec{
		Name: "lamport", Title: "Lamport", Authors: "Lamport", Year: 1978,
		Class:   core.Permission,
		Paper:   "Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978",
		Version: 1,
		Network: core.FIFO,
		Gapless: true,
		Spreads: true,
		Kinds:   []string{"REQUEST", "REPLY", "RELEASE"},
		Shape:   core.Shape{Picture: core.Mesh, Title: "everybody has the whole queue", Awaited: []string{"missing"}, Stamps: "requests", Answer: "REPLY", Release: "RELEASE"},
		Theory: core.Theory{
			Messages: core.Cost{Text: "3(N-1)", Any: others(3)},
			Multicasts: core.Cost{Text: "N+1", Any: func(n int) core.Range {
				return between(float64(n+1), float64(n+1))(n)
			}},
			Client: core.Cost{Text: "2T", Any: between(2, 2)},
			// From 0: who asks again with the smallest stamp goes in when the
			// REQUESTs of all others, which are later, arrive. Up to 3T:
			// somebody with a smaller stamp may ask just before it hears of a
			// request that was made just before the exit.
			Sync:      core.Cost{Text: "T", Any: between(0, 3), Saturated: between(1, 1)},
			Order:     "happened-before (ME3)",
			Bypass:    onceEach,
			ME3:       true,
			Symmetric: true,
		},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, newLamport(self, v))
		}),
	}
}

const (
	lamRequest uint8 = iota
	lamReply
	lamRelease
)

type lamMessage struct {
	Kind  uint8
	Clock core.Time // REPLY, RELEASE: the sender's clock
	Time  core.Time // REQUEST: when it was made. REPLY: when the request it answers was made.
}

func (m *lamMessage) Fields(c *core.Coder) {
	c.Kind(&m.Kind, lamRelease)
	if m.Kind != lamRequest {
		c.Time("clock", &m.Clock)
	}
	if m.Kind != lamRelease {
		c.Time("time", &m.Time)
	}
}

// clock returns the sender's clock, which a request has just moved by one.
func (m *lamMessage) clock() core.Time {
	if m.Kind == lamRequest {
		return m.Time.Next()
	}
	return m.Clock
}

type lamport struct {
	self core.ID
	n    int

	state    uint8
	clock    core.Time   // what the next request would be stamped with
	requests []core.Time // the queue: when each request was made, per seat; the own one while WANTED
	missing  core.Set    // while WANTED: who has sent nothing later than the own request
	level    core.Set    // whose last message carried a clock equal to this one
	told     core.Set    // who may have been sent a clock above the last one received from it
}

func newLamport(self core.ID, v core.View) *lamport {
	s := &lamport{self: self, n: v.N, state: born(self, v), clock: core.First(), requests: make([]core.Time, v.N)}
	if v.Busy {
		asked := s.clock.Tick()
		if self != v.Holder {
			s.requests[v.Holder] = asked
		}
	}
	s.level.Fill(v.N)
	s.level.Remove(self)
	return s
}

func (s *lamport) Fields(c *core.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.Times("requests", &s.requests)
	c.Set("level", &s.level)
	c.Set("told", &s.told)
	c.When(s.state == wanted)
	c.Set("missing", &s.missing)
	c.Always()
}

// Request is rule 1.
func (s *lamport) Request(out *core.Out[lamMessage]) {
	s.state = wanted
	s.requests[s.self] = s.clock
	s.raise(s.clock.Next())
	s.missing.Fill(s.n)
	s.missing.Remove(s.self)
	s.told.Union(&s.missing)
	out.Broadcast(lamMessage{Kind: lamRequest, Time: s.requests[s.self]})
	s.tryEnter(out)
}

// Release is rule 3.
func (s *lamport) Release(out *core.Out[lamMessage]) {
	s.state = released
	for d := range core.ID(s.n) {
		s.tell(d)
	}
	out.Broadcast(lamMessage{Kind: lamRelease, Clock: s.clock})
}

// Receive is rules 2 and 4, and the second half of rule 5: a REQUEST or
// RELEASE with a later clock is as good as a REPLY.
func (s *lamport) Receive(from core.ID, m *lamMessage, out *core.Out[lamMessage]) {
	s.merge(from, m.clock())
	later := s.state == wanted && m.clock().After(s.requests[s.self])
	switch m.Kind {
	case lamRequest:
		s.requests[from] = m.Time
		s.tell(from)
		out.Send(from, lamMessage{Kind: lamReply, Clock: s.clock, Time: m.Time})
	case lamRelease:
		s.requests[from] = core.Time{}
	case lamReply:
		later = later && m.Time == s.requests[s.self]
	}
	if later {
		s.missing.Remove(from)
	}
	if s.state == wanted && (later || m.Kind == lamRelease) {
		s.tryEnter(out)
	}
}

// tryEnter is rule 5.
func (s *lamport) tryEnter(out *core.Out[lamMessage]) {
	if s.missing.Empty() && oldest(s.requests).ID == s.self {
		s.state = held
		s.requests[s.self] = core.Time{}
		out.Enter()
	}
}

// merge takes over a clock received.
func (s *lamport) merge(from core.ID, clock core.Time) {
	s.raise(clock)
	if clock == s.clock { // so nobody was ever sent more
		s.level.Add(from)
		s.told.Remove(from)
	}
}

func (s *lamport) raise(clock core.Time) {
	if clock.After(s.clock) {
		s.clock = clock
		s.level.Clear()
	}
}

// tell remembers that d is sent the clock.
func (s *lamport) tell(d core.ID) {
	if d != s.self && !s.level.Has(d) {
		s.told.Add(d)
	}
}

// Alibi: d has no request here, and one that is under way is at least as late
// as the last clock that d got from here, so that d misses a later one.
func (s *lamport) Alibi(d core.ID) bool { return s.requests[d].IsNone() && !s.told.Has(d) }

// Clock implements core.Hearer.
func (s *lamport) Clock() core.Time { return s.clock }

// Hear implements core.Hearer.
func (s *lamport) Hear(t core.Time) { s.raise(t) }
