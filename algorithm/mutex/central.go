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
		Rules:   centralRules(),
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

// The rules.
const (
	centralAsk = iota
	centralLetIn
	centralQueue
	centralEnter
	centralLeave
	centralFreed
	centralVoid
)

func centralRules() []algorithm.Rule {
	return []algorithm.Rule{
		centralAsk:   {ID: "1", Text: "To enter, a process sends REQUEST to the coordinator.", Why: "{self} asks the coordinator, {who}", Sends: "REQUEST"},
		centralLetIn: {ID: "2a", Text: "When no process is inside, the coordinator grants the first request in its queue.", Why: "{self} grants {who}, which is first in its queue", Sends: "GRANT"},
		centralQueue: {ID: "2b", Text: "As long as a process is inside, the coordinator queues requests.", Why: "{self} queues {who}, because it has granted {other}", Silent: true, Waits: "who", While: "other"},
		centralEnter: {ID: "3", Text: "A process enters when it receives GRANT.", Why: "{self} enters, because the coordinator granted it", Enters: true},
		centralLeave: {ID: "4", Text: "A process that leaves sends RELEASE to the coordinator.", Why: "{self} leaves, and sends RELEASE to the coordinator, {who}", Sends: "RELEASE"},
		centralFreed: {ID: "5", Text: "RELEASE frees the critical section.", Why: "{self} notes that {who} has left", Silent: true},
		centralVoid:  ignored(),
	}
}

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
	out.Because(centralAsk, facts{Who: s.coordinator})
	out.Send(s.coordinator, centralMessage{Kind: centralRequest})
}

func (s *central) Release(out *algorithm.Out[centralMessage]) {
	s.state = released
	out.Because(centralLeave, facts{Who: s.coordinator})
	out.Send(s.coordinator, centralMessage{Kind: centralRelease})
}

func (s *central) Receive(from algorithm.ID, m *centralMessage, out *algorithm.Out[centralMessage]) {
	switch {
	case m.Kind == centralGrant && from == s.coordinator && s.state == wanted:
		s.state = held
		out.Because(centralEnter, facts{})
		out.Enter()
	case m.Kind != centralGrant && s.self == s.coordinator:
		s.coordinate(from, m.Kind, out)
	default:
		out.Because(centralVoid, facts{Who: from})
	}
}

// coordinate handles a message at the coordinator.
func (s *central) coordinate(from algorithm.ID, kind uint8, out *algorithm.Out[centralMessage]) {
	switch {
	case kind == centralRequest && !slices.Contains(s.queue, from):
		if s.granted != algorithm.None {
			out.Because(centralQueue, facts{Who: from, Other: s.granted})
		}
		s.queue = append(s.queue, from)
	case kind == centralRelease && s.granted == from:
		out.Because(centralFreed, facts{Who: from})
		s.granted = algorithm.None
	default:
		out.Because(centralVoid, facts{Who: from})
	}
	if s.granted == algorithm.None && len(s.queue) > 0 {
		s.granted = s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		out.Because(centralLetIn, facts{Who: s.granted})
		out.Send(s.granted, centralMessage{Kind: centralGrant})
	}
}

// Alibi implements algorithm.Alibier: the coordinator has not let d in, or knows that it
// has left.
func (s *central) Alibi(d algorithm.ID) bool { return s.self == s.coordinator && s.granted != d }
