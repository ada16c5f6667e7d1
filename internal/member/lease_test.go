package member

import (
	"errors"
	"slices"
	"testing"
)

// The lease counts from when the renewal was sent. A request that it does not cover is not
// granted, and a holder is notified of the loss before the lease expires.
func TestLease(t *testing.T) {
	s := Usual()
	m, err := New(Config{Inc: 1, Settings: s, Spec: specs})
	if err != nil {
		t.Fatal(err)
	}
	v := View{Epoch: 1, Members: []Who{{"m1", 1}}, Choices: []Choice{{"", "central", 1}}}
	if m.Wake(50); m.Out.Renew != 0 || m.Out.Wake != Never {
		t.Errorf("without a view it renews, or is woken at %d", m.Out.Wake)
	}
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

// A client may act for less than its member's lease, and what it holds ends with its
// session.
func TestClients(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	m.lease = Instant(m.Settings.Lease)
	heard := told(f, 0)
	span, err := m.Renew(0, 7, 100*Second)
	if err != nil || span >= m.Settings.Lease || span < m.Settings.Lease/100*95 {
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
	early := m.renewal
	m.renewAt = Instant(Second + Second/2) // the last one was sent half a second ago
	m.Wake(Instant(Second))
	f.take(0)
	if n := len(*heard); n != 4 {
		t.Fatalf("at the end: %v", *heard)
	}
	// The lock is passed on when a renewal is confirmed that was sent after the end.
	if m.renewals = append(m.renewals, renewal{early, 0}); m.renewal == early {
		t.Fatal("no renewal is sent")
	}
	m.Renewed(Instant(Second), early)
	if f.take(0); len(*heard) != 4 {
		t.Fatalf("after an older renewal: %v", *heard)
	}
	m.Renewed(Instant(Second), m.renewal)
	if f.take(0); len(*heard) != 5 {
		t.Fatalf("after the renewal: %v", *heard)
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

// A holder is notified before the lease expires, and the lock is passed on when it has
// expired, because an application that looked just before may still act. If the application
// releases the lock, it is passed on at once.
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
		if y, _ := m.Inspect(name); !y.Lapsed {
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

// A session is at most a day long, and longer than nothing.
func TestSessionLength(t *testing.T) {
	m := newFleet(t, "central", 1).members[0]
	for length, ok := range map[Span]bool{-1: false, 0: false, 1: true, MaxSpan: true, MaxSpan + 1: false} {
		if _, err := m.Renew(0, 7, length); (err == nil) != ok || err != nil && !errors.Is(err, ErrSession) {
			t.Errorf("%v: %v", length, err)
		}
	}
	if _, err := m.Renew(0, 0, Second); !errors.Is(err, ErrSession) {
		t.Errorf("of the member's own process: %v", err)
	}
	m.Gone(0)
	if _, err := m.Renew(0, 7, Second); !errors.Is(err, ErrGone) {
		t.Errorf("of a member that was evicted: %v", err)
	}
}

// What is due by time happens before the confirmation of a renewal.
func TestRenewedLate(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	m.lease = 0
	late, err := m.Lock(0, "a", Ask{Deadline: 5})
	if err != nil {
		t.Fatal(err)
	}
	heard := told(f, 0)
	m.Renewed(5, m.renewal)
	f.take(0)
	if want := []Event{{Ticket: late, Kind: Late}}; !slices.Equal(*heard, want) {
		t.Errorf("heard %v, want %v", *heard, want)
	}
}

// When a session is closed all its requests end, whichever ended before.
func TestCloseEndsTheRest(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for gone := range names {
		f := newFleet(t, "central", 1)
		m := f.members[0]
		if _, err := m.Renew(0, 7, Second); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := m.Lock(0, name, Ask{Client: 7, Deadline: Never}); err != nil {
				t.Fatal(err)
			}
			f.take(0)
		}
		f.unlock(0, names[gone])
		if uses := m.clients[7].uses; uses != 3 {
			t.Errorf("the client uses %d locks", uses)
		}
		m.Close(0, 7)
		if len(m.Out.Events) != 3 || m.Inside() != 0 {
			t.Errorf("without %s: %v, %d inside", names[gone], m.Out.Events, m.Inside())
		}
	}
}

// A client that may act for no time at all may not act for less than that.
func TestWithinNothing(t *testing.T) {
	for d, want := range map[Span]Span{0: 0, 1: 0, 1_010_000: 989_999} {
		if got := Usual().within(d); got != want {
			t.Errorf("within %d: %d, want %d", d, got, want)
		}
	}
}
