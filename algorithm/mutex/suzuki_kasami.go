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
		out.Enter()
		return
	}
	s.state = wanted
	s.rn[s.self]++
	out.Broadcast(skMessage{Kind: skRequest, From: s.self, N: s.rn[s.self]})
}

func (s *suzukiKasami) Receive(from algorithm.ID, m *skMessage, out *algorithm.Out[skMessage]) {
	switch m.Kind {
	case skRequest:
		s.rn[from] = max(s.rn[from], m.N)
		if s.token && s.state == released && s.outstanding(from) {
			s.pass(from, out)
		}
	case skToken:
		s.token = true
		copy(s.ln, m.LN)
		s.queue = append(s.queue[:0], m.Queue...)
		if s.state == wanted {
			s.state = held
			out.Enter()
		}
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
	if len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		s.pass(next, out)
	}
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
