package check

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/internal/nightly"
)

// With timeouts and suspicions that are right, at most one process wins in
// each round, and in the end all agree on the highest, whoever crashes and
// comes back at whatever step. The counts are pinned: a change of a number is
// a change of behaviour.
func TestElections(t *testing.T) {
	for _, c := range []struct {
		name                    string
		nodes, crashes, returns int
		quick, slow, unordered  bool
		states                  int64
	}{
		{name: "bully", nodes: 2, crashes: 2, returns: 2, states: 415},
		{name: "bully", nodes: 3, crashes: 1, returns: 1, states: 7584},
		{name: "bully", nodes: 3, crashes: 2, returns: 1, states: 30266},
		{name: "bully", nodes: 3, crashes: 2, returns: 2, quick: true, states: 123630},
		{name: "bully", nodes: 3, crashes: 2, returns: 2, slow: true, states: 70222},
		{name: "bully", nodes: 3, crashes: 1, returns: 1, unordered: true, states: 27554},
		{name: "bully", nodes: 4, crashes: 1, states: 3981},
		{name: "bully", nodes: 4, crashes: 2, states: 18186},
		{name: "bully", nodes: 4, crashes: 1, returns: 1, slow: true, states: 195103},
		{name: "ring-election", nodes: 2, crashes: 2, returns: 2, states: 2812},
		{name: "ring-election", nodes: 3, crashes: 1, returns: 1, states: 10098},
		{name: "ring-election", nodes: 3, crashes: 2, states: 836},
		{name: "ring-election", nodes: 2, crashes: 2, returns: 2, unordered: true, states: 34156},
		{name: "ring-election", nodes: 3, crashes: 2, returns: 1, slow: true, states: 173458},
		{name: "ring-election", nodes: 4, crashes: 1, returns: 1, quick: true, states: 32549},
		{name: "ring-election", nodes: 4, crashes: 1, returns: 1, slow: true, states: 27728},
		{name: "ring-election", nodes: 4, crashes: 2, slow: true, states: 187656},
		{name: "chang-roberts", nodes: 2, crashes: 2, returns: 2, states: 594},
		{name: "chang-roberts", nodes: 3, crashes: 2, returns: 2, states: 43795},
		{name: "chang-roberts", nodes: 3, crashes: 1, returns: 1, unordered: true, states: 23048},
		{name: "chang-roberts", nodes: 4, crashes: 2, states: 96119},
		{name: "chang-roberts", nodes: 4, crashes: 1, returns: 1, states: 46997},
		{name: "chang-roberts", nodes: 4, crashes: 2, returns: 1, quick: true, states: 36142},
	} {
		if !nightly.On() && c.states > 5_000 {
			continue
		}
		spec, err := catalog.Make(c.name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := Config{Spec: spec, Nodes: c.nodes, Crashes: c.crashes, Comebacks: c.returns}
		switch {
		case c.quick:
			e.Pace = Quick
		case c.slow:
			e.Pace = Slow
		}
		if c.unordered {
			e.Network = algorithm.Unordered
		}
		r := mustRun(t, e)
		if r.States != c.states {
			t.Errorf("%+v: %d states", c, r.States)
		}
		for _, p := range r.Properties {
			if p.Verdict != HoldsBounded {
				t.Errorf("%+v: %s %s: %s\n%v", c, p.Name, p.Verdict, p.Note, p.Trace)
			}
		}
	}
}

// One timeout that is too short, or one live process taken for dead, is enough
// for two leaders. The shortest story is told, and the simulator confirms it.
func TestWrongSuspicions(t *testing.T) {
	for _, c := range []struct {
		name    string
		crashes int
		story   []string
	}{
		{"bully", 1, []string{"crash P3", "P2 asks", "P1 asks", "P1 timer 0 expires", "P2 timer 0 expires"}},
		{"ring-election", 0, []string{"P2 suspects P3", "P2 asks", "deliver 2 -> 1", "deliver 1 -> 2"}},
		{"chang-roberts", 0, []string{"P2 suspects P3", "P2 asks", "deliver 2 -> 1", "deliver 1 -> 2"}},
	} {
		spec, err := catalog.Make(c.name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, Config{Spec: spec, Nodes: 3, Crashes: c.crashes, Wrong: true})
		p := r.Find(elections.OneLeader)
		if p.Verdict != Violated || !slices.Equal(p.Trace, c.story) {
			t.Errorf("%s: %s\n got %q\nwant %q", c.name, p.Verdict, p.Trace, c.story)
		}
		back, err := p.Replay()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range back.Differences {
			t.Errorf("%s: the simulator sees it otherwise: %v", c.name, d)
		}
		if a := r.Find(elections.Agreement); a.Verdict != HoldsBounded {
			t.Errorf("%s: one error must not be for ever, but: %s %q", c.name, a.Verdict, a.Trace)
		}
	}
}

// That a family marks messages is for the family to say, and what machines are born
// with has no part in it.
func TestFamilyThatMarks(t *testing.T) {
	spec, err := catalog.Make("bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := elections.Family()
	c := Config{Spec: spec, Family: f, Nodes: 2, Crashes: 2, Comebacks: 2, Starts: []algorithm.View{f.Born(2)}}
	f.Born = nil
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != HoldsBounded || r.States != 415 || r.Find(elections.OneLeader).Note != "up to 2 crashes and 2 comebacks" {
		t.Errorf("%s with %d states: %+v", r.Verdict, r.States, r.Properties)
	}
}
