package mutex

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Raymond returns the algorithm in which the token moves along the edges of a tree and
// every process knows only the direction in which it is.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM Transactions
// on Computer Systems 7(1), 1989, pages 61-77.
//
// Departure: HOLDER is right from the start instead of being flooded (see
// RaymondInitialize), because every process knows the tree and the view.
func Raymond(tree TreeOf) algorithm.Spec {
	return algorithm.Spec{
		Name: "raymond", Title: "Raymond's tree", Authors: "Raymond", Year: 1989,
		Class:   algorithm.Token,
		Paper:   "A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM TOCS 7(1), 1989",
		Version: 1,
		Network: algorithm.FIFO,
		Kinds:   []string{"REQUEST", "PRIVILEGE"},
		Rules:   raymondRules(),
		Shape:   algorithm.Shape{Picture: algorithm.TreeLike, Title: "arrows lead to the token", Pointer: "holder", Asked: "asked", Queue: "queue", Carrier: "PRIVILEGE", Links: tree.links},
		Theory:  raymondTheory(tree),
		Plan: func(n int) (algorithm.Birth, error) {
			t, err := tree(n)
			if err != nil {
				return nil, err
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, newRaymond(self, v, t))
			}, nil
		},
	}
}

func raymondTheory(tree TreeOf) algorithm.Theory {
	upToDiameter := func(k float64) func(n int) algorithm.Range {
		return func(n int) algorithm.Range {
			t, err := tree(n)
			if err != nil {
				return algorithm.Range{}
			}
			return algorithm.Range{Hi: k * float64(t.Diameter())}
		}
	}
	return algorithm.Theory{
		Messages:   algorithm.Cost{Text: "2 x distance, 0..2D; 4(N-1)/N full", Any: upToDiameter(2)},
		Multicasts: algorithm.Cost{Text: "the same", Any: upToDiameter(2)},
		Client:     algorithm.Cost{Text: "2dT", Any: upToDiameter(2)},
		Sync: algorithm.Cost{Text: "1..D T", Any: upToDiameter(2), Saturated: func(n int) algorithm.Range {
			r := upToDiameter(1)(n)
			return algorithm.Range{Lo: min(1, r.Hi), Hi: r.Hi}
		}},
		Order: "local FIFO queues; not ME3",
	}
}

const (
	raymondRequest uint8 = iota
	raymondPrivilege
)

// The rules: those about the queue, ASSIGN_PRIVILEGE and MAKE_REQUEST. The last ones are
// those of variants.
const (
	raymondQueue = iota
	raymondEnter
	raymondPass
	raymondInside
	raymondKeep
	raymondAsk
	raymondAsked
	raymondFirst
	raymondFlood
	raymondUnknown
	raymondVoid
)

func raymondRules() []algorithm.Rule {
	return []algorithm.Rule{
		raymondQueue:   {ID: "1", Text: "A process queues its own request, and each neighbour that sends REQUEST.", Why: "{self} queues {who}"},
		raymondEnter:   {ID: "2a", Text: "A process with the privilege that is first in its own queue enters.", Why: "{self} enters: it has the privilege, and is first in its queue", Enters: true},
		raymondPass:    {ID: "2b", Text: "A process with the privilege passes it to the neighbour that is first in its queue.", Why: "{self} passes the privilege to {who}, the first in its queue", Sends: "PRIVILEGE"},
		raymondInside:  {ID: "2c", Text: "A process that is inside keeps the privilege.", Why: "{self} keeps the privilege, because it is inside"},
		raymondKeep:    {ID: "2d", Text: "A process with an empty queue keeps the privilege.", Why: "{self} keeps the privilege, because its queue is empty"},
		raymondAsk:     {ID: "3a", Text: "A process without the privilege asks for it, in its holder's direction, if its queue is not empty.", Why: "{self} asks {who} for the privilege, because its queue is not empty", Sends: "REQUEST"},
		raymondAsked:   {ID: "3b", Text: "It asks once on behalf of all that wait.", Why: "{self} waits for the privilege, for which it has asked {who}"},
		raymondFirst:   {},
		raymondFlood:   {},
		raymondUnknown: {},
		raymondVoid:    ignored(),
	}
}

type raymondMessage struct{ Kind uint8 }

func (m *raymondMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, raymondPrivilege)
	if m.Kind == raymondPrivilege {
		c.Token()
	}
}

type raymond struct {
	self algorithm.ID
	tree Tree

	holder algorithm.ID   // neighbour in the direction of the privilege, or self
	using  bool           // whether inside
	queue  []algorithm.ID // neighbours that have requested, and self, in order of request
	asked  bool           // whether a REQUEST to holder is in flight
}

func newRaymond(self algorithm.ID, v algorithm.View, t Tree) *raymond {
	s := &raymond{self: self, tree: t, holder: self, using: born(self, v) == held}
	if self != v.Holder {
		s.holder = t.Toward(self, v.Holder)
	}
	return s
}

func (s *raymond) Fields(c *algorithm.Coder) {
	c.Seat("holder", &s.holder)
	c.Bool("using", &s.using)
	c.Seats("queue", &s.queue)
	c.Bool("asked", &s.asked)
	if s.holder == s.self {
		c.Token()
	}
}

func (s *raymond) Request(out *algorithm.Out[raymondMessage]) {
	enqueue(s, s.self, out)
	s.proceed(out)
}

func (s *raymond) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	switch m.Kind {
	case raymondRequest:
		enqueue(s, from, out)
	case raymondPrivilege:
		s.holder = s.self
		s.asked = false
	}
	s.proceed(out)
}

func (s *raymond) Release(out *algorithm.Out[raymondMessage]) {
	s.using = false
	s.proceed(out)
}

func enqueue[M any](s *raymond, id algorithm.ID, out *algorithm.Out[M]) {
	if slices.Contains(s.queue, id) {
		out.Because(raymondVoid, facts{Who: id})
		return
	}
	out.Because(raymondQueue, facts{Who: id})
	s.queue = append(s.queue, id)
}

// proceed does what the paper does after every event.
func (s *raymond) proceed(out *algorithm.Out[raymondMessage]) {
	s.passOn(out)
	s.ask(out)
}

// passOn passes the privilege to the head of the queue, if it is here and not in use.
func (s *raymond) passOn(out *algorithm.Out[raymondMessage]) {
	switch to := assignPrivilege(s, out); to {
	case algorithm.None:
	case s.self:
		out.Enter()
	default:
		out.Send(to, raymondMessage{Kind: raymondPrivilege})
	}
}

// ask asks the holder, once, on behalf of all waiting processes.
func (s *raymond) ask(out *algorithm.Out[raymondMessage]) {
	if makeRequest(s, out) {
		out.Send(s.holder, raymondMessage{Kind: raymondRequest})
	}
}

// assignPrivilege is the paper's ASSIGN_PRIVILEGE. It returns the process that gets the
// privilege now, or None.
func assignPrivilege[M any](s *raymond, out *algorithm.Out[M]) algorithm.ID {
	switch {
	case s.holder != s.self:
		return algorithm.None
	case s.using:
		out.Because(raymondInside, facts{})
		return algorithm.None
	case len(s.queue) == 0:
		out.Because(raymondKeep, facts{})
		return algorithm.None
	}
	s.holder = s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	s.asked = false
	if s.using = s.holder == s.self; s.using {
		out.Because(raymondEnter, facts{})
	} else {
		out.Because(raymondPass, facts{Who: s.holder})
	}
	return s.holder
}

// makeRequest is the paper's MAKE_REQUEST. It reports whether the holder must be asked.
func makeRequest[M any](s *raymond, out *algorithm.Out[M]) bool {
	if s.holder == s.self || len(s.queue) == 0 {
		return false
	}
	if s.asked {
		out.Because(raymondAsked, facts{Who: s.holder})
		return false
	}
	s.asked = true
	out.Because(raymondAsk, facts{Who: s.holder})
	return true
}

// Alibi implements algorithm.Alibier: the privilege is on the holder's side of the tree,
// and can leave it only through here.
func (s *raymond) Alibi(d algorithm.ID) bool {
	return s.holder == s.self || s.tree.Toward(s.self, d) != s.holder
}
