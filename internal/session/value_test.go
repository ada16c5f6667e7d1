package session

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A node that holds a lock for a client knows its value, also after the connection broke
// and after the client has moved to another node.
func TestValueRepeated(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	set := func(value string) error {
		err := s.g.SetValue(s.now, r, value)
		s.take()
		return err
	}
	if set("job 7") != nil || set(strings.Repeat("x", MaxValue+1)) == nil || set("\xff") == nil {
		t.Error("values of up to 256 bytes of UTF-8 are valid, and no others")
	}
	if f := s.hears("sent", a, "VALUE 1")[0]; f.Value != "job 7" {
		t.Errorf("%+v", f)
	}
	s.breaks(a)
	if set("job 8") != nil {
		t.Error("without a connection it is sent later")
	}
	a = s.opens("a", 7)
	s.hears("resumed", a, "CHECK 1", "VALUE 1")
	s.says(a, Frame{Kind: Held, Number: r, Token: token})
	s.dies(a, "a")
	b := s.opens("b", 9)
	if f := s.hears("moved", b, "CLAIM 1", "VALUE 1")[1]; f.Value != "job 8" {
		t.Errorf("%+v", f)
	}
	set("job 9")
	s.hears("while it is claimed", b, "VALUE 1")
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.unlock(r)
	if set("too late") == nil {
		t.Error("the lock is released")
	}
}

// A node is shown when a lock with a value is held, when the value is another, and when the
// lock is no longer held, however that comes about. It is shown nothing of other locks.
func TestShown(t *testing.T) {
	n := newNode(t)
	is := func(what, value string, ok bool, times int) {
		t.Helper()
		if len(n.shown) != times || times > 0 && n.shown[0] != "a" {
			t.Errorf("%s: shown %q, want %d", what, n.shown, times)
		}
		n.shown = nil
		got, with := "", false
		if y, _ := n.m.Inspect("a"); y.Holder != nil {
			got, with = n.d.Value(y.Holder.Ticket)
		}
		if got != value || with != ok {
			t.Errorf("%s: value %q, %v, want %q, %v", what, got, with, value, ok)
		}
	}
	for end, ends := range map[string]func(conn uint64){
		"released": func(conn uint64) { n.says(conn, Frame{Kind: Unlock, Number: 1}) },
		"closed":   func(conn uint64) { n.says(conn, Frame{Kind: Close}) },
		"expired":  func(conn uint64) { n.wake(n.now + member.Instant(2*settings().Lease)) },
		"evicted": func(conn uint64) {
			n.m.Gone(n.now)
			n.take()
			n.d.End(Evicted)
			n.take()
			n.start(0)
			n.wake(n.now + member.Instant(2*settings().Lease))
		},
	} {
		conn := n.drawn + 1
		n.hello(conn, Frame{})
		n.says(conn, Frame{Kind: Lock, Number: 1, Name: "a"})
		n.says(conn, Frame{Kind: Lock, Number: 2, Name: "b"})
		is(end+": held", "", false, 0)
		n.says(conn, Frame{Kind: Value, Number: 1})
		is(end+": an empty value", "", true, 1)
		n.says(conn, Frame{Kind: Value, Number: 1, Value: "v"})
		is(end+": another value", "v", true, 1)
		n.says(conn, Frame{Kind: Value, Number: 3, Value: "v"})
		is(end+": of no request", "v", true, 0)
		ends(conn)
		is(end, "", false, 1)
	}
	n.hello(100, Frame{})
	n.hello(101, Frame{})
	n.says(100, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(101, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(101, Frame{Kind: Value, Number: 1, Value: "w"})
	is("a value of a request that waits", "", false, 0)
	n.says(100, Frame{Kind: Unlock, Number: 1})
	is("which is granted", "w", true, 1)
}
