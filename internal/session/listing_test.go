package session

import (
	"fmt"
	"testing"
)

// A session is described for each of its locks when these are listed, so describing one must
// not visit its requests: here it cannot.
func TestDescribedWithoutAWalk(t *testing.T) {
	n := newNode(t)
	w, other := n.hello(1, Frame{}), n.hello(2, Frame{})
	for i := range uint64(5) {
		n.says(1, Frame{Kind: Lock, Number: i, Name: fmt.Sprint("x", i)})
	}
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x0"})
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "x1"})
	n.says(2, Frame{Kind: Lock, Number: 3, Name: "y"})
	for _, c := range []struct {
		w            Frame
		holds, waits int
	}{{w, 5, 0}, {other, 1, 2}} {
		s := n.d.sessions[c.w.Session]
		first := s.first
		s.first = nil
		if got, ok := n.d.Find(c.w.Session); !ok || got.Holds != c.holds || got.Waits != c.waits {
			t.Errorf("session %d: %d held and %d awaited, want %d and %d", c.w.Session, got.Holds, got.Waits, c.holds, c.waits)
		}
		s.first = first
	}
}

// What an identity uses is counted when it begins a session, so that must not visit the sessions
// of others: here it cannot.
func TestCountedWithoutAWalk(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	all := n.d.all
	n.d.all = []*session{nil}
	q := Quota{Sessions: 1, Locks: 1}
	if got := n.hellos(2, "client/a", q, Frame{}); got.Kind != Welcome {
		t.Errorf("a first session: %+v", got)
	}
	if got := n.hellos(3, "client/a", q, Frame{}); got.Kind != Bye || got.Why != Crowded {
		t.Errorf("a second session: %+v", got)
	}
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "y"})
	expect(t, "within and over the quota", n.hears(2), Frame{Kind: Held, Number: 1}, Frame{Kind: Over, Number: 2, Why: OverQuota})
	n.d.all[0] = all[0]
}
