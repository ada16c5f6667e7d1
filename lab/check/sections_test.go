package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family/sections"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// among returns a section.
func among(name string, members ...algorithm.ID) script.Section {
	return script.Section{Name: name, Members: members}
}

// opposite makes the last process acquire its sections in the opposite order.
func opposite(c sections.Config) sections.Config {
	slices.Reverse(c.Takes[len(c.Takes)-1])
	return c
}

// Processes that acquire two sections in opposite orders wait for each other, whatever the
// algorithm. Those that acquire them in one order do not.
func TestSectionsInOppositeOrders(t *testing.T) {
	for _, spec := range []algorithm.Spec{
		mutex.Central(0), mutex.Raymond(mutex.Kary(2)), mutex.NaimiTrehel(), mutex.RicartAgrawala(), mutex.SuzukiKasami(), mutex.TokenRingLazy(),
	} {
		both := func() sections.Config { return sections.InOrder(2, among("films", 0, 1), among("seats", 0, 1)) }
		r := mustRun(t, Config{Spec: spec, Family: both().Family(), Nodes: 2, Requests: 1})
		for _, p := range r.Properties {
			if p.Verdict != HoldsBounded {
				t.Errorf("%s, in one order: %s is %s: %s", spec.Name, p.Name, p.Verdict, p.Note)
			}
		}
		r = mustRun(t, Config{Spec: spec, Family: opposite(both()).Family(), Nodes: 2, Requests: 1})
		for name, want := range map[string]Verdict{MutualExclusion: HoldsBounded, Deadlock: Violated, Starvation: Violated} {
			if p := r.Find(name); p.Verdict != want {
				t.Errorf("%s, in opposite orders: %s is %s: %s", spec.Name, p.Name, p.Verdict, p.Note)
			}
		}
		p := r.Find(Deadlock)
		if want := "P1 is inside films and waits for seats; P2 is inside seats and waits for films"; !strings.Contains(p.Note, want) {
			t.Errorf("%s: the note %q does not say %q", spec.Name, p.Note, want)
		}
		replaysAgain(t, p)
	}
}

// replaysAgain requires a counterexample that, written and read again, the simulator confirms.
func replaysAgain(t *testing.T, p *Property) {
	t.Helper()
	if p.Counterexample == nil {
		t.Fatalf("%s: no counterexample", p.Name)
	}
	sc, err := scenario.Parse("", scenario.Format(p.Counterexample))
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Counterexample = sc
	if back, err := q.Replay(); err != nil || len(back.Differences) > 0 || len(sc.Expect) == 0 {
		t.Errorf("%s: %v, %+v", p.Name, err, back)
	}
}

// The shortest run to a deadlock has no step that could be left out: each of three
// processes acquires one section, and asks for the next one's.
func TestSectionsInARing(t *testing.T) {
	c := sections.InOrder(3, among("a", 0, 2), among("b", 0, 1), among("c", 1, 2))
	if r := mustRun(t, Config{Spec: mutex.Central(0), Family: c.Family(), Nodes: 3, Requests: 0}); r.Verdict != Holds {
		t.Errorf("in one order: %s", r.Verdict)
	}
	c = opposite(c) // P3 acquires c, then a
	r := mustRun(t, Config{Spec: mutex.Central(0), Family: c.Family(), Nodes: 3, Requests: 0})
	p := r.Find(Deadlock)
	asks := 0
	for _, a := range p.Counterexample.Actions {
		switch a.Kind {
		case script.Ask:
			asks++
		case script.Leave:
			t.Errorf("a process leaves: %v", p.Trace)
		}
	}
	if asks != 6 || p.Verdict != Violated {
		t.Errorf("%s is %s, with %d requests: %s, %v", p.Name, p.Verdict, asks, p.Note, p.Trace)
	}
	replaysAgain(t, p)
}

// A section by itself is the same model as a lock without a name.
func TestOneSection(t *testing.T) {
	for _, spec := range []algorithm.Spec{mutex.Central(0), mutex.Raymond(mutex.Kary(2)), mutex.NaimiTrehel()} {
		for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
			c := Config{Spec: spec, Nodes: 3, Network: network, Properties: []string{MutualExclusion, Deadlock, Starvation}}
			plain := mustRun(t, c)
			c.Family = sections.InOrder(3, among("a", 0, 1, 2)).Family()
			named := mustRun(t, c)
			if plain.States != named.States || plain.Transitions != named.Transitions || plain.Verdict != named.Verdict {
				t.Errorf("%s, %v: %d states, %d transitions, %s; in a section %d, %d, %s", spec.Name, network,
					plain.States, plain.Transitions, plain.Verdict, named.States, named.Transitions, named.Verdict)
			}
		}
	}
}

// Mutual exclusion is that of each section, and the verdict names the one in which it is
// violated. The lock is wrong among three processes, and right among two.
func TestSectionsAreJudgedApart(t *testing.T) {
	right, wrong := toy("unmarked"), toy("unmarked")
	wrong.Plan = func(n int) (algorithm.Birth, error) {
		if n == 3 {
			return toy("early").Plan(n)
		}
		return right.Plan(n)
	}
	for _, c := range []struct {
		spec algorithm.Spec
		bad  bool
	}{{right, false}, {wrong, true}} {
		f := sections.InOrder(3, among("films", 0, 1), among("seats", 0, 1, 2), among("stage", 1, 2)).Family()
		r := mustRun(t, Config{Spec: c.spec, Family: f, Nodes: 3, Requests: 1, Properties: []string{MutualExclusion}})
		p := r.Find(MutualExclusion)
		if c.bad != (p.Verdict == Violated) || c.bad != strings.Contains(p.Note, "in section seats") {
			t.Errorf("%s: %s", p.Verdict, p.Note)
		}
		if c.bad {
			replaysAgain(t, p)
		}
	}
}

// A process that waits forever, while others come and go, is reported with its section.
func TestSectionsStarve(t *testing.T) {
	f := sections.InOrder(3, among("films", 0, 1), among("seats", 0, 1, 2)).Family()
	r := mustRun(t, Config{Spec: toy("bounce"), Family: f, Nodes: 3, Requests: 0})
	p := r.Find(Starvation)
	if p.Verdict != Violated || !strings.Contains(p.Note, "waits for films") || p.Loop == len(p.Trace) || r.Find(Deadlock).Verdict != Holds {
		t.Errorf("%s: %s, %v", p.Verdict, p.Note, p.Trace)
	}
	replaysAgain(t, p)
}

// A process that is denied a section leaves those it has, so none waits for it forever.
func TestSectionsAreDenied(t *testing.T) {
	f := opposite(sections.InOrder(2, among("films", 0, 1), among("seats", 0, 1))).Family()
	r := mustRun(t, Config{Spec: mutex.CentralDeny(0), Family: f, Nodes: 2, Requests: 2})
	if r.Verdict != HoldsBounded || r.Find(Starvation) != nil {
		t.Errorf("%s: %+v", r.Verdict, r.Properties)
	}
}

// What sections cannot do is refused.
func TestSectionsRefuse(t *testing.T) {
	good := sections.InOrder(2, among("a", 0, 1), among("b", 0, 1))
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"times without a bound": {Config{Spec: mutex.RicartAgrawala(), Family: good.Family(), Nodes: 2}, "must be bounded"},
		"counters":              {Config{Spec: mutex.SuzukiKasami(), Family: good.Family(), Nodes: 2}, "must be bounded"},
		"too few processes":     {Config{Spec: mutex.Central(0), Family: good.Family(), Nodes: 3, Requests: 1}, "want as many"},
		"not a member":          {Config{Spec: mutex.Central(0), Family: sections.Config{Sections: []script.Section{among("a", 1)}, Takes: [][]int{{0}, nil}}.Family(), Nodes: 2, Requests: 1}, "does not use it"},
		"no requester":          {Config{Spec: mutex.Central(0), Family: sections.InOrder(2, among("a", 0)).Family(), Nodes: 2, Requests: 1, Requesters: []algorithm.ID{1}}, "requesters"},
		"a timer": {Config{Spec: algorithm.Spec{Name: "nervous", Kinds: toy("").Kinds, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &nervous{count: 1, after: 1})
		})}, Family: good.Family(), Nodes: 2, Requests: 1}, "timer"},
		"a coordinator beyond": {Config{Spec: mutex.Central(3), Family: good.Family(), Nodes: 2, Requests: 1}, "section a"},
	} {
		if _, err := Run(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
