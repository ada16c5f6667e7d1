package member

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A template is as good as new, whatever its member has done in states before: it does
// the same as one that was never used.
func TestTemplateIsAsNew(t *testing.T) {
	for seed := range uint64(4) {
		w := newTown(t, seed, "naimi-trehel", 3)
		whim := rand.New(rand.NewPCG(seed, 4))
		seen := w.states(seed)
		for _, inc := range slices.Sorted(maps.Keys(seen)) {
			config := w.members[inc].Config
			used := templateOf(t, config, "lock0", w.views...)
			first, err := used.Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			all := append(seen[inc], first)
			for range 150 {
				b, luck := all[whim.IntN(len(all))], whim.Uint64()
				want, got := w.played(templateOf(t, config, "lock0", w.views...), b, luck), w.played(used, b, luck)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("seed %d, member %d, step %d: it does\n%s\nand a new one\n%s", seed, inc, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// played puts a template into a state and has its member do some things. It returns what
// can be observed.
func (w *town) played(d *Template, b []byte, luck uint64) (seen []string) {
	m, whim := load(w.t, d, b), rand.New(rand.NewPCG(luck, 3))
	if whim.IntN(3) == 0 {
		d.Pass()
	}
	if whim.IntN(3) == 0 {
		d.EndSession()
	}
	now := Instant(0)
	var s State
	for range 6 {
		var result any
		switch d.Look(&s); whim.IntN(8) {
		case 0:
			result = m.Unlock(now, "lock0", s.Present.Token)
		case 1:
			for _, x := range s.Present.Waiters {
				m.Cancel(now, x.Ticket)
			}
		case 2, 3:
			_, result = m.Lock(now, "lock0", Ask{Deadline: Never})
		case 4:
			now += Instant(Second)
			m.Wake(now)
		case 5:
			if m.epoch != nil { // it renews only as a member
				m.Renewed(now, 1)
			}
		case 6:
			if v := w.views[whim.IntN(len(w.views))]; v.Rank(m.Inc) >= 0 {
				result = m.Install(now, v)
			}
		case 7:
			for inc := range w.next {
				m.More(now, inc+1)
			}
		}
		m.Wake(now) // sets all of Out
		d.Look(&s)
		seen = append(seen, fmt.Sprintf("%v: %+v, more %v, seen %+v, state %x", result, m.Out, m.Bulk(), s, saved(w.t, m)))
		m.Out.Reset()
	}
	return seen
}

// A template that is loaded again allocates nothing, and takes no additional memory, also
// with states that do not fit into the record of a lock.
func TestTemplateDoesNotGrow(t *testing.T) {
	f := newFleet(t, "central", 2)
	f.lock(0, "lock0")
	d, b := copied(t, f.members[0], f.view)
	if n := testing.AllocsPerRun(100, func() { load(t, d, b) }); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
	f.unlock(0, "lock0")
	f.members[0].epoch.unload(0)
	var took [300]int // by sizes of states, after the first round
	for i := range 3 * len(took) {
		size := i % len(took)
		f.members[0].epoch.table.setState(0, make([]byte, size))
		load(t, d, saved(t, f.members[0]))
		switch _, _, bytes := d.Member.Known(); i / len(took) {
		case 1:
			took[size] = bytes
		case 2:
			if bytes != took[size] {
				t.Fatalf("a state of %d bytes takes %d, and took %d before", size, bytes, took[size])
			}
		}
	}
}

// Renumbered requests have the tickets of a member that never saw others: its holder has
// the first one, and waiters the next.
func TestRenumber(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	late := []Ticket{f.lock(0, "lock0"), f.lock(0, "lock0"), f.lock(0, "lock0")}
	m.Cancel(0, late[1])
	first, _ := m.Inspect("lock0")
	f.unlock(0, "lock0") // the third holds it
	f.lock(0, "lock0")
	f.lock(0, "lock0")
	d, _ := copied(t, m, f.view)
	d.Renumber()
	var s State
	d.Look(&s)
	if p := &s.Present; !p.Held || first.Holder.Token == p.Token || p.Holder.Ticket != 1<<32 || len(p.Waiters) != 2 || p.Waiters[0].Ticket != 1<<32+1 || p.Waiters[1].Ticket != 1<<32+2 {
		t.Errorf("it is %+v", p)
	}
	if y, _ := m.Inspect("lock0"); y.Holder.Ticket != late[2] {
		t.Error("the member has been renumbered, not the copy")
	}
	if again, err := d.Member.Lock(0, "lock0", Ask{Deadline: Never}); err != nil || again != 1<<32+3 {
		t.Errorf("the next ticket is %x (%v)", again, err)
	}
}

// A template refuses invalid states, names and views;
// and it does not take a state out of a member that has more than fits into one.
func TestTemplateRefuses(t *testing.T) {
	f := newFleet(t, "central", 2)
	config := f.members[0].Config
	if _, err := NewTemplate(config, "", []View{f.view}); !errors.Is(err, ErrName) {
		t.Errorf("without a name: %v", err)
	}
	if _, err := NewTemplate(Config{Inc: 1}, "a", []View{f.view}); err == nil {
		t.Error("without settings it is made")
	}
	if _, err := NewTemplate(config, "a", []View{{Epoch: 1, Members: f.view.Members}}); err == nil {
		t.Error("of a view without an algorithm it is made")
	}
	d := templateOf(t, config, "a", View{Epoch: 2, Members: f.view.Members[1:], Choices: f.view.Choices})
	b := saved(t, f.members[0])
	if err := d.Load(b); !errors.Is(err, errState) {
		t.Errorf("an epoch in which it is not a member: %v", err)
	}
	d = templateOf(t, config, "a", f.view)
	for n := range b {
		if err := d.Load(b[:n]); !errors.Is(err, errState) {
			t.Errorf("%d bytes of %d: %v", n, len(b), err)
		}
	}

	saves := func(what string, ok bool, m *Member) {
		t.Helper()
		if _, err := (&Template{Member: m}).Append(nil); (err == nil) != ok || err != nil && !errors.Is(err, errNotSmall) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m := f.members[0]
	f.lock(0, "a")
	f.settle()
	saves("one lock", true, m)
	if _, err := m.Lock(0, "a", Ask{Deadline: 5}); err != nil {
		t.Fatal(err)
	}
	saves("a deadline", false, m)
	m.Wake(5)
	saves("a deadline that has passed", true, m)
	for id, ok := range map[uint64]bool{TheClient: true, 7: false} {
		if _, err := m.Renew(5, id, Second); err != nil {
			t.Fatal(err)
		}
		saves("a client", ok, m)
		for range 2 {
			if _, err := m.Lock(5, "a", Ask{Client: id, Deadline: Never}); err != nil {
				t.Fatal(err)
			}
		}
		saves("a client with two requests", false, m)
		m.Close(5, id)
	}
	saves("no client any more", true, m)
	for _, id := range []uint64{TheClient, 7} {
		if _, err := m.Renew(5, id, Second); err != nil {
			t.Fatal(err)
		}
	}
	saves("two clients", false, m)
	m.Close(5, TheClient)
	m.Close(5, 7)
	f.lock(0, "b")
	f.settle()
	saves("two locks", false, m)
	m.frozen, m.epoch = m.epoch, m.frozen
	saves("two locks in the view before", false, m)
}

// A state has room for sets of up to 60 processes that may be inside by an older view.
func TestStateUniverse(t *testing.T) {
	for ghosts, ok := range map[int]bool{0: true, 59: true, 60: false} {
		f := newFleet(t, "central", 1)
		v := f.next()
		for i := range ghosts {
			v.Ghosts = append(v.Ghosts, Ghost{uint64(100 + i), Second})
		}
		f.install(v)
		f.lock(0, "a")
		if _, err := (&Template{Member: f.members[0]}).Append(nil); (err == nil) != ok || err != nil && !errors.Is(err, errNotSmall) {
			t.Errorf("%d ghosts: %v", ghosts, err)
		}
	}
}

// A state says whether its member leaves or was evicted, and how its lease is. A member that
// is put into a state without a lease can be given one.
func TestTemplateLease(t *testing.T) {
	f := newFleet(t, "central", 3)
	f.members[1].Leave(0)
	f.members[2].Gone(0)
	margin := f.members[0].margin
	for i, m := range f.members {
		for lease, want := range map[Instant]LeaseState{0: NoLease, 1: Over, margin: Over, margin + 1: Runs} {
			m.lease = lease
			d, _ := copied(t, m, f.view)
			var s State
			if d.Look(&s); s.Lease != want || s.Gone != (i > 0) || d.Member.ghost != (i == 2) || d.Member.Usable(0) != (want == Runs && i == 0) {
				t.Errorf("m%d with a lease until %d: %+v, evicted %v", i+1, lease, s, d.Member.ghost)
			}
			if d.Member.Renewed(0, BeforeLoss); d.Member.Usable(0) != (i == 0) {
				t.Errorf("m%d, renewed: usable %v", i+1, d.Member.Usable(0))
			}
		}
	}
}

// Ghosts of the current view whose rest ends can no longer act as soon as the member is
// called, and those of the view before at once.
func TestTemplateGhosts(t *testing.T) {
	f := newFleet(t, "central", 5)
	v := f.next(4, 5)
	v.Ghosts = []Ghost{{4, Second}, {5, Second}}
	f.install(v)
	last := f.next()
	last.Ghosts = v.Ghosts
	f.install(last)
	d, b := copied(t, f.members[0], f.view, v, last)
	var s State
	d.Outlive(1)
	d.OutliveBefore(0)
	if d.Look(&s); s.Present.Over != 0 || s.Before.Over != 1 {
		t.Errorf("it is %+v", s)
	}
	d.Member.Wake(0)
	if d.Look(&s); s.Present.Over != 2 || s.Before.Over != 1 {
		t.Errorf("after it was called it is %+v", s)
	}
	over := saved(t, d.Member)
	load(t, d, b)
	if d.Look(&s); s.Present.Over != 0 || s.Before.Over != 0 {
		t.Errorf("the state before is %+v", s)
	}
	if m := load(t, d, over); m.epoch.ghosts[1] != 0 || m.epoch.next == Never {
		t.Errorf("loaded again, ghosts are over at %v, the next at %d", m.epoch.ghosts, m.epoch.next)
	}
}

// Parts of reports are made when the member installs a view, or later, if a template says
// so: a state says to whom. Then other survivors are asked about a lock that is wanted at its
// home.
func TestTemplateLater(t *testing.T) {
	f := newFleet(t, "central", 4)
	v := f.next(4)
	v.Members = append(v.Members, Who{"m5", 5}) // joins
	name := away(f.view, v, 3, 0)
	for _, later := range []bool{false, true} {
		d := templateOf(t, f.members[0].Config, name, f.view, v)
		if later {
			d.Later()
		}
		m := load(t, d, saved(t, f.members[0]))
		owes := func(want uint64) {
			t.Helper()
			var s State
			load(t, d, saved(t, m))
			if d.Look(&s); s.Present.Owes != want {
				t.Errorf("%b are owed a REPORT or QUERY, want %b", s.Present.Owes, want)
			}
		}
		if err := m.Install(0, v); err != nil {
			t.Fatal(err)
		}
		if m.Bulk() != later {
			t.Errorf("later %v: there are more: %v", later, m.Bulk())
		}
		if owes(map[bool]uint64{true: 0b1110}[later]); later {
			m.More(0, 2)
			owes(0b1100)
			all(m)
		}
		owes(0)
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		owes(0b0110) // not the one that joins
		m.More(0, 2)
		owes(0b0100)
		m.More(0, 3)
		owes(0)
	}
}
