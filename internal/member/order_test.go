package member

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// Stamps are in one order, and none is before itself.
func TestStampOrder(t *testing.T) {
	const most = 1<<64 - 1
	all := []Stamp{{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {2, 1, 1}, {2, 1, 3}, {2, 4, 1}, {most - 1, most, most}, lastStamp()}
	for i, a := range all {
		for j, b := range all {
			if a.Less(b) != (i < j) {
				t.Errorf("%v before %v: %v", a, b, a.Less(b))
			}
		}
	}
}

// The choice with the longest prefix serves a name, in whatever order the choices are.
func TestChooseTheLongest(t *testing.T) {
	if got := (&View{Choices: []Choice{{"", "central", 1}}}).Choose("a"); got != 0 {
		t.Errorf("the only choice is number %d", got)
	}
	want := map[string]string{"a": "", "x": "", "x/a": "x/", "x/y/a": "x/y/", "y": ""}
	prefixes := []string{"", "x/", "x/y/"}
	for first := range prefixes {
		for _, swap := range []bool{false, true} {
			v := View{}
			for i := range prefixes {
				v.Choices = append(v.Choices, Choice{Prefix: prefixes[(first+i)%3]})
			}
			if swap {
				v.Choices[1], v.Choices[2] = v.Choices[2], v.Choices[1]
			}
			for name, prefix := range want {
				if i := v.Choose(name); i < 0 || v.Choices[i].Prefix != prefix {
					t.Errorf("of %v number %d is chosen for %s", v.Choices, i, name)
				}
			}
		}
	}
}

// A borrower returns a lock when the next waiter at another member has its turn, and gets it
// back for those of its own that came later: waiters from older views enter in the order of
// their first requests, wherever they are.
func TestLoansFollowTheOrder(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	var want []Ticket
	for i, rank := range []int{1, 2, 1, 0, 1, 1} {
		for _, m := range f.members {
			m.clock = 10 * uint64(i+1) // so that the order is this one
		}
		want = append(want, f.lock(rank, name))
		f.settle()
	}
	f.install(v)
	f.settle()
	var got []Ticket
	f.events = func(rank int, e Event) {
		if e.Kind == Held {
			got = append(got, e.Ticket)
		}
	}
	f.unlock(0, name)
	f.settle()
	for range want {
		for i := range f.members {
			if f.holds(i, name) {
				f.unlock(i, name)
				f.settle()
				break
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("entered: %v, want %v", got, want)
	}
	if f.frames["LEND"] != 4 || f.frames["RETURN"] != 4 {
		t.Errorf("%d loans and %d returns, want 4", f.frames["LEND"], f.frames["RETURN"])
	}
}

// After an entry that the algorithm has granted, so many local waiters enter in a row as the
// settings say, and then another member; and those that are left ask again.
func TestGrantsAreHandedOver(t *testing.T) {
	f := newFleet(t, "central", 3)
	name := away(f.view, f.view, 2, 2)
	f.members[0].Settings.Handover = 3
	for range 7 {
		f.lock(0, name)
	}
	f.settle()
	f.lock(1, name)
	f.settle()
	for _, want := range []int{3, 3, 1} {
		entered := 0
		for ; f.holds(0, name); f.settle() {
			entered++
			f.unlock(0, name)
		}
		if entered != want {
			t.Errorf("%d enter in a row, want %d", entered, want)
		}
		if f.holds(1, name) {
			f.unlock(1, name)
			f.lock(1, name)
			f.settle()
		}
	}
}

// A borrower that returns a lock because of the bound on handovers asks for the waiters that
// are left.
func TestBorrowerAsksAgain(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.members[1].Settings.Handover = 2
	f.lock(0, name)
	f.settle()
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	f.unlock(0, name)
	f.settle()
	for range 3 {
		f.lock(1, name)
	}
	for range 4 {
		if !f.holds(1, name) {
			t.Fatal("a waiter that came during the loan waits forever")
		}
		f.unlock(1, name)
		f.settle()
	}
}

// A strict machine reports inputs that a host must not give it.
type strict struct {
	algorithm.Machine
	t *testing.T
}

func (x *strict) Step(in host.Input, out *host.Output) error {
	err := x.Machine.Step(in, out)
	if errors.Is(err, host.ErrHost) {
		x.t.Errorf("input %v: %v", in.Kind, err)
	}
	return err
}

// A member asks its algorithm once for all requests that wait, and not again for those that
// come after a cancelled one.
func TestMachinesAreAskedOnce(t *testing.T) {
	for _, alg := range live() {
		f := newFleet(t, alg, 3)
		for _, m := range f.members {
			for i, machine := range m.epoch.schools[0].machines {
				m.epoch.schools[0].machines[i] = &strict{machine, t}
			}
		}
		name := away(f.view, f.view, 1, 1)
		f.lock(2, name)
		f.settle()
		first := f.lock(0, name)
		f.lock(0, name)
		f.settle()
		second := f.lock(0, name)
		for _, k := range []Ticket{first, second} {
			f.members[0].Cancel(0, k)
			f.take(0)
			f.lock(0, name)
			f.settle()
		}
		f.unlock(2, name)
		f.settle()
		for range 3 {
			if !f.holds(0, name) {
				t.Fatalf("%s: a request waits forever", alg)
			}
			f.unlock(0, name)
			f.settle()
		}
	}
}

// Cancelling does not affect a held lock, and no token releases a lock that is not held.
func TestOnlyTheHolderReleases(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	m := f.members[0]
	k := f.lock(0, name)
	if err := m.Unlock(0, name, Token{}); !errors.Is(err, ErrNotHeld) {
		t.Errorf("a lock that is waited for is released: %v", err)
	}
	f.settle()
	m.Cancel(0, k)
	if f.take(0); !f.holds(0, name) {
		t.Error("a held lock is cancelled")
	}
	f.unlock(0, name)
	if f.settle(); m.Inside() != 0 {
		t.Errorf("%d inside", m.Inside())
	}
}

// A hold that was carried over is released once. The next holder here is not carried over.
func TestCarriedHoldIsReleasedOnce(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 1, 1)
	f.lock(0, name)
	f.settle()
	f.lock(0, name)
	f.install(v)
	f.settle()
	f.unlock(0, name)
	f.settle()
	if y, _ := f.members[0].Inspect(name); y.Holder == nil || y.Holder.Carried {
		t.Errorf("the next holder is %+v", y.Holder)
	}
	f.unlock(0, name)
	if f.settle(); f.frames["RELEASED"] != 1 {
		t.Errorf("RELEASED is sent %d times", f.frames["RELEASED"])
	}
}
