package check

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/mutex"
)

// without returns what an algorithm claims, without some.
func without(spec core.Spec, names ...string) []string {
	return slices.DeleteFunc(Claims(spec), func(n string) bool { return slices.Contains(names, n) })
}

// deaf is an algorithm that does not take part in the messages between
// applications.
func deaf(spec core.Spec) core.Spec {
	plan := spec.Plan
	spec.Plan = func(n int) (core.Birth, error) {
		birth, err := plan(n)
		return func(self core.ID, v core.View) core.Machine { return deafMachine{birth(self, v)} }, err
	}
	return spec
}

type deafMachine struct{ core.Machine }

func (d deafMachine) Step(in core.Input, out *core.Output) error {
	if in.Kind == core.Hear {
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
		sound, bug  core.Spec
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
		check := func(spec core.Spec) []string {
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
