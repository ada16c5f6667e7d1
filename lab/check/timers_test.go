package check

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A nervous lock sets timers when it starts, each for a unit more than the one before,
// and lets itself in if they run out in another order.
type nervous struct {
	first, count int // their numbers
	after        int // that of the first
	rung         int // how many have run out
}

func (s *nervous) Fields(c *algorithm.Coder) { c.Int("rung", &s.rung, 1<<16) }

func (s *nervous) Start(out *algorithm.Out[toyMessage]) {
	for i := range s.count {
		out.SetTimer(s.first+i, s.after+i)
	}
}

func (s *nervous) Expire(timer int, out *algorithm.Out[toyMessage]) {
	if timer != s.first+s.rung {
		out.Enter()
	}
	s.rung++
}

func (s *nervous) Request(out *algorithm.Out[toyMessage]) { out.Enter() }

func (s *nervous) Release(*algorithm.Out[toyMessage]) {}

func (s *nervous) Receive(algorithm.ID, *toyMessage, *algorithm.Out[toyMessage]) {}

// Timers are told apart, whatever their numbers, as many as there are and however long
// they run; or it is said that there are too many, or that one runs for too long.
func TestTimersAreToldApart(t *testing.T) {
	for _, c := range []struct {
		nervous
		verdict Verdict
		note    string
	}{
		{nervous{first: 0, count: 3, after: 1}, HoldsBounded, ""},
		{nervous{first: 254, count: 4, after: 1}, HoldsBounded, ""},
		{nervous{first: host.MaxTimer - 2, count: 3, after: 1}, HoldsBounded, ""},
		{nervous{first: 0, count: 3, after: 253}, HoldsBounded, ""},
		{nervous{first: 0, count: 2, after: 40_000}, HoldsBounded, ""},
		{nervous{first: 0, count: 2, after: 65_535}, Unfinished, "nervous: P1: timer 0 was set for 65535 units: the checker supports at most 65534"},
		{nervous{first: 0, count: 255, after: 1}, HoldsBounded, ""},
		{nervous{first: 0, count: 256, after: 1}, Unfinished, "nervous: P1: 256 timers run at the same time: the checker supports at most 255"},
	} {
		spec := algorithm.Spec{Name: "nervous", Detects: true, Kinds: []string{"REQUEST", "GRANT", "RELEASE", "NOTE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			s := c.nervous
			return algorithm.New(self, v, &s)
		})}
		r, err := Run(Config{Spec: spec, Nodes: 1, Requests: 1, Pace: Quick, Properties: []string{MutualExclusion}})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(MutualExclusion); p.Verdict != c.verdict || !strings.Contains(p.Note, c.note) {
			t.Errorf("%+v: %s: %s, want %s: %s", c.nervous, p.Verdict, p.Note, c.verdict, c.note)
		}
	}
}

// A putter lets itself in when its timer runs out, while a message goes to and fro that
// may set the timer anew.
type putter struct {
	self    algorithm.ID
	waiting bool
	puts    func(out *algorithm.Out[toyMessage])
}

func (s *putter) Fields(c *algorithm.Coder) { c.Bool("waiting", &s.waiting) }

func (s *putter) Start(out *algorithm.Out[toyMessage]) {
	if s.self == 0 {
		out.Send(1, toyMessage{toyNote})
	}
}

func (s *putter) Request(out *algorithm.Out[toyMessage]) {
	s.waiting = true
	out.SetTimer(3, 3)
}

func (s *putter) Expire(_ int, out *algorithm.Out[toyMessage]) {
	s.waiting = false
	out.Enter()
}

func (s *putter) Release(*algorithm.Out[toyMessage]) {}

func (s *putter) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	if out.Send(from, *m); s.waiting {
		s.puts(out)
	}
}

// A timer runs out in the end, whatever else goes on; but not if that puts it off for
// ever.
func TestTimersArePutOff(t *testing.T) {
	for _, c := range []struct {
		what    string
		puts    func(out *algorithm.Out[toyMessage])
		verdict Verdict
	}{
		{"nothing", func(*algorithm.Out[toyMessage]) {}, Holds},
		{"set anew", func(out *algorithm.Out[toyMessage]) { out.SetTimer(3, 3) }, Violated},
		{"stopped and set", func(out *algorithm.Out[toyMessage]) { out.StopTimer(3); out.SetTimer(3, 3) }, Violated},
		{"set twice", func(out *algorithm.Out[toyMessage]) { out.SetTimer(3, 3); out.SetTimer(3, 2) }, Violated},
		{"another one is set", func(out *algorithm.Out[toyMessage]) { out.SetTimer(4, 3); out.StopTimer(4) }, Holds},
	} {
		spec := algorithm.Spec{Name: "putter", Kinds: []string{"REQUEST", "GRANT", "RELEASE", "NOTE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &putter{self: self, puts: c.puts})
		})}
		r, err := Run(Config{Spec: spec, Nodes: 2, Requesters: []algorithm.ID{0}, Properties: []string{Starvation}})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Starvation); p.Verdict != c.verdict {
			t.Errorf("%s: %s: %s, want %s", c.what, p.Verdict, p.Note, c.verdict)
		}
	}
}

// A flood is a lock that knows of deaths and answers every message twice.
type flood struct{ putter }

func (s *flood) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	out.Send(from, *m)
	out.Send(from, *m)
}

// Where messages accumulate and no property is about that, a check says so and ends.
func TestFloods(t *testing.T) {
	spec := algorithm.Spec{Name: "flood", Detects: true, Kinds: []string{"REQUEST", "GRANT", "RELEASE", "NOTE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &flood{putter{self: self}})
	})}
	r, err := Run(Config{Spec: spec, Nodes: 2, Requests: 1, Pace: Quick, Properties: []string{MutualExclusion}, Limits: Limits{Memory: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Find(MutualExclusion); p.Verdict != Unfinished || !strings.Contains(p.Note, "messages accumulate") {
		t.Errorf("%s: %s", p.Verdict, p.Note)
	}
}
