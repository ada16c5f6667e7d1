package member

import (
	"slices"
	"testing"
)

// witnesses returns three members in a second view of which none has heard another's
// report, after f has happened in the first. The first is the home of a lock in both.
func witnesses(t *testing.T, name func(v, w View) string, happens func(f *fleet, name string)) (*fleet, string) {
	f := newFleet(t, "central", 3)
	v := f.next()
	lock := name(f.view, v)
	happens(f, lock)
	f.mail = nil
	f.install(v)
	f.mail = nil
	return f, lock
}

// A member that was the home in the previous view, and had released a lock, does not vouch
// for processes that entered by the algorithm since, also if it is its first lock. If it
// had not released the lock, it vouches for all except those it suspected and the one it
// had lent to.
func TestTestimony(t *testing.T) {
	home := func(v, w View) string { return away(v, w, 0, 0) }
	may := func(f *fleet, name string) []int { return f.members[0].testimony(name).list() }

	f, name := witnesses(t, home, func(f *fleet, name string) { f.lock(1, name); f.settle() })
	if got := may(f, name); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("m2 is inside, and the home that has let go says that it may be %v", got)
	}
	f, name = witnesses(t, home, func(f *fleet, name string) { f.lock(1, name) })
	if got := f.members[1].testimony(name).list(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("m2 has not heard that the home has let go, and says %v", got)
	}
	f, name = witnesses(t, home, func(*fleet, string) {})
	if got := may(f, name); len(got) > 0 {
		t.Errorf("nobody has used it, and the home says that %v may be inside", got)
	}
	f, name = witnesses(t, home, func(f *fleet, name string) { f.lock(0, name); f.settle(); f.unlock(0, name); f.settle() })
	if got := may(f, name); len(got) > 0 {
		t.Errorf("it was released, and the home says that %v may be inside", got)
	}
	f, name = witnesses(t, home, func(f *fleet, name string) { f.lock(0, name); f.settle() })
	if got := may(f, name); !slices.Equal(got, []int{0}) {
		t.Errorf("the home is inside, and says that it may be %v", got)
	}
	if got := f.members[1].testimony(name).list(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("one that knows nothing says %v", got)
	}
	f.members[0].frozen = nil
	if got := may(f, "another"); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("without the view before it says %v", got)
	}

	// In the view before, m3 waited in a still older one, and the home has lent to it.
	f = newFleet(t, "central", 3)
	v := f.next()
	name = away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(2, name)
	f.settle()
	f.install(v)
	f.settle()
	f.unlock(1, name)
	f.settle()
	if !f.holds(2, name) {
		t.Fatal("it is not lent")
	}
	v = f.next()
	f.install(v)
	f.mail = nil
	if got := may(f, name); !slices.Equal(got, []int{2}) {
		t.Errorf("it was lent to m3, and the home says that %v may be inside", got)
	}
}

// loan returns the LEND frame that is in flight.
func (f *fleet) loan() (to uint64, x frame) {
	for _, l := range f.mail {
		if frameKind(l.bytes[0]) == lendFrame {
			if err := x.parse(l.bytes); err != nil {
				f.tb.Fatal(err)
			}
			return l.to, x
		}
	}
	f.tb.Fatal("nothing is lent")
	return 0, x
}

// A lock is lent until the next one that waited in an older epoch has its turn, be it
// elsewhere or at the home; to the last one without an end.
func TestLoansEnd(t *testing.T) {
	for _, order := range [][]int{{1, 2, 3}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {3, 2, 1}, {1, 0}, {1, 3}, {1}} {
		f := newFleet(t, "central", 4)
		v := f.next()
		name := away(f.view, v, 0, 0)
		f.lock(0, name)
		f.settle()
		var turns []turn
		for _, i := range order {
			f.lock(i, name)
			f.settle()
			y, _ := f.members[i].Inspect(name)
			turns = append(turns, turn{y.Waiters[0].Stamp, i})
		}
		slices.SortFunc(turns, func(a, b turn) int {
			if a.stamp.Less(b.stamp) {
				return -1
			}
			return 1
		})
		f.install(v)
		f.settle()
		f.unlock(0, name)
		want := lastStamp()
		if len(turns) > 1 {
			want = turns[1].stamp
		}
		if to, x := f.loan(); to != uint64(turns[0].rank+1) || x.until != want {
			t.Errorf("%v wait: lent to m%d until %v, want %v until %v", order, to, x.until, turns[0], want)
		}
	}
}

// While others wait, the home lets so many local waiters enter before it releases the lock,
// and a borrower as many before it returns the lock.
func TestHomeHandsOver(t *testing.T) {
	f := newFleet(t, "central", 2)
	f.members[0].Settings.Handover = 3
	name := away(f.view, f.view, 0, 0)
	for range 6 {
		f.lock(0, name)
	}
	f.lock(1, name)
	f.settle()
	entered := 0
	for ; f.holds(0, name); f.settle() {
		entered++
		f.unlock(0, name)
	}
	if entered != 3 || !f.holds(1, name) {
		t.Errorf("%d enter at the home before it lets go, want 3", entered)
	}

	f = newFleet(t, "central", 2)
	f.members[0].Settings.Handover = 3
	for range 6 {
		f.lock(0, name)
	}
	for range 6 {
		if y, _ := f.members[0].Inspect(name); y.Cleared {
			t.Error("the home lets go of a lock that no other member wants")
		}
		f.unlock(0, name)
	}

	f = newFleet(t, "central", 3)
	v := f.next()
	name = away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	f.members[1].Settings.Handover = 3
	f.unlock(0, name)
	f.settle()
	for range 6 {
		f.lock(1, name) // these have not waited in an older epoch
	}
	f.lock(2, name)
	f.settle()
	entered = 0
	for ; f.holds(1, name); f.settle() {
		entered++
		f.unlock(1, name)
	}
	if entered != 3 || !f.holds(2, name) {
		t.Errorf("%d enter at the borrower before it returns the lock, want 3", entered)
	}

	f = newFleet(t, "central", 2)
	v = f.next()
	name = away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	f.members[0].Settings.Handover = 3
	f.unlock(0, name)
	f.settle() // it is lent
	for range 6 {
		f.lock(0, name)
	}
	f.unlock(1, name)
	f.lock(1, name)
	f.settle() // it is returned, and wanted again
	entered = 0
	for ; f.holds(0, name); f.settle() {
		entered++
		f.unlock(0, name)
	}
	if entered != 3 || !f.holds(1, name) {
		t.Errorf("%d enter at the home after a loan, want 3", entered)
	}
}

// A client that holds a lock from an older epoch releases it when its session is closed.
// What is due by then has happened before, and the member knows when it must be woken next.
func TestCloseCarried(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	if _, err := m.Renew(0, 7, Second); err != nil || m.Out.Wake != Instant(Second) {
		t.Fatalf("it is woken at %d, when the session does not end (%v)", m.Out.Wake, err)
	}
	v := f.next()
	name := away(f.view, v, 1, 1)
	ticket, err := m.Lock(0, name, Ask{Client: 7, Deadline: Never})
	if err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	f.install(v)
	f.settle()
	f.lock(1, name)
	f.settle()
	if !f.holds(0, name) || m.waiter(ticket).at.holder != m.waiter(ticket) {
		t.Fatal("the client does not hold it")
	}
	heard := told(f, 0)
	own, err := m.Lock(0, name, Ask{Deadline: 9})
	if err != nil {
		t.Fatal(err)
	}
	m.renewAt = Never
	m.Close(10, 7)
	if m.Out.Wake != m.deadline() {
		t.Errorf("it is woken at %d for a session that is over", m.Out.Wake)
	}
	f.take(0)
	f.settle()
	if want := []Event{{Ticket: own, Kind: Late}, {Ticket: ticket, Kind: Lost, Cause: Closed, Token: (*heard)[1].Token}}; !slices.Equal(*heard, want) {
		t.Errorf("heard %v, want %v", *heard, want)
	}
	if !f.holds(1, name) || m.Inside() != 0 {
		t.Errorf("m2 is inside: %v, %d at m1", f.holds(1, name), m.Inside())
	}
}

// A home whose members are all new asks no member about what a ghost may hold.
func TestNobodyToAsk(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next(2)
	v.Ghosts = []Ghost{{2, Second}}
	f.install(v)
	f.lock(0, "a")
	m := f.members[0]
	if m.Bulk() || len(m.epoch.queries) > 0 || f.holds(0, "a") {
		t.Errorf("%d queries for nobody; inside beside a ghost: %v", len(m.epoch.queries), f.holds(0, "a"))
	}
	m.Wake(2 * Instant(Second))
	if f.take(0); !f.holds(0, "a") {
		t.Error("it waits forever")
	}
}

// A try asks each other member, and is refused by what one of them says; it asks again
// when all have said no, and not before.
func TestTryAsks(t *testing.T) {
	f := newFleet(t, "central", 4)
	name := away(f.view, f.view, 3, 3)
	m := f.members[0]
	probes := func() (n int) {
		for _, l := range f.mail {
			if frameKind(l.bytes[0]) == probeFrame {
				n++
			}
		}
		return n
	}
	answer := func(from uint64, k Ticket, x frame) {
		x.name, x.try = []byte(name), uint64(k)
		if err := m.Deliver(0, from, x.append(nil)); err != nil {
			t.Fatal(err)
		}
		f.take(0)
	}
	heard := told(f, 0)
	for _, x := range []struct {
		f    frame
		want EventKind
	}{{frame{kind: busyFrame}, Busy}, {frame{kind: busyFrame, again: true}, Recovering}} {
		k := f.try(0, name)
		if n := probes(); n != 3 {
			t.Fatalf("%d are asked, want 3", n)
		}
		f.mail = nil
		for from := range uint64(3) {
			if probes() > 0 || len(*heard) > 0 {
				t.Errorf("after %d of 3 answers: %d questions, %v", from, probes(), *heard)
			}
			answer(from+2, k, frame{kind: freeFrame})
		}
		if n := probes(); n != 3 {
			t.Errorf("%d are asked again, want 3", n)
		}
		f.mail = nil
		answer(2, k, x.f)
		if len(*heard) != 1 || (*heard)[0].Kind != x.want || (*heard)[0].Ticket != k {
			t.Errorf("heard %v", *heard)
		}
		*heard = nil
		answer(3, k, x.f) // it is over
		k = f.lock(0, name)
		answer(2, k, x.f) // it is no try
		m.Cancel(0, k)
		f.take(0)
		if len(*heard) > 0 {
			t.Errorf("heard %v", *heard)
		}
		f.mail = nil
	}
	f = newFleet(t, "central", 2)
	m, name, heard = f.members[0], away(f.view, f.view, 0, 0), told(f, 0)
	k := f.try(0, name)
	if answer(2, k, frame{kind: busyFrame}); len(*heard) != 1 || !f.holds(0, name) {
		t.Errorf("it is granted, and a late answer changes that: %v", *heard)
	}
}

// A member that receives a PROBE reports what it knows of the lock: at the home also to
// which member it is lent, which ones wait for a loan, and which may be inside by an older
// epoch.
func TestProbed(t *testing.T) {
	free, busy, recovering := "FREE", "BUSY", "BUSY recovering"
	request := func(try bool) func(m *Member, u *use) {
		return func(m *Member, u *use) { w := m.newWaiter(&m.own); w.try = try; u.push(w) }
	}
	for _, x := range []struct {
		what       string
		home, late bool // it is the home; reports are missing
		set        func(m *Member, u *use)
		want       string
	}{
		{"unknown", false, false, nil, free},
		{"unknown at the home", true, false, nil, free},
		{"unknown at the home, reports are missing", true, true, nil, recovering},
		{"unknown elsewhere, reports are missing", false, true, nil, free},
		{"wanted at the home, reports are missing", true, true, func(*Member, *use) {}, recovering},
		{"let go at the home, reports are missing", true, true, func(m *Member, u *use) { m.epoch.table.lock(u.lock).flags |= cleared }, free},
		{"held", false, false, func(m *Member, u *use) { u.holder = m.newWaiter(&m.own) }, busy},
		{"held at the home, reports are missing", true, true, func(m *Member, u *use) { u.holder = m.newWaiter(&m.own) }, busy},
		{"lost, and may be acted on", false, false, func(_ *Member, u *use) { u.lapsed = true }, busy},
		{"waited for", false, false, request(false), busy},
		{"tried", false, false, request(true), free},
		{"lent to the first", true, false, func(_ *Member, u *use) { u.lendee = 0 }, busy},
		{"lent to another", true, false, func(_ *Member, u *use) { u.lendee = 1 }, busy},
		{"to be lent", true, false, func(_ *Member, u *use) { u.queue = []turn{{}} }, busy},
		{"not lent", true, false, func(*Member, *use) {}, free},
	} {
		f := newFleet(t, "central", 3)
		home := 1
		if x.home {
			home = 0
		}
		v := f.next()
		name := away(f.view, v, home, home)
		f.install(v)
		if !x.late {
			f.settle()
		}
		m := f.members[0]
		if x.set != nil {
			x.set(m, m.epoch.use(lockOf(m.epoch, name)))
		}
		m.Out.Reset()
		if err := m.Deliver(0, 2, (&frame{kind: probeFrame, name: []byte(name), try: 5}).append(nil)); err != nil {
			t.Fatal(err)
		}
		var got frame
		if len(m.Out.Frames) != 1 || m.Out.Frames[0].To != 2 || got.parse(m.Out.Frames[0].Bytes) != nil || got.try != 5 {
			t.Fatalf("%s: answers %v", x.what, m.Out.Frames)
		}
		s, _ := Look(m.Out.Frames[0].Bytes)
		said := s.Kind
		if s.Again {
			said += " recovering"
		}
		if said != x.want {
			t.Errorf("%s: %s, want %s", x.what, said, x.want)
		}
		if known := m.epoch.table.len() > 0; known != (x.set != nil) {
			t.Errorf("%s: known afterwards: %v", x.what, known)
		}
	}
}

// A try of a lock that has another home asks, also while reports are missing.
func TestTryElsewhere(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 2, 2)
	f.install(v)
	f.mail = nil
	heard := told(f, 0)
	f.try(0, name)
	asked := 0
	for _, l := range f.mail {
		if frameKind(l.bytes[0]) == probeFrame {
			asked++
		}
	}
	if len(*heard) > 0 || asked != 2 {
		t.Errorf("heard %v, %d are asked", *heard, asked)
	}
}

// A try is refused at once for what its own member knows: the same, and that it has no
// lease.
func TestTryRefusedAtOnce(t *testing.T) {
	for _, x := range []struct {
		what       string
		home, late bool
		set        func(f *fleet, m *Member, name string)
		want       EventKind
	}{
		{"no lease", false, false, func(_ *fleet, m *Member, _ string) { m.lease = 0 }, Recovering},
		{"reports are missing", true, true, func(_ *fleet, m *Member, _ string) { m.frozen = nil }, Recovering},
		{"held", false, false, func(f *fleet, _ *Member, name string) { f.lock(0, name); f.settle() }, Busy},
		{"waited for", false, false, func(f *fleet, _ *Member, name string) { f.lock(1, name); f.settle(); f.lock(0, name) }, Busy},
		{"lent", true, false, func(_ *fleet, m *Member, name string) { m.epoch.use(lockOf(m.epoch, name)).lendee = 0 }, Busy},
	} {
		f := newFleet(t, "central", 3)
		home := 2
		if x.home {
			home = 0
		}
		v := f.next()
		name := away(f.view, v, home, home)
		f.install(v)
		if !x.late {
			f.settle()
		}
		x.set(f, f.members[0], name)
		f.mail = nil
		heard := told(f, 0)
		k := f.try(0, name)
		if len(*heard) != 1 || (*heard)[0].Ticket != k || (*heard)[0].Kind != x.want {
			t.Errorf("%s: heard %v", x.what, *heard)
		}
		for _, l := range f.mail {
			if frameKind(l.bytes[0]) == probeFrame {
				t.Errorf("%s: others are asked", x.what)
			}
		}
	}
}
