package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A noting process enters at once, and sends two equal notes to another process. That is
// correct if no other process requests, and none was inside at the start.
type noting struct {
	kind  uint8 // of the notes
	clock algorithm.Time
	busy  bool // some process was inside at the start: none enters
}

func notes(kind int) algorithm.Spec {
	return algorithm.Spec{
		Name: "noting", Kinds: []string{"PLAIN", "TIMED", "MARKED", "BOTH"}, TryLock: true,
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &noting{uint8(kind), algorithm.First(), v.Busy})
		}),
	}
}

const (
	notePlain  uint8 = iota // neither marked nor timed
	noteTimed               // it has a logical time
	noteMarked              // it is declared idempotent
	noteBoth
)

type noteMessage struct {
	Kind uint8
	Time algorithm.Time
}

func (m *noteMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, noteBoth)
	if m.Kind == noteTimed || m.Kind == noteBoth {
		c.Time("time", &m.Time)
	}
	if m.Kind >= noteMarked {
		c.Idempotent()
	}
}

func (s *noting) Fields(c *algorithm.Coder) {
	c.Time("clock", &s.clock)
	c.Bool("busy", &s.busy)
}

func (s *noting) Request(out *algorithm.Out[noteMessage]) {
	s.clock = s.clock.Next()
	out.Send(1, noteMessage{s.kind, s.clock})
	out.Send(1, noteMessage{s.kind, s.clock})
	if s.busy {
		out.Deny()
		return
	}
	out.Enter()
}

func (s *noting) Release(*algorithm.Out[noteMessage]) {}

func (s *noting) Receive(_ algorithm.ID, m *noteMessage, _ *algorithm.Out[noteMessage]) {
	s.clock.See(m.Time)
}

// That a second copy changes nothing is a proof, unless the message has logical times, which
// go on while it is in flight. Then it is listed as an assumption, with the message's name.
func TestIdempotentWithTimesIsAssumed(t *testing.T) {
	kinds := notes(0).Kinds
	for i, name := range slices.Repeat(kinds, 2) {
		property := MutualExclusion
		if i >= len(kinds) {
			property = Start // a check of its own
		}
		r := mustRun(t, Config{Spec: notes(i % len(kinds)), Nodes: 2, Requests: 2, Requesters: []algorithm.ID{0}, Properties: []string{property}})
		assumed := slices.ContainsFunc(r.Assumes, func(s string) bool { return strings.Contains(s, "second "+name) })
		if r.Verdict != HoldsBounded || assumed != (name == "BOTH") {
			t.Errorf("%s: %s, %q", name, r.Verdict, r.Assumes)
		}
		if other := slices.ContainsFunc(r.Assumes, func(s string) bool { return strings.Contains(s, "second") }); other != assumed {
			t.Errorf("%s: another message is assumed idempotent: %q", name, r.Assumes)
		}
	}
}

// Nothing is assumed where nothing holds.
func TestNothingIsAssumedOfAViolation(t *testing.T) {
	r := mustRun(t, Config{Spec: notes(int(noteBoth)), Nodes: 3, Requests: 1, Requesters: []algorithm.ID{0, 2}, Properties: []string{MutualExclusion}})
	if r.Verdict != Violated || len(r.Assumes) > 0 {
		t.Errorf("%s: %q", r.Verdict, r.Assumes)
	}
}
