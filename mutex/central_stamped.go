package mutex

import "github.com/stile-lock/stile/core"

// CentralStamped is Central with the coordinator's queue ordered by the stamps
// of the requests instead of their arrival. It mends what Lamport found in
// Central only among the requests that the coordinator knows: it does not wait
// for an earlier one that is still under way.
//
// L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System.
// Communications of the ACM 21(7), 1978, pages 558-565, for the stamps and, on
// page 561, the central scheduler.
//
// Channels may reorder, as in Central. Since GRANT carries the coordinator's
// clock, a process that has been let in asks later than all that wait, so that
// nobody waits for ever.
func CentralStamped(coordinator core.ID) core.Spec {
	return core.Spec{
		Name: "central-stamped", Title: "Central coordinator with stamps", Authors: "folklore", Year: 1978,
		Class:   core.Central,
		Paper:   "After Lamport: Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978",
		Version: 1,
		Network: core.Unordered,
		Spreads: true,
		Kinds:   []string{"REQUEST", "GRANT", "RELEASE"},
		Shape:   core.Shape{Picture: core.Star, Title: "the coordinator and the stamps of who waits", Vote: "granted", Answer: "GRANT", Hub: always(coordinator)},
		Theory:  centralTheory("by stamp among the requests the coordinator knows; not ME3"),
		Plan: coordinated(coordinator, func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, newCentralStamped(self, v, coordinator))
		}),
	}
}

type stampedMessage struct {
	Kind uint8
	Time core.Time // REQUEST: when it was made. GRANT, RELEASE: the sender's clock.
}

func (m *stampedMessage) Fields(c *core.Coder) {
	c.Kind(&m.Kind, centralRelease)
	c.Time("time", &m.Time)
}

// clock returns the sender's clock, which a request has just moved by one.
func (m *stampedMessage) clock() core.Time {
	if m.Kind == centralRequest {
		return m.Time.Next()
	}
	return m.Time
}

type centralStamped struct {
	self, coordinator core.ID

	state   uint8
	clock   core.Time   // what the next request would be stamped with
	granted core.ID     // at the coordinator: who may be inside, or None
	waiting []core.Time // at the coordinator: when each waiting request was made, per seat
}

func newCentralStamped(self core.ID, v core.View, coordinator core.ID) *centralStamped {
	return &centralStamped{
		self: self, coordinator: coordinator, state: born(self, v), clock: core.First(),
		granted: grantedAtBirth(self, v, coordinator), waiting: make([]core.Time, v.N),
	}
}

func (s *centralStamped) Fields(c *core.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.When(s.self == s.coordinator)
	c.Maybe("granted", &s.granted)
	c.Always()
	c.When(s.granted != core.None) // nobody waits for what is free
	c.Times("waiting", &s.waiting)
	c.Always()
}

func (s *centralStamped) Request(out *core.Out[stampedMessage]) {
	s.state = wanted
	asked := s.clock.Tick()
	out.Send(s.coordinator, stampedMessage{Kind: centralRequest, Time: asked})
}

func (s *centralStamped) Release(out *core.Out[stampedMessage]) {
	s.state = released
	out.Send(s.coordinator, stampedMessage{Kind: centralRelease, Time: s.clock})
}

func (s *centralStamped) Receive(from core.ID, m *stampedMessage, out *core.Out[stampedMessage]) {
	s.clock.See(m.clock())
	switch {
	case m.Kind == centralGrant:
		if from == s.coordinator && s.state == wanted {
			s.state = held
			out.Enter()
		}
	case s.self == s.coordinator:
		s.coordinate(from, m, out)
	}
}

// coordinate is the coordinator's part.
func (s *centralStamped) coordinate(from core.ID, m *stampedMessage, out *core.Out[stampedMessage]) {
	switch {
	case m.Kind == centralRequest:
		s.waiting[from] = m.Time
	case s.granted == from:
		s.granted = core.None
	}
	if s.granted != core.None {
		return
	}
	if first := oldest(s.waiting); !first.Time.IsNone() {
		s.granted = first.ID
		s.waiting[first.ID] = core.Time{}
		out.Send(first.ID, stampedMessage{Kind: centralGrant, Time: s.clock})
	}
}

// Alibi: the coordinator has not let d in, or knows that it has left.
func (s *centralStamped) Alibi(d core.ID) bool { return s.self == s.coordinator && s.granted != d }

// Clock implements core.Hearer.
func (s *centralStamped) Clock() core.Time { return s.clock }

// Hear implements core.Hearer.
func (s *centralStamped) Hear(t core.Time) { s.clock.See(t) }

// oldest returns the smallest stamp of a list that has, for each seat, the time
// of its request, or 0. The stamp is zero if nobody asks.
func oldest(times []core.Time) core.Stamp {
	var r core.Stamp
	for id, t := range times {
		if !t.IsNone() && (r.Time.IsNone() || t.Before(r.Time)) {
			r = core.Stamp{Time: t, ID: core.ID(id)}
		}
	}
	return r
}
