package election

import "github.com/stile-lock/stile/algorithm"

// ChangRoberts is the algorithm in which numbers go round a ring, and each
// process lets only higher ones than its own pass.
//
// E. Chang, R. Roberts: An Improved Algorithm for Decentralized Extrema-Finding
// in Circular Configurations of Processes. Communications of the ACM 22(5),
// 1979, pages 281-283.
//
// With down, the ring leads from each number to the next lower one, which is
// the worst that can be: if all start at once, number i goes i steps. A number
// that comes back to its owner has beaten all others, and COORDINATOR goes
// round once.
//
// The paper has no failures. Here successors that are believed dead are
// skipped, a message that is lost with a process that dies is made good by a
// timeout, and a message whose owner is known to be dead goes no further.
func ChangRoberts(down bool) algorithm.Spec {
	shape := algorithm.Shape{Picture: algorithm.Ring, Title: "only the highest comes all the way round", Pointer: "leader", Waits: toHear()}
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
			Order:     "the highest alive leads",
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.NewElection(self, v, &changRoberts{newMember[crMessage](self, v, down)})
		}),
	}
}

// downwards are the links of a ring that leads from each number to the next lower one.
func downwards(n int) [][2]algorithm.ID {
	all := make([][2]algorithm.ID, n)
	for i := range n {
		all[i] = [2]algorithm.ID{algorithm.ID(i), algorithm.ID((i + n - 1) % n)}
	}
	return all
}

const changRobertsText = "2A .. 3A-1 with A > 1 alive, up to A(A+3)/2 if several start and the ring leads down; more if messages overtake each other"

// changRobertsRange is from one process alive, which tells nobody, to all of
// them starting, where messages do not overtake each other: see
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
	Number algorithm.ID // whose message it is
}

func (m *crMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, crCoordinator)
	c.Seat("number", &m.Number)
}

// crRounds is how often messages go round the ring at most, from where a
// process joins: until the highest hears of it, its number, and COORDINATOR.
const crRounds = 3

type changRoberts struct{ member[crMessage] }

// Start lets a process that is back hold an election.
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
	case s.dead.Has(m.Number): // it would go round for ever
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

// Expire: the election has got lost.
func (s *changRoberts) Expire(_ int, out *algorithm.Out[crMessage]) {
	if s.part {
		s.elect(out)
	}
}
