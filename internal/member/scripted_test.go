package member

import (
	"fmt"
	"slices"
	"testing"
)

// A first request of which the algorithm sends the home nothing still reaches it.
func TestTouch(t *testing.T) {
	for _, alg := range live() {
		for n := 2; n <= 9; n++ {
			for i := 1; i < n; i++ {
				f := newFleet(t, alg, n)
				name := away(f.view, f.view, 0, 0)
				f.lock(i, name)
				if f.settle(); !f.holds(i, name) {
					t.Errorf("%s: m%d of %d waits forever", alg, i+1, n)
				}
			}
		}
	}
}

// A member that reports after the home has released the lock is notified to use the
// algorithm.
func TestDone(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(2, name) // it will report late
	f.settle()
	f.unlock(1, name)
	f.mail = nil // the token is lost with the epoch
	// Members 1 and 2 are in the new view. What member 2 has sent rules out that the third
	// one is inside or can enter, so the home may release the lock.
	for i := range 2 {
		if err := f.members[i].Install(0, v); err != nil {
			t.Fatal(err)
		}
		f.take(i)
	}
	f.view = v
	f.members[0].frozen, f.members[1].frozen = nil, nil
	u := f.members[0].epoch.use(lockOf(f.members[0].epoch, name))
	u.may = set{} // as witnesses may have said
	f.lock(1, name)
	f.hold(3)
	if !f.holds(1, name) {
		t.Fatal("the home does not let go")
	}
	f.unlock(1, name)
	f.hold(3)
	if err := f.members[2].Install(0, v); err != nil {
		t.Fatal(err)
	}
	f.take(2)
	f.settle()
	if !f.holds(2, name) {
		t.Error("a member that reports late waits forever")
	}
}

// hold continues until everything in flight is for one member, which has not joined yet.
func (f *fleet) hold(inc uint64) {
	var kept []posted
	for len(f.mail) > 0 {
		l := f.mail[0]
		f.mail = slices.Delete(f.mail, 0, 1)
		if l.to == inc {
			kept = append(kept, l)
			continue
		}
		f.deliver(l)
	}
	f.mail = kept
}

// A grant that came without a lease is not reported as held, because no RELEASED would
// ever follow.
func TestPending(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(2, name)
	f.settle()
	k := f.lock(1, name)
	f.settle()
	f.members[1].lease = 0
	f.unlock(2, name)
	f.settle() // the token is where no process may enter
	f.install(v)
	f.settle()
	f.members[1].Cancel(0, k)
	f.take(1)
	f.lock(2, name)
	f.settle()
	if !f.holds(2, name) {
		t.Error("a request in the new view waits forever")
	}
}

// A report in parts counts when its last part has come. Until then its sender may be
// inside any lock.
func TestFirstPart(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	last := "" // lock that m1 holds and whose home is m2
	for i := range 400 {
		name := fmt.Sprintf("%0400d", i)
		if f.lock(0, name); v.Home(name) == 1 {
			last = name
		}
		f.settle()
	}
	f.install(v)
	parts := slices.DeleteFunc(slices.Clone(f.mail), func(l posted) bool { return l.from != 1 })
	if len(parts) < 3 {
		t.Fatalf("the report has %d parts, want more", len(parts))
	}
	f.mail = nil
	f.lock(1, last)
	for _, l := range parts {
		if f.deliver(l); f.holds(1, last) {
			t.Fatal("m2 is inside beside m1")
		}
	}
	f.unlock(0, last)
	f.settle()
	if !f.holds(1, last) {
		t.Error("m2 waits forever")
	}
}

// A process that restarts is another one. Under its old incarnation it would be taken for
// one that remembers, and would let another process enter beside the holder.
func TestSameIncarnation(t *testing.T) {
	for _, same := range []bool{true, false} {
		f := newFleet(t, "central", 3)
		name := away(f.view, f.view, 1, 1)
		f.lock(0, name)
		f.settle()
		if !f.holds(0, name) {
			t.Fatal("nobody is inside")
		}
		f.mail = nil
		inc := uint64(2)
		if !same {
			inc = 4
		}
		again, err := New(Config{Inc: inc, Settings: Usual(), Spec: specs})
		if err != nil {
			t.Fatal(err)
		}
		again.lease = Never - 1
		if same {
			f.members[1] = again
			if err := again.Install(0, f.view); err != nil {
				t.Fatal(err)
			}
		} else {
			f.members = append(f.members, again)
			v := f.next(2)
			v.Members = append(v.Members, Who{"m2", inc})
			v.Ghosts = []Ghost{{2, 0}}
			f.install(v)
		}
		f.lock(2, name)
		f.settle()
		if both := f.holds(0, name) && f.holds(2, name); both != same {
			t.Errorf("the same incarnation: %v; two are inside: %v", same, both)
		}
	}
}

// A member that was not in the view before is no witness of it: another process may
// have entered there that could not in the last view that the member knows.
func TestWitness(t *testing.T) {
	f := newFleet(t, "ricart-agrawala", 4)
	name := away(f.view, f.view, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(3, name) // it waits: no process can enter without it
	f.settle()
	v := f.next()
	for i := range 3 { // m4 does not see this view
		if err := f.members[i].Install(0, v); err != nil {
			t.Fatal(err)
		}
		f.take(i)
	}
	f.view = v
	f.hold(4)
	f.lock(0, name)
	f.hold(4)
	f.unlock(1, name)
	f.hold(4)
	if !f.holds(0, name) {
		t.Fatal("the home does not enter, though m2 knows that m4 is not inside")
	}
	v = f.next(1)
	v.Ghosts = []Ghost{{1, 10 * Second}}
	f.members[0].Gone(0)
	f.install(v)
	f.settle()
	if f.holds(3, name) {
		t.Error("m4 is inside beside the ghost of m1")
	}
}

// A member whose hold is lost, and which may still act until its lease expires, is a
// witness against itself: it was the home, and its old instance knows of no holder.
func TestLapsedWitness(t *testing.T) {
	f := newFleet(t, "central", 2)
	joiner, err := New(Config{Inc: 3, Settings: Usual(), Spec: specs})
	if err != nil {
		t.Fatal(err)
	}
	joiner.lease = Never - 1
	f.members = append(f.members, joiner)
	v := f.next()
	v.Members = append(v.Members, Who{"m3", 3})
	name := away(f.view, v, 0, 2)
	f.lock(0, name)
	m := f.members[0]
	m.lease = Instant(10 * Second)
	m.Wake(m.deadline())
	f.take(0)
	f.install(v)
	f.mail = slices.DeleteFunc(f.mail, func(l posted) bool { return l.from == 2 && l.to == 1 }) // m1 still needs its old epoch
	f.lock(2, name)
	f.settle()
	if f.holds(2, name) {
		t.Fatal("m3 is inside while m1 may still act")
	}
	m.Wake(m.lease)
	f.take(0)
	f.settle()
	if !f.holds(2, name) {
		t.Error("m3 waits forever")
	}
}

// A leaver does not enter by a grant that was in flight: no home suspects it.
func TestLeaverEnters(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next(3)
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(2, name)
	f.settle()
	f.members[2].Leave(0)
	f.take(2)
	f.unlock(1, name)
	grant := f.mail
	f.install(v)
	for _, l := range grant { // the leaver is still in the old view
		f.deliver(l)
	}
	f.mail = slices.DeleteFunc(f.mail, func(l posted) bool { return l.from == 3 })
	f.lock(0, name)
	f.settle()
	if !f.holds(0, name) || f.holds(2, name) {
		t.Errorf("m1 is inside: %v; m3, which leaves: %v", f.holds(0, name), f.holds(2, name))
	}
}
