package mutex

import "github.com/stile-lock/stile/algorithm"

// CentralStamped returns Central with the coordinator's queue ordered by the stamps of
// the requests instead of by their arrival. It remedies the flaw that Lamport found in
// Central only among the requests that the coordinator knows: it does not wait for an
// earlier one that is still in flight.
//
// L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System.
// Communications of the ACM 21(7), 1978, pages 558-565, for the stamps and, on page 561,
// the central scheduler.
//
// Channels may reorder, as in Central. Because GRANT carries the coordinator's clock, the
// next request of a process that was let in is later than all waiting ones, so no process
// waits forever.
func CentralStamped(coordinator algorithm.ID) algorithm.Spec {
	return algorithm.Spec{
		Name: "central-stamped", Title: "Central coordinator with stamps", Authors: "folklore", Year: 1978,
		Class:   algorithm.Central,
		Paper:   "After Lamport: Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978",
		Version: 1,
		Network: algorithm.Unordered,
		Spreads: true,
		Kinds:   []string{"REQUEST", "GRANT", "RELEASE"},
		Rules:   stampedRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Star, Title: "the coordinator and the stamps of waiting processes", Vote: "granted", Answer: "GRANT", Hub: always(coordinator)},
		Theory:  centralTheory("by stamp among the requests the coordinator knows; not ME3"),
		Plan: coordinated(coordinator, func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newCentralStamped(self, v, coordinator))
		}),
	}
}

// stampedRules are those of Central, with stamps.
func stampedRules() []algorithm.Rule {
	rules := centralRules()
	rules[centralAsk].Why = "{self} asks the coordinator, {who}, with the stamp {a}"
	rules[centralLetIn].Text = "When no process is inside, the coordinator grants the oldest request that it knows."
	rules[centralLetIn].Why = "{self} grants {who}, because {a} is the oldest request that waits"
	return rules
}

type stampedMessage struct {
	Kind uint8
	Time algorithm.Time // REQUEST: when it was made; GRANT, RELEASE: the sender's clock
}

func (m *stampedMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, centralRelease)
	c.Time("time", &m.Time)
}

// clock returns the sender's clock, which a request has just advanced by one.
func (m *stampedMessage) clock() algorithm.Time {
	if m.Kind == centralRequest {
		return m.Time.Next()
	}
	return m.Time
}

type centralStamped struct {
	self, coordinator algorithm.ID

	state   uint8
	clock   algorithm.Time   // stamp of the next request
	granted algorithm.ID     // at the coordinator: the process that may be inside, or None
	waiting []algorithm.Time // at the coordinator: when each waiting request was made, by seat
}

func newCentralStamped(self algorithm.ID, v algorithm.View, coordinator algorithm.ID) *centralStamped {
	return &centralStamped{
		self: self, coordinator: coordinator, state: born(self, v), clock: algorithm.First(),
		granted: grantedAtBirth(self, v, coordinator), waiting: make([]algorithm.Time, v.N),
	}
}

func (s *centralStamped) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.When(s.self == s.coordinator)
	c.Maybe("granted", &s.granted)
	c.Always()
	c.When(s.granted != algorithm.None) // no process waits for a free lock
	c.Times("waiting", &s.waiting)
	c.Always()
}

func (s *centralStamped) Request(out *algorithm.Out[stampedMessage]) {
	s.state = wanted
	asked := s.clock.Tick()
	out.Because(centralAsk, facts{Who: s.coordinator, A: algorithm.Stamp{Time: asked, ID: s.self}})
	out.Send(s.coordinator, stampedMessage{Kind: centralRequest, Time: asked})
}

func (s *centralStamped) Release(out *algorithm.Out[stampedMessage]) {
	s.state = released
	out.Because(centralLeave, facts{Who: s.coordinator})
	out.Send(s.coordinator, stampedMessage{Kind: centralRelease, Time: s.clock})
}

func (s *centralStamped) Receive(from algorithm.ID, m *stampedMessage, out *algorithm.Out[stampedMessage]) {
	s.clock.See(m.clock())
	switch {
	case m.Kind == centralGrant && from == s.coordinator && s.state == wanted:
		s.state = held
		out.Because(centralEnter, facts{})
		out.Enter()
	case m.Kind != centralGrant && s.self == s.coordinator:
		s.coordinate(from, m, out)
	default:
		out.Because(centralVoid, facts{Who: from})
	}
}

// coordinate handles a message at the coordinator.
func (s *centralStamped) coordinate(from algorithm.ID, m *stampedMessage, out *algorithm.Out[stampedMessage]) {
	switch {
	case m.Kind == centralRequest:
		if s.granted != algorithm.None {
			out.Because(centralQueue, facts{Who: from, Other: s.granted})
		}
		s.waiting[from] = m.Time
	case s.granted == from:
		out.Because(centralFreed, facts{Who: from})
		s.granted = algorithm.None
	default:
		out.Because(centralVoid, facts{Who: from})
	}
	if s.granted != algorithm.None {
		return
	}
	if first := oldest(s.waiting); !first.Time.IsNone() {
		s.granted = first.ID
		s.waiting[first.ID] = algorithm.Time{}
		out.Because(centralLetIn, facts{Who: first.ID, A: first})
		out.Send(first.ID, stampedMessage{Kind: centralGrant, Time: s.clock})
	}
}

// Alibi implements algorithm.Alibier: the coordinator has not let d in, or knows that it
// has left.
func (s *centralStamped) Alibi(d algorithm.ID) bool { return s.self == s.coordinator && s.granted != d }

// Clock implements algorithm.Hearer.
func (s *centralStamped) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *centralStamped) Hear(t algorithm.Time) { s.clock.See(t) }

// oldest returns the smallest stamp in a list that has the time of each seat's request,
// or 0. The stamp is zero if there is no request.
func oldest(times []algorithm.Time) algorithm.Stamp {
	var r algorithm.Stamp
	for id, t := range times {
		if !t.IsNone() && (r.Time.IsNone() || t.Before(r.Time)) {
			r = algorithm.Stamp{Time: t, ID: algorithm.ID(id)}
		}
	}
	return r
}
