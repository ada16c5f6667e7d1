package election

import "github.com/stile-lock/stile/algorithm"

// ChangRoberts returns the algorithm in which numbers travel around a ring, and each
// process lets only numbers higher than its own pass.
//
// E. Chang, R. Roberts: An Improved Algorithm for Decentralized Extrema-Finding in
// Circular Configurations of Processes. Communications of the ACM 22(5), 1979, pages
// 281-283.
//
// With down, the ring leads from each number to the next lower one, which is the worst
// case: if all start at once, number i travels i steps. A number that returns to its
// owner has beaten all others, and COORDINATOR goes round once.
//
// The paper has no failures. Here successors that are believed dead are skipped, a
// timeout makes up for a message lost with a process that dies, and a message whose owner
// is known to be dead is dropped.
func ChangRoberts(down bool) algorithm.Spec {
	shape := algorithm.Shape{Picture: algorithm.Ring, Title: "only the highest number goes all the way round", Pointer: "leader", Waits: toHear()}
	if down {
		shape.Links = downwards
	}
	return algorithm.Spec{
		Name: "chang-roberts", Family: algorithm.Election, Title: "Chang-Roberts", Authors: "Chang, Roberts", Year: 1979,
		Paper:   "An Improved Algorithm for Decentralized Extrema-Finding in Circular Configurations of Processes. CACM 22(5), 1979",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"ELECTION", "COORDINATOR"},
		Shape:   shape,
		Theory: algorithm.Theory{
			Messages:  algorithm.Cost{Text: changRobertsText, Any: changRobertsRange(down)},
			Order:     "the highest live process leads",
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.NewElection(self, v, &changRoberts{newMember[crMessage](self, v, down)})
		}),
	}
}

// downwards returns the links of a ring that leads from each number to the next lower
// one.
func downwards(n int) [][2]algorithm.ID {
	all := make([][2]algorithm.ID, n)
	for i := range n {
		all[i] = [2]algorithm.ID{algorithm.ID(i), algorithm.ID((i + n - 1) % n)}
	}
	return all
}

const changRobertsText = "2A .. 3A-1 with A > 1 live processes, up to A(A+3)/2 if several start and the ring runs downwards; more if messages overtake each other"

// changRobertsRange returns the range from one process alive, which informs no other, to
// all of them starting, where messages do not overtake each other: see
// [Outset.ChangRoberts].
func changRobertsRange(down bool) func(n int) algorithm.Range {
	return func(n int) algorithm.Range {
		switch {
		case n == 1:
			return algorithm.Range{}
		case down:
			return algorithm.Range{Hi: float64(n*(n+3)) / 2}
		}
		return algorithm.Range{Hi: float64(3*n - 1)}
	}
}

const (
	crElection uint8 = iota
	crCoordinator
)

type crMessage struct {
	Kind   uint8
	Number algorithm.ID // owner of the message
}

func (m *crMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, crCoordinator)
	c.Seat("number", &m.Number)
}

// crRounds is how often messages go round the ring at most, from where a process joins:
// until the highest hears of it, then its number, then COORDINATOR. With less time the
// properties hold too, at the cost of more messages.
const crRounds = 3

type changRoberts struct{ member[crMessage] }

// Start makes a process that is back call an election.
func (s *changRoberts) Start(out *algorithm.Out[crMessage]) {
	if s.leader == algorithm.None && !s.part {
		s.elect(out)
	}
}

func (s *changRoberts) Request(out *algorithm.Out[crMessage]) {
	if !s.part {
		s.elect(out)
	}
}

func (s *changRoberts) elect(out *algorithm.Out[crMessage]) {
	s.join(crRounds, out)
	if s.next() == s.self {
		s.follow(s.self, out)
		return
	}
	s.pass(crMessage{Kind: crElection, Number: s.self}, out)
}

func (s *changRoberts) pass(m crMessage, out *algorithm.Out[crMessage]) {
	if to := s.next(); to != s.self {
		out.Send(to, m)
	}
}

func (s *changRoberts) Receive(_ algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	switch {
	case s.dead.Has(m.Number): // it would go round forever
	case m.Kind == crElection && m.Number > s.self:
		s.join(crRounds, out)
		s.pass(*m, out)
	case m.Kind == crElection && m.Number < s.self:
		if !s.part {
			s.elect(out)
		}
	case m.Kind == crElection:
		if s.follow(s.self, out) {
			s.pass(crMessage{Kind: crCoordinator, Number: s.self}, out)
		}
	case m.Number != s.self && s.follow(m.Number, out):
		s.pass(*m, out)
	}
}

// Expire handles a timeout: the election was lost.
func (s *changRoberts) Expire(_ int, out *algorithm.Out[crMessage]) {
	if s.part {
		s.elect(out)
	}
}
