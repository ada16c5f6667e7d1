package mutex

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// SuzukiKasami returns the broadcast token algorithm: requests go to all processes, and
// the token carries a queue of those it will visit.
//
// I. Suzuki, T. Kasami: A Distributed Mutual Exclusion Algorithm. ACM Transactions on
// Computer Systems 3(4), 1985, pages 344-349.
func SuzukiKasami() algorithm.Spec {
	return algorithm.Spec{
		Name: "suzuki-kasami", Title: "Suzuki-Kasami", Authors: "Suzuki, Kasami", Year: 1985,
		Class:   algorithm.Token,
		Paper:   "A Distributed Mutual Exclusion Algorithm. ACM TOCS 3(4), 1985",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "TOKEN"},
		Rules:   skRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "the token carries the queue", Token: "token", Queue: "Q", Carrier: "TOKEN"},
		Theory:  tokenTheory("the token's queue; not ME3"),
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newSuzukiKasami(self, v))
		}),
	}
}

// tokenTheory returns the theory of algorithms that broadcast requests for a token.
func tokenTheory(order string) algorithm.Theory {
	zeroOr := func(v func(n int) float64) func(n int) algorithm.Range {
		return func(n int) algorithm.Range {
			if n == 1 {
				return algorithm.Range{}
			}
			return algorithm.Range{Hi: v(n)}
		}
	}
	return algorithm.Theory{
		Messages:   algorithm.Cost{Text: "0 or N", Any: zeroOr(func(n int) float64 { return float64(n) })},
		Multicasts: algorithm.Cost{Text: "0 or 2", Any: zeroOr(func(int) float64 { return 2 })},
		Client:     algorithm.Cost{Text: "0 or 2T", Any: between(0, 2)},
		// From 0: where the token rests, the process may enter again before a request
		// arrives.
		Sync:   algorithm.Cost{Text: "T", Any: between(0, 2), Saturated: between(1, 1)},
		Order:  order,
		Bypass: onceEach,
	}
}

const (
	skRequest uint8 = iota
	skToken
)

// The rules.
const (
	skAtOnce = iota
	skAsk
	skGive
	skNote
	skInside
	skOld
	skEnter
	skNext
	skKeep
	skVoid
)

func skRules() []algorithm.Rule {
	return []algorithm.Rule{
		skAtOnce: {ID: "1a", Text: "A process that has the token enters at once.", Why: "{self} enters, because the token is here", Enters: true},
		skAsk:    {ID: "1b", Text: "To enter without the token, a process sends its numbered REQUEST to all others.", Why: "{self} asks all others for the token: its request {n}", Sends: "REQUEST"},
		skGive:   {ID: "2a", Text: "A process that has the token and does not need it passes it to an outstanding request.", Why: "{self} passes the token to {who}, because it does not need it", Sends: "TOKEN"},
		skNote:   {ID: "2b", Text: "A process without the token notes the number of a REQUEST.", Why: "{self} notes request {n} of {who}, because it does not have the token", Silent: true},
		skInside: {ID: "2c", Text: "A process that is inside notes the number of a REQUEST.", Why: "{self} notes request {n} of {who}, because it is inside", Silent: true, Waits: "who", While: "inside"},
		skOld:    {ID: "2d", Text: "A REQUEST that the token says was granted is outdated.", Why: "{self} ignores request {n} of {who}, because it was granted", Silent: true},
		skEnter:  {ID: "3", Text: "A waiting process enters when the token arrives.", Why: "{self} enters, because the token has arrived", Enters: true},
		skNext:   {ID: "4a", Text: "A process that leaves queues all outstanding requests, and passes the token to the first.", Why: "{self} leaves, and passes the token to {who}, the first in its queue", Sends: "TOKEN"},
		skKeep:   {ID: "4b", Text: "If no process has requested, the token stays.", Why: "{self} leaves, and keeps the token, because no process has requested it"},
		skVoid:   ignored(),
	}
}

type skMessage struct {
	Kind  uint8
	From  algorithm.ID   // REQUEST: the requesting process
	N     uint64         // REQUEST: how many requests From has made
	LN    []uint64       // TOKEN: the last granted request of each process
	Queue []algorithm.ID // TOKEN: processes that get it next, in order
}

func (m *skMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, skToken)
	switch m.Kind {
	case skRequest:
		c.Seat("from", &m.From)
		c.Seq("n", m.From, &m.N)
		c.Idempotent()
	case skToken:
		c.Anchors("LN", &m.LN)
		c.Seats("Q", &m.Queue)
		c.Token()
	}
}

type suzukiKasami struct {
	self algorithm.ID

	state uint8
	rn    []uint64       // highest request number heard of, by process
	token bool           // whether the token is here
	ln    []uint64       // with the token: the last granted request, by process
	queue []algorithm.ID // with the token: processes that get it next, in order
}

func newSuzukiKasami(self algorithm.ID, v algorithm.View) *suzukiKasami {
	return &suzukiKasami{
		self: self, state: born(self, v), token: self == v.Holder,
		rn: make([]uint64, v.N), ln: make([]uint64, v.N),
	}
}

func (s *suzukiKasami) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Seqs("RN", &s.rn)
	c.Bool("token", &s.token)
	c.When(s.token)
	c.Anchors("LN", &s.ln)
	c.Seats("Q", &s.queue)
	c.Token()
	c.Always()
}

func (s *suzukiKasami) Request(out *algorithm.Out[skMessage]) {
	if s.token {
		s.state = held
		out.Because(skAtOnce, facts{})
		out.Enter()
		return
	}
	s.state = wanted
	s.rn[s.self]++
	out.Because(skAsk, facts{N: int(s.rn[s.self])})
	out.Broadcast(skMessage{Kind: skRequest, From: s.self, N: s.rn[s.self]})
}

func (s *suzukiKasami) Receive(from algorithm.ID, m *skMessage, out *algorithm.Out[skMessage]) {
	switch m.Kind {
	case skRequest:
		s.rn[from] = max(s.rn[from], m.N)
		switch {
		case !s.token:
			out.Because(skNote, facts{Who: from, N: int(m.N)})
		case !s.outstanding(from):
			out.Because(skOld, facts{Who: from, N: int(m.N)})
		case s.state == released:
			out.Because(skGive, facts{Who: from})
			s.pass(from, out)
		default:
			out.Because(skInside, facts{Who: from, N: int(m.N)})
		}
	case skToken:
		s.token = true
		copy(s.ln, m.LN)
		s.queue = append(s.queue[:0], m.Queue...)
		if s.state != wanted {
			out.Because(skVoid, facts{Who: from})
			return
		}
		s.state = held
		out.Because(skEnter, facts{})
		out.Enter()
	}
}

func (s *suzukiKasami) Release(out *algorithm.Out[skMessage]) {
	s.state = released
	s.ln[s.self] = s.rn[s.self]
	for j := range algorithm.ID(len(s.rn)) {
		if s.outstanding(j) && !slices.Contains(s.queue, j) {
			s.queue = append(s.queue, j)
		}
	}
	if len(s.queue) == 0 {
		out.Because(skKeep, facts{})
		return
	}
	next := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	out.Because(skNext, facts{Who: next})
	s.pass(next, out)
}

// outstanding reports whether the last known request of j is not granted yet.
func (s *suzukiKasami) outstanding(j algorithm.ID) bool { return s.rn[j] == s.ln[j]+1 }

func (s *suzukiKasami) pass(to algorithm.ID, out *algorithm.Out[skMessage]) {
	out.Send(to, skMessage{Kind: skToken, LN: s.ln, Queue: s.queue})
	s.token = false
	clear(s.ln)
	s.queue = s.queue[:0]
}

// Alibi implements algorithm.Alibier: while the token is here, no other process can
// enter.
func (s *suzukiKasami) Alibi(algorithm.ID) bool { return s.token }
