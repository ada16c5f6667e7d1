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
		Rules:   crRules(),
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

// The rules beside those of every ring.
const (
	crCall = ringOwn + iota
	crAgain
	crAlone
	crPass
	crStop
	crWin
	crTell
	crRound
	crDead
)

func crRules() []algorithm.Rule {
	return ringRules([]algorithm.Rule{
		crCall - ringOwn:  {ID: "3a", Text: "A process that notices the leader's silence sends its own number round the ring.", Why: "{self} sends its own number to {who}", Sends: "ELECTION"},
		crAgain - ringOwn: {ID: "3b", Text: "An election that does not end in time is held again.", Why: "{self} has waited too long for the end of the election"},
		crAlone - ringOwn: {ID: "3c", Text: "A process that is alone wins.", Why: "{self} is alone in the ring"},
		crPass - ringOwn:  {ID: "4a", Text: "A number higher than its own is passed on.", Why: "{self} passes the number of {other} on to {who}, because {other} is higher", Sends: "ELECTION"},
		crStop - ringOwn:  {ID: "4b", Text: "A number lower than its own is stopped.", Why: "{self} stops the number of {other}, because {other} is lower"},
		crWin - ringOwn:   {ID: "4c", Text: "A number that comes back to its owner has won.", Why: "{self} has won: its own number has gone all the way round"},
		crTell - ringOwn:  {ID: "5a", Text: "COORDINATOR goes round the ring once.", Why: "{self} sends COORDINATOR of {other} to {who}", Sends: "COORDINATOR"},
		crRound - ringOwn: {ID: "5b", Text: "It ends where it began.", Why: "{self} has its own COORDINATOR back"},
		crDead - ringOwn:  {ID: "6", Text: "A message whose owner is dead would go round forever, and is dropped.", Why: "{self} drops the message of {other}, because {other} is dead"},
	}...)
}

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
	if s.part {
		out.Because(ringBusy, facts{})
		return
	}
	s.elect(out)
}

func (s *changRoberts) elect(out *algorithm.Out[crMessage]) {
	s.join(crRounds, out)
	if s.next() == s.self {
		out.Because(crAlone, facts{})
		s.follow(s.self, out)
		return
	}
	s.pass(crCall, crMessage{Kind: crElection, Number: s.self}, out)
}

// pass passes a message on, by the given rule.
func (s *changRoberts) pass(rule int, m crMessage, out *algorithm.Out[crMessage]) {
	if to := s.next(); to != s.self {
		out.Because(rule, facts{Who: to, Other: m.Number})
		out.Send(to, m)
	} else {
		out.Because(crAlone, facts{})
	}
}

func (s *changRoberts) Receive(_ algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	switch {
	case s.dead.Has(m.Number): // it would go round forever
		out.Because(crDead, facts{Other: m.Number})
	case m.Kind == crElection && m.Number > s.self:
		s.join(crRounds, out)
		s.pass(crPass, *m, out)
	case m.Kind == crElection && m.Number < s.self:
		out.Because(crStop, facts{Other: m.Number})
		if s.part {
			out.Because(ringBusy, facts{})
			return
		}
		s.elect(out)
	case m.Kind == crElection:
		out.Because(crWin, facts{})
		if s.follow(s.self, out) {
			s.pass(crTell, crMessage{Kind: crCoordinator, Number: s.self}, out)
		}
	case m.Number == s.self:
		out.Because(crRound, facts{})
	case s.follow(m.Number, out):
		s.pass(crTell, *m, out)
	}
}

// Expire handles a timeout: the election was lost.
func (s *changRoberts) Expire(_ int, out *algorithm.Out[crMessage]) {
	if s.part {
		out.Because(crAgain, facts{})
		s.elect(out)
	}
}
