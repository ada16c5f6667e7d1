package member

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A member that is about to leave refuses waiting requests of its own process, and notifies
// them at once. Holders keep their locks, and clients continue.
func TestDrain(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	if _, err := m.Renew(0, 7, Second); err != nil {
		t.Fatal(err)
	}
	got := told(f, 0)
	f.lock(0, "a")
	f.settle()
	waits := []Ticket{f.lock(0, "a"), f.lock(0, "a")}
	client, err := m.Lock(0, "a", Ask{Client: 7, Deadline: Never})
	if err != nil {
		t.Fatal(err)
	}
	late, err := m.Lock(0, "a", Ask{Deadline: Instant(Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	f.take(0)
	*got = nil
	m.Drain(0)
	if m.Out.Wake <= Instant(Millisecond) {
		t.Errorf("it is woken at %d for a deadline that is off", m.Out.Wake)
	}
	f.take(0)
	var stopped []Ticket
	for _, e := range *got {
		if e.Kind != Stopped || e.Cause != Leaving {
			t.Errorf("%+v", e)
		}
		stopped = append(stopped, e.Ticket)
	}
	slices.Sort(stopped)
	if want := []Ticket{waits[0], waits[1], late}; !slices.Equal(stopped, want) {
		t.Errorf("%v are stopped, want %v", stopped, want)
	}
	if !f.holds(0, "a") || m.Inside() != 1 {
		t.Errorf("it is held: %v, %d are inside", f.holds(0, "a"), m.Inside())
	}
	f.unlock(0, "a")
	if y, _ := m.Inspect("a"); y.Holder == nil || y.Holder.Ticket != client {
		t.Errorf("the client does not enter: %+v", y)
	}
}

// Until a member has seen a view nothing is held through it. A hold that was lost
// counts as long as it may be acted on.
func TestInside(t *testing.T) {
	m, err := New(Config{Inc: 1, Settings: Usual(), Spec: specs})
	if err != nil || m.Inside() != 0 {
		t.Fatalf("%v, %d inside", err, m.Inside())
	}
	f := newFleet(t, "central", 1)
	m = f.members[0]
	f.lock(0, "a")
	f.lock(0, "b")
	if m.Inside() != 2 {
		t.Errorf("%d inside", m.Inside())
	}
	m.lease = Instant(10 * Second)
	if m.Wake(m.deadline()); m.Inside() != 2 {
		t.Errorf("%d inside before the lease expires", m.Inside())
	}
	if m.Wake(m.lease); m.Inside() != 0 {
		t.Errorf("%d inside after the lease has expired", m.Inside())
	}
}

// The same holds for kept locks, shared ones included, of the member's own process and of
// clients.
func TestInsideKept(t *testing.T) {
	f := newKeptFleet(t, "none", 1)
	m := f.members[0]
	if _, err := m.Renew(0, 7, 100*Second); err != nil {
		t.Fatal(err)
	}
	held := f.want(0, "a", Terms{})
	f.want(0, "b", Terms{Mode: deadlock.Shared})
	if _, err := m.Lock(0, "b", Ask{Client: 7, Deadline: Never, Terms: Terms{Mode: deadlock.Shared}}); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	if m.Inside() != 3 {
		t.Errorf("%d inside", m.Inside())
	}
	m.lease = Instant(10 * Second)
	m.Wake(m.deadline())
	f.take(0)
	if f.is(held, Lost, Lease); m.Inside() != 3 {
		t.Errorf("%d inside before the lease expires", m.Inside())
	}
	if m.Wake(m.lease); m.Inside() != 0 {
		t.Errorf("%d inside after the lease has expired", m.Inside())
	}
}

// A lost lock that its application has released no longer counts, while others do.
func TestInsideAfterRelease(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	heard := told(f, 0)
	for _, name := range []string{"a", "b", "b"} { // another request waits for b
		f.lock(0, name)
	}
	f.lock(0, "c")
	f.unlock(0, "c") // it is no longer in use
	m.lease = Instant(10 * Second)
	m.Wake(m.deadline())
	f.take(0)
	if err := m.Unlock(m.now, "b", (*heard)[1].Token); !errors.Is(err, ErrNotHeld) {
		t.Fatalf("unlocking what is lost: %v", err)
	}
	if m.Inside() != 1 {
		t.Errorf("%d inside, want 1", m.Inside())
	}
}

// When a member leaves, the claims of its own clients end. Those that wait or were honoured
// here as the home are not its clients'.
func TestLeaveWithClaims(t *testing.T) {
	for _, atHome := range []bool{false, true} {
		c := newClaimed(t, "central", false, false)
		who := c.b
		if atHome {
			who = c.home
		}
		c.install(c.then)
		c.settle()
		c.claim()
		if atHome {
			c.settle()
		}
		heard := told(c.fleet, who)
		c.members[who].Leave(0)
		c.take(who)
		if got := len(*heard) == 1 && (*heard)[0].Kind == Stopped && (*heard)[0].Cause == Leaving; got == atHome || atHome && len(*heard) > 0 {
			t.Errorf("the home leaves %v: %v", atHome, *heard)
		}
	}
}
