package faults

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func try(t *testing.T, spec algorithm.Spec, k Kind, at ...algorithm.ID) *Report {
	t.Helper()
	r, err := Try(Config{Spec: spec, Nodes: 3, Kind: k, At: at})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func lock(t *testing.T, name string) algorithm.Spec {
	t.Helper()
	spec, err := catalog.Make(name, algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Outcomes that can be worked out by hand, and runs that show them.
func TestKnownOutcomes(t *testing.T) {
	for _, test := range []struct {
		lock string
		kind Kind
		at   []algorithm.ID
		want Outcome
		n    int // who wait for ever
	}{
		{"ricart-agrawala", Lost, nil, AllWait, 3},         // an OK of everybody is needed
		{"lamport", Lost, nil, Unsafe, 0},                  // a REQUEST is not in every queue
		{"token-ring", Duplicated, nil, Unsafe, 0},         // two tokens
		{"central", Idle, []algorithm.ID{1, 2}, GoesOn, 0}, // a client that wants nothing
		{"central", Waiting, []algorithm.ID{1, 2}, AllWait, 2},
		{"central", Inside, []algorithm.ID{1, 2}, AllWait, 2},
		{"central", Idle, []algorithm.ID{0}, AllWait, 2},
		{"central+bully", Inside, nil, GoesOn, 0},
		{"majority", Idle, nil, GoesOn, 0}, // two of three are enough
	} {
		spec := lock(t, test.lock)
		r := try(t, spec, test.kind, test.at...)
		if r.Worst != test.want || len(r.Waiting) != test.n {
			t.Errorf("%s, %v: %v, and %v wait", test.lock, test.kind, r.Worst, r.Waiting)
		}
		back, err := sim.Replay(spec, r.Scenario, sim.ReplayOptions{})
		if err != nil || len(back.Differences) > 0 {
			t.Errorf("%s, %v: %v %v\n%s", test.lock, test.kind, err, back.Differences, scenario.Format(r.Scenario))
		}
		if sum := r.Count[0] + r.Count[1] + r.Count[2] + r.Count[3]; sum != r.Runs || r.Count[r.Worst] == 0 {
			t.Errorf("%s, %v: %d runs, %v", test.lock, test.kind, r.Runs, r.Count)
		}
	}
}

// While nobody dies, recovery does nothing: a copy does the same with and without.
func TestRecoverySleeps(t *testing.T) {
	for _, name := range []string{"naimi-trehel", "token-ring-lazy"} {
		plain, with := try(t, lock(t, name), Duplicated), try(t, lock(t, name+"+bully"), Duplicated)
		if plain.Runs != with.Runs || plain.Count != with.Count {
			t.Errorf("%s: %v, with recovery %v", name, plain.Count, with.Count)
		}
	}
}

// note and eager are a coordinator whose clients do not look whether they have
// asked when they are let in.
type note struct{ Kind uint8 }

func (m *note) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 2) }

const (
	request = iota
	grant
	release
)

type eager struct {
	self, in algorithm.ID
	queue    []algorithm.ID
}

func (e *eager) Fields(c *algorithm.Coder) {
	c.Maybe("in", &e.in)
	c.Seats("queue", &e.queue)
}

func (e *eager) Request(out *algorithm.Out[note]) {
	if e.self != 0 {
		out.Send(0, note{request})
		return
	}
	e.serve(0, out)
}

func (e *eager) Release(out *algorithm.Out[note]) {
	if e.self != 0 {
		out.Send(0, note{release})
		return
	}
	e.next(out)
}

func (e *eager) Receive(from algorithm.ID, m *note, out *algorithm.Out[note]) {
	switch m.Kind {
	case request:
		e.serve(from, out)
	case grant:
		out.Enter()
	case release:
		e.next(out)
	}
}

func (e *eager) serve(who algorithm.ID, out *algorithm.Out[note]) {
	if e.in != algorithm.None {
		if !slices.Contains(e.queue, who) {
			e.queue = append(e.queue, who)
		}
		return
	}
	if e.in = who; who == 0 {
		out.Enter()
	} else {
		out.Send(who, note{grant})
	}
}

func (e *eager) next(out *algorithm.Out[note]) {
	e.in = algorithm.None
	if len(e.queue) > 0 {
		who := e.queue[0]
		e.queue = slices.Delete(e.queue, 0, 1)
		e.serve(who, out)
	}
}

// A flaw that only a copy shows is found, though nobody need be inside by then.
func TestPlanted(t *testing.T) {
	spec := algorithm.Spec{
		Name: "eager", Title: "Eager", Kinds: []string{"REQUEST", "GRANT", "RELEASE"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &eager{self: self, in: algorithm.None})
		}),
	}
	r := try(t, spec, Duplicated, 0)
	unasked := slices.ContainsFunc(r.Scenario.Expect, func(e script.Expectation) bool { return e.Name == script.UnaskedEntry })
	if r.Worst != Unsafe || !unasked {
		t.Errorf("%v:\n%s", r.Worst, scenario.Format(r.Scenario))
	}
	if r := try(t, spec, Lost); r.Worst != AllWait {
		t.Errorf("lost: %v", r.Worst)
	}
}

// What fails without a fault cannot be judged.
func TestFailsAlone(t *testing.T) {
	if _, err := Try(Config{Spec: lock(t, "maekawa-naive"), Nodes: 3, Kind: Idle}); !errors.Is(err, ErrAlone) {
		t.Errorf("got %v", err)
	}
}

// What cannot happen is no outcome, and a trial can be stopped.
func TestNothingToTry(t *testing.T) {
	if r := try(t, lock(t, "central-deny"), Waiting, 0); r.Runs != 0 || r.Scenario != nil {
		t.Errorf("the coordinator is never refused late, but %+v", r)
	}
	r, err := Try(Config{Spec: lock(t, "raymond"), Nodes: 3, Kind: Lost, Watch: func(runs int) bool { return runs < 5 }})
	if err != nil || !r.Stopped || r.Runs != 4 {
		t.Errorf("%v, %+v", err, r)
	}
}
