package mutex

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Central returns the algorithm in which one process, the coordinator, lets the others
// enter one by one, in the order in which their requests arrive.
//
// It is older than its descriptions. L. Lamport: Time, Clocks, and the Ordering of Events
// in a Distributed System. Communications of the ACM 21(7), 1978, page 561, names it as
// the obvious solution and shows that it does not grant requests in the order in which
// they were made. As a protocol: A. S. Tanenbaum, M. van Steen: Distributed Systems:
// Principles and Paradigms, 2nd edition, 2007, section 6.3.2.
//
// Channels may reorder: a process has at most one REQUEST and one RELEASE in flight, and
// a REQUEST that overtakes the RELEASE before it only waits in the queue.
func Central(coordinator algorithm.ID) algorithm.Spec {
	theory := centralTheory("arrival at the coordinator; not ME3 (open)")
	theory.Bypass = onceEach
	return algorithm.Spec{
		Name: "central", Title: "Central coordinator", Authors: "folklore", Year: 1978,
		Class:   algorithm.Central,
		Paper:   "Named in Lamport: Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "GRANT", "RELEASE"},
		Shape:   algorithm.Shape{Picture: algorithm.Star, Title: "the coordinator and its queue", Queue: "queue", Vote: "granted", Answer: "GRANT", Hub: always(coordinator)},
		Theory:  theory,
		Plan: coordinated(coordinator, func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newCentral(self, v, coordinator))
		}),
	}
}

// centralTheory counts REQUEST, GRANT and RELEASE, which cost nothing when the
// coordinator itself makes the request.
func centralTheory(order string) algorithm.Theory {
	return algorithm.Theory{
		Messages:   algorithm.Cost{Text: "3, 0 at the coordinator", Any: between(0, 3)},
		Multicasts: algorithm.Cost{Text: "the same", Any: between(0, 3)},
		Client:     algorithm.Cost{Text: "2T, 0 at the coordinator", Any: between(0, 2)},
		// From 0: the coordinator may enter again before it hears of the others.
		Sync:  algorithm.Cost{Text: "1..2T", Any: between(0, 2), Saturated: between(1, 2)},
		Order: order,
	}
}

// always returns a function that returns id for every n.
func always(id algorithm.ID) func(n int) algorithm.ID { return func(int) algorithm.ID { return id } }

// coordinated returns the Plan of an algorithm with a coordinator, which must be one of
// the processes.
func coordinated(coordinator algorithm.ID, b algorithm.Birth) func(n int) (algorithm.Birth, error) {
	return func(n int) (algorithm.Birth, error) {
		if coordinator < 0 || int(coordinator) >= n {
			return nil, fmt.Errorf("coordinator %d among %d processes: it must be one of them, 1 to %d", coordinator+1, n, n)
		}
		return b, nil
	}
}

const (
	centralRequest uint8 = iota
	centralGrant
	centralRelease
)

type centralMessage struct{ Kind uint8 }

func (m *centralMessage) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, centralRelease) }

type central struct {
	self, coordinator algorithm.ID

	state   uint8
	granted algorithm.ID   // at the coordinator: the process that may be inside, or None
	queue   []algorithm.ID // at the coordinator: waiting processes, in order of arrival
}

func newCentral(self algorithm.ID, v algorithm.View, coordinator algorithm.ID) *central {
	return &central{
		self: self, coordinator: coordinator,
		state: born(self, v), granted: grantedAtBirth(self, v, coordinator),
	}
}

// grantedAtBirth returns the process that the coordinator knows to be inside at the
// start.
func grantedAtBirth(self algorithm.ID, v algorithm.View, coordinator algorithm.ID) algorithm.ID {
	if v.Busy && self == coordinator {
		return v.Holder
	}
	return algorithm.None
}

func (s *central) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.When(s.self == s.coordinator)
	c.Maybe("granted", &s.granted)
	c.Seats("queue", &s.queue)
	c.Always()
}

func (s *central) Request(out *algorithm.Out[centralMessage]) {
	s.state = wanted
	out.Send(s.coordinator, centralMessage{Kind: centralRequest})
}

func (s *central) Release(out *algorithm.Out[centralMessage]) {
	s.state = released
	out.Send(s.coordinator, centralMessage{Kind: centralRelease})
}

func (s *central) Receive(from algorithm.ID, m *centralMessage, out *algorithm.Out[centralMessage]) {
	switch {
	case m.Kind == centralGrant:
		if from == s.coordinator && s.state == wanted {
			s.state = held
			out.Enter()
		}
	case s.self == s.coordinator:
		s.coordinate(from, m.Kind, out)
	}
}

// coordinate handles a message at the coordinator.
func (s *central) coordinate(from algorithm.ID, kind uint8, out *algorithm.Out[centralMessage]) {
	switch {
	case kind == centralRequest && !slices.Contains(s.queue, from):
		s.queue = append(s.queue, from)
	case kind == centralRelease && s.granted == from:
		s.granted = algorithm.None
	}
	if s.granted == algorithm.None && len(s.queue) > 0 {
		s.granted = s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		out.Send(s.granted, centralMessage{Kind: centralGrant})
	}
}

// Alibi implements algorithm.Alibier: the coordinator has not let d in, or knows that it
// has left.
func (s *central) Alibi(d algorithm.ID) bool { return s.self == s.coordinator && s.granted != d }
