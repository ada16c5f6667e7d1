package member

import (
	"slices"
	"testing"
)

// A home of the previous view no longer suspects a ghost whose lease has expired by its own
// count, which began with that view.
func TestTestimonyAboutExpiredGhost(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	name := ""
	for _, n := range homed(v, 0, 50, 8) {
		if f.view.Home(n) == 2 { // no witness speaks for it
			name = n
		}
	}
	f.install(v)
	f.settle()
	v = f.next()
	v.Ghosts = []Ghost{{3, 10 * Second}} // a new leader has counted anew
	f.install(v)
	f.mail = nil
	m := f.members[0]
	if got, want := m.testimony(name), m.epoch.those(3); got != want {
		t.Errorf("while its lease runs, %v may be inside, want %v", got.list(), want.list())
	}
	m.Wake(2 * Instant(Second))
	if got := m.testimony(name); !got.empty() {
		t.Errorf("when its lease has expired, %v may be inside", got.list())
	}
}

// A witness whose old instance cannot be read rules out no process.
func TestTestimonyWithoutState(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.unlock(1, name)
	f.settle()
	f.install(v)
	f.mail = nil
	m := f.members[0]
	n := find(&m.frozen.table, name, hashName(name))
	m.frozen.keep(n)
	m.frozen.unload(n)
	s := &m.frozen.schools[0]
	for i := range s.machines {
		s.machines[i] = &forgetful{s.machines[i]}
	}
	if got := m.testimony(name).list(); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v may be inside, want all", got)
	}
}

// What a witness holds by the new view says nothing about the older one.
func TestTestimonyOfNewHolder(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.unlock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	m := f.members[1]
	before := m.testimony(name)
	f.lock(1, name)
	f.settle()
	if !f.holds(1, name) || m.frozen == nil {
		t.Fatal("want a holder by the new view that can be asked about the older one")
	}
	if got := m.testimony(name); got != before || got == m.epoch.those(2) {
		t.Errorf("%v may be inside, and before it was granted %v", got.list(), before.list())
	}
}

// What a witness holds by an older view rules out all other processes, unless a client
// holds it that may hold it through another member as well: since the view in which the
// client entered has ended, it can have claimed the lock elsewhere.
func TestTestimonyOfHolder(t *testing.T) {
	for _, client := range []uint64{0, 7} {
		f := newFleet(t, "central", 3)
		m := f.members[0]
		if _, err := m.Renew(0, 7, 100*Second); err != nil {
			t.Fatal(err)
		}
		name := away(f.view, f.view, 1, 1)
		if _, err := m.Lock(0, name, Ask{Client: client, Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		f.take(0)
		if f.settle(); !f.holds(0, name) {
			t.Fatal("the lock is not acquired")
		}
		for views := 1; views <= 2; views++ {
			f.install(f.next())
			want := m.epoch.those(m.Inc)
			if client != 0 && views > 1 {
				want = m.epoch.everybody
			}
			if got := m.testimony(name); got != want {
				t.Errorf("held by client %d, %d views after it entered: %v may be inside, want %v", client, views, got.list(), want.list())
			}
			if views == 1 { // the next view must not begin before the reports are there
				f.settle()
			}
		}
	}
}
