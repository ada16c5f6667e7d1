package member

import (
	"slices"
	"testing"
)

// A snapshot shows which process holds a lock here, which ones wait and in which order,
// and what it waits for itself.
func TestInspect(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 4)
	v := f.next(4)
	v.Ghosts = []Ghost{{4, Second}}
	name := away(f.view, v, 0, 0)
	why := func(i int) Snapshot {
		y, ok := f.members[i].Inspect(name)
		if !ok {
			t.Fatalf("m%d does not know %s", i+1, name)
		}
		return y
	}
	if _, ok := f.members[1].Inspect("nobody's"); ok {
		t.Error("it shows what it does not know")
	}
	f.members[1].now = 70
	f.lock(1, name)
	f.settle()
	first, second := f.lock(1, name), f.lock(1, name)
	f.lock(2, name)
	f.settle()
	y := why(1)
	if y.Algorithm != "naimi-trehel" || y.Home.Inc != 1 || y.Here || !y.Cleared || y.Count != 1 || y.Carried {
		t.Errorf("it is %+v", y)
	}
	if h := y.Holder; h == nil || h.Token != (Token{1, 1}) || h.Since != 70 || h.Client != 0 || h.Carried {
		t.Errorf("it is held by %+v", y.Holder)
	}
	if len(y.Waiters) != 2 || y.Waiters[0].Ticket != first || y.Waiters[1].Ticket != second || y.Waiters[0].Since != 70 {
		t.Errorf("there wait %+v", y.Waiters)
	}
	if y := why(2); !y.Asked || y.Holder != nil || len(y.Waiters) != 1 {
		t.Errorf("m3 has asked, and says %+v", y)
	}
	f.install(v)
	f.hold(1)       // nothing has come to the home yet
	f.lock(0, name) // it is wanted there
	f.members[0].Out.Frames = nil
	y = why(0)
	if !y.Here || y.Cleared || len(y.Recovering) != 3 {
		t.Fatalf("the home says %+v", y)
	}
	if s := y.Recovering; s[0].Reason != Unreported || s[0].Name != "m2" || s[1].Name != "m3" || s[2].Reason != Ghostly ||
		s[2].Inc != 4 || s[2].Until != Instant(f.members[0].Settings.outwait(Second)) {
		t.Errorf("the home waits for %+v", s)
	}
	f.settle()
	y = why(0)
	if s := y.Recovering; len(s) == 0 || s[0].Reason != Holds || s[0].Inc != 2 {
		t.Errorf("the home waits for %+v", s)
	}
	if y.Queue != 2 {
		t.Errorf("%d members have waiters from the older view, want 2", y.Queue)
	}
	if y := why(1); !y.Carried || !y.Holder.Carried {
		t.Errorf("m2 says %+v", y)
	}
	f.unlock(1, name)
	f.settle()
	f.members[0].Wake(Instant(2 * Second))
	f.take(0)
	f.settle()
	if y := why(0); y.Lent == nil || !slices.Contains([]uint64{2, 3}, y.Lent.Inc) {
		t.Errorf("it is lent to %v", y.Lent)
	} else if b := why(int(y.Lent.Inc) - 1); !b.Borrows || b.Holder == nil {
		t.Errorf("the borrower says %+v", b)
	}
	seen := 0
	for y := range f.members[0].each {
		if y.Name == name {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("it is listed %d times", seen)
	}
}

// A home shows which processes it waits for, also the first member and each ghost, and
// whom it has lent the lock to.
func TestInspectRecovery(t *testing.T) {
	f := newFleet(t, "central", 5)
	v := f.next(4, 5)
	v.Ghosts = []Ghost{{4, Second}, {5, 2 * Second}}
	name := away(f.view, v, 4, 2) // no witness speaks for it
	f.lock(4, name)
	f.settle()
	f.lock(0, name)
	f.settle()
	f.install(v)
	f.lock(2, name)
	home := f.members[2]
	y, _ := home.Inspect(name)
	until := func(rest Span) Instant { return Instant(home.Settings.outwait(rest)) }
	want := []Suspect{{1, "m1", Unreported, 0, Never}, {2, "m2", Unreported, 0, Never}, {4, "", Ghostly, 0, until(Second)}, {5, "", Ghostly, 0, until(2 * Second)}}
	if !slices.Equal(y.Recovering, want) {
		t.Errorf("the home waits for %+v, want %+v", y.Recovering, want)
	}
	f.settle()
	home.Wake(until(2 * Second))
	f.take(2)
	if y, _ = home.Inspect(name); len(y.Recovering) > 0 || y.Lent == nil || y.Lent.Inc != 1 {
		t.Errorf("the home says %+v", y)
	}
}
