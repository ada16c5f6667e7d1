package member

import (
	"errors"
	"slices"
	"testing"
)

// Whatever a member is called for, what time has brought comes first, and afterwards it
// says when to be woken.
func TestTimeComesFirst(t *testing.T) {
	for what, call := range map[string]func(m *Member, f *fleet, now Instant){
		"Wake":    func(m *Member, _ *fleet, now Instant) { m.Wake(now) },
		"Lock":    func(m *Member, _ *fleet, now Instant) { _, _ = m.Lock(now, "b", Ask{Deadline: Never}) },
		"Cancel":  func(m *Member, _ *fleet, now Instant) { m.Cancel(now, 99) },
		"Unlock":  func(m *Member, _ *fleet, now Instant) { _ = m.Unlock(now, "b", Token{}) },
		"Release": func(m *Member, _ *fleet, now Instant) { _ = m.Release(now, "b", Token{}) },
		"Renew":   func(m *Member, _ *fleet, now Instant) { _, _ = m.Renew(now, 7, Second) },
		"Close":   func(m *Member, _ *fleet, now Instant) { m.Close(now, 7) },
		"Claim":   func(m *Member, _ *fleet, now Instant) { _, _ = m.Claim(now, "b", Token{1, 1}, 7, nil, Terms{}) },
		"Renewed": func(m *Member, _ *fleet, now Instant) { m.Renewed(now, 99) },
		"Drain":   func(m *Member, _ *fleet, now Instant) { m.Drain(now) },
		"Leave":   func(m *Member, _ *fleet, now Instant) { m.Leave(now) },
		"Gone":    func(m *Member, _ *fleet, now Instant) { m.Gone(now) },
		"Deliver": func(m *Member, _ *fleet, now Instant) { _ = m.Deliver(now, 2, nil) },
		"Install": func(m *Member, f *fleet, now Instant) { _ = m.Install(now, f.view) },
	} {
		f := newFleet(t, "central", 2)
		m := f.members[0]
		name := away(f.view, f.view, 0, 0)
		f.lock(0, name)
		late, err := m.Lock(0, name, Ask{Deadline: 5})
		if err != nil {
			t.Fatal(err)
		}
		m.Out.Reset()
		const nonsense = 12345
		m.Out.Wake = nonsense
		call(m, f, 10)
		if want := (Event{Ticket: late, Kind: Late}); len(m.Out.Events) == 0 || m.Out.Events[0] != want {
			t.Errorf("%s: events %v, want that the deadline has passed", what, m.Out.Events)
		}
		if m.now != 10 || m.Out.Wake == nonsense {
			t.Errorf("%s: at %d it is to be woken at %d", what, m.now, m.Out.Wake)
		}
	}
}

// Whatever links are called for, they know what time it is, and it does not go back.
func TestSessionsHearTheTime(t *testing.T) {
	for what, call := range map[string]func(s *Links, now Instant){
		"Install":    func(s *Links, now Instant) { _ = s.Install(now, sessionView(s.epoch+1, 1, 2)) },
		"Up":         func(s *Links, now Instant) { s.Up(now, 2) },
		"Down":       func(s *Links, now Instant) { s.Down(now, 2) },
		"Receive":    func(s *Links, now Instant) { _ = s.Receive(now, nil, nil) },
		"Early":      func(s *Links, now Instant) { s.Early(now, nil) },
		"Next":       func(s *Links, now Instant) { s.Next(now, nil) },
		"Complaints": func(s *Links, now Instant) { s.Complaints(now) },
	} {
		a, _ := sessionPair(t, LinkLimits{})
		for _, now := range []Instant{50, 40} {
			if call(a, now); a.now != 50 {
				t.Errorf("%s at %d: it takes the time for %d", what, now, a.now)
			}
		}
	}
}

// Before its first view a member has nothing to lock, and a view whose algorithm it does
// not know is refused.
func TestWithoutView(t *testing.T) {
	f := newFleet(t, "central", 1)
	m, err := New(f.members[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Lock(0, "a", Ask{Deadline: Never}); !errors.Is(err, ErrGone) {
		t.Errorf("without a view: %v", err)
	}
	if err := m.Unlock(0, "a", Token{}); !errors.Is(err, ErrNotHeld) {
		t.Errorf("without a view: %v", err)
	}
	if _, ok := m.Inspect("a"); ok {
		t.Error("without a view it explains a lock")
	}
	for range m.Queues {
		t.Error("without a view it knows a lock")
	}
	m.Leave(0)
	m.Gone(0)
	v := f.next()
	v.Choices = []Choice{{"", "no such algorithm", 1}}
	if err := f.members[0].Install(0, v); err == nil || f.members[0].epoch.view.Epoch != 1 {
		t.Errorf("an unknown algorithm: %v", err)
	}
	v = f.next()
	v.Members, v.Before = []Who{{"m1", 1}, {"m2", 2}}, []uint64{2}
	if err := f.members[0].Install(0, v); err == nil || f.members[0].epoch.view.Epoch != 1 {
		t.Errorf("a view after one without it: %v", err)
	}
	v = f.next()
	v.Members = []Who{{"m2", 2}}
	if err := f.members[0].Install(0, v); !errors.Is(err, ErrGone) {
		t.Errorf("a view without it: %v", err)
	}
}

// Packets that were kept for a view, and cannot be read then, end the link.
func TestEarlyRubbish(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	if err := b.Install(0, sessionView(2, 1, 2)); err != nil {
		t.Fatal(err)
	}
	b.Send(1, []byte("x"))
	sessionCarry(t, 0, b, a)
	early := a.find(2).early.packets
	early[len(early)-2] = 99 // the length of the frame
	if err := a.Install(0, sessionView(2, 1, 2)); err != nil {
		t.Fatal(err)
	}
	a.Early(0, func(uint64, []byte) error { t.Error("it is handed out"); return nil })
	if ends := a.Ended(); len(ends) != 1 || ends[0].Peer != 2 || !errors.Is(ends[0].Why, ErrPacket) {
		t.Errorf("links that have ended: %v", ends)
	}
	if got := a.Complaints(0); !slices.Equal(got, []uint64{2}) {
		t.Errorf("it complains about %v", got)
	}
}

// A question that was asked again, with nothing to send, leaves room for one packet of
// frames.
func TestLinkRoomForOne(t *testing.T) {
	a, _ := linkPair(t, 1000, 100)
	a.Up()
	a.Append(nil, 0) // the question is lost
	if !a.Due(100) {
		t.Fatal("it does not ask again")
	}
	a.Append(nil, 100)
	linkSend(t, a, "1")
	if !a.Due(100) {
		t.Error("there is no room for the first frame")
	}
	a.Append(nil, 100)
	if linkSend(t, a, "2"); a.Due(100) {
		t.Error("there is room for more before the answer")
	}
}

// A client whose session is closed no longer waits for anything.
func TestCloseEndsWaiting(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	if _, err := m.Renew(0, 7, Second); err != nil {
		t.Fatal(err)
	}
	held, err := m.Lock(0, "a", Ask{Client: 7, Deadline: Never})
	if err != nil {
		t.Fatal(err)
	}
	waits, err := m.Lock(0, "a", Ask{Client: 7, Deadline: Never})
	if err != nil {
		t.Fatal(err)
	}
	y, _ := m.Inspect("a")
	m.Out.Reset()
	m.Close(0, 7)
	if want := []Event{{Ticket: waits, Kind: Stopped, Cause: Closed}, {Ticket: held, Kind: Lost, Cause: Closed, Token: y.Holder.Token}}; !slices.Equal(m.Out.Events, want) {
		t.Errorf("events %v, want %v", m.Out.Events, want)
	}
}

// A grant is pending only if it has come, and the member has no lease to use it.
func TestPendingGrant(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	pending := func() bool { y, _ := f.members[0].Inspect(name); return y.Pending }
	f.members[0].lease = 0
	if f.lock(0, name); pending() {
		t.Error("before the grant has come")
	}
	if f.settle(); !pending() {
		t.Error("not after it has come")
	}
	f.members[0].lease = Never - 1
	u := f.members[0].epoch.uses[0]
	if f.members[0].settle(u); pending() || u.holder == nil {
		t.Error("though it is held")
	}
}

// A request that is made after a frame was received comes after all that its sender
// knew.
func TestLogicalClock(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	name := away(f.view, f.view, 0, 0)
	for _, clock := range []uint64{50, 3} {
		if err := m.Deliver(0, 2, (&frame{kind: touchFrame, name: []byte(name), clock: clock}).append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	k := f.lock(0, name)
	if got := m.waiter(k).stamp; got != (Stamp{1, 51, 1}) {
		t.Errorf("its stamp is %v", got)
	}
}

// A new view does not know locks that are neither held nor waited for.
func TestIdleLocksAreForgotten(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	name := away(f.view, f.view, 0, 0)
	if err := m.Deliver(0, 2, (&frame{kind: touchFrame, name: []byte(name)}).append(nil)); err != nil {
		t.Fatal(err)
	}
	m.epoch.use(lockOf(m.epoch, "in use"))
	f.install(f.next())
	if known, busy, _ := m.Known(); known != 0 || busy != 0 {
		t.Errorf("%d locks are known, %d in use", known, busy)
	}
}

// Renewals that are never confirmed are kept for a lease, and no longer.
func TestRenewalsAreDropped(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	for range 100 {
		m.Wake(m.renewAt)
	}
	if most := int(m.Settings.Lease/m.Settings.Renew) + 1; len(m.renewals) != most || m.now-m.renewals[0].at > Instant(m.Settings.Lease) {
		t.Errorf("%d renewals are kept, want %d", len(m.renewals), most)
	}
}

// A packet that cannot be read is malformed, whichever sender it names.
func TestSessionsMalformed(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	b.Send(1, []byte("x"))
	_, p, _ := b.Next(0, nil)
	for _, bad := range [][]byte{nil, {1}, append(slices.Clone(p), 0), p[:len(p)-1]} {
		err := a.Receive(0, bad, func(uint64, []byte) error { t.Error("a frame comes"); return nil })
		if !errors.Is(err, ErrPacket) {
			t.Errorf("% x: %v", bad, err)
		}
	}
}

// A home that holds a lock from an older view waits for itself.
func TestHomeHoldsItself(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	f.install(v)
	f.settle()
	y, _ := f.members[0].Inspect(name)
	if s := y.Recovering; len(s) != 1 || s[0].Inc != 1 || s[0].Reason != Holds || !y.Holder.Carried {
		t.Errorf("it waits for %+v", s)
	}
	f.unlock(0, name)
	if y, _ = f.members[0].Inspect(name); len(y.Recovering) > 0 && y.Recovering[0].Reason == Holds {
		t.Errorf("it waits for %+v", y.Recovering)
	}
}

// There is room for members only, and what is sent to others is dropped.
func TestSessionsRoomForMembers(t *testing.T) {
	a, _ := sessionPair(t, LinkLimits{})
	a.Up(0, 5) // which is not a member
	for inc, want := range map[uint64]bool{2: true, 5: false, 9: false} {
		if a.Send(inc, []byte("x")); a.Room(inc) != want {
			t.Errorf("room for %d: %v", inc, !want)
		}
	}
	if len(a.Ended()) > 0 {
		t.Error("a link has ended")
	}
}

// An answer that rules out all suspects lets the home's waiter in at once.
func TestAnswerLetsIn(t *testing.T) {
	f, names := queries(t, 1)
	m := f.members[0]
	all(m)
	m.Out.Reset()
	if f.holds(0, names[0]) {
		t.Fatal("it is inside before an answer has come")
	}
	if err := m.Deliver(0, 2, (&frame{kind: answerFrame, may: []mayBe{{name: names[0]}}}).append(nil)); err != nil {
		t.Fatal(err)
	}
	if !f.holds(0, names[0]) {
		t.Error("it waits for nobody")
	}
}

// All requests that waited in an older view enter during a loan without an end, however
// many they are.
func TestLoanForAll(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	for range 4 {
		f.lock(1, name)
	}
	f.settle()
	f.install(v)
	f.settle()
	f.members[1].Settings.Handover = 1
	f.unlock(0, name)
	f.settle()
	for i := range 4 {
		if !f.holds(1, name) || f.frames["RETURN"] > 0 {
			t.Fatalf("waiter %d is not inside, or the loan is over", i)
		}
		f.unlock(1, name)
	}
	if f.settle(); f.frames["LEND"] != 1 || f.frames["RETURN"] != 1 {
		t.Errorf("%d loans, %d returns", f.frames["LEND"], f.frames["RETURN"])
	}
}

// A member that leaves does not renew its lease: it has promised not to act.
func TestLeaverDoesNotRenew(t *testing.T) {
	m := newFleet(t, "central", 2).members[0]
	m.Leave(0)
	m.Out.Reset()
	if m.Wake(m.renewAt); m.Out.Renew != 0 || m.Out.Wake != Never {
		t.Errorf("renewal %d, woken at %d", m.Out.Renew, m.Out.Wake)
	}
}
