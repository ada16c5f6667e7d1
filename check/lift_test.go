package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
)

// ticker lets everybody in at once and tells everybody its clock. A bug can be
// planted into what it does with the clock.
func ticker(bug string) core.Spec {
	return core.Spec{
		Name: "ticker", Kinds: []string{"CLOCK"},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, &tickerState{bug: bug, clock: core.First()})
		}),
	}
}

type tickerMessage struct {
	Kind uint8
	Time core.Time
}

func (m *tickerMessage) Fields(c *core.Coder) {
	c.Kind(&m.Kind, 0)
	c.Time("time", &m.Time)
}

type tickerState struct {
	bug   string
	clock core.Time
	first core.Time // the clock when it was let in last
}

func (s *tickerState) Fields(c *core.Coder) {
	c.Time("clock", &s.clock)
	c.Time("first", &s.first)
}

// number gets at the number of a time, as nobody should.
func number(t core.Time) (v uint64) {
	fmt.Sscanf(core.Stamp{Time: t}.String(), "<%d,", &v)
	return v
}

func (s *tickerState) Request(out *core.Out[tickerMessage]) {
	s.first = s.clock.Tick()
	switch {
	case s.bug == "two" || s.bug == "constant" && number(s.clock) > 3:
		s.clock = s.clock.Next()
	case s.bug == "parity" && number(s.clock)%2 == 0:
		out.Broadcast(tickerMessage{Time: s.clock})
	case s.bug == "sends" && number(s.clock) > 3:
		return
	case s.bug == "absolute":
		out.Broadcast(tickerMessage{Time: core.First()})
	}
	out.Broadcast(tickerMessage{Time: s.clock})
	out.Enter()
}

func (s *tickerState) Release(*core.Out[tickerMessage]) {}

func (s *tickerState) Receive(_ core.ID, m *tickerMessage, _ *core.Out[tickerMessage]) {
	s.clock.See(m.Time)
}

// An algorithm that does more with its times than compare, copy and count up by
// one is found out before anything is said to hold.
func TestLiftFindsWhatBreaksTheRule(t *testing.T) {
	for _, bug := range []string{"", "constant", "parity", "sends", "absolute"} {
		r, err := Run(Config{Spec: ticker(bug), Nodes: 2, Requests: 2, Properties: []string{Deadlock}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(Deadlock)
		switch {
		case bug == "" && p.Verdict != HoldsBounded:
			t.Errorf("without a bug: %s, %s", p.Verdict, p.Note)
		case bug != "" && (p.Verdict != Unfinished || !strings.Contains(p.Note, "when logical times are shifted")):
			t.Errorf("%s: %s, %s", bug, p.Verdict, p.Note)
		}
	}
}

// Where times may drift apart, nobody may count up by two: that could jump over
// another time which is only known to be further.
func TestLiftFindsJumps(t *testing.T) {
	for bug, want := range map[string]string{"": "pile up", "two": "more than one"} {
		spec := ticker(bug)
		spec.Spreads = true
		r, err := Run(Config{Spec: spec, Nodes: 2, Properties: []string{Deadlock}})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Deadlock); p.Verdict != Unfinished || !strings.Contains(p.Note, want) {
			t.Errorf("%q: %s, %s", bug, p.Verdict, p.Note)
		}
	}
}

// Times that drift apart without bound end a check in words, not in a wrong
// verdict.
func TestTooManyTimes(t *testing.T) {
	r, err := Run(Config{Spec: ticker(""), Nodes: 2, Requests: 80, Requesters: []core.ID{0}, Properties: []string{Deadlock}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Find(Deadlock); p.Verdict != Unfinished {
		t.Errorf("%s, %s", p.Verdict, p.Note)
	}
}
