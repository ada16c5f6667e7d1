package mutex

import (
	"fmt"
	"iter"

	"github.com/stile-lock/stile/algorithm"
)

// Dijkstra returns the self-stabilising ring: a process compares its flag with its
// predecessor's, and a process that finds itself privileged may enter. From any flags
// whatsoever the ring converges to exactly one privilege, if a flag has enough values: k
// of them, or 2N if k is 0. The paper's N+1, and even N-1, are enough where flags are
// read; here each copy counts like one more process.
//
// E. W. Dijkstra: Self-stabilizing Systems in Spite of Distributed Control.
// Communications of the ACM 17(11), 1974, pages 643-644.
//
// Departures: the paper reads the predecessor's flag. Here each process keeps a copy of
// it, and a process that moves sends its flag to its successor. A process that does not
// want to enter moves at once; one that does moves when it leaves. To stabilise over
// messages (a copy may be wrong at the start) flags must be repeated now and then. Expire
// does that, but no timer is set here, because from a correct start nothing needs it.
func Dijkstra(k int) algorithm.Spec {
	return algorithm.Spec{
		Name: "dijkstra", Title: "Dijkstra's K-state ring", Authors: "Dijkstra", Year: 1974,
		Class:   algorithm.Token,
		Paper:   "Self-stabilizing Systems in Spite of Distributed Control. CACM 17(11), 1974",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"FLAG"},
		Rules:   dijRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Flags, Title: "P1 may move if its flag equals its left neighbour's, any other process if it differs", Number: "flag", Token: "privilege", Answer: "FLAG"},
		Theory: algorithm.Theory{
			Messages:   algorithm.Cost{Text: "1 per move: 1 full, unbounded idle", Saturated: between(1, 1)},
			Multicasts: algorithm.Cost{Text: "the same", Saturated: between(1, 1)},
			Client:     algorithm.Cost{Text: "0..NT", Any: func(n int) algorithm.Range { return algorithm.Range{Hi: float64(n) * min(1, float64(n-1))} }},
			Sync: algorithm.Cost{Text: "1..(N-1)T", Any: func(n int) algorithm.Range {
				return algorithm.Range{Lo: min(1, float64(n-1)), Hi: float64(n - 1)}
			}, Saturated: between(1, 1)},
			Order:  "ring order; not ME3",
			Bypass: onceEach,
		},
		Upset: func(self algorithm.ID, n int) iter.Seq[[]byte] { return upsetDijkstra(self, n, flagValues(k, n)) },
		Plan: func(n int) (algorithm.Birth, error) {
			values := flagValues(k, n)
			if values < 2 {
				return nil, fmt.Errorf("flags with %d values: want at least 2, and 2N if links are empty at the start", values)
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, newDijkstra(self, v, values))
			}, nil
		},
	}
}

// The rules. The first process goes by the reverse of the others' rule.
const (
	dijEnterFirst = iota
	dijEnterOther
	dijMoveFirst
	dijMoveOther
	dijStayFirst
	dijStayOther
	dijInside
	dijAgain
	dijVoid
)

func dijRules() []algorithm.Rule {
	return []algorithm.Rule{
		dijEnterFirst: {ID: "1a", Text: "P1 is privileged, and may enter, if its flag equals that of its left neighbour.", Why: "{self} enters: its flag {n} equals that of {other}, its left neighbour", Enters: true},
		dijMoveFirst:  {ID: "1b", Text: "If P1 is privileged and does not want to enter, it moves: it adds one to its flag.", Why: "{self} moves to flag {n}, because its flag equalled that of {other}, and informs {who}", Sends: "FLAG"},
		dijStayFirst:  {ID: "1c", Text: "If the flags differ, P1 waits.", Why: "{self} is not privileged: its flag {n} differs from that of {other}", Waits: "self"},
		dijEnterOther: {ID: "2a", Text: "Any other process is privileged, and may enter, if its flag differs from its left neighbour's.", Why: "{self} enters: its flag {n} differs from that of {other}, its left neighbour", Enters: true},
		dijMoveOther:  {ID: "2b", Text: "If it is privileged and does not want to enter, it moves: it copies the flag.", Why: "{self} copies flag {n} of {other}, because its own differed, and informs {who}", Sends: "FLAG"},
		dijStayOther:  {ID: "2c", Text: "If the flags are equal, it waits.", Why: "{self} is not privileged: its flag {n} equals that of {other}", Waits: "self"},
		dijInside:     {ID: "3", Text: "A process does not move as long as it is inside, or alone.", Why: "{self} does not move"},
		dijAgain:      {ID: "4", Text: "Now and then each process repeats its flag.", Why: "{self} repeats its flag {n} to {who}", Sends: "FLAG"},
		dijVoid:       ignored(),
	}
}

// flagValues returns how many values a flag has: k, or a number known to be enough.
func flagValues(k, n int) int {
	if k == 0 {
		return 2 * n
	}
	return k
}

// upsetDijkstra returns all states, with any flag and any copy.
func upsetDijkstra(self algorithm.ID, n, values int) iter.Seq[[]byte] {
	v := algorithm.View{N: n}
	return func(yield func([]byte) bool) {
		s := newDijkstra(self, v, values)
		m := algorithm.New(self, v, s)
		var state []byte
		for s.flag = range values {
			for s.left = range values {
				if state = m.AppendState(state[:0]); !yield(state) {
					return
				}
			}
		}
	}
}

const dijFlag uint8 = 0

// dijMessage carries the flag. In a ring with one privilege the message is the privilege
// in flight.
type dijMessage struct {
	Kind uint8
	Flag int
}

func (m *dijMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, dijFlag)
	c.Int("flag", &m.Flag, maxFlag)
	c.Token()
}

// maxFlag bounds the flag in a message; the ring's own bound is checked on receipt.
const maxFlag = 1<<31 - 1

type dijkstra struct {
	self   algorithm.ID
	n      int
	values int // the paper's K

	state uint8
	flag  int // this process's flag
	left  int // the predecessor's flag, as last heard
}

// newDijkstra sets the flags to 1 before the holder and to 0 from it on, so that only the
// holder is privileged.
func newDijkstra(self algorithm.ID, v algorithm.View, values int) *dijkstra {
	flag := func(id algorithm.ID) int {
		if id < v.Holder {
			return 1
		}
		return 0
	}
	before := (self + algorithm.ID(v.N) - 1) % algorithm.ID(v.N)
	return &dijkstra{
		self: self, n: v.N, values: values, state: born(self, v),
		flag: flag(self), left: flag(before),
	}
}

func (s *dijkstra) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Int("flag", &s.flag, s.values-1)
	c.Int("left", &s.left, s.values-1)
	c.Derived("privilege", s.privileged())
	if s.privileged() {
		c.Token()
	}
}

func (s *dijkstra) privileged() bool {
	if s.self == 0 {
		return s.flag == s.left
	}
	return s.flag != s.left
}

func (s *dijkstra) Start(out *algorithm.Out[dijMessage]) { s.proceed(out) }

func (s *dijkstra) Request(out *algorithm.Out[dijMessage]) {
	s.state = wanted
	s.proceed(out)
}

func (s *dijkstra) Release(out *algorithm.Out[dijMessage]) {
	s.state = released
	s.proceed(out)
}

func (s *dijkstra) Receive(from algorithm.ID, m *dijMessage, out *algorithm.Out[dijMessage]) {
	if (from+1)%algorithm.ID(s.n) != s.self || m.Flag >= s.values {
		out.Because(dijVoid, facts{Who: from})
		return // not from the predecessor, or not a flag
	}
	s.left = m.Flag
	s.proceed(out)
}

// proceed makes a privileged process enter if it wants to, and otherwise move.
func (s *dijkstra) proceed(out *algorithm.Out[dijMessage]) {
	switch {
	case !s.privileged():
		s.because(dijStayFirst, dijStayOther, out)
	case s.state == wanted:
		s.state = held
		s.because(dijEnterFirst, dijEnterOther, out)
		out.Enter()
	case s.state == released && s.n > 1:
		if s.self == 0 {
			s.flag = (s.flag + 1) % s.values
		} else {
			s.flag = s.left
		}
		s.because(dijMoveFirst, dijMoveOther, out)
		s.tell(out)
	default:
		out.Because(dijInside, facts{})
	}
}

// because names the rule of the first process, or that of the others.
func (s *dijkstra) because(first, other int, out *algorithm.Out[dijMessage]) {
	if s.self != 0 {
		first = other
	}
	out.Because(first, facts{Who: s.right(), Other: (s.self + algorithm.ID(s.n) - 1) % algorithm.ID(s.n), N: s.flag})
}

// Expire sends the flag again.
func (s *dijkstra) Expire(_ int, out *algorithm.Out[dijMessage]) {
	if s.n > 1 {
		out.Because(dijAgain, facts{Who: s.right(), N: s.flag})
		s.tell(out)
	}
}

// right returns the process that reads this one's flag.
func (s *dijkstra) right() algorithm.ID { return (s.self + 1) % algorithm.ID(s.n) }

func (s *dijkstra) tell(out *algorithm.Out[dijMessage]) {
	out.Send(s.right(), dijMessage{Kind: dijFlag, Flag: s.flag})
}

// Alibi implements algorithm.Alibier: while the privilege is here, no other process can
// enter.
func (s *dijkstra) Alibi(algorithm.ID) bool { return s.privileged() }
