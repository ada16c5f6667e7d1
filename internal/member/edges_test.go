package member

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// edges describes the edges that a member reports, without their order: node and transaction
// of both ends.
func (f *keptFleet) edges(i int, name string) []string {
	var all []string
	for _, e := range f.members[i].Edges(name) {
		if e.From.Lock != name || e.To.Lock != name {
			f.tb.Errorf("an edge of another lock: %+v", e)
		}
		how := "waits behind"
		if e.Holds {
			how = "waits for"
		}
		all = append(all, fmt.Sprintf("%s.%d %s %s.%d, %d of %d", e.From.Node, e.From.Tx, how, e.To.Node, e.To.Tx, e.Units, e.Spare))
	}
	slices.Sort(all)
	return all
}

// The home of a kept lock, and only that, knows who waits for whom: for holders, and behind
// requests that came before.
func TestEdges(t *testing.T) {
	f := newKeptFleet(t, "none", 3)
	name := f.at(1)
	tx := func(i int) string { return f.view.Members[i].Name + ".1" }
	shared := Terms{Mode: deadlock.Shared}
	r := f.want(0, name, shared)
	f.settle()
	if got := f.edges(1, name); got != nil {
		t.Errorf("edges before one waits: %v", got)
	}
	w := f.want(2, name, Terms{})
	f.settle()
	f.want(1, name, shared)
	f.settle()
	want := []string{tx(1) + " waits behind " + tx(2) + ", 1 of 0", tx(2) + " waits for " + tx(0) + ", 1 of 0"}
	slices.Sort(want)
	if got := f.edges(1, name); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, i := range []int{0, 2} {
		if got := f.edges(i, name); got != nil {
			t.Errorf("edges at a member that is not the home: %v", got)
		}
	}
	if got := f.edges(1, "unknown"); got != nil {
		t.Errorf("edges of an unknown lock: %v", got)
	}
	f.release(0, name, r)
	f.settle()
	if got, want := f.edges(1, name), []string{tx(1) + " waits for " + tx(2) + ", 1 of 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.release(2, name, w)
	f.settle()
	if got := f.edges(1, name); got != nil {
		t.Errorf("edges after all are granted: %v", got)
	}
}

// Edges of a semaphore have the units that the others hold, and how many may stay held.
func TestEdgesUnits(t *testing.T) {
	f := newKeptFleet(t, "none", 2)
	name := f.at(0)
	f.want(0, name, Terms{Mode: 2, Units: 5})
	f.want(1, name, Terms{Mode: 1, Units: 5})
	f.settle()
	f.want(1, name, Terms{Mode: 4, Units: 5})
	f.settle()
	a, b := f.view.Members[0].Name, f.view.Members[1].Name
	want := []string{
		fmt.Sprintf("%s.2 waits for %s.1, 2 of 1", b, a),
		fmt.Sprintf("%s.2 waits for %s.1, 1 of 1", b, b),
	}
	slices.Sort(want)
	if got := f.edges(0, name); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
