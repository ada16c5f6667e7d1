package member

import "testing"

// After a death a kept lock that the dead never touched is granted at once, if its home
// stays: before others have reported, and before the lease of the dead has ended. It is also
// where the home has only been asked in the view before, or never.
func TestKeptTestimony(t *testing.T) {
	for _, used := range []bool{false, true} {
		f := newKeptFleet(t, "none", 3)
		v := f.next(3)
		v.Ghosts = []Ghost{{3, 8 * Second}}
		name := away(f.view, v, 0, 0)
		if used {
			r := f.want(1, name, Terms{})
			f.settle()
			f.release(1, name, r)
			f.settle()
		}
		f.install(v)
		f.mail = nil
		r := f.want(0, name, Terms{})
		f.is(r, Held, NoCause)
		f.release(0, name, r)
		r = f.want(1, name, Terms{})
		f.settle()
		f.is(r, Held, NoCause)
	}
}

// What the home had not opened in the view before may be held by those that had not
// reported then, and by ghosts whose leases still run.
func TestKeptTestimonyOfSuspects(t *testing.T) {
	f := newKeptFleet(t, "none", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, 8 * Second}}
	name := away(f.view, v, 1, 1)
	w := f.want(2, name, Terms{})
	f.settle()
	f.is(w, Held, NoCause)
	f.install(v)
	f.settle()
	f.members[1].frozen = nil // as if it had skipped the view before
	then := f.next()
	then.Ghosts = v.Ghosts
	f.install(then)
	f.settle()
	r := f.want(1, name, Terms{})
	f.waits(r)
	f.pass(9 * Second)
	f.is(r, Held, NoCause)
}

// A member that was the home two views ago, and has skipped the previous view or was not the
// home there, knows nothing: another one has granted the lock since.
func TestKeptTestimonyOfAnotherView(t *testing.T) {
	for _, skips := range []bool{true, false} {
		f := newKeptFleet(t, "none", 3)
		joiner, err := New(Config{Inc: 4, Settings: Usual(), Spec: specs})
		if err != nil {
			t.Fatal(err)
		}
		joiner.lease = Never - 1
		first := f.view
		second := f.next()
		second.Members = append(second.Members, Who{"m4", 4})
		name := away(first, second, 0, 3)
		home := f.members[0]
		f.members = append(f.members, joiner)
		for i, m := range f.members {
			if i > 0 || !skips {
				if err := m.Install(0, second); err != nil {
					t.Fatal(err)
				}
				f.take(i)
			}
		}
		f.view = second
		reports := f.mail
		if f.mail = nil; skips {
			joiner.epoch.reported.add(0) // as a witness may have said
		}
		for _, l := range reports {
			if l.to != 1 || !skips {
				f.deliver(l)
			}
		}
		held := f.want(1, name, Terms{})
		f.hold(1)
		f.is(held, Held, NoCause)
		third := f.next(4)
		third.Ghosts = []Ghost{{4, 8 * Second}}
		f.install(third)
		f.mail = nil
		r := f.want(0, name, Terms{})
		if home.epoch.view.Epoch != 3 || third.Home(name) != 0 {
			t.Fatal("the lock's former home is not its home again")
		}
		f.waits(r)
	}
}
