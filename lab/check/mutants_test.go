package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// without returns what an algorithm claims, without some.
func without(spec algorithm.Spec, names ...string) []string {
	return slices.DeleteFunc(Claims(spec), func(n string) bool { return slices.Contains(names, n) })
}

// deaf is an algorithm that does not take part in the messages between
// applications.
func deaf(spec algorithm.Spec) algorithm.Spec {
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return deafMachine{birth(self, v)} }, err
	}
	return spec
}

type deafMachine struct{ algorithm.Machine }

func (d deafMachine) Step(in host.Input, out *host.Output) error {
	if in.Kind == host.Hear {
		out.Reset()
		return nil
	}
	return d.Machine.Step(in, out)
}

// One planted bug for each property that only this property finds. Some follow
// from others by what they say and are then left out: from every start includes
// from the usual one; who is in a deadlock also starves; ME3 in the open world
// includes the closed one.
func TestEachPropertyFindsItsBug(t *testing.T) {
	ra1981 := mutex.RicartAgrawala1981()
	ra1981.Theory = mutex.RicartAgrawala().Theory
	for _, c := range []struct {
		property    string
		sound, bug  algorithm.Spec
		nodes, asks int
		leave       []string // not checked
	}{
		{MutualExclusion, toy("unmarked"), toy("early"), 3, 0, []string{Start}},
		{Deadlock, toy("try"), toy("drop"), 2, 0, []string{Start}},
		{Starvation, toy(""), toy("bounce"), 3, 0, []string{Start}},
		{Bypass, toy(""), toy("jump"), 3, 0, []string{Start}},
		{Token, toy(""), toy("ghost"), 3, 0, []string{Start}},
		{Alibi, toy(""), toy("liar"), 3, 0, []string{Start}},
		{Channels, toy(""), toy("note"), 2, 0, []string{Start}},
		{Start, toy(""), toy("birth"), 3, 0, nil},
		{Order, mutex.RicartAgrawala(), ra1981, 3, 2, []string{Start, OrderOpen, Starvation, Bypass}},
		{OrderOpen, mutex.RicartAgrawala(), deaf(mutex.RicartAgrawala()), 2, 0, []string{Start}},
		{Convergence, mutex.Dijkstra(4), mutex.Dijkstra(3), 2, 0, nil},
		{Start, toy(""), toy("perjury"), 2, 0, nil},
	} {
		check := func(spec algorithm.Spec) []string {
			r, err := Run(Config{Spec: spec, Nodes: c.nodes, Requests: c.asks, Properties: without(spec, c.leave...)})
			if err != nil {
				t.Fatalf("%s: %v", c.property, err)
			}
			var broken []string
			for _, p := range r.Properties {
				if p.Verdict == Violated {
					broken = append(broken, p.Name)
				}
				if p.Verdict == Unfinished && c.property != Channels {
					t.Errorf("%s: %s is unfinished: %s", c.property, p.Name, p.Note)
				}
			}
			return broken
		}
		if got := check(c.sound); len(got) > 0 {
			t.Errorf("%s: %v violated without the bug", c.property, got)
		}
		if got := check(c.bug); len(got) != 1 || got[0] != c.property {
			t.Errorf("%s: %v violated with the bug, want this alone", c.property, got)
		}
	}
}

// onceOnly lets two in, and fails when somebody asks for the second time.
type onceOnly struct{ toyState }

func (s *onceOnly) Request(out *algorithm.Out[toyMessage]) {
	if s.closed {
		out.Send(99, toyMessage{})
	}
	s.toyState.Request(out)
}

func (s *onceOnly) Release(out *algorithm.Out[toyMessage]) {
	s.closed = s.self != 0
	s.toyState.Release(out)
}

// What was shown to be broken is reported, though the algorithm fails later on.
func TestFailureAfterViolation(t *testing.T) {
	spec := toy("early")
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &onceOnly{toyState{self: self, n: v.N, bug: "early", busy: algorithm.None}})
	})
	r, err := Run(Config{Spec: spec, Nodes: 2, Properties: []string{MutualExclusion, Deadlock, Starvation}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Verdict{Violated, Unfinished, Unfinished} {
		if p := r.Properties[i]; p.Verdict != want || want == Unfinished && !strings.Contains(p.Note, "seat 100") {
			t.Errorf("%s is %s, want %s: %s", p.Name, p.Verdict, want, p.Note)
		}
	}
	if r.Verdict != Violated || r.States == 0 {
		t.Errorf("the report is %s after %d states, want violated after some", r.Verdict, r.States)
	}
}

// impatient is a toy that goes in when a timer runs out: one that it sets when
// it asks, or at its start, when nothing would come of it.
type impatient struct {
	toyState
	early bool
}

func (s *impatient) Start(out *algorithm.Out[toyMessage]) {
	if s.early {
		out.SetTimer(3, 1)
	}
}

func (s *impatient) Request(out *algorithm.Out[toyMessage]) {
	s.toyState.Request(out)
	if !s.early {
		out.SetTimer(3, 1)
	}
}

func (s *impatient) Expire(timer int, out *algorithm.Out[toyMessage]) {
	if timer == 3 && s.state == waits {
		s.state = inside
		out.Enter()
	}
}

// Timers of locks run, as they do in the simulator.
func TestTimersOfLocks(t *testing.T) {
	for _, early := range []bool{false, true} {
		spec := toy("")
		spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &impatient{toyState{self: self, n: v.N, busy: algorithm.None}, early})
		})
		r := mustRun(t, Config{Spec: spec, Nodes: 3, Requests: 1, Properties: []string{MutualExclusion}})
		if p := r.Properties[0]; p.Verdict != Violated {
			t.Errorf("set at the start %v: %s is %s, want violated: %s", early, p.Name, p.Verdict, p.Note)
		}
	}
}
