package election

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Ring returns the algorithm in which ELECTION goes round a ring and collects the numbers
// of all live processes, and COORDINATOR goes round once more with the highest of them.
//
// G. Le Lann: Distributed Systems - Towards a Formal Approach. Information Processing 77
// (Proceedings of the IFIP Congress), North-Holland, 1977, pages 155-160.
//
// In this form: A. Silberschatz, P. B. Galvin: Operating System Concepts, 4th edition,
// 1994, section 18.6.2; A. S. Tanenbaum, M. van Steen: Distributed Systems: Principles
// and Paradigms, 2nd edition, 2007, section 6.5.1.
//
// A message has come full circle when it reaches a process that is already in its list.
// That is the process that sent it first or, if that one has died, the first one behind
// it. For the same reason COORDINATOR has a list of the processes that know. Successors
// that are believed dead are skipped. A timeout makes up for a message lost with a
// process that dies: a process that took part in an election and does not hear its end
// holds another one.
//
// Several elections at once end with the same leader, and each costs as much as a single
// one.
func Ring() algorithm.Spec {
	return algorithm.Spec{
		Name: "ring-election", Family: algorithm.Election, Title: "Ring election", Authors: "Le Lann", Year: 1977,
		Paper:   "Distributed Systems - Towards a Formal Approach. Information Processing 77, 1977",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"ELECTION", "COORDINATOR"},
		Rules:   leLannRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Ring, Title: "a list goes round, then the name of the leader", Pointer: "leader", Waits: toHear()},
		Theory: algorithm.Theory{
			Messages:  algorithm.Cost{Text: "2A with A > 1 live processes, for each that starts", Any: ringRange},
			Order:     "the highest live process leads",
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.NewElection(self, v, &ring{newMember[ringMessage](self, v, false)})
		}),
	}
}

// ringRange returns the range from one process alive, which informs no other, to all of
// them starting.
func ringRange(n int) algorithm.Range {
	if n == 1 {
		return algorithm.Range{}
	}
	return algorithm.Range{Hi: 2 * float64(n) * float64(n)}
}

const (
	ringElection uint8 = iota
	ringCoordinator
)

// The rules beside those of every ring.
const (
	leLannCall = ringOwn + iota
	leLannAgain
	leLannAlone
	leLannSign
	leLannFull
	leLannTell
	leLannRound
)

func leLannRules() []algorithm.Rule {
	return ringRules([]algorithm.Rule{
		leLannCall - ringOwn:  {ID: "3a", Text: "A process that notices the leader's silence sends ELECTION round the ring.", Why: "{self} sends ELECTION to {who}", Sends: "ELECTION"},
		leLannAgain - ringOwn: {ID: "3b", Text: "An election that does not end in time is held again.", Why: "{self} has waited too long for the end of the election"},
		leLannAlone - ringOwn: {ID: "3c", Text: "In a ring of one process every message has come full circle at once.", Why: "{self} is alone in the ring"},
		leLannSign - ringOwn:  {ID: "4a", Text: "Each process adds its number to ELECTION and passes it on.", Why: "{self} adds its number to ELECTION, and passes it on to {who}", Sends: "ELECTION"},
		leLannFull - ringOwn:  {ID: "4b", Text: "ELECTION has come full circle where its list has the process already; the highest in it has won.", Why: "{self} is in the list already, so {who}, the highest in it, has won"},
		leLannTell - ringOwn:  {ID: "5a", Text: "COORDINATOR goes round the ring once.", Why: "{self} sends COORDINATOR of {other} to {who}", Sends: "COORDINATOR"},
		leLannRound - ringOwn: {ID: "5b", Text: "COORDINATOR ends where its list has the process already.", Why: "{self} has COORDINATOR back"},
	}...)
}

type ringMessage struct {
	Kind   uint8
	List   []algorithm.ID // processes it has visited
	Leader algorithm.ID   // COORDINATOR: the leader
}

func (m *ringMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, ringCoordinator)
	c.Seats("list", &m.List)
	if m.Kind == ringCoordinator {
		c.Seat("leader", &m.Leader)
	}
}

// ringRounds is how often an election goes round the ring: first ELECTION, then
// COORDINATOR. A process that joins hears the end one round later, so one round is enough
// for the properties, but in random runs with crashes it takes more messages. With no
// time at all agreement is violated.
const ringRounds = 2

type ring struct{ member[ringMessage] }

// Start makes a process that is back call an election.
func (s *ring) Start(out *algorithm.Out[ringMessage]) {
	if s.leader == algorithm.None && !s.part {
		s.elect(out)
	}
}

func (s *ring) Request(out *algorithm.Out[ringMessage]) {
	if s.part {
		out.Because(ringBusy, facts{})
		return
	}
	s.elect(out)
}

func (s *ring) elect(out *algorithm.Out[ringMessage]) {
	s.join(ringRounds, out)
	s.pass(leLannCall, ringMessage{Kind: ringElection}, out)
}

// pass signs a message and forwards it. In a ring of one process every message has come
// full circle at once.
func (s *ring) pass(rule int, m ringMessage, out *algorithm.Out[ringMessage]) {
	m.List = append(m.List, s.self)
	if to := s.next(); to != s.self {
		out.Because(rule, facts{Who: to, Other: m.Leader})
		out.Send(to, m)
		return
	}
	out.Because(leLannAlone, facts{})
	if m.Kind == ringElection {
		s.follow(slices.Max(m.List), out)
	}
}

func (s *ring) Receive(_ algorithm.ID, m *ringMessage, out *algorithm.Out[ringMessage]) {
	full := slices.Contains(m.List, s.self)
	switch {
	case m.Kind == ringElection:
		if !full {
			s.join(ringRounds, out)
			s.pass(leLannSign, *m, out)
			return
		}
		leader := slices.Max(m.List)
		out.Because(leLannFull, facts{Who: leader})
		if s.follow(leader, out) {
			s.pass(leLannTell, ringMessage{Kind: ringCoordinator, Leader: leader}, out)
		}
	case full:
		out.Because(leLannRound, facts{})
	case s.follow(m.Leader, out):
		s.pass(leLannTell, *m, out)
	}
}

// Expire handles a timeout: the election was lost.
func (s *ring) Expire(_ int, out *algorithm.Out[ringMessage]) {
	if s.part {
		out.Because(leLannAgain, facts{})
		s.elect(out)
	}
}
