package election

import (
	"math"

	"github.com/stile-lock/stile/algorithm"
)

// Bully returns the algorithm in which a process that notices the leader's silence asks
// all higher processes, and leads if none of them answers.
//
// H. Garcia-Molina: Elections in a Distributed Computing System. IEEE Transactions on
// Computers C-31(1), 1982, pages 48-59.
//
// This is the textbook form: A. S. Tanenbaum, M. van Steen: Distributed Systems:
// Principles and Paradigms, 2nd edition, 2007, section 6.5.1. The paper's leader first
// halts all lower processes, and then informs them.
//
// ELECTION goes to all higher processes, including the dead, because none knows which are
// dead; likewise COORDINATOR goes to all lower ones. An ANSWER takes a round trip. A
// process that got one waits for the highest live process: for a message to it, its own
// wait for answers, and a message back.
//
// Departures. A leader that is asked by a lower process sends COORDINATOR again to that
// process only. It knows that no higher process is alive, because that one would have
// called an election when it came back. If it called an election instead, nothing would
// break, but in random runs it takes nearly twice as many messages. COORDINATOR from a process lower than the present
// leader may be stale, and is refused. If the leader is dead, however, still older news
// of an even lower process may arrive later. So the highest refused process is
// remembered, and none below it is followed, until this process has called an election
// itself. This takes four processes: among three the field refused is never used. A
// process that kept it longer would follow none of those that are left, if the refused
// one has died.
func Bully() algorithm.Spec {
	return algorithm.Spec{
		Name: "bully", Family: algorithm.Election, Title: "Bully", Authors: "Garcia-Molina", Year: 1982,
		Paper:   "Elections in a Distributed Computing System. IEEE Transactions on Computers C-31(1), 1982",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"ELECTION", "ANSWER", "COORDINATOR"},
		Shape: algorithm.Shape{Picture: algorithm.Rounds, Title: "the highest live process wins", Pointer: "leader", Number: "state", Waits: []algorithm.Wait{
			{Field: "state", Value: "ELECTING", Why: "waits for an answer from %s", Whom: algorithm.Higher},
			{Field: "state", Value: "YIELDING", Why: "got an answer, and waits until %s announces that it has won", Whom: algorithm.Highest},
		}},
		Theory: algorithm.Theory{
			Messages:  algorithm.Cost{Text: "N-1 .. N²-N-1 if the highest is dead; else min(3, N-1) .. N²-1 if one starts and latencies are equal, up to 5·2^(N-1)-N-4 otherwise", Any: bullyRange},
			Order:     "the highest live process leads",
			Symmetric: false,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			s := newBully(self, v)
			return algorithm.NewElection(self, v, &s)
		}),
	}
}

// bullyRange returns the range from the second highest asking the highest, which leads
// already, to all starting with none dead and the worst latencies: see [Outset.Bully].
func bullyRange(n int) algorithm.Range {
	return algorithm.Range{Lo: float64(min(n-1, 3)), Hi: 5*math.Exp2(float64(n-1)) - float64(n+4)}
}

const (
	bullyElection uint8 = iota
	bullyAnswer
	bullyCoordinator
)

type bullyMessage struct{ Kind uint8 }

func (m *bullyMessage) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, bullyCoordinator) }

// The states of a process.
const (
	quiet    uint8 = iota // no election here
	electing              // ELECTION sent, no answer yet
	yielding              // answered, waiting for COORDINATOR
)

// How long a process waits, in units of the longest latency. With less time for an answer
// two processes may win in one round. Less time for COORDINATOR only costs messages: the
// election is called again while another process is about to win it.
const (
	answerWait      = 2 // there and back
	coordinatorWait = 4 // there, answerWait over there, and back
)

type bully struct {
	self algorithm.ID
	n    int

	state   uint8
	leader  algorithm.ID // the leader, or None
	refused algorithm.ID // highest process whose COORDINATOR was refused since, or None
}

func newBully(self algorithm.ID, v algorithm.View) bully {
	return bully{self: self, n: v.N, leader: born(v), refused: algorithm.None}
}

func (s *bully) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "QUIET", "ELECTING", "YIELDING")
	c.Maybe("leader", &s.leader)
	c.Maybe("refused", &s.refused)
}

// Start makes a process that is back call an election.
func (s *bully) Start(out *algorithm.Out[bullyMessage]) {
	if s.leader == algorithm.None && s.state == quiet {
		s.elect(out)
	}
}

func (s *bully) Request(out *algorithm.Out[bullyMessage]) {
	if s.state == quiet {
		s.elect(out)
	}
}

// elect asks all higher processes. The highest of all need not ask.
func (s *bully) elect(out *algorithm.Out[bullyMessage]) {
	s.forget(out)
	s.refused = algorithm.None
	if int(s.self) == s.n-1 {
		s.win(out)
		return
	}
	s.state = electing
	var higher algorithm.Set
	for id := s.self + 1; int(id) < s.n; id++ {
		higher.Add(id)
	}
	out.Multicast(&higher, bullyMessage{Kind: bullyElection})
	out.SetTimer(0, answerWait)
}

// win informs all lower processes.
func (s *bully) win(out *algorithm.Out[bullyMessage]) {
	s.follow(s.self, out)
	var lower algorithm.Set
	for id := range s.self {
		lower.Add(id)
	}
	out.Multicast(&lower, bullyMessage{Kind: bullyCoordinator})
}

// follow ends the election here.
func (s *bully) follow(leader algorithm.ID, out *algorithm.Out[bullyMessage]) {
	if s.state != quiet {
		s.state = quiet
		out.StopTimer(0)
	}
	s.refused = algorithm.None
	if s.leader != leader {
		s.leader = leader
		out.Lead(leader)
	}
}

func (s *bully) forget(out *algorithm.Out[bullyMessage]) {
	if s.leader != algorithm.None {
		s.leader = algorithm.None
		out.Lead(algorithm.None)
	}
}

func (s *bully) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	switch {
	case m.Kind == bullyElection && from < s.self:
		out.Send(from, bullyMessage{Kind: bullyAnswer})
		switch {
		case s.state != quiet: // already holding one
		case s.leader == s.self:
			out.Send(from, bullyMessage{Kind: bullyCoordinator})
		default:
			s.elect(out)
		}
	case m.Kind == bullyAnswer && from > s.self && s.state == electing:
		s.state = yielding
		out.SetTimer(0, coordinatorWait)
	case m.Kind == bullyCoordinator && from > max(s.self, s.leader) && from >= s.refused:
		s.follow(from, out)
	case m.Kind == bullyCoordinator && from > s.self+1 && from != s.leader: // there are others between
		s.refused = max(s.refused, from)
	}
}

// Expire handles a timeout: no higher process has answered, so none is alive; or the one
// that answered has died.
func (s *bully) Expire(_ int, out *algorithm.Out[bullyMessage]) {
	switch s.state {
	case electing:
		s.win(out)
	case yielding:
		s.state = quiet
		s.elect(out)
	}
}

// Suspect handles a death: a dead leader no longer counts.
func (s *bully) Suspect(id algorithm.ID, out *algorithm.Out[bullyMessage]) {
	if id == s.leader && id != s.self {
		s.forget(out)
	}
}
