package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/internal/family/sections"
	"github.com/stile-lock/stile/internal/nightly"
)

// ticker lets everybody in at once and tells everybody its clock. A bug can be
// planted into what it does with the clock.
func ticker(bug string) algorithm.Spec {
	return algorithm.Spec{
		Name: "ticker", Kinds: []string{"CLOCK"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &tickerState{bug: bug, clock: algorithm.First()})
		}),
	}
}

type tickerMessage struct {
	Kind uint8
	Time algorithm.Time
}

func (m *tickerMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 0)
	c.Time("time", &m.Time)
}

type tickerState struct {
	bug   string
	clock algorithm.Time
	first algorithm.Time // the clock when it was let in last

	modulo, remainder uint64
}

func (s *tickerState) Fields(c *algorithm.Coder) {
	c.Time("clock", &s.clock)
	c.Time("first", &s.first)
}

// number gets at the number of a time, as nobody should.
func number(t algorithm.Time) (v uint64) {
	fmt.Sscanf(fmt.Sprint(t), "{%d}", &v)
	return v
}

func (s *tickerState) Request(out *algorithm.Out[tickerMessage]) {
	before := s.first
	s.first = s.clock.Tick()
	switch {
	case s.bug == "two" || s.bug == "constant" && number(s.clock) > 3:
		s.clock = s.clock.Next()
	case s.bug == "parity" && number(s.clock)%2 == 0:
		out.Broadcast(tickerMessage{Time: s.clock})
	case s.bug == "sends" && number(s.clock) > 3:
		return
	case s.bug == "absolute":
		out.Broadcast(tickerMessage{Time: algorithm.First()})
	case s.modulo > 0 && number(s.clock)%s.modulo == s.remainder:
		out.Broadcast(tickerMessage{Time: s.clock})
	case s.bug == "gap" && !before.IsNone() && number(s.clock)-number(before) > 3, s.bug == "far" && number(s.clock) > 1000:
		out.Broadcast(tickerMessage{Time: s.clock})
	}
	if s.bug != "mute" {
		out.Broadcast(tickerMessage{Time: s.clock})
	}
	out.Enter()
}

func (s *tickerState) Release(*algorithm.Out[tickerMessage]) {}

func (s *tickerState) Receive(_ algorithm.ID, m *tickerMessage, _ *algorithm.Out[tickerMessage]) {
	s.clock.See(m.Time)
	if s.bug == "forgets" && number(m.Time) > 1 {
		s.first = algorithm.Time{}
	}
}

func (s *tickerState) Clock() algorithm.Time { return s.clock }

func (s *tickerState) Hear(t algorithm.Time) { s.clock.See(t) }

// An algorithm that does more with its times than compare, copy and count up by
// one is found out before anything is said to hold.
func TestLiftFindsWhatBreaksTheRule(t *testing.T) {
	for _, bug := range []string{"", "constant", "parity", "sends", "absolute", "gap", "far"} {
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

// A remainder of the clock is found out, whichever it is, though no clock of a renumbered
// state has it.
func TestLiftFindsRemainders(t *testing.T) {
	for _, modulo := range []uint64{3, 5, 8, 10, 11, 16, 37, 50, 64} {
		for _, remainder := range []uint64{0, 1, modulo / 2, modulo - 1} {
			spec := ticker("")
			spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, &tickerState{clock: algorithm.First(), modulo: modulo, remainder: remainder})
			})
			r := mustRun(t, Config{Spec: spec, Nodes: 2, Requests: 1, Properties: []string{Deadlock}})
			if p := r.Find(Deadlock); p.Verdict != Unfinished || !strings.Contains(p.Note, "when logical times are shifted") {
				t.Errorf("%d modulo %d: %s, %s", remainder, modulo, p.Verdict, p.Note)
			}
		}
	}
}

// Where it was found out is told in the fields of the machine and of what it got.
func TestLiftTellsTheStep(t *testing.T) {
	for bug, want := range map[string]string{
		"parity":  "shifted: P1, with clock 1, first 0, when its application requests",
		"forgets": "shifted: P1, with clock 2, first 1, when it receives CLOCK from P2 with time 1",
	} {
		r, err := Run(Config{Spec: ticker(bug), Nodes: 2, Requests: 2, Properties: []string{Deadlock}})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Deadlock); !strings.HasSuffix(p.Note, want) {
			t.Errorf("%s: got %s\nwant %q", bug, p.Note, want)
		}
	}
}

// A moody machine lets its outputs, and nothing else, depend on the clock.
type moody struct {
	algorithm.Machine
	bug string
}

func (m moody) Step(in host.Input, out *host.Output) error {
	if err := m.Machine.Step(in, out); err != nil || m.Clock()%2 == 0 {
		return err
	}
	switch m.bug {
	case "enters":
		out.Entered = false
	case "notices":
		out.Notices = append(out.Notices, host.Notice{Kind: host.SetTimer, After: 1})
	case "groups":
		for i := range out.Sends {
			out.Sends[i].Group = int32(i)
		}
	case "recipients":
		slices.Reverse(out.Sends)
	}
	return nil
}

// Whatever comes out of a step is compared: the entry, the notices, and of each
// message its recipient and what multicast it is of.
func TestLiftComparesAll(t *testing.T) {
	for _, bug := range []string{"", "enters", "notices", "groups", "recipients"} {
		spec := ticker("")
		plan := spec.Plan
		spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return moody{birth(self, v), bug} }, err
		}
		r, err := Run(Config{Spec: spec, Nodes: 3, Requests: 1, Properties: []string{Deadlock}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(Deadlock)
		if found := strings.Contains(p.Note, "when logical times are shifted"); found != (bug != "") {
			t.Errorf("%q: %s, %s", bug, p.Verdict, p.Note)
		}
	}
}

// A tally counts how often it has asked, and does with that number what must
// not be done.
type tally struct {
	n     int
	self  algorithm.ID
	times uint64
	bug   func(s *tally, out *algorithm.Out[toyMessage])
}

func (s *tally) Fields(c *algorithm.Coder) { c.Seq("times", s.self, &s.times) }

func (s *tally) Request(out *algorithm.Out[toyMessage]) {
	s.times++
	out.Enter()
	s.bug(s, out)
}

func (s *tally) Release(*algorithm.Out[toyMessage]) {}

func (s *tally) Receive(algorithm.ID, *toyMessage, *algorithm.Out[toyMessage]) {}

// Counters, too, are for comparing only.
func TestLiftOfCounters(t *testing.T) {
	bugs := map[string]func(s *tally, out *algorithm.Out[toyMessage]){
		"": func(s *tally, out *algorithm.Out[toyMessage]) { out.Send((s.self+1)%3, toyMessage{toyNote}) },
		"parity": func(s *tally, out *algorithm.Out[toyMessage]) {
			if s.times%2 == 0 {
				out.Broadcast(toyMessage{toyNote})
			}
		},
		"size": func(s *tally, out *algorithm.Out[toyMessage]) {
			if s.times > 1000 {
				out.Broadcast(toyMessage{toyNote})
			}
		},
		"back to 0": func(s *tally, _ *algorithm.Out[toyMessage]) { s.times = 0 },
	}
	for m := uint64(3); m <= 8; m++ {
		bugs[fmt.Sprintf("recipient by remainder of %d", m)] = func(s *tally, out *algorithm.Out[toyMessage]) {
			out.Send(algorithm.ID(s.times%m)%algorithm.ID(s.n), toyMessage{toyNote})
		}
	}
	for name, bug := range bugs {
		spec := algorithm.Spec{Name: "tally", Kinds: toy("").Kinds, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &tally{n: v.N, self: self, bug: bug})
		})}
		r, err := Run(Config{Spec: spec, Nodes: 3, Requests: 1, Properties: []string{Deadlock}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(Deadlock)
		if found := strings.Contains(p.Note, "when counters are shifted"); found != (name != "") {
			t.Errorf("%q: %s, %s", name, p.Verdict, p.Note)
		}
	}
}

// Where times may drift apart, nobody may count up by two: that could jump over
// another time which is only known to be further.
func TestLiftFindsJumps(t *testing.T) {
	nightly.Only(t)
	for bug, want := range map[string]string{"": "accumulate", "two": "more than one"} {
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
	r, err := Run(Config{Spec: ticker("mute"), Nodes: 2, Requests: 80, Requesters: []algorithm.ID{0}, Properties: []string{Deadlock}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Find(Deadlock); p.Verdict != Unfinished || !strings.Contains(p.Note, "too many different times") || !strings.Contains(p.Note, "set Spec.Spreads") {
		t.Errorf("%s, %s", p.Verdict, p.Note)
	}
}

// A secretive toy counts requests behind the back of Fields, and from some
// number on drops them.
type secretive struct {
	tickerState
	count, most int
}

func (s *secretive) Receive(from algorithm.ID, m *tickerMessage, out *algorithm.Out[tickerMessage]) {
	if s.count++; s.count < s.most {
		s.tickerState.Receive(from, m, out)
	}
}

// A field that is missing from Fields is named: as the reason if the lift test
// is where it shows, and also if nothing has come of it yet.
func TestMissingField(t *testing.T) {
	for i, most := range []int{3, 1 << 40, 3, 1 << 40} {
		spec := ticker("")
		spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &secretive{tickerState{clock: algorithm.First()}, 0, most})
		})
		c := Config{Spec: spec, Nodes: 2, Requests: 2, Properties: []string{Deadlock}, Limits: Limits{Workers: 1}}
		if i >= 2 {
			c.Family = sections.InOrder(2, among("a", 0, 1)).Family()
		}
		r, err := Run(c)
		got := ""
		switch {
		case err != nil && most == 3:
			got = err.Error()
		case err == nil && most > 3 && r.Verdict == Unfinished:
			got = r.Properties[0].Note
		}
		if !strings.Contains(got, "missing from Fields") || !strings.Contains(got, `"count"`) {
			t.Errorf("from %d on: got %q, %+v and %v, want a word of the field", most, got, r, err)
		}
	}
}

// No algorithm of the catalog is accused of what it does not do.
func TestNoMissingField(t *testing.T) {
	for _, spec := range catalog.All() {
		c := Config{Spec: spec, Nodes: 2, Requests: 1, Network: spec.Network, Properties: []string{MutualExclusion}}
		if spec.Family == algorithm.Election {
			c.Crashes, c.Properties = 1, []string{elections.OneLeader}
		}
		if spec.Accepts(c.Nodes) != nil {
			continue
		}
		r := newRun(c.Settled())
		if err := r.passes(); err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		if len(r.hidden) > 0 {
			t.Errorf("%s is said to hide %v", spec.Name, r.hidden)
		}
	}
}
