package member

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// away returns a name whose home in a view is the member of this rank, and in
// another one that of that.
func away(v, w View, home, then int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("lock-", i); v.Home(name) == home && w.Home(name) == then {
			return name
		}
	}
}

// A holder keeps its lock over a view change, and waiters are granted afterwards, in the
// order of first requests, whatever the algorithm becomes.
func TestCarried(t *testing.T) {
	for _, alg := range live() {
		for _, then := range live() {
			f := newFleet(t, alg, 4)
			v := f.next(4)
			v.Choices = []Choice{{"", then, 1}}
			for home := range 4 {
				carried(t, f, v, away(f.view, v, home, home%3))
			}
		}
	}
}

func carried(t *testing.T, f *fleet, v View, name string) {
	t.Helper()
	alg := f.view.Choices[0].Algorithm
	g := newFleet(t, alg, 4)
	g.lock(0, name)
	g.settle()
	g.lock(2, name)
	g.settle()
	g.lock(1, name)
	g.settle()
	g.lock(0, name)
	g.install(v)
	g.settle()
	if n := len(g.order(name)); n != 3 {
		t.Fatalf("%s, then %s: %d wait for %s, want 3", alg, v.Choices[0].Algorithm, n, name)
	}
	if !g.holds(0, name) {
		t.Fatalf("%s, then %s: %s is not held any more", alg, v.Choices[0].Algorithm, name)
	}
	for _, next := range g.order(name) {
		for i := range 3 {
			if g.holds(i, name) {
				g.unlock(i, name)
				break
			}
		}
		g.settle()
		if !g.holds(next, name) {
			t.Fatalf("%s, then %s: %s is not handed to m%d", alg, v.Choices[0].Algorithm, name, next+1)
		}
	}
}

// order returns the members with waiters, by when they first requested.
func (f *fleet) order(name string) []int {
	type one struct {
		stamp Stamp
		rank  int
	}
	var all []one
	for i, m := range f.members {
		y, _ := m.Inspect(name)
		for _, w := range y.Waiters {
			all = append(all, one{w.Stamp, i})
		}
	}
	slices.SortFunc(all, func(a, b one) int {
		if a.stamp.Less(b.stamp) {
			return -1
		}
		return 1
	})
	var ranks []int
	for _, x := range all {
		ranks = append(ranks, x.rank)
	}
	return ranks
}

// A member that leaves never enters again, and its lease delays no other member.
func TestLeave(t *testing.T) {
	for _, alg := range live() {
		f := newFleet(t, alg, 3)
		heard := told(f, 2)
		f.lock(2, "a")
		f.settle()
		f.lock(2, "a")
		f.lock(1, "a")
		f.members[2].Leave(0)
		f.take(2)
		f.settle()
		if len(*heard) != 3 || (*heard)[1].Kind != Lost || (*heard)[1].Cause != Leaving || (*heard)[2].Kind != Stopped {
			t.Fatalf("%s: who leaves hears %v", alg, *heard)
		}
		if !f.holds(1, "a") {
			t.Errorf("%s: who waited does not get it from one who leaves", alg)
		}
		if _, err := f.members[2].Lock(0, "b", Ask{Deadline: Never}); !errors.Is(err, ErrGone) {
			t.Errorf("%s: who has left asks again: %v", alg, err)
		}
		f.install(f.next(3))
		f.settle()
		f.lock(0, "b")
		f.settle()
		f.unlock(1, "a")
		f.lock(0, "a")
		f.settle()
		if !f.holds(0, "a") || !f.holds(0, "b") {
			t.Errorf("%s: without the leaver nobody gets it", alg)
		}
	}
}

// Idle names go away with a view of the same members, which is asked for.
func TestForget(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	m := f.members[0]
	m.Limits.Idle = 10
	for i := range 12 {
		f.lock(0, fmt.Sprint("idle", i))
		f.settle()
		f.unlock(0, fmt.Sprint("idle", i))
		f.settle()
		if want := i >= 10; m.Out.Forget != want {
			t.Errorf("after %d names: forget: %v", i+1, m.Out.Forget)
		}
	}
	f.lock(0, "kept")
	f.settle()
	f.install(f.next())
	f.settle()
	if known, _, _ := m.Known(); known != 1 || m.Out.Forget || !f.holds(0, "kept") {
		t.Errorf("%d names are known, forget %v", known, m.Out.Forget)
	}
}

// What is due at the time of a view change happens in the new view: no frame of the older
// one is left to be sent.
func TestInstallFirst(t *testing.T) {
	f := newFleet(t, "central", 3)
	m := f.members[0]
	f.lock(0, "a")
	f.settle()
	f.lock(2, "a")
	f.settle()
	m.lease = Instant(Second)
	v := f.next(3)
	if err := m.Install(2*Instant(Second), v); err != nil {
		t.Fatal(err)
	}
	if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Lost {
		t.Errorf("its lease is over, and it hears %v", m.Out.Events)
	}
	for i, x := range m.Out.Frames {
		if x.To == 3 || (frameKind(x.Bytes[0]) != reportFrame) == (i == 0) {
			t.Errorf("frame %d is a %v to %d", i, frameKind(x.Bytes[0]), x.To)
		}
	}
}

// A report of many locks goes in parts, and counts when the last one has come.
func TestLongReport(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 2)
	const many = 500
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("%0400d", i))
		f.lock(0, names[i])
		f.settle()
		f.lock(0, names[i])
	}
	f.install(f.next())
	parts, last := 0, 0
	for _, l := range f.mail {
		if s, err := Look(l.bytes); err != nil || s.Kind != "REPORT" || len(l.bytes) > f.members[0].Limits.Part+1200 {
			t.Fatalf("a %s of %d bytes, %v", s.Kind, len(l.bytes), err)
		} else if l.from == 1 {
			if parts++; !s.More {
				last++
			}
		}
	}
	if parts < 3 || last != 1 {
		t.Errorf("the report has %d parts, of which %d are the last", parts, last)
	}
	f.settle()
	for _, name := range names {
		f.unlock(0, name)
		f.settle()
		if !f.holds(0, name) {
			t.Fatalf("%s: who waited does not get it", name[390:])
		}
	}
}

// Under a loan, too, only a limited number of later requests enter in a row.
func TestLoanBound(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	f.unlock(0, name)
	f.settle()
	if !f.holds(1, name) {
		t.Fatal("it is not lent")
	}
	f.lock(2, name)
	f.settle()
	for i := 0; !f.holds(2, name); i++ {
		if i > f.members[1].Settings.Handover {
			t.Fatalf("%d enter in a row while another one waits", i)
		}
		f.lock(1, name)
		f.settle()
		f.unlock(1, name)
		f.settle()
	}
}

// Requests that waited at the home itself in an older view have their turn before it
// releases the lock, whatever the bound on handovers.
func TestOwnTurn(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	for _, m := range f.members {
		m.Settings.Handover = 1
	}
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(0, name)
	f.lock(0, name)
	f.settle()
	f.install(v)
	f.settle()
	f.lock(2, name) // it comes in the new view: it has to wait for both
	f.settle()
	f.unlock(1, name)
	f.settle()
	for i := range 2 {
		if !f.holds(0, name) {
			t.Fatalf("the home has let go after %d of two who waited at it", i)
		}
		f.unlock(0, name)
		f.settle()
	}
	if !f.holds(2, name) {
		t.Error("who came later does not get it")
	}
}
