package mutex

import "github.com/stile-lock/stile/algorithm"

// NaimiTrehel returns the algorithm in which a request travels along guesses at the last
// process to request, and turns all of them towards the process that requests now. The
// waiting processes form a queue in which each knows its successor.
//
// M. Naimi, M. Trehel: An Improvement of the log(n) Distributed Algorithm for Mutual
// Exclusion. Proceedings of the 7th International Conference on Distributed Computing
// Systems, 1987, pages 371-375. M. Naimi, M. Trehel, A. Arnold: A log(N) Distributed
// Mutual Exclusion Algorithm Based on Path Reversal. Journal of Parallel and Distributed
// Computing 34(1), 1996, pages 1-13.
//
// Channels may reorder: a process has at most one request in flight, and in whatever
// order requests meet, the guesses remain a tree.
func NaimiTrehel() algorithm.Spec {
	return algorithm.Spec{
		Name: "naimi-trehel", Title: "Naimi-Trehel", Authors: "Naimi, Trehel, Arnold", Year: 1996,
		Class:   algorithm.Token,
		Paper:   "A log(N) Distributed Mutual Exclusion Algorithm Based on Path Reversal. JPDC 34(1), 1996",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "TOKEN"},
		Rules:   ntRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "arrows lead to the process believed to have asked last", Pointer: "last", Next: "next", Token: "token", Carrier: "TOKEN"},
		Theory: algorithm.Theory{
			// The saturated cost is not 2: a guess is right about the end of the queue
			// only if its owner was the last to request. 4(N-1)/N is a bound that no
			// measurement has exceeded.
			Messages:   algorithm.Cost{Text: "0..N, O(log N) on average, up to 4(N-1)/N full", Any: roundTrip, Saturated: upToFour},
			Multicasts: algorithm.Cost{Text: "the same", Any: roundTrip, Saturated: upToFour},
			Client:     algorithm.Cost{Text: "0, or (hops+1)T", Any: roundTrip},
			// From 0: where the token rests, the process may enter again before a request
			// arrives.
			Sync:  algorithm.Cost{Text: "T", Any: roundTrip, Saturated: between(1, 1)},
			Order: "arrival at the end of the distributed queue; not ME3",
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newNaimiTrehel(self, v))
		}),
	}
}

// upToFour returns 0 .. 4(n-1)/n.
func upToFour(n int) algorithm.Range { return algorithm.Range{Hi: 4 * float64(n-1) / float64(n)} }

const (
	ntRequest uint8 = iota
	ntToken
)

// The rules.
const (
	ntAtOnce = iota
	ntAsk
	ntForward
	ntGive
	ntQueue
	ntEnter
	ntNext
	ntKeep
	ntVoid
)

func ntRules() []algorithm.Rule {
	return []algorithm.Rule{
		ntAtOnce:  {ID: "1a", Text: "A process that has the token enters at once.", Why: "{self} enters, because the token is here", Enters: true},
		ntAsk:     {ID: "1b", Text: "To enter without the token, a process asks the one that it believes asked last.", Why: "{self} asks {who}, which it believes to be the last to have asked", Sends: "REQUEST"},
		ntForward: {ID: "2a", Text: "A process that believes another to have asked last forwards REQUEST to it.", Why: "{self} forwards the REQUEST of {other} to {who}, which it believes to be the last to have asked", Sends: "REQUEST"},
		ntGive:    {ID: "2b", Text: "A process that has the token and does not need it passes it on.", Why: "{self} passes the token to {who}, because it does not need it", Sends: "TOKEN"},
		ntQueue:   {ID: "2c", Text: "The last process that waits, or is inside, notes its successor.", Why: "{self} will pass the token to {who} when it leaves", Silent: true, Waits: "who", While: "inside"},
		ntEnter:   {ID: "3", Text: "A waiting process enters when the token arrives.", Why: "{self} enters, because the token has arrived", Enters: true},
		ntNext:    {ID: "4a", Text: "A process that leaves passes the token to its successor.", Why: "{self} leaves, and passes the token to {who}, its successor", Sends: "TOKEN"},
		ntKeep:    {ID: "4b", Text: "Without a successor it keeps the token.", Why: "{self} leaves, and keeps the token, because it has no successor"},
		ntVoid:    ignored(),
	}
}

type ntMessage struct {
	Kind uint8
	From algorithm.ID // REQUEST: the requesting process
}

func (m *ntMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, ntToken)
	if m.Kind == ntRequest {
		c.Seat("from", &m.From)
		return
	}
	c.Token()
}

type naimiTrehel struct {
	self algorithm.ID

	state uint8
	token bool         // whether the token is here
	last  algorithm.ID // last process known to have requested; self: none later than this one
	next  algorithm.ID // while WANTED or HELD: the process that gets the token from here, or None
}

func newNaimiTrehel(self algorithm.ID, v algorithm.View) *naimiTrehel {
	return &naimiTrehel{self: self, state: born(self, v), token: self == v.Holder, last: v.Holder, next: algorithm.None}
}

func (s *naimiTrehel) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Bool("token", &s.token)
	c.Seat("last", &s.last)
	c.When(s.state != released)
	c.Maybe("next", &s.next)
	c.Always()
	if s.token {
		c.Token()
	}
}

func (s *naimiTrehel) Request(out *algorithm.Out[ntMessage]) {
	s.state = wanted
	if s.token {
		out.Because(ntAtOnce, facts{})
		s.enter(out)
		return
	}
	out.Because(ntAsk, facts{Who: s.last})
	out.Send(s.last, ntMessage{Kind: ntRequest, From: s.self})
	s.last = s.self
}

func (s *naimiTrehel) enter(out *algorithm.Out[ntMessage]) {
	s.state = held
	out.Enter()
}

func (s *naimiTrehel) Receive(from algorithm.ID, m *ntMessage, out *algorithm.Out[ntMessage]) {
	switch {
	case m.Kind == ntToken && s.state == wanted:
		s.token = true
		out.Because(ntEnter, facts{})
		s.enter(out)
	case m.Kind == ntRequest && m.From != s.self:
		s.receiveRequest(m.From, out)
	default:
		out.Because(ntVoid, facts{Who: from})
	}
}

// receiveRequest redirects the guess, and forwards the request unless it must wait right
// behind this process.
func (s *naimiTrehel) receiveRequest(from algorithm.ID, out *algorithm.Out[ntMessage]) {
	switch {
	case s.last != s.self:
		out.Because(ntForward, facts{Who: s.last, Other: from})
		out.Send(s.last, ntMessage{Kind: ntRequest, From: from})
	case s.state == released:
		out.Because(ntGive, facts{Who: from})
		s.pass(from, out)
	default:
		out.Because(ntQueue, facts{Who: from})
		s.next = from
	}
	s.last = from
}

func (s *naimiTrehel) pass(to algorithm.ID, out *algorithm.Out[ntMessage]) {
	s.token = false
	out.Send(to, ntMessage{Kind: ntToken})
}

func (s *naimiTrehel) Release(out *algorithm.Out[ntMessage]) {
	s.state = released
	if s.next == algorithm.None {
		out.Because(ntKeep, facts{})
		return
	}
	out.Because(ntNext, facts{Who: s.next})
	s.pass(s.next, out)
	s.next = algorithm.None
}

// Alibi implements algorithm.Alibier: while the token is here, no other process can
// enter.
func (s *naimiTrehel) Alibi(algorithm.ID) bool { return s.token }
