package member

import "testing"

// A member is woken when the first of these is due: the next renewal, the end of a ghost's
// lease, its own deadline.
func TestWakesForTheFirst(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Wake(100)
	if m.Out.Wake != m.renewAt || m.renewAt > 100+Instant(m.Settings.Renew) {
		t.Errorf("it is woken at %d, and the next renewal is due at %d", m.Out.Wake, m.renewAt)
	}
	v := f.next(2)
	v.Ghosts = []Ghost{{2, Millisecond}}
	if err := m.Install(100, v); err != nil {
		t.Fatal(err)
	}
	if want := 100 + Instant(m.Settings.outwait(Millisecond)); m.Out.Wake != want {
		t.Errorf("it is woken at %d, and the ghost's lease expires at %d", m.Out.Wake, want)
	}
	m.lease = m.margin + 200
	if m.Wake(101); m.Out.Wake != 200 {
		t.Errorf("it is woken at %d, and its deadline is 200", m.Out.Wake)
	}
}

// Locks in use are not idle, however many they are.
func TestLocksInUseAreNotForgotten(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	m.Limits.Idle = 2
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if f.lock(0, name); m.Out.Forget {
			t.Errorf("a new view is requested to forget %s, which is held", name)
		}
	}
}

// When the lease ends, only holders lose their locks: not those that wait, and nothing is
// left of what was released before. The same holds for a member that leaves.
func TestOnlyHoldersLose(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		f := newFleet(t, "central", 2)
		m := f.members[0]
		if _, err := m.Renew(0, 7, Second); err != nil {
			t.Fatal(err)
		}
		names := homed(f.view, 1, 3, 8)
		released, waited, held := names[0], names[1], names[2]
		f.lock(1, waited)
		f.settle()
		f.lock(0, released)
		f.settle()
		f.lock(0, waited)
		if _, err := m.Lock(0, held, Ask{Client: 7, Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		f.take(0)
		f.settle()
		f.unlock(0, released)
		f.settle()
		heard := told(f, 0)
		if leaves {
			m.Leave(0)
		} else {
			m.lease = m.margin + 10
			m.Wake(10)
		}
		f.take(0)
		lost := 0
		for _, e := range *heard {
			if e.Kind == Lost {
				lost++
			}
		}
		if lost != 1 {
			t.Errorf("leaves %v: heard %v, want that one lock is lost", leaves, *heard)
		}
		*heard = nil
		m.Close(m.now, 7)
		if f.take(0); len(*heard) > 0 {
			t.Errorf("leaves %v: the client has lost its lock, and hears %v when it closes its session", leaves, *heard)
		}
		m.Wake(m.lease)
		f.take(0)
		f.settle()
		if !leaves {
			if f.lock(1, held); f.holds(1, held) {
				t.Error("the lock is passed on before a renewal is confirmed")
			}
			f.settle()
			m.Renewed(m.now, m.renewal)
			f.take(0)
			f.settle()
		}
		if m.Inside() != 0 {
			t.Errorf("leaves %v: %d inside when the lease has expired", leaves, m.Inside())
		}
		if leaves {
			f.lock(1, held)
		}
		f.settle()
		if !f.holds(1, held) || f.holds(0, waited) {
			t.Errorf("leaves %v: the next member holds it: %v; the waiter is inside: %v", leaves, f.holds(1, held), f.holds(0, waited))
		}
	}
}

// A lock that was lost is passed on when the lease has expired by which it was held, even if
// the lease is renewed meanwhile and is about to expire again.
func TestLossIsNotPostponed(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.margin = Instant(5 * Second)
	m.lease = Instant(10 * Second)
	name := away(f.view, f.view, 1, 1)
	f.lock(0, name)
	f.settle()
	f.lock(1, name)
	f.settle()
	m.Wake(m.deadline())
	f.take(0)
	m.lease = Instant(12 * Second) // renewed
	m.Wake(m.deadline())           // and not again
	f.take(0)
	f.settle()
	if f.holds(1, name) {
		t.Error("it is passed on before the lease has expired")
	}
	m.Wake(Instant(10 * Second))
	f.take(0)
	f.settle()
	if !f.holds(1, name) {
		t.Error("it is not passed on when the lease has expired")
	}
}

// An evicted member sends nothing: the others are in a view without it.
func TestEvictedMemberIsSilent(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	f.lock(0, name)
	f.settle()
	m := f.members[0]
	m.Gone(0)
	if len(m.Out.Frames) > 0 {
		t.Errorf("%d frames are sent", len(m.Out.Frames))
	}
	if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Lost || m.Out.Events[0].Cause != Evicted {
		t.Errorf("its holder hears %v", m.Out.Events)
	}
}

// Every frame carries its sender's logical clock, so that later requests come after it.
func TestFramesCarryTheClock(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	f.members[0].clock = 40
	f.lock(0, name)
	f.settle()
	if f.members[1].clock < 41 || !f.holds(0, name) {
		t.Errorf("a request was made at 41, and the home's clock is %d", f.members[1].clock)
	}
}
