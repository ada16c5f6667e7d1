package member

import (
	"fmt"
	"slices"
	"testing"
)

// A first request of which the algorithm tells the home nothing must reach it.
func TestTouch(t *testing.T) {
	stuck := func(x Misreading) (all []string) {
		for _, alg := range live() {
			for n := 2; n <= 9; n++ {
				for i := 1; i < n; i++ {
					f := newFleet(t, alg, n)
					for _, m := range f.members {
						Misread(m, x)
					}
					name := away(f.view, f.view, 0, 0)
					f.lock(i, name)
					if f.settle(); !f.holds(i, name) {
						all = append(all, fmt.Sprintf("%s: m%d of %d", alg, i+1, n))
					}
				}
			}
		}
		return all
	}
	if all := stuck(0); len(all) > 0 {
		t.Errorf("these wait for ever: %v", all)
	}
	if all := stuck(NoTouch); len(all) == 0 {
		t.Error("without TOUCH nobody waits for ever")
	} else {
		t.Logf("without TOUCH these wait for ever: %v", all)
	}
}

// Who reports after the home has let go is told to ask by the algorithm.
func TestDone(t *testing.T) {
	for _, x := range []Misreading{0, NoDone} {
		f := newFleet(t, "naimi-trehel", 3)
		v := f.next()
		name := away(f.view, v, 0, 0)
		f.lock(1, name)
		f.settle()
		f.lock(2, name) // it will report late
		f.settle()
		f.unlock(1, name)
		f.mail = nil // the token is lost with the epoch
		// The members 1 and 2 are in the new view. What member 2 has sent says that
		// the third one is not inside, nor can be: so the home may let go.
		for _, m := range f.members {
			Misread(m, x)
		}
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
		if got := f.holds(2, name); got != (x == 0) {
			t.Errorf("misreading %b: who reports late enters: %v", x, got)
		}
	}
}

// hold goes on until all that is under way is for one member, which is not there
// yet.
func (f *fleet) hold(inc uint64) {
	var kept []letter
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

// A grant that came without a lease is not reported as held: nobody would ever
// say that it was let go.
func TestPending(t *testing.T) {
	for _, x := range []Misreading{0, ReportsPending} {
		f := newFleet(t, "naimi-trehel", 3)
		v := f.next()
		name := away(f.view, v, 0, 0)
		Misread(f.members[1], x)
		f.lock(2, name)
		f.settle()
		k := f.lock(1, name)
		f.settle()
		f.members[1].lease = 0
		f.unlock(2, name)
		f.settle() // the token is where nobody may enter
		f.install(v)
		f.settle()
		f.members[1].Cancel(0, k)
		f.take(1)
		f.lock(2, name)
		f.settle()
		if got := f.holds(2, name); got != (x == 0) {
			t.Errorf("misreading %b: who asks in the new view enters: %v", x, got)
		}
	}
}

// A process that starts again is another one. Under its old incarnation it would
// be taken for one that remembers, and would let somebody in beside the holder.
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

// Who was not in the view before knows nothing of it: there somebody may have
// entered who could not in the view that the witness knows.
func TestWitness(t *testing.T) {
	for _, x := range []Misreading{0, AnyWitness} {
		f := newFleet(t, "ricart-agrawala", 4)
		for _, m := range f.members {
			Misread(m, x)
		}
		name := away(f.view, f.view, 0, 0)
		f.lock(1, name)
		f.settle()
		f.lock(3, name) // it waits: nobody can enter without it
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
		if got := f.holds(3, name); got != (x != 0) {
			t.Errorf("misreading %b: m4 is inside beside the ghost of m1: %v", x, got)
		}
	}
}

// A leaver that has not promised anything enters by a grant that was under way,
// and nobody suspects it.
func TestLeaverEnters(t *testing.T) {
	for _, x := range []Misreading{0, LeaverEnters} {
		f := newFleet(t, "naimi-trehel", 3)
		Misread(f.members[2], x)
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
		f.mail = slices.DeleteFunc(f.mail, func(l letter) bool { return l.from == 3 })
		f.lock(0, name)
		f.settle()
		if both := f.holds(0, name) && f.holds(2, name); both != (x != 0) || !f.holds(0, name) {
			t.Errorf("misreading %b: two are inside: %v", x, both)
		}
	}
}
