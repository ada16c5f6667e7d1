package member

import (
	"slices"
	"strings"
	"testing"
)

// A member explains which process holds a lock here, which ones wait and in which order,
// and what it waits for itself.
func TestExplain(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 4)
	v := f.next(4)
	v.Ghosts = []Ghost{{4, Second}}
	name := away(f.view, v, 0, 0)
	why := func(i int) Why {
		y, ok := f.members[i].Explain(name)
		if !ok {
			t.Fatalf("m%d does not know %s", i+1, name)
		}
		return y
	}
	if _, ok := f.members[1].Explain("nobody's"); ok {
		t.Error("it explains what it does not know")
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
	for y := range f.members[0].Each {
		if y.Name == name {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("it is listed %d times", seen)
	}
}

// A home explains which processes it waits for, also the first member and each ghost, and
// whom it has lent the lock to.
func TestExplainRecovery(t *testing.T) {
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
	y, _ := home.Explain(name)
	until := func(rest Span) Instant { return Instant(home.Settings.outwait(rest)) }
	want := []Suspect{{1, "m1", Unreported, 0, Never}, {2, "m2", Unreported, 0, Never}, {4, "", Ghostly, 0, until(Second)}, {5, "", Ghostly, 0, until(2 * Second)}}
	if !slices.Equal(y.Recovering, want) {
		t.Errorf("the home waits for %+v, want %+v", y.Recovering, want)
	}
	f.settle()
	home.Wake(until(2 * Second))
	f.take(2)
	if y, _ = home.Explain(name); len(y.Recovering) > 0 || y.Lent == nil || y.Lent.Inc != 1 {
		t.Errorf("the home says %+v", y)
	}
}

// A member says what its algorithm waits for, and from which members.
func TestExplainNeeds(t *testing.T) {
	for _, c := range []struct {
		algorithm, needs string
		from             []uint64 // whom the third member waits for; the second is inside
	}{
		{"ricart-agrawala", "OK", []uint64{2}},
		{"carvalho-roucairol", "OK", []uint64{2}},
		{"central", "GRANT", []uint64{1}},
		{"raymond", "PRIVILEGE", []uint64{1}},
		{"suzuki-kasami", "", nil},
	} {
		f := newFleet(t, c.algorithm, 3)
		name := away(f.view, f.view, 0, 0)
		f.lock(1, name)
		f.settle()
		f.lock(2, name)
		f.settle()
		y, _ := f.members[2].Explain(name)
		var from []uint64
		for _, w := range y.From {
			from = append(from, w.Inc)
		}
		if !y.Asked || y.Needs != c.needs || !slices.Equal(from, c.from) {
			t.Errorf("%s: it needs %q from %v, want %q from %v", c.algorithm, y.Needs, from, c.needs, c.from)
		}
		f.unlock(1, name)
		f.settle()
		if y, _ := f.members[2].Explain(name); y.Holder == nil || y.Needs != "" {
			t.Errorf("%s: it has the lock, and needs %q", c.algorithm, y.Needs)
		}
	}
}

// A member says by which decisions of its algorithm others wait, as long as they stand.
func TestDecided(t *testing.T) {
	for _, c := range []struct{ algorithm, inside string }{
		{"ricart-agrawala", "m2 defers m3, because it is inside"},
		{"suzuki-kasami", "m2 notes request 1 of m3, because it is inside"},
		{"naimi-trehel", "m2 will pass the token to m3 when it leaves"},
	} {
		f := newFleet(t, c.algorithm, 3)
		name := away(f.view, f.view, 0, 0)
		decided := func() string {
			y, _ := f.members[1].Explain(name)
			var all []string
			for _, d := range y.Decided {
				if d.Who.Inc == 3 {
					all = append(all, d.Text)
				}
			}
			return strings.Join(all, "; ")
		}
		f.lock(1, name)
		f.settle()
		if got := decided(); got != "" {
			t.Errorf("%s: before the third member asks: %s", c.algorithm, got)
		}
		f.lock(2, name)
		f.settle()
		if got := decided(); got != c.inside {
			t.Errorf("%s: decided %q, want %q", c.algorithm, got, c.inside)
		}
		for !f.holds(2, name) {
			f.lock(1, name) // in the end its turn is after that of the third member
			f.unlock(1, name)
			f.settle()
		}
		y, _ := f.members[1].Explain(name)
		if got := decided(); got != "" || len(y.Waiters) != 1 {
			t.Errorf("%s: after it has left, with %d that wait: %q", c.algorithm, len(y.Waiters), got)
		}
	}
}

// Two members that ask at the same time compare their stamps.
func TestDecidedByStamp(t *testing.T) {
	f := newFleet(t, "ricart-agrawala", 3)
	name := away(f.view, f.view, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(0, name) // waits for the second, and is before the third
	f.settle()
	f.lock(2, name)
	f.settle()
	y, _ := f.members[0].Explain(name)
	if len(y.Decided) != 1 || y.Decided[0].Who.Inc != 3 || !strings.HasPrefix(y.Decided[0].Text, "m1 defers m3, because (") || !strings.Contains(y.Decided[0].Text, ",m1) comes before (") {
		t.Errorf("the first member decided %+v", y.Decided)
	}
}
