package check

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// Algorithms that were judged wrong: what is fair to messages whose times are renumbered
// on the way, and which loops of renumbered states a real run can repeat forever.

// The kinds of messages of the algorithms here.
const (
	fairAsk uint8 = iota
	fairChance
	fairNews
	fairNo
	fairYes
)

type fairMessage struct {
	Kind uint8
	Time algorithm.Time
}

func (m *fairMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, fairYes)
	c.Time("time", &m.Time)
}

// fairSpec makes a lock of machines with this state.
func fairSpec(name string, spreads bool, state func(self algorithm.ID) algorithm.Mutex[fairMessage]) algorithm.Spec {
	return algorithm.Spec{
		Name: name, Spreads: spreads, Network: algorithm.Unordered, Kinds: []string{"ASK", "CHANCE", "NEWS", "NO", "YES"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, state(self))
		}),
	}
}

// In a race the waiter may enter with a CHANCE that is not older than the latest NEWS.
// With each of its requests the rival sends a new CHANCE, and NEWS of it by way of the
// relay. It enters when an outdated CHANCE has arrived. So the waiter starves if each
// CHANCE is one request late. The relay remembers the last few times: the oldest
// of them moves on, and so renumbers a CHANCE, before that is outdated.
type race struct {
	self                 algorithm.ID
	waiter, relay, rival algorithm.ID
	three                bool // the relay remembers three times, not two
	any                  bool // the waiter enters with any CHANCE

	state         uint8
	served, done  bool
	clock, newest algorithm.Time
	last          [3]algorithm.Time // at the relay: the oldest first
}

func (s *race) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "waits", "inside")
	c.Bool("served", &s.served)
	c.Bool("done", &s.done)
	c.Time("clock", &s.clock)
	c.Time("newest", &s.newest)
	for i := range s.last {
		c.Time("last", &s.last[i])
	}
}

func (s *race) enter(out *algorithm.Out[fairMessage]) {
	s.state = inside
	out.Enter()
}

func (s *race) Request(out *algorithm.Out[fairMessage]) {
	switch {
	case s.self == s.waiter && !s.done:
		s.state = waits
		out.Send(s.rival, fairMessage{Kind: fairAsk})
	case s.self == s.rival && s.served:
		s.state = waits
		s.clock = s.clock.Next()
		out.Send(s.waiter, fairMessage{fairChance, s.clock})
		out.Send(s.relay, fairMessage{fairNews, s.clock})
	default:
		s.enter(out)
	}
}

func (s *race) Release(*algorithm.Out[fairMessage]) {
	s.state = idle
	s.done = s.self == s.waiter
}

func (s *race) Receive(_ algorithm.ID, m *fairMessage, out *algorithm.Out[fairMessage]) {
	switch m.Kind {
	case fairAsk:
		s.served = true
		out.Send(s.waiter, fairMessage{fairChance, s.clock})
	case fairNews:
		if s.self == s.waiter {
			s.newest.See(m.Time)
			return
		}
		if copy(s.last[:], s.last[1:]); !s.three {
			s.last[0] = algorithm.Time{}
		}
		s.last[2] = m.Time
		out.Send(s.waiter, *m)
	case fairChance:
		switch {
		case s.state != waits:
		case s.any || !m.Time.Before(s.newest):
			out.Send(s.rival, fairMessage{Kind: fairYes})
			s.enter(out)
		default:
			out.Send(s.rival, fairMessage{Kind: fairNo})
		}
	case fairNo, fairYes:
		s.served = s.served && m.Kind == fairNo
		if s.state == waits {
			s.enter(out)
		}
	}
}

// Each CHANCE is renumbered before it is delivered, and by then the next CHANCE has the
// number that it had before. A run that delivers each of them late is fair all the same.
func TestFairnessFollowsMessages(t *testing.T) {
	for _, seats := range [][3]algorithm.ID{{0, 1, 2}, {1, 2, 0}, {2, 1, 0}} {
		for _, three := range []bool{false, true} {
			for _, anyChance := range []bool{false, true} {
				spec := fairSpec("race", false, func(self algorithm.ID) algorithm.Mutex[fairMessage] {
					s := &race{self: self, waiter: seats[0], relay: seats[1], rival: seats[2], three: three, any: anyChance}
					switch self { // a time that never changes would be the smallest
					case s.waiter:
						s.newest = algorithm.First()
					case s.relay:
						s.last[1], s.last[2] = algorithm.First(), algorithm.First()
					case s.rival:
						s.clock = algorithm.First()
					}
					return s
				})
				want := Violated
				if anyChance {
					want = Holds
				}
				p := starvation(t, Config{Spec: spec, Nodes: 3, Requesters: []algorithm.ID{seats[0], seats[2]}})
				if p.Verdict != want {
					t.Errorf("waiter, relay, rival %v, three times remembered %v, any chance %v: %s: %s, want %s", seats, three, anyChance, p.Verdict, p.Note, want)
				}
			}
		}
	}
}

// starvation checks whether a process starves on an unordered network.
func starvation(t *testing.T, c Config) *Property {
	t.Helper()
	c.Network, c.Properties = algorithm.Unordered, []string{Starvation}
	return mustRun(t, c).Find(Starvation)
}

// A chattering lock asks process 2, which always agrees, while a NEWS goes to and fro on the
// same links: if a link delivered that alone, it would be busy all the same.
type chattering struct{ self algorithm.ID }

func (*chattering) Fields(*algorithm.Coder) {}

func (s *chattering) Start(out *algorithm.Out[fairMessage]) {
	if s.self == 0 {
		out.Send(1, fairMessage{Kind: fairNews})
	}
}

func (s *chattering) Request(out *algorithm.Out[fairMessage]) {
	if s.self == 0 {
		out.Send(1, fairMessage{Kind: fairAsk})
	} else {
		out.Enter()
	}
}

func (*chattering) Release(*algorithm.Out[fairMessage]) {}

func (*chattering) Receive(from algorithm.ID, m *fairMessage, out *algorithm.Out[fairMessage]) {
	switch m.Kind {
	case fairNews:
		out.Send(from, *m)
	case fairAsk:
		out.Send(from, fairMessage{Kind: fairYes})
	default:
		out.Enter()
	}
}

// On an unordered network each message arrives, whatever else its link delivers.
func TestFairnessToEachMessage(t *testing.T) {
	spec := fairSpec("chattering", false, func(self algorithm.ID) algorithm.Mutex[fairMessage] { return &chattering{self} })
	if p := starvation(t, Config{Spec: spec, Nodes: 2}); p.Verdict != Holds {
		t.Errorf("%s: %s, want %s", p.Verdict, p.Note, Holds)
	}
}

// A steady lock lets the waiter in a few times without asking. Then it must ask process 2,
// which always agrees. The others enter at will, and have another time meanwhile, right
// after the smallest: if the gap above that is wide, the waiter's message is renumbered
// from 3 to 4 and back, though the smallest time stays.
type steady struct {
	self, waiter algorithm.ID
	free         int // how often the waiter enters without asking

	clock, mid algorithm.Time
}

func (s *steady) Fields(c *algorithm.Coder) {
	c.Int("free", &s.free, 20)
	c.Time("clock", &s.clock)
	c.Time("mid", &s.mid)
}

func (s *steady) Request(out *algorithm.Out[fairMessage]) {
	if s.self != s.waiter {
		s.mid = s.clock.Next()
		out.Enter()
		return
	}
	s.clock = s.clock.Next()
	if s.free == 0 {
		out.Send(1, fairMessage{fairAsk, s.clock})
		return
	}
	s.free--
	out.Enter()
}

func (s *steady) Release(*algorithm.Out[fairMessage]) { s.mid = algorithm.Time{} }

func (s *steady) Receive(from algorithm.ID, m *fairMessage, out *algorithm.Out[fairMessage]) {
	if m.Kind == fairAsk {
		out.Send(from, fairMessage{Kind: fairYes})
	} else {
		out.Enter()
	}
}

// A message that is renumbered back and forth is always the same one, and is delivered.
func TestFairnessToARenumberedMessage(t *testing.T) {
	for _, c := range []struct {
		free  int
		who   []algorithm.ID // the waiter first
		nodes int
	}{
		{3, []algorithm.ID{0, 2}, 3}, {4, []algorithm.ID{2, 0}, 3}, {4, []algorithm.ID{0, 1}, 2}, {5, []algorithm.ID{0, 1, 2}, 3},
	} {
		spec := fairSpec("steady", true, func(self algorithm.ID) algorithm.Mutex[fairMessage] {
			return &steady{self: self, waiter: c.who[0], free: c.free, clock: algorithm.First()}
		})
		if p := starvation(t, Config{Spec: spec, Nodes: c.nodes, Requesters: c.who}); p.Verdict != Holds {
			t.Errorf("%+v: %s: %s, want %s", c, p.Verdict, p.Note, Holds)
		}
	}
}

// A poller asks its rival until the answer is YES, after it has entered a few times
// without asking. The rival's answer is YES unless it is inside, and then, too, if allows
// says so. So the poller starves if it always asks at the wrong time.
type poller struct {
	self   algorithm.ID
	free   int
	rival  rival
	inside bool
	clock  algorithm.Time // of the poller
}

// A rival is what a poller's rival does with its times.
type rival interface {
	Fields(c *algorithm.Coder)
	request()
	release()
	allows(t algorithm.Time) bool
}

func (s *poller) Fields(c *algorithm.Coder) {
	c.Int("free", &s.free, 20)
	c.Bool("inside", &s.inside)
	c.Time("clock", &s.clock)
	if s.self == 1 {
		s.rival.Fields(c)
	}
}

func (s *poller) Request(out *algorithm.Out[fairMessage]) {
	switch {
	case s.self == 1:
		s.rival.request()
		s.inside = true
		out.Enter()
	case s.free == 0:
		out.Send(1, fairMessage{fairAsk, s.clock})
	default:
		s.clock = s.clock.Next()
		s.free--
		out.Enter()
	}
}

func (s *poller) Release(*algorithm.Out[fairMessage]) {
	s.inside = false
	if s.self == 1 {
		s.rival.release()
	}
}

func (s *poller) Receive(from algorithm.ID, m *fairMessage, out *algorithm.Out[fairMessage]) {
	switch {
	case m.Kind == fairYes:
		out.Enter()
	case m.Kind == fairNo:
		out.Send(1, fairMessage{fairAsk, s.clock})
	case s.inside && !s.rival.allows(m.Time):
		out.Send(from, fairMessage{Kind: fairNo})
	default:
		out.Send(from, fairMessage{Kind: fairYes})
	}
}

// A stubborn rival never allows it.
type stubborn struct{}

func (*stubborn) Fields(*algorithm.Coder)    {}
func (*stubborn) request()                   {}
func (*stubborn) release()                   {}
func (*stubborn) allows(algorithm.Time) bool { return false }

// A tiring rival counts its requests, and allows it when their number has caught up with
// the time of the poller's.
type tiring struct{ clock algorithm.Time }

func (r *tiring) Fields(c *algorithm.Coder)    { c.Time("tiring", &r.clock) }
func (r *tiring) request()                     { r.clock = r.clock.Next() }
func (r *tiring) release()                     {}
func (r *tiring) allows(t algorithm.Time) bool { return !r.clock.Before(t) }

// A widening rival has a gap between two times. Every other request puts a time into it,
// and the others make it wider. It does not allow it only if a time was put into a gap of
// exactly two, which is possible once.
type widening struct {
	low, mid, high algorithm.Time
	odd            bool
}

func (r *widening) Fields(c *algorithm.Coder) {
	c.Time("low", &r.low)
	c.Time("mid", &r.mid)
	c.Time("high", &r.high)
	c.Bool("odd", &r.odd)
}

func (r *widening) request() {
	if r.odd = !r.odd; r.odd {
		r.mid = r.low.Next()
	} else {
		r.high = r.high.Next()
	}
}

func (r *widening) release() { r.mid = algorithm.Time{} }

func (r *widening) allows(algorithm.Time) bool { return r.mid.IsNone() || r.mid.Next().Before(r.high) }

// A loop of renumbered states is none that a real run can repeat forever if each time it
// takes something from a gap, or if it depends on a gap that grows.
func TestLoopsThatEnd(t *testing.T) {
	first := algorithm.First()
	for _, c := range []struct {
		name  string
		free  int
		rival func() rival
		want  Verdict
	}{
		{"stubborn", 0, func() rival { return &stubborn{} }, Violated},
		{"stubborn", 12, func() rival { return &stubborn{} }, Violated},
		{"tiring", 4, func() rival { return &tiring{first} }, Unfinished},
		{"tiring", 12, func() rival { return &tiring{first} }, Unfinished},
		{"tiring", 20, func() rival { return &tiring{first} }, Unfinished},
		{"widening", 0, func() rival { return &widening{low: first, high: first.Next().Next()} }, Unfinished},
	} {
		spec := fairSpec(c.name, true, func(self algorithm.ID) algorithm.Mutex[fairMessage] {
			if self == 1 {
				return &poller{self: self, rival: c.rival()}
			}
			return &poller{self: self, free: c.free, clock: first}
		})
		for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
			r := mustRun(t, Config{Spec: spec, Nodes: 2, Network: network, Properties: []string{Starvation, Bypass}})
			for _, p := range r.Properties {
				if p.Verdict != c.want || p.Verdict == Unfinished && p.Note == "" {
					t.Errorf("%s, %d free entries, %v: %s is %s: %s, want %s", c.name, c.free, network, p.Name, p.Verdict, p.Note, c.want)
				}
			}
		}
	}
}
