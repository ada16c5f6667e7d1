package mutex

import "github.com/stile-lock/stile/algorithm"

// TokenRingLazy returns the token ring that is silent when no process wants to enter: the
// token rests where it was last used, and a WISH that travels along the ring wakes it.
//
// The ring is that of G. Le Lann: Distributed Systems - Towards a Formal Approach.
// Information Processing 77, North-Holland, 1977, pages 155-160. A privilege that rests
// until a request comes round is due to A. J. Martin: Distributed Mutual Exclusion on a
// Ring of Processes. Science of Computer Programming 5, 1985, pages 265-276.
//
// The rules. Token and wishes travel in the same direction, so that on FIFO channels
// neither overtakes the other.
//
//  1. A process that wants to enter and does not have the token sends WISH(self)
//     to its successor. A process that neither has the token nor waits forwards
//     a WISH.
//  2. Where the token is, a WISH becomes the token's goal. The token moves on
//     until it has reached its goal, and every process on the way that wants to
//     enter does so. Without a goal it rests.
//  3. A waiting process swallows the WISHes of others. Its own is ahead of them,
//     and the token did not meet them, so the token is behind the wishers: on
//     its way here it passes them all.
//
// No wish is lost. Suppose that the token rests while processes wait, and consider the
// nearest of them behind it. Its WISH can neither have passed the token nor have been
// swallowed between the two, where no process waits; so it is in flight and will wake the
// token.
//
// No goal is lost either: a new one is always further ahead than the one it replaces.
// Otherwise its WISH would have reached the old one, which waits, and been swallowed.
//
// A goal is always still waiting, and the path of a WISH to the token and that of the
// token to the wisher make one round. So an entry costs at most N messages: exactly N if
// no other process requests, and 0 where the token rests. An idle ring sends nothing.
//
// Channels must be FIFO: a WISH that overtook the token could be swallowed in front of
// it.
func TokenRingLazy() algorithm.Spec {
	return algorithm.Spec{
		Name: "token-ring-lazy", Title: "Token ring that rests", Authors: "after Le Lann, Martin", Year: 1985,
		Class:   algorithm.Token,
		Paper:   "After Martin: Distributed Mutual Exclusion on a Ring of Processes. Science of Computer Programming 5, 1985",
		Version: 1,
		Network: algorithm.FIFO,
		Kinds:   []string{"WISH", "TOKEN"},
		Rules:   lazyRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Ring, Title: "the token rests until a request arrives", Token: "token", Pointer: "goal", Carrier: "TOKEN"},
		Theory: algorithm.Theory{
			Messages:   algorithm.Cost{Text: "0 or N light, 2 full", Any: roundTrip, Saturated: between(0, 2)},
			Multicasts: algorithm.Cost{Text: "the same", Any: roundTrip, Saturated: between(0, 2)},
			Client:     algorithm.Cost{Text: "0 or N T", Any: roundTrip},
			// From 0: where the token rests, the process may enter again before a wish
			// arrives.
			Sync:  algorithm.Cost{Text: "1..N T", Any: roundTrip, Saturated: between(1, 1)},
			Order: "ring order; overtaken at most once by each other process after the request has met the token; not ME3",
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newTokenRingLazy(self, v))
		}),
	}
}

const (
	lazyWish uint8 = iota
	lazyToken
)

// The rules, numbered as above.
const (
	lazyAsk = iota
	lazyForward
	lazyAtOnce
	lazyGoal
	lazyMove
	lazyEnter
	lazyRest
	lazyDrop
	lazyVoid
)

func lazyRules() []algorithm.Rule {
	return []algorithm.Rule{
		lazyAsk:     {ID: "1a", Text: "To enter without the token, a process sends WISH to its successor.", Why: "{self} sends WISH to {who}, because it does not have the token", Sends: "WISH"},
		lazyForward: {ID: "1b", Text: "A process that neither has the token nor waits forwards a WISH.", Why: "{self} forwards the WISH of {other} to {who}: it neither has the token nor waits", Sends: "WISH"},
		lazyAtOnce:  {ID: "1c", Text: "A process where the token rests enters at once.", Why: "{self} enters, because the token rests here", Enters: true},
		lazyGoal:    {ID: "2a", Text: "Where the token is, a WISH becomes its goal.", Why: "{self} makes {who} the goal of the token"},
		lazyMove:    {ID: "2b", Text: "The token moves on until it has reached its goal.", Why: "{self} passes the token to {who}, because its goal is {other}", Sends: "TOKEN"},
		lazyEnter:   {ID: "2c", Text: "Each process on the way that wants to enter does so.", Why: "{self} enters, because the token has arrived", Enters: true},
		lazyRest:    {ID: "2d", Text: "Without a goal the token rests.", Why: "{self} keeps the token, because no process has asked for it"},
		lazyDrop:    {ID: "3", Text: "A waiting process swallows the WISHes of others.", Why: "{self} drops the WISH of {who}: the token passes {who} on its way here", Silent: true},
		lazyVoid:    ignored(),
	}
}

type lazyMessage struct {
	Kind uint8
	Seat algorithm.ID // WISH: the wisher; TOKEN: its goal
}

func (m *lazyMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, lazyToken)
	if m.Kind == lazyWish {
		c.Seat("wisher", &m.Seat)
		return
	}
	c.Seat("goal", &m.Seat)
	c.Token()
}

type tokenRingLazy struct {
	self algorithm.ID
	n    int

	state uint8
	token bool         // whether the token is here
	goal  algorithm.ID // with the token: how far it must go from here, or None
}

func newTokenRingLazy(self algorithm.ID, v algorithm.View) *tokenRingLazy {
	return &tokenRingLazy{
		self: self, n: v.N, state: born(self, v), token: self == v.Holder, goal: algorithm.None,
	}
}

func (s *tokenRingLazy) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Bool("token", &s.token)
	c.When(s.token)
	c.Maybe("goal", &s.goal)
	c.Token()
	c.Always()
}

func (s *tokenRingLazy) Request(out *algorithm.Out[lazyMessage]) {
	if s.token {
		s.state = held
		out.Because(lazyAtOnce, facts{})
		out.Enter()
		return
	}
	s.state = wanted
	out.Because(lazyAsk, facts{Who: s.next()})
	s.sendOn(lazyMessage{Kind: lazyWish, Seat: s.self}, out)
}

func (s *tokenRingLazy) Receive(from algorithm.ID, m *lazyMessage, out *algorithm.Out[lazyMessage]) {
	if m.Kind == lazyToken {
		s.receiveToken(m.Seat, out)
		return
	}
	switch {
	case m.Seat == s.self: // no process needed it
		out.Because(lazyVoid, facts{Who: from})
	case s.token:
		s.goal = m.Seat
		out.Because(lazyGoal, facts{Who: m.Seat})
		s.moveOn(out)
	case s.state == released:
		out.Because(lazyForward, facts{Who: s.next(), Other: m.Seat})
		s.sendOn(*m, out)
	default:
		out.Because(lazyDrop, facts{Who: m.Seat})
	}
}

func (s *tokenRingLazy) receiveToken(goal algorithm.ID, out *algorithm.Out[lazyMessage]) {
	s.token = true
	s.goal = goal
	if goal == s.self {
		s.goal = algorithm.None
	}
	if s.state == wanted {
		s.state = held
		out.Because(lazyEnter, facts{})
		out.Enter()
		return
	}
	s.moveOn(out)
}

func (s *tokenRingLazy) Release(out *algorithm.Out[lazyMessage]) {
	s.state = released
	s.moveOn(out)
}

// moveOn passes the token on, unless it is in use or may rest.
func (s *tokenRingLazy) moveOn(out *algorithm.Out[lazyMessage]) {
	switch {
	case s.state != released:
	case s.goal == algorithm.None:
		out.Because(lazyRest, facts{})
	default:
		out.Because(lazyMove, facts{Who: s.next(), Other: s.goal})
		s.sendOn(lazyMessage{Kind: lazyToken, Seat: s.goal}, out)
		s.token = false
		s.goal = algorithm.None
	}
}

// next returns the successor in the ring.
func (s *tokenRingLazy) next() algorithm.ID { return (s.self + 1) % algorithm.ID(s.n) }

func (s *tokenRingLazy) sendOn(m lazyMessage, out *algorithm.Out[lazyMessage]) {
	out.Send(s.next(), m)
}

// Alibi implements algorithm.Alibier: while the token is here, no other process can
// enter.
func (s *tokenRingLazy) Alibi(algorithm.ID) bool { return s.token }
