package election

import (
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
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
		Rules:   bullyRules(),
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

// The rules.
const (
	bullyCall = iota
	bullyHighest
	bullyReply
	bullyBusy
	bullyRemind
	bullyYield
	bullyWin
	bullyTell
	bullyAgain
	bullyFollow
	bullyForget
	bullyRefuse
	bullyKnown
	bullyLate
	bullyVoid
)

func bullyRules() []algorithm.Rule {
	return []algorithm.Rule{
		bullyCall:    {ID: "1a", Text: "A process that notices the leader's silence sends ELECTION to all higher ones.", Why: "{self} calls an election, and asks {set}", Sends: "ELECTION"},
		bullyHighest: {ID: "1b", Text: "The highest process of all need not ask.", Why: "{self} has won: it is the highest of all"},
		bullyReply:   {ID: "2a", Text: "A process answers ELECTION from a lower one, and calls an election itself.", Why: "{self} answers {who}, because {who} is lower", Sends: "ANSWER"},
		bullyBusy:    {ID: "2b", Text: "A process holds one election at a time.", Why: "{self} already holds an election"},
		bullyRemind:  {ID: "2c", Text: "A leader that is asked sends COORDINATOR again.", Why: "{self} sends COORDINATOR to {who}, because it leads", Sends: "COORDINATOR"},
		bullyYield:   {ID: "3a", Text: "A process that has got ANSWER waits for COORDINATOR.", Why: "{self} yields, because {who} is higher and has answered", Silent: true},
		bullyWin:     {ID: "3b", Text: "A process that gets no ANSWER in time has won.", Why: "{self} has won: no higher process has answered"},
		bullyTell:    {ID: "3c", Text: "The winner sends COORDINATOR to all lower processes.", Why: "{self} sends COORDINATOR to {set}", Sends: "COORDINATOR"},
		bullyAgain:   {ID: "3d", Text: "A process that waits too long for COORDINATOR calls another election.", Why: "{self} has waited too long for COORDINATOR"},
		bullyFollow:  {ID: "4a", Text: "A process follows the winner.", Why: "{self} follows {who}", Notices: []host.NoticeKind{host.Leader}},
		bullyForget:  {ID: "4b", Text: "A process that calls an election, or whose leader is dead, follows no leader.", Why: "{self} no longer follows {other}", Notices: []host.NoticeKind{host.Leader}},
		bullyRefuse:  {ID: "4c", Text: "COORDINATOR from a process lower than one already known is stale.", Why: "{self} does not follow {who}, because {other} is higher", Silent: true},
		bullyKnown:   {ID: "4d", Text: "A COORDINATOR that is known changes nothing.", Why: "{self} follows {who} already", Silent: true},
		bullyLate:    {ID: "5", Text: "An ANSWER after the end of the election is late.", Why: "{self} ignores the ANSWER of {who}: it is not waiting for one", Silent: true},
		bullyVoid:    {ID: "void", Text: "A message that does not apply changes nothing.", Why: "{self} ignores {who}: the message does not apply", Silent: true},
	}
}

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
	if s.state != quiet {
		out.Because(bullyBusy, facts{})
		return
	}
	s.elect(out)
}

// elect asks all higher processes. The highest of all need not ask.
func (s *bully) elect(out *algorithm.Out[bullyMessage]) {
	s.forget(out)
	s.refused = algorithm.None
	if int(s.self) == s.n-1 {
		out.Because(bullyHighest, facts{})
		s.win(out)
		return
	}
	s.state = electing
	var higher algorithm.Set
	for id := s.self + 1; int(id) < s.n; id++ {
		higher.Add(id)
	}
	out.Because(bullyCall, facts{Set: &higher})
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
	out.Because(bullyTell, facts{Set: &lower})
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
		out.Because(bullyFollow, facts{Who: leader})
		out.Lead(leader)
	}
}

func (s *bully) forget(out *algorithm.Out[bullyMessage]) {
	if s.leader != algorithm.None {
		out.Because(bullyForget, facts{Other: s.leader})
		s.leader = algorithm.None
		out.Lead(algorithm.None)
	}
}

func (s *bully) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	switch {
	case m.Kind == bullyElection && from < s.self:
		out.Because(bullyReply, facts{Who: from})
		out.Send(from, bullyMessage{Kind: bullyAnswer})
		switch {
		case s.state != quiet:
			out.Because(bullyBusy, facts{})
		case s.leader == s.self:
			out.Because(bullyRemind, facts{Who: from})
			out.Send(from, bullyMessage{Kind: bullyCoordinator})
		default:
			s.elect(out)
		}
	case m.Kind == bullyAnswer && from > s.self && s.state == electing:
		out.Because(bullyYield, facts{Who: from})
		s.state = yielding
		out.SetTimer(0, coordinatorWait)
	case m.Kind == bullyCoordinator && from > max(s.self, s.leader) && from >= s.refused:
		s.follow(from, out)
	case m.Kind == bullyCoordinator && from > s.self && from == s.leader:
		out.Because(bullyKnown, facts{Who: from})
	case m.Kind == bullyCoordinator && from > s.self:
		out.Because(bullyRefuse, facts{Who: from, Other: max(s.leader, s.refused)})
		if from > s.self+1 { // there are others between
			s.refused = max(s.refused, from)
		}
	case m.Kind == bullyAnswer && from > s.self:
		out.Because(bullyLate, facts{Who: from})
	default:
		out.Because(bullyVoid, facts{Who: from})
	}
}

// Expire handles a timeout: no higher process has answered, so none is alive; or the one
// that answered has died.
func (s *bully) Expire(_ int, out *algorithm.Out[bullyMessage]) {
	switch s.state {
	case electing:
		out.Because(bullyWin, facts{})
		s.win(out)
	case yielding:
		out.Because(bullyAgain, facts{})
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
