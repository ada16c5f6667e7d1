package sim

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/scenario"
)

// An eager lock lets its first process in at the start, which nobody has asked
// for, and everybody who asks at once.
type eager struct{ first bool }

type nothing struct{ Kind uint8 }

func (m *nothing) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 0) }

func (*eager) Fields(*algorithm.Coder)                                 {}
func (*eager) Request(out *algorithm.Out[nothing])                     { out.Enter() }
func (*eager) Release(*algorithm.Out[nothing])                         {}
func (*eager) Receive(algorithm.ID, *nothing, *algorithm.Out[nothing]) {}
func (e *eager) Start(out *algorithm.Out[nothing]) {
	if e.first {
		out.Enter()
	}
}

func eagerSpec() algorithm.Spec {
	return algorithm.Spec{Name: "eager", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &eager{self == 0})
	})}
}

func broken(found []Violation) []string {
	var names []string
	for _, v := range found {
		names = append(names, v.Property)
	}
	return names
}

// Who enters without having asked is inside, leaves like anybody else and is
// counted for nobody's request.
func TestUnaskedEntry(t *testing.T) {
	c := Config{
		Spec: eagerSpec(), Nodes: 2, Entries: 3, Seed: 1, Requesters: []algorithm.ID{1},
		Hold: scenario.Always(4 * scenario.T), Think: scenario.Always(3 * scenario.T), Latency: scenario.Always(scenario.T),
	}
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := broken(r.Found), []string{family.UnaskedEntry, family.MutualExclusion}; !slices.Equal(got, want) || r.Entries != 3 {
		t.Errorf("%d entries, %v broken; want 3, and %v", r.Entries, got, want)
	}
	c.Requesters, c.Hold = []algorithm.ID{0}, scenario.Always(10*scenario.T)
	if r, err = Run(c); err != nil {
		t.Fatal(err)
	}
	if got, want := broken(r.Found), []string{family.UnaskedEntry}; !slices.Equal(got, want) || r.Entries != 3 {
		t.Errorf("%d entries, %v broken; want 3, and %v: it goes out before it asks", r.Entries, got, want)
	}
}

// A clinging lock lets its process in again whenever it leaves.
type clinging struct{ eager }

func (*clinging) Release(out *algorithm.Out[nothing]) { out.Enter() }

// Whom the lock lets in again as soon as it has left can ask all the same: the
// algorithm is to blame, and no host.
func TestUnaskedEntryAgain(t *testing.T) {
	r, err := Run(Config{
		Spec: algorithm.Spec{Name: "clinging", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &clinging{})
		})},
		Nodes: 1, Entries: 3, Seed: 1, Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Compact(broken(r.Found)), []string{family.UnaskedEntry}; !slices.Equal(got, want) || r.Entries != 3 {
		t.Errorf("%d entries, %v broken; want 3, and %v", r.Entries, got, want)
	}
}

// In a scenario such a process can leave, by a line or because it asks.
func TestUnaskedEntryInScenario(t *testing.T) {
	for _, lines := range []string{"P1 leaves\nP1 asks\nP1 leaves", "P1 asks\nP1 leaves"} {
		sc, err := scenario.Parse("", "algorithm eager\nprocesses 2\nschedule steps\n"+lines+"\n")
		if err != nil {
			t.Fatal(err)
		}
		b, err := Replay(eagerSpec(), sc, ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := broken(b.Violations), []string{family.UnaskedEntry}; !slices.Equal(got, want) {
			t.Errorf("%q: %v broken, want %v", lines, got, want)
		}
	}
}

// An aloof lock grants nothing.
type aloof struct{ eager }

func (*aloof) Request(*algorithm.Out[nothing]) {}

// When the time is over for which a process would have stayed that has gone out
// to ask, it still waits.
func TestUnaskedEntryEndsOnce(t *testing.T) {
	spec := algorithm.Spec{Name: "aloof", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &aloof{eager{self == 0}})
	})}
	sc, err := scenario.Parse("", "algorithm aloof\nprocesses 2\nhold 5\nat 2 P1 asks\n")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Replay(spec, sc, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := broken(b.Violations), []string{family.UnaskedEntry, family.LostRequest}; !slices.Equal(got, want) {
		t.Errorf("%v broken, want %v", got, want)
	}
}

// Nor does a stay that was cut short end the next one, which a line ends.
func TestStayEndsOnce(t *testing.T) {
	for _, lines := range []string{"at 2 P2 leaves", "at 2 crash P2\nat 3 restart P2"} {
		sc, err := scenario.Parse("", "algorithm eager\nprocesses 2\nat 1 P2 asks for 5\n"+lines+"\nat 4 P2 asks\nat 9 P2 leaves\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(eagerSpec(), sc, ReplayOptions{}); err != nil {
			t.Errorf("%q: %v", lines, err)
		}
	}
}
