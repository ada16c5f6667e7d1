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

// Who holds a lock keeps it over a view change, and who waits gets it afterwards,
// in the order of first requests, whatever the algorithm becomes.
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

// order returns the members that have somebody waiting, by when they first asked.
func (f *fleet) order(name string) []int {
	type one struct {
		stamp Stamp
		rank  int
	}
	var all []one
	for i, m := range f.members {
		y, _ := m.Explain(name)
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

// Who leaves never enters again, and nobody waits for its lease.
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

// The lease counts from when the renewal was sent; what it does not allow is not
// entered, and what is held is told to be lost before it is over.
func TestLease(t *testing.T) {
	s := Usual()
	m, err := New(Config{Inc: 1, Settings: s, Spec: specs})
	if err != nil {
		t.Fatal(err)
	}
	v := View{Epoch: 1, Members: []Who{{"m1", 1}}, Choices: []Choice{{"", "central", 1}}}
	if err := m.Install(100, v); err != nil {
		t.Fatal(err)
	}
	number := m.Out.Renew
	if number == 0 {
		t.Fatal("it does not renew")
	}
	m.Out.Reset()
	if _, err := m.Lock(100, "a", Ask{Deadline: Never}); err != nil || len(m.Out.Events) > 0 {
		t.Fatalf("without a lease: %v, %v", m.Out.Events, err)
	}
	m.Renewed(500, number+1)
	if len(m.Out.Events) > 0 {
		t.Error("a renewal that was never sent is confirmed")
	}
	m.Renewed(500, number)
	if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Held {
		t.Fatalf("with a lease: %v", m.Out.Events)
	}
	m.Out.Reset()
	end := 100 + Instant(s.Lease-s.act())
	if m.Deadline() != end || m.Out.Wake > end {
		t.Errorf("it may act until %d and wakes at %d, want %d", m.Deadline(), m.Out.Wake, end)
	}
	m.Wake(end - 1)
	if len(m.Out.Events) > 0 {
		t.Errorf("before the end: %v", m.Out.Events)
	}
	m.Wake(end)
	if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Lost || m.Out.Events[0].Cause != Lease {
		t.Errorf("at the end: %v", m.Out.Events)
	}
}

// A client may act for less than its member, and what it holds ends with its
// session.
func TestClients(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	m.lease = Instant(m.Settings.Lease)
	heard := told(f, 0)
	span, err := m.Renew(0, 7, 100*Second)
	if err != nil || span >= m.Settings.Lease-m.Settings.act() || span < m.Settings.Lease/2 {
		t.Fatalf("it may act for %v, %v", span, err)
	}
	m.lease = Never - 1
	if span, err = m.Renew(0, 7, Second); err != nil || span >= Second || span < Second/100*95 {
		t.Fatalf("it may act for %v, %v", span, err)
	}
	if _, err := m.Renew(0, 8, Second); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := m.Lock(0, name, Ask{Client: 8, Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		f.take(0)
	}
	waits, _ := m.Lock(0, "a", Ask{Client: 7, Deadline: Never})
	m.Wake(Instant(Second) - 1)
	f.take(0)
	if len(*heard) != 2 {
		t.Fatalf("before the end: %v", *heard)
	}
	m.Wake(Instant(Second))
	f.take(0)
	if n := len(*heard); n != 5 {
		t.Fatalf("at the end: %v", *heard)
	}
	for _, e := range (*heard)[2:] {
		if e.Kind == Lost && e.Cause != Session || e.Kind == Held && e.Ticket != waits {
			t.Errorf("at the end: %v", e)
		}
	}
	if _, err := m.Lock(Instant(Second), "c", Ask{Client: 8, Deadline: Never}); !errors.Is(err, ErrSession) {
		t.Errorf("after its session: %v", err)
	}
	m.Close(Instant(Second), 7)
	f.take(0)
	if e := (*heard)[5]; e.Ticket != waits || e.Kind != Lost || e.Cause != Closed {
		t.Errorf("when it is closed: %v", e)
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

// What time brings in the moment of a view change happens in the new view: no
// frame of the older one is left to be sent.
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
		if s, err := Look(l.bytes); err != nil || s.Kind != "REPORT" || len(l.bytes) > maxReport+600 {
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

// Under a loan, too, only so many who have come later enter in a row.
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

// What is lost with the lease is told before, and passed on when it is over: who
// has looked just before may act in between. Who says that it does not, is heard.
func TestLapse(t *testing.T) {
	for _, early := range []bool{false, true} {
		f := newFleet(t, "naimi-trehel", 2)
		name := away(f.view, f.view, 0, 0)
		m := f.members[0]
		heard := told(f, 0)
		f.lock(0, name)
		f.lock(1, name)
		f.settle()
		m.lease = Instant(m.Settings.Lease)
		m.Wake(m.Deadline())
		f.take(0)
		f.settle()
		if len(*heard) != 2 || (*heard)[1].Kind != Lost || f.holds(1, name) {
			t.Fatalf("when it is told: %v; the other one is inside: %v", *heard, f.holds(1, name))
		}
		if y, _ := m.Explain(name); !y.Lapsed {
			t.Error("nobody says why it waits")
		}
		if early {
			if err := m.Unlock(m.now, name, (*heard)[1].Token); !errors.Is(err, ErrNotHeld) {
				t.Errorf("unlocking what is lost: %v", err)
			}
		} else {
			if m.Out.Wake > m.lease {
				t.Errorf("it wakes at %d, want %d", m.Out.Wake, m.lease)
			}
			m.Wake(m.lease)
		}
		f.take(0)
		f.settle()
		if !f.holds(1, name) {
			t.Error("it is not passed on")
		}
	}
}

// A lapse is carried over a view change as a hold is.
func TestLapseCarried(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next()
	name := away(f.view, v, 1, 1)
	m := f.members[0]
	f.lock(0, name)
	f.settle()
	f.lock(2, name)
	m.lease = Instant(m.Settings.Lease)
	m.Wake(m.Deadline())
	f.take(0)
	f.install(v)
	f.settle()
	if f.holds(2, name) {
		t.Fatal("somebody enters while another one may still act")
	}
	m.Wake(m.lease)
	f.take(0)
	f.settle()
	if !f.holds(2, name) {
		t.Error("it is not passed on")
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

// Those who waited at the home itself in an older view have their turn before it
// lets go, whatever the bound on handovers.
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
