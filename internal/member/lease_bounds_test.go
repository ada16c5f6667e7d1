package member

import (
	"errors"
	"testing"
)

// Without a lease, or near its end, no session begins; and one that begins late in a lease
// is no longer than what is left of it.
func TestSessionsNeedALease(t *testing.T) {
	m := newFleet(t, "central", 2).members[0]
	for _, lease := range []Instant{0, m.margin} {
		m.lease = lease
		if d, err := m.Renew(0, 7, Second); !errors.Is(err, ErrLease) || d != 0 {
			t.Errorf("a lease until %d: %v, %v", lease, d, err)
		}
		if _, err := m.Lock(0, "a", Ask{Client: 7, Deadline: Never}); !errors.Is(err, ErrSession) {
			t.Errorf("a lease until %d: a client without a session locks: %v", lease, err)
		}
	}
	m.lease = Instant(m.Settings.Lease)
	now := Instant(5 * Second)
	want := m.Settings.within(Span(m.lease - now))
	if d, err := m.Renew(now, 7, 100*Second); err != nil || d != want || d > 5*Second {
		t.Errorf("at %d it may act for %v, want %v (%v)", now, d, want, err)
	}
}

// A client renews soon after the member, about five times in a session, whenever it asks.
func TestAgain(t *testing.T) {
	m := newFleet(t, "central", 2).members[0]
	renew := m.Settings.Renew
	for _, c := range []struct{ due, length, want Span }{
		{renew, 5 * renew, renew + renew/10},
		{renew / 2, 5 * renew, renew/2 + renew/10},
		{0, 5 * renew, renew / 10}, // and again a period later
		{-renew, 5 * renew, renew / 10},
		{renew / 2, 20 * renew, renew/2 + renew/10 + 3*renew},
		{renew * 86 / 100, 4 * renew, renew * 96 / 100}, // a fifth later than it would renew
		{renew, renew, renew / 5},                       // a short session: it cannot wait
	} {
		m.renewAt = Instant(100 * Second)
		if got := m.Again(m.renewAt-Instant(c.due), c.length); got != c.want {
			t.Errorf("the member renews in %v: a client with a session of %v in %v, want %v", c.due, c.length, got, c.want)
		}
	}
}

// A member may act until the deadline of its lease, and not at it; and no longer when it
// leaves.
func TestUsable(t *testing.T) {
	m := newFleet(t, "central", 1).members[0]
	if m.lease = 0; m.Usable(0) {
		t.Error("it may act without a lease")
	}
	m.Wake(m.renewAt)
	m.Renewed(m.now, m.renewal)
	end := m.Deadline()
	for now, want := range map[Instant]bool{m.now: true, end - 1: true, end: false, end + 1: false} {
		if m.Usable(now) != want {
			t.Errorf("at %d of %d it may act: %v", now, end, !want)
		}
	}
	m.Wake(m.renewAt)
	m.Leave(m.now)
	if m.Usable(m.now) {
		t.Error("it may act after it has promised not to")
	}
	if m.Renewed(m.now, m.renewal); m.Usable(m.now) || m.Deadline() != end {
		t.Errorf("a renewal is confirmed after it has left: usable %v, until %d, want %d", m.Usable(m.now), m.Deadline(), end)
	}
}

// The renewal that proves membership after a client has lost a lock is sent at once, but
// not sooner after the last one than a twentieth of the renewal period, and not later than
// the next one is due.
func TestProofIsSentSoon(t *testing.T) {
	renew := Instant(Usual().Renew)
	for since, want := range map[Instant]Instant{1: renew / 20, renew / 20: renew / 20, renew/20 + 1: renew/20 + 1, renew - 1: renew - 1} {
		f := newFleet(t, "central", 1)
		m, sent := f.members[0], 5*renew
		m.Wake(sent)
		last := m.renewal
		if _, err := m.Renew(sent, 7, Span(since)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Lock(sent, "a", Ask{Client: 7, Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		if m.Wake(sent + since); m.renewal > last != (since == want) || m.renewal == last && m.Out.Wake != sent+want || m.Inside() != 0 {
			t.Errorf("lost after %d: renewal %d, woken after %d, want %d", since, m.renewal, m.Out.Wake-sent, want)
		}
		if m.Wake(sent + want); m.renewal != last+1 {
			t.Errorf("lost after %d: no renewal is sent after %d", since, want)
		}
	}
}

// A lock that is lost shortly before the lease expires is not passed on sooner because the
// lease is renewed, in the same view or in the next: its application may act until the end
// that it knew.
func TestRenewalDoesNotPassOn(t *testing.T) {
	for _, carried := range []bool{false, true} {
		f := newFleet(t, "central", 2)
		v := f.next()
		name := away(f.view, v, 1, 1)
		m := f.members[0]
		f.lock(0, name)
		f.settle()
		m.lease = Instant(m.Settings.Lease)
		rests := m.lease
		m.Wake(m.deadline())
		if f.take(0); carried {
			f.install(v)
			f.settle()
		}
		m.Renewed(m.now, m.renewal)
		if f.take(0); m.Inside() != 1 || !m.Usable(m.now) || m.Out.Wake > rests {
			t.Errorf("carried %v: %d inside, and woken at %d, want %d", carried, m.Inside(), m.Out.Wake, rests)
		}
		f.lock(1, name)
		if f.settle(); f.holds(1, name) {
			t.Errorf("carried %v: another member enters while the application may still act", carried)
		}
		for m.now < rests {
			m.Wake(min(m.Out.Wake, rests))
			f.take(0)
		}
		if f.settle(); !f.holds(1, name) {
			t.Errorf("carried %v: the lock is not passed on", carried)
		}
	}
}

// What proves that a client's lost lock may be passed on does so in the next view as well:
// it needs no second renewal.
func TestProofIsCarried(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 1, 1)
	m := f.members[0]
	if _, err := m.Renew(0, 7, Second); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Lock(0, name, Ask{Client: 7, Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	last := m.renewal
	if m.Wake(Instant(Second)); m.renewal != last+1 {
		t.Fatal("no renewal is sent after the client has lost the lock")
	}
	f.take(0)
	f.install(v)
	f.settle()
	f.lock(1, name)
	if f.settle(); f.holds(1, name) {
		t.Fatal("another member enters before the renewal is confirmed")
	}
	m.Renewed(m.now, last+1)
	f.take(0)
	if f.settle(); !f.holds(1, name) {
		t.Error("the lock is not passed on after the renewal")
	}
}
