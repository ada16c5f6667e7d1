package member

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A greedy machine enters again, unasked, when it is first released. No live
// algorithm does that, but algorithm.Machine allows it.
type greedy struct {
	algorithm.Machine
	released bool
}

func (g *greedy) Step(in host.Input, out *host.Output) error {
	if in.Kind != host.Release {
		return g.Machine.Step(in, out)
	}
	if g.released {
		out.Reset()
		return nil
	}
	g.released = true
	err := g.Machine.Step(in, out)
	out.Entered = true
	return err
}

// makeGreedy replaces the machine of a lock at a member.
func makeGreedy(t *testing.T, m *Member, name string) {
	e := m.epoch
	n := lockOf(e, name)
	machine, err := e.machine(n)
	if err != nil {
		t.Fatal(err)
	}
	l := e.table.lock(n)
	e.schools[l.alg].machines[e.seat(l)] = &greedy{Machine: machine}
}

// A step may end the use of a lock while a caller still refers to it. The caller
// must not settle it again: by then it belongs to no lock, or to another one.
func TestUseEndsWithinStep(t *testing.T) {
	t.Run("home releases", func(t *testing.T) {
		f := newFleet(t, "central", 3)
		check := first(t, f)
		name := away(f.view, f.view, 0, 0)
		makeGreedy(t, f.members[0], name)
		f.lock(1, name)
		f.settle()
		check()
	})
	t.Run("last local holder releases", func(t *testing.T) {
		f := newFleet(t, "central", 3)
		check := first(t, f)
		name := away(f.view, f.view, 1, 1)
		f.lock(0, name)
		f.settle()
		makeGreedy(t, f.members[0], name)
		f.unlock(0, name)
		check()
	})
}

// first has the first member hold a lock that is number 0 there, the number that
// a use without a lock once had. It returns a check that nothing has touched it.
func first(t *testing.T, f *fleet) (check func()) {
	m, name := f.members[0], away(f.view, f.view, 2, 2)
	f.lock(0, name)
	f.settle()
	if n := find(&m.epoch.table, name, hashName(name)); n != 0 {
		t.Fatalf("%s is lock %d, want 0", name, n)
	}
	return func() {
		if !f.holds(0, name) {
			t.Error("another lock was settled in its place")
		}
		seen := map[*use]bool{nil: true}
		for _, u := range slices.Concat(m.epoch.spare, m.epoch.uses) {
			if u != nil && seen[u] {
				t.Error("one use serves two locks")
			}
			seen[u] = true
		}
	}
}
