package member

import (
	"fmt"
	"testing"
)

// A part of a report lists as many locks as it has room for, and at least one. A lock that
// is held and waited for takes twice the room.
func TestPartsAreFilled(t *testing.T) {
	const one = 20 + 8 // bytes of a name, and what is added to it
	for _, x := range []struct {
		part int
		want []int // locks in each part
	}{{1, []int{1, 1, 1}}, {one, []int{1, 1, 1}}, {2*one - 1, []int{1, 1, 1}}, {2 * one, []int{2, 1}}, {3*one - 1, []int{2, 1}}, {3 * one, []int{3}}} {
		f := newFleet(t, "central", 2)
		m := f.members[0]
		m.Limits.Part = x.part
		for _, name := range homed(f.view, 1, 3, 20) {
			f.lock(0, name)
			f.settle()
		}
		if err := m.Install(0, f.next()); err != nil {
			t.Fatal(err)
		}
		all(m)
		var got []int
		for _, s := range f.sent(0) {
			got = append(got, len(s.Held))
		}
		if fmt.Sprint(got) != fmt.Sprint(x.want) {
			t.Errorf("parts of %d bytes list %v locks, want %v", x.part, got, x.want)
		}
	}
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Limits.Part = 3*one - 1
	for _, name := range homed(f.view, 1, 2, 20) {
		f.lock(0, name)
		f.settle()
		f.lock(0, name)
	}
	if err := m.Install(0, f.next()); err != nil {
		t.Fatal(err)
	}
	all(m)
	if n := len(f.sent(0)); n != 2 {
		t.Errorf("%d parts, want 2", n)
	}
}

// What need not be reported any more takes no room in a part: a hold that was released
// while another request waits here, and a request that was cancelled.
func TestVoidLocksTakeNoRoom(t *testing.T) {
	f, held, _ := parts(t, 3, 0)
	m := f.members[0]
	f.sent(0)
	if _, err := m.Lock(0, held[2], Ask{Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	f.release(0, held[2])
	f.sent(0)
	all(m)
	if got, want := text(f.sent(0)), fmt.Sprintf("REPORT[%s] []", held[1]); got != want {
		t.Errorf("the last part is %s, want %s", got, want)
	}

	f, _, waited := parts(t, 0, 4)
	m = f.members[0]
	f.sent(0)
	m.Limits.Part = 2 * (20 + 8)
	y, _ := m.Inspect(waited[1])
	if _, err := m.Lock(0, waited[1], Ask{Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	m.Cancel(0, y.Waiters[0].Ticket)
	f.sent(0)
	all(m)
	if got, want := text(f.sent(0)), fmt.Sprintf("REPORT[] [%s %s]", waited[2], waited[3]); got != want {
		t.Errorf("the last part is %s, want %s", got, want)
	}
}

// If one of two requests from an older epoch is cancelled before its part is made, the other
// one is still reported.
func TestPartKeepsTheOtherRequest(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Limits.Part = 1
	names := homed(f.view, 1, 2, 20)
	var first Ticket
	for _, name := range names {
		f.lock(1, name)
		f.settle()
		first = f.lock(0, name)
		f.lock(0, name)
		f.settle()
	}
	f.view = f.next()
	for _, m := range f.members {
		if err := m.Install(0, f.view); err != nil {
			t.Fatal(err)
		}
	}
	f.take(1)
	f.sent(0)
	m.Cancel(0, first)
	if got := text(f.sent(0)); got != "" {
		t.Errorf("it asks, though the home will lend: %s", got)
	}
	all(m)
	if got, want := text(f.sent(0)), fmt.Sprintf("REPORT[] [%s]", names[1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// After the only request from an older epoch is cancelled, when the home has heard of it,
// a later one waits for the loan.
func TestCancelledAfterItsPart(t *testing.T) {
	f, _, waited := parts(t, 0, 1)
	m := f.members[0]
	f.sent(0)
	y, _ := m.Inspect(waited[0])
	m.Cancel(0, y.Waiters[0].Ticket)
	if _, err := m.Lock(0, waited[0], Ask{Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	if got := text(f.sent(0)); got != "" {
		t.Errorf("it asks, though the home will lend: %s", got)
	}
	f.settle()
	f.unlock(1, waited[0])
	if f.settle(); !f.holds(0, waited[0]) {
		t.Error("the later request waits forever")
	}
}

// Queries about locks that are no longer in use do not gather while a survivor takes none.
func TestQueriesOfIdleLocks(t *testing.T) {
	f, _ := queries(t, 0)
	m := f.members[0]
	for _, name := range homed(f.view, 0, 3000, 20) {
		k, err := m.Lock(0, name, Ask{Deadline: Never})
		if err != nil {
			t.Fatal(err)
		}
		m.Cancel(0, k)
	}
	if n := len(m.epoch.queries); n > 1100 {
		t.Errorf("%d queries are kept for locks that are not in use", n)
	}
	if m.More(0, 2) {
		t.Error("a survivor is asked about a lock that no process wants")
	}
}
