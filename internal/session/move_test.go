package session

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A client that is asked to move withdraws what waits, claims elsewhere what it holds, and
// renews its session with the node until all has moved. Then it ends the session.
func TestAskedToMove(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r, second := s.grants(a), s.grants(a)
	waits := s.lock("y")
	s.hears("asked", a, "LOCK 3")
	s.says(a, Frame{Kind: Redirect, Nodes: []string{"a", "b"}})
	s.wants("waits", waits, Again)
	s.hears("asked to move", a, "UNLOCK 3")
	s.says(a, Frame{Kind: Held, Number: waits, Token: token}) // granted before it heard that
	s.hears("not wanted here", a, "UNLOCK 3")
	s.says(a, Frame{Kind: Done, Number: waits, OK: true})
	s.says(a, Frame{Kind: Done, Number: waits})
	b := s.opens("b", 9)
	s.hears("claimed", b, "LOCK 3", "CLAIM 1", "CLAIM 2")
	s.pass(3000 * ms)
	s.rests("renewed while it is not honoured", r, true, "a")
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.hears("not all have moved", a)
	s.says(a, Frame{Kind: Redirect}) // again
	s.says(b, Frame{Kind: Held, Number: second, Token: token})
	s.hears("all have moved", a, "CLOSE")
	if !slices.Contains(s.hung, a) {
		t.Error("the connection is kept")
	}
	s.pass(3000 * ms)
	s.rests("moved", r, true)
	s.rests("moved", second, true)
	if _, at, up := s.g.Session(); at != "b" || !up || len(s.dials) > 0 {
		t.Errorf("it is at %s, connected %t, dials %v", at, up, s.dials)
	}
	s.wants("nothing is lost", r)
}

// A client that cannot reach another node comes back. It loses no lock.
func TestMoveFails(t *testing.T) {
	s := newStage(t, "a")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.says(a, Frame{Kind: Redirect})
	s.says(a, Frame{Kind: Redirect, Nodes: []string{"a"}})
	if s.hears("no other node", a); len(s.dials) > 0 {
		t.Errorf("dials %v", s.dials)
	}
	waits := s.lock("y")
	s.hears("as before", a, "LOCK 2")
	s.says(a, Frame{Kind: Redirect, Nodes: []string{"b", "c"}})
	s.hears("withdrawn", a, "UNLOCK 2")
	s.refuses("b")
	s.refuses("c") // it cannot come back yet: the node may still grant what was withdrawn
	s.says(a, Frame{Kind: Done, Number: waits, OK: true})
	s.refuses("b")
	s.refuses("c")
	s.hears("back", a, "LOCK 2")
	s.wants("it has lost its place", waits, Again)
	s.pass(3000 * ms)
	s.rests("held as before", r, true)
	s.wants("held as before", r)
	if len(s.dials) > 0 {
		t.Errorf("dials %v", s.dials)
	}
}

// A client that holds nothing closes its session. If it comes back to the node by another
// address, it goes on to the next one, but not forever.
func TestMoveShuns(t *testing.T) {
	s := newStage(t, "a", "also a", "b")
	a := s.opens("a", 7)
	s.says(a, Frame{Kind: Redirect})
	s.hears("asked to move", a, "CLOSE")
	again := s.opens("also a", 7)
	s.hears("not there", again, "CLOSE")
	if !slices.Contains(s.hung, again) {
		t.Error("the connection is kept")
	}
	b := s.opens("b", 9)
	s.dies(b, "b")
	s.refuses("b")
	s.opens("a", 7) // which is no longer shunned
	s.grants(s.g.cur.conn)

	s = newStage(t, "a", "also a")
	s.says(s.opens("a", 7), Frame{Kind: Redirect})
	s.opens("also a", 7)
	s.grants(s.opens("a", 7))
}

// A transaction moves as a whole.
func TestMoveTransaction(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	first, err := s.g.Lock(s.now, "k/x", Opts{Terms: member.Terms{Tx: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.take()
	s.says(a, Frame{Kind: Held, Number: first, Token: token})
	second, err := s.g.Lock(s.now, "k/y", Opts{Terms: member.Terms{Tx: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.take()
	s.hears("asked", a, "LOCK 1", "LOCK 2")
	s.says(a, Frame{Kind: Redirect})
	s.hears("withdrawn", a, "UNLOCK 2")
	b := s.opens("b", 9)
	s.hears("claimed first", b, "CLAIM 1")
	s.says(b, Frame{Kind: Held, Number: first, Token: token})
	s.hears("then it goes on", b, "LOCK 2")
	s.wants("moved", first, Granted)
	s.wants("moved", second, Again)
}

// A node asks only clients that can hear it.
func TestServerMoves(t *testing.T) {
	n := newNode(t)
	w := n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	free := n.hello(3, Frame{})
	n.hears(1)
	for _, x := range []struct {
		session uint64
		holds   bool
		err     error
	}{{w.Session, true, nil}, {free.Session, false, nil}, {999, false, ErrNoSession}} {
		if holds, err := n.d.Redirect(x.session); holds != x.holds || !errors.Is(err, x.err) {
			t.Errorf("%d: holds %t, %v", x.session, holds, err)
		}
	}
	n.take()
	expect(t, "who holds a lock", n.hears(1), Frame{Kind: Redirect})
	expect(t, "who holds nothing", n.hears(3), Frame{Kind: Redirect})
	n.d.Closed(1)
	if _, err := n.d.Redirect(w.Session); !errors.Is(err, ErrUnconnected) {
		t.Error(err)
	}
	n.hello(4, w)
	if _, err := n.d.Redirect(w.Session); err != nil {
		t.Error(err)
	}
}
