package member

import (
	"slices"
	"testing"
)

// All locks in use are listed, and no others, until the caller has seen enough.
func TestEach(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	for _, name := range []string{"a", "b", "c", "d"} {
		f.lock(0, name)
	}
	f.unlock(0, "b")
	named := func(most int) (names []string) {
		for q := range m.Queues {
			if names = append(names, string(q.Name)); len(names) == most {
				break
			}
		}
		return names
	}
	for most, want := range map[int][]string{9: {"a", "c", "d"}, 1: {"a"}, 2: {"a", "c"}} {
		if got := named(most); !slices.Equal(got, want) {
			t.Errorf("the first %d names are %v, want %v", most, got, want)
		}
	}
	m.Wake(5)
	f.lock(0, "c")
	m.Wake(6)
	f.lock(0, "c")
	m.Wake(7)
	f.lock(0, "e")
	for q := range m.Queues {
		waiting, since, entered := 0, Never, Instant(0)
		switch string(q.Name) {
		case "c":
			waiting, since = 2, 5
		case "e":
			entered = 7
		}
		if !q.Held || q.Entered != entered || q.Waiting != waiting || q.Since != since {
			t.Errorf("%s: held %v since %d, %d wait since %d, want %d, and %d since %d", q.Name, q.Held, q.Entered, q.Waiting, q.Since, entered, waiting, since)
		}
	}
	f.counts(t)
	lone, err := New(m.Config)
	if err != nil {
		t.Fatal(err)
	}
	for q := range lone.Queues {
		t.Errorf("before the first view %s is in use", q.Name)
	}
}

// each describes all locks that are in use here.
func (m *Member) each(yield func(Snapshot) bool) {
	for q := range m.Queues {
		if y, ok := m.Inspect(string(q.Name)); !ok || !yield(y) {
			return
		}
	}
}

// counts compares what members count with what they describe.
func (f *fleet) counts(t *testing.T) {
	t.Helper()
	for _, m := range f.members {
		held, waiting := 0, 0
		for y := range m.each {
			waiting += len(y.Waiters)
			if y.Holder != nil {
				held += 1 + len(y.Shared)
			}
		}
		if h, w := m.Counts(); h != held || w != waiting || held == 0 {
			t.Errorf("%d held and %d waiting, want %d and %d", h, w, held, waiting)
		}
	}
}

// A grant is not pending while a request here holds it, though others wait.
func TestUsedGrantIsNotPending(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	f.lock(0, name)
	f.lock(0, name)
	f.settle()
	if y, _ := f.members[0].Inspect(name); y.Holder == nil || len(y.Waiters) != 1 || y.Pending {
		t.Errorf("held by %+v, %d wait, pending %v", y.Holder, len(y.Waiters), y.Pending)
	}
}

// A ticket of a request that is over does not cancel the request that has its place now.
func TestOldTicketCancelsNothing(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	f.lock(0, "a")
	old := f.lock(0, "a")
	m.Cancel(0, old)
	if again := f.lock(0, "a"); uint32(again) != uint32(old) || again == old {
		t.Fatalf("ticket %#x after %#x", again, old)
	}
	m.Cancel(0, old)
	if y, _ := m.Inspect("a"); len(y.Waiters) != 1 {
		t.Errorf("%d wait, want 1", len(y.Waiters))
	}
}
