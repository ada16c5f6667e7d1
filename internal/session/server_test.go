package session

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func TestDeskServes(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	if w.Length != settings().Lease || w.Act != w.Length/10 || w.Span <= w.Length-w.Act || w.Span >= w.Length {
		t.Errorf("welcome %+v: want a session of a lease, nested in the node's", w)
	}
	n.hello(2, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "a", Try: true})
	expect(t, "the first", n.hears(1), Frame{Kind: Held, Number: 1})
	expect(t, "the second waits, and its try is refused", n.hears(2), Frame{Kind: Over, Number: 2, Why: Busy})
	n.says(1, Frame{Kind: Unlock, Number: 1})
	n.says(1, Frame{Kind: Unlock, Number: 1})
	expect(t, "let go, twice", n.hears(1), Frame{Kind: Done, Number: 1, OK: true}, Frame{Kind: Done, Number: 1, OK: true})
	n.says(1, Frame{Kind: Unlock})
	expect(t, "of a number that nobody has", n.hears(1), Frame{Kind: Done})
	expect(t, "the second", n.hears(2), Frame{Kind: Held, Number: 1})
	n.says(2, Frame{Kind: Lock, Number: 3})
	expect(t, "no name", n.hears(2), Frame{Kind: Over, Number: 3, Why: BadName})
	n.says(2, Frame{Kind: Close})
	expect(t, "the end", n.hears(2), Frame{Kind: Bye, Why: Finished})
	n.free("a")
}

// free checks that a lock is neither held nor waited for.
func (n *node) free(name string) {
	n.t.Helper()
	if y, ok := n.m.Inspect(name); ok && (y.Holder != nil || len(y.Waiters) > 0 || y.Lapsed) {
		n.t.Errorf("%s is in use: %+v", name, y)
	}
	if n.d.Holds() != 0 || len(n.d.requests) != 0 || len(n.d.tickets) != 0 {
		n.t.Errorf("the server keeps %d holds, %d requests, %d tickets", n.d.Holds(), len(n.d.requests), len(n.d.tickets))
	}
	if len(n.strange) > 0 {
		n.t.Errorf("events of nobody: %+v", n.strange)
	}
}

// A message that is sent again after its connection broke changes nothing.
func TestResume(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "a"})
	n.hears(1)
	n.d.Closed(1)
	if again := n.hello(2, w); again.Session != w.Session {
		t.Fatalf("another session: %+v", again)
	}
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "a"})
	n.says(2, Frame{Kind: Check, Number: 1})
	n.says(2, Frame{Kind: Check, Number: 9})
	expect(t, "resumed", n.hears(2), Frame{Kind: Held, Number: 1}, Frame{Kind: Held, Number: 1}, Frame{Kind: Lost, Number: 9})
	if why, _ := n.m.Inspect("a"); len(why.Waiters) != 1 {
		t.Errorf("%d wait, want 1", len(why.Waiters))
	}
	n.says(2, Frame{Kind: Unlock, Number: 1})
	n.says(2, Frame{Kind: Unlock, Number: 2})
	n.free("a")
}

// Frames that still arrive on a superseded connection do not count.
func TestSuperseded(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	n.hello(2, w)
	n.says(2, Frame{Kind: Unlock, Number: 1}) // it has asked for it on the other connection
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	if n.d.Holds() > 0 {
		t.Error("a late LOCK is granted, and no client holds the lock")
	}
	if len(n.last) != 1 || n.last[0] != 1 {
		t.Errorf("closed %v, want the superseded one", n.last)
	}
	n.says(3, Frame{Kind: Hello, Number: 2, Protocol: Protocol, Session: w.Session, Secret: w.Secret})
	if n.d.sessions[w.Session].conn == 3 {
		t.Error("an old HELLO takes the session")
	}
	n.says(4, Frame{Kind: Hello, Number: 4, Protocol: Protocol, Session: w.Session, Secret: w.Secret})
	n.hears(4)
	n.d.Closed(1)
	n.says(4, Frame{Kind: Renew, Number: 5})
	if got := n.hears(4); len(got) == 0 || got[len(got)-1].Kind != Renewed {
		t.Errorf("the new connection does not serve: %+v", got)
	}
}

// No client takes a session over without its secret.
func TestSecret(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	w.Secret[15] ^= 1
	if got := n.hello(2, w); got.Session == w.Session {
		t.Errorf("session %d is resumed with a wrong secret", w.Session)
	}
}

// A lock that is granted in the very step in which the request is withdrawn is released.
func TestGrantedAndTakenBack(t *testing.T) {
	n := newNode(t)
	const rest = 10 * member.Millisecond
	n.start(rest)
	over := n.now + member.Instant(rest)*2
	n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	expect(t, "while a ghost may hold it", n.hears(1))
	n.now = over // its lease has expired in the step in which the client takes back
	n.says(1, Frame{Kind: Unlock, Number: 1})
	expect(t, "taken back", n.hears(1), Frame{Kind: Done, Number: 1, OK: true})
	n.free("a")
}

// A session that is silent for its length expires with all its locks, and is forgotten;
// also if it holds nothing.
func TestExpired(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.hello(2, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.hears(1)
	n.wake(n.now + 2*member.Instant(settings().Lease))
	expect(t, "who held something", n.hears(1), Frame{Kind: Bye, Why: Expired})
	expect(t, "who held nothing", n.hears(2), Frame{Kind: Bye, Why: Expired})
	if len(n.d.all) != 0 || len(n.d.sessions) != 0 || len(n.d.conns) != 0 {
		t.Errorf("%d, %d sessions and %d connections are kept", len(n.d.all), len(n.d.sessions), len(n.d.conns))
	}
	n.free("a")
}

// A node that leaves notifies its clients, renews nothing, and waits for holders.
func TestDrain(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	n.hello(2, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.hears(1)
	n.d.Drain(n.now, n.m)
	n.take()
	expect(t, "who is inside", n.hears(1), Frame{Kind: Bye, Why: Leaving})
	expect(t, "who waits", n.hears(2), Frame{Kind: Bye, Why: Leaving})
	n.says(1, Frame{Kind: Renew, Number: 7})
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "b"})
	if got := n.hears(1); len(got) != 1 || got[0].Span != 0 {
		t.Errorf("prolonged: %+v", got)
	}
	n.says(3, Frame{Kind: Hello, Number: 1, Protocol: Protocol})
	expect(t, "who comes", n.hears(3), Frame{Kind: Bye, Why: Leaving})
	n.says(4, Frame{Kind: Hello, Number: 2, Protocol: Protocol, Session: w.Session, Secret: w.Secret})
	expect(t, "who comes back", n.hears(4), Frame{Kind: Welcome, Number: 2}, Frame{Kind: Bye, Why: Leaving})
	if n.d.Holds() != 1 {
		t.Errorf("%d hold something, want 1", n.d.Holds())
	}
	n.says(4, Frame{Kind: Unlock, Number: 1})
	n.free("a")
	n.m.Leave(n.now)
	n.take()
	n.d.End(Leaving)
	if len(n.d.all) != 0 {
		t.Error("sessions are kept")
	}
}

// An evicted node tells all.
func TestEnd(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "a"})
	n.hears(1)
	n.m.Gone(n.now)
	n.take()
	n.d.End(Evicted)
	n.take()
	expect(t, "evicted", n.hears(1), Frame{Kind: Lost, Number: 1, Cause: member.Evicted}, Frame{Kind: Bye, Why: Evicted})
	n.m = nil
	if err := n.d.Receive(n.now, nil, 1, (&Frame{Kind: Hello, Protocol: Protocol}).AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	if f, _ := Parse(n.d.Out.Frames[0].Bytes); f.Why != NoLease {
		t.Errorf("a node that is no member says %+v", f)
	}
}

// A node whose lease has expired renews nothing, and opens no session.
func TestNoLease(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.hears(1)
	n.mute = true
	n.wake(n.now + member.Instant(settings().Lease*95/100))
	n.says(1, Frame{Kind: Renew, Number: 2})
	expect(t, "who is here", n.hears(1), Frame{Kind: Lost, Number: 1, Cause: member.Lease}, Frame{Kind: Renewed, Number: 2})
	n.says(2, Frame{Kind: Hello, Number: 1, Protocol: Protocol})
	expect(t, "who comes", n.hears(2), Frame{Kind: Bye, Why: NoLease})
	n = newNode(t)
	n.mute = true
	n.wake(member.Instant(settings().Lease * 899 / 1000))
	if !n.m.Usable(n.now) {
		t.Fatal("the node has no lease: want one that is about to end")
	}
	n.says(1, Frame{Kind: Hello, Number: 1, Protocol: Protocol})
	expect(t, "who comes just before", n.hears(1), Frame{Kind: Bye, Why: NoLease})
	if len(n.d.all) != 0 {
		t.Error("a session of no use is kept")
	}
}

func TestBounds(t *testing.T) {
	n := newNode(t)
	n.d.config.Sessions = 1
	n.hello(1, Frame{})
	n.says(2, Frame{Kind: Hello, Protocol: Protocol})
	expect(t, "too many", n.hears(2), Frame{Kind: Bye, Why: Full})
	n.says(3, Frame{Kind: Hello, Protocol: 99, Oldest: 98})
	expect(t, "another version", n.hears(3), Frame{Kind: Bye, Why: Foreign, Protocol: Protocol, Oldest: OldestProtocol})
	n.m.Limits.Names = 1
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "b"})
	expect(t, "too many names", n.hears(1), Frame{Kind: Held, Number: 1}, Frame{Kind: Over, Number: 2, Why: ManyNames})
	if err := n.d.Receive(n.now, n.m, 1, []byte{33}); !errors.Is(err, ErrFrame) {
		t.Error("malformed:", err)
	}
	if err := n.d.Receive(n.now, n.m, 1, (&Frame{Kind: Renewed}).AppendTo(nil)); !errors.Is(err, ErrFrame) {
		t.Error("a frame of nodes:", err)
	}
	if err := n.d.Answer(1, 1, true, make([]byte, MaxBytes+1), true); err == nil {
		t.Error("an answer that is too long")
	}
	n.says(1, Frame{Kind: Ask, Number: 5, What: 3, Bytes: []byte("x")})
}

// 10,000 clients of one node that want the same lock all get it, in the order in which
// they asked.
func TestTenThousand(t *testing.T) {
	const clients = 10_000
	n := newNode(t)
	for conn := uint64(1); conn <= clients; conn++ {
		n.hello(conn, Frame{})
	}
	for conn := uint64(1); conn <= clients; conn++ {
		n.says(conn, Frame{Kind: Lock, Number: 1, Name: "a"})
	}
	for conn := uint64(1); conn <= clients; conn++ {
		if len(n.sent) != 1 || n.sent[0].Conn != conn {
			t.Fatalf("client %d: %d frames for others", conn, len(n.sent))
		}
		n.hears(conn)
		n.says(conn, Frame{Kind: Unlock, Number: 1})
		expect(t, "let go", n.hears(conn), Frame{Kind: Done, Number: 1, OK: true})
	}
	n.free("a")
}

// A client may ask for a session shorter than a lease, not for a longer one.
func TestLength(t *testing.T) {
	n := newNode(t)
	for i, x := range []struct{ wanted, want member.Span }{{0, 1000 * ms}, {300 * ms, 300 * ms}, {1, shortest}, {member.MaxSpan, 1000 * ms}} {
		conn := uint64(i + 1)
		n.says(conn, Frame{Kind: Hello, Number: 1, Protocol: Protocol, Length: x.wanted})
		if got := n.hears(conn); got[0].Length != x.want || got[0].Span >= x.want {
			t.Errorf("wanted %v, got %+v", x.wanted, got[0])
		}
	}
}
