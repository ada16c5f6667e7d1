package mutex

import "github.com/stile-lock/stile/core"

// NaimiTrehel is the algorithm in which a request runs along guesses at who
// asked last, and turns all of them towards the one that asks now. Those who
// wait form a queue in which each knows its next.
//
// M. Naimi, M. Trehel: An Improvement of the log(n) Distributed Algorithm for
// Mutual Exclusion. Proceedings of the 7th International Conference on
// Distributed Computing Systems, 1987, pages 371-375. M. Naimi, M. Trehel, A.
// Arnold: A log(N) Distributed Mutual Exclusion Algorithm Based on Path
// Reversal. Journal of Parallel and Distributed Computing 34(1), 1996, pages
// 1-13.
//
// Channels may reorder: a process has one request under way at most, and
// whatever order requests meet in, the guesses stay a tree.
func NaimiTrehel() core.Spec {
	return core.Spec{
		Name: "naimi-trehel", Title: "Naimi-Trehel", Authors: "Naimi, Trehel, Arnold", Year: 1996,
		Class:   core.Token,
		Paper:   "A log(N) Distributed Mutual Exclusion Algorithm Based on Path Reversal. JPDC 34(1), 1996",
		Version: 1,
		Network: core.Unordered,
		Kinds:   []string{"REQUEST", "TOKEN"},
		Shape:   core.Shape{Picture: core.Mesh, Title: "arrows lead to who is guessed to be the last to ask", Pointer: "last", Next: "next", Token: "token", Carrier: "TOKEN"},
		Theory: core.Theory{
			// Full is not 2: a guess is right about the end of the queue only
			// if its owner was the last to ask. 4(N-1)/N is a bound that no
			// measurement has passed.
			Messages:   core.Cost{Text: "0..N, O(log N) on average, up to 4(N-1)/N full", Any: roundTrip, Saturated: upToFour},
			Multicasts: core.Cost{Text: "the same", Any: roundTrip, Saturated: upToFour},
			Client:     core.Cost{Text: "0, or (hops+1)T", Any: roundTrip},
			// From 0: where the token rests one may go in again before a
			// request comes.
			Sync:  core.Cost{Text: "T", Any: roundTrip, Saturated: between(1, 1)},
			Order: "arrival at the end of the distributed queue; not ME3",
		},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, newNaimiTrehel(self, v))
		}),
	}
}

// upToFour returns 0 .. 4(n-1)/n.
func upToFour(n int) core.Range { return core.Range{Hi: 4 * float64(n-1) / float64(n)} }

const (
	ntRequest uint8 = iota
	ntToken
)

type ntMessage struct {
	Kind uint8
	From core.ID // REQUEST: who asks
}

func (m *ntMessage) Fields(c *core.Coder) {
	c.Kind(&m.Kind, ntToken)
	if m.Kind == ntRequest {
		c.Seat("from", &m.From)
		return
	}
	c.Token()
}

type naimiTrehel struct {
	self core.ID

	state uint8
	token bool    // the token is here
	last  core.ID // who asked last, as far as is known; self: nobody later than here
	next  core.ID // while WANTED or HELD: who gets the token from here, or None
}

func newNaimiTrehel(self core.ID, v core.View) *naimiTrehel {
	return &naimiTrehel{self: self, state: born(self, v), token: self == v.Holder, last: v.Holder, next: core.None}
}

func (s *naimiTrehel) Fields(c *core.Coder) {
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

func (s *naimiTrehel) Request(out *core.Out[ntMessage]) {
	s.state = wanted
	if s.token {
		s.enter(out)
		return
	}
	out.Send(s.last, ntMessage{Kind: ntRequest, From: s.self})
	s.last = s.self
}

func (s *naimiTrehel) enter(out *core.Out[ntMessage]) {
	s.state = held
	out.Enter()
}

func (s *naimiTrehel) Receive(_ core.ID, m *ntMessage, out *core.Out[ntMessage]) {
	switch {
	case m.Kind == ntToken:
		if s.state == wanted {
			s.token = true
			s.enter(out)
		}
	case m.From != s.self:
		s.receiveRequest(m.From, out)
	}
}

// receiveRequest turns the guess round, and lets the request run on unless it
// is to wait right behind this process.
func (s *naimiTrehel) receiveRequest(from core.ID, out *core.Out[ntMessage]) {
	switch {
	case s.last != s.self:
		out.Send(s.last, ntMessage{Kind: ntRequest, From: from})
	case s.state == released:
		s.pass(from, out)
	default:
		s.next = from
	}
	s.last = from
}

func (s *naimiTrehel) pass(to core.ID, out *core.Out[ntMessage]) {
	s.token = false
	out.Send(to, ntMessage{Kind: ntToken})
}

func (s *naimiTrehel) Release(out *core.Out[ntMessage]) {
	s.state = released
	if s.next != core.None {
		s.pass(s.next, out)
		s.next = core.None
	}
}

// Alibi: while the token is here, nobody else can get in.
func (s *naimiTrehel) Alibi(core.ID) bool { return s.token }
