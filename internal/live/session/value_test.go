package session

import (
	"strings"
	"testing"
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
