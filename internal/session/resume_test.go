package session

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// What a client and its node still know of each other when a connection breaks, or when the
// client has gone to another node.

// delegates lets the client acquire a lock until it is delegated, and returns the request that
// holds it.
func (p *pair) delegates(name string) uint64 {
	p.t.Helper()
	for range 8 {
		r := p.lock(name, Opts{})
		p.wants("granted", r, Granted)
		if p.g.find(r).block != 0 {
			return r
		}
		p.unlock(r)
	}
	p.t.Fatal("the lock is not delegated")
	return 0
}

func (p *pair) unlock(r uint64) {
	p.t.Helper()
	if err := p.g.Unlock(p.now, r); err != nil {
		p.t.Error(err)
	}
	p.settle()
	p.wants("left", r, Left)
}

// On a new connection a client asks whether a delegated lock in use is still held. It stays
// delegated: the next applications enter by themselves.
func TestDelegatedChecks(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	first, wire := s.given(conn, "x")
	s.breaks(conn)
	conn = s.opens("a", 1)
	s.hears("on another connection", conn, fmt.Sprint("CHECK ", wire))
	s.says(conn, Frame{Kind: Delegated, Number: wire, Token: member.Token{Epoch: 1, Count: 5}, Count: 8})
	s.unlock(first)
	second := s.lock("x")
	if e := s.wants("entered again", second, Granted); e.Token.Count != 6 {
		t.Errorf("the second entry has %v", e.Token)
	}
	s.breaks(conn)
	conn = s.opens("a", 1)
	s.hears("on a third connection", conn, fmt.Sprint("CHECK ", wire))
	s.says(conn, Frame{Kind: Lost, Number: wire})
	s.wants("lost meanwhile", second, Taken)
}

// However often a connection breaks while a delegated lock is in use, every entry has a later
// token than those before it, those of other clients included.
func TestDelegatedTokensOnce(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	r := p.delegates("x")
	last := p.g.find(r).token
	later := func(what string, token member.Token) {
		t.Helper()
		if !last.Less(token) {
			t.Errorf("%s enters with %v after %v", what, token, last)
		}
		last = token
	}
	for i := range uint64(10) {
		p.breaks()
		p.pass(100 * ms)
		p.connect()
		for range littleUse { // otherwise the lock is not delegated again soon
			p.unlock(r)
			r = p.lock("x", Opts{})
			later("the client", p.wants("entered again", r, Granted).Token)
		}
		if i%2 == 0 {
			continue
		}
		p.unlock(r)
		other := 1000 + i // the connection of another client
		p.hello(other, Frame{})
		p.says(other, Frame{Kind: Lock, Number: 1, Name: "x"})
		p.settle()
		got := p.hears(other)
		if len(got) != 1 || got[0].Kind != Held {
			t.Fatalf("another client hears %+v", got)
		}
		later("another client", got[0].Token)
		p.says(other, Frame{Kind: Unlock, Number: 1})
		r = p.delegates("x")
		later("the client", p.g.find(r).token)
	}
}

// When a connection breaks after a local handover, the node repeats the grant with the token
// that it knows, which is not that of the present entry. The client holds the lock on, and says
// nothing that lets another process enter.
func TestHandedOverChecks(t *testing.T) {
	for what, enters := range map[string]func(s *stage, first uint64) (second uint64){
		"handed over": func(s *stage, first uint64) uint64 {
			second := s.lock("x")
			s.unlock(first)
			return second
		},
		"idle in between": func(s *stage, first uint64) uint64 {
			s.unlock(first)
			return s.lock("x")
		},
		"handed over twice": func(s *stage, first uint64) uint64 {
			second, third := s.lock("x"), s.lock("x")
			s.unlock(first)
			s.unlock(second)
			return third
		},
	} {
		s := newStage(t, "a")
		conn := s.opens("a", 1)
		first, wire := s.given(conn, "x")
		r := enters(s, first)
		s.wants(what, r, Granted)
		s.breaks(conn)
		conn = s.opens("a", 1)
		s.hears(what+": on another connection", conn, fmt.Sprint("CHECK ", wire))
		s.says(conn, Frame{Kind: Delegated, Number: wire, Token: member.Token{Epoch: 1, Count: 5}, Count: 8})
		s.hears(what+": after the grant is repeated", conn)
		if s.wants(what+": after the grant is repeated", r); !s.g.Valid(r, s.now) {
			t.Errorf("%s: no longer held", what)
		}
		// A recall that was repeated behind it is answered with the present count.
		s.says(conn, Frame{Kind: Recall, Number: wire})
		if got := s.hears(what+": recalled", conn, fmt.Sprint("KEEP ", wire)); len(got) == 1 && got[0].Count != s.g.find(r).token.Count {
			t.Errorf("%s: kept with count %d", what, got[0].Count)
		}
	}
}

// A node remembers that it has asked a client to move when the client resumes its session. The
// end of that session is not the client's word that it has stopped: its lock is passed on only
// when the node has proved that it is still a member.
func TestMoveRemembered(t *testing.T) {
	for _, asked := range []bool{false, true} {
		n := newNode(t)
		w := n.hello(1, Frame{})
		n.says(1, Frame{Kind: Lock, Number: 1, Name: "x"})
		n.hello(2, Frame{})
		n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
		if asked {
			if _, err := n.d.Redirect(w.Session); err != nil {
				t.Fatal(err)
			}
			n.take()
		}
		n.d.Closed(1)
		n.hello(3, w)
		n.mute = true
		n.says(3, Frame{Kind: Close})
		if got := n.hears(2); len(got) != 0 == asked {
			t.Fatalf("asked to move %t: before the proof another client hears %+v", asked, got)
		}
		if n.mute = false; !asked {
			continue
		}
		n.wake(n.now + member.Instant(settings().Renew))
		if got := n.hears(2); len(got) != 1 || got[0].Kind != Held {
			t.Errorf("after the proof another client hears %+v", got)
		}
	}
}

// A recall that comes while the client is not connected is sent when it is, behind the repeated
// grant, whether the client knows of the grant or not.
func TestRecallWhileAway(t *testing.T) {
	for what, recalls := range map[string]func(n *node){
		"another client wants it": func(n *node) {
			n.hello(2, Frame{})
			n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
		},
		"the node is about to stop": func(n *node) {
			n.d.Drain(n.now, n.m)
			n.take()
		},
	} {
		for _, f := range []Frame{{Kind: Check}, {Kind: Lock, Name: "x"}} {
			n := newNode(t)
			was := n.hello(1, Frame{})
			d := n.delegates(1, "x")
			n.d.Closed(1)
			recalls(n)
			n.hello(3, was)
			n.hears(3)
			f.Number = d.Number
			n.says(3, f)
			expect(t, fmt.Sprintf("%s: after %v", what, f.Kind), n.hears(3), d, Frame{Kind: Recall, Number: d.Number})
		}
	}
}

// A client that uses another node returns to the former one what is delegated to it and idle:
// no application enters it any more.
func TestIdleLeftBehind(t *testing.T) {
	for what, c := range map[string]struct {
		leaves  func(s *stage, conn uint64)
		returns bool // to a node that it still reaches
	}{
		"the node has died":      {leaves: func(s *stage, conn uint64) { s.dies(conn, "a") }},
		"it was asked to move":   {func(s *stage, conn uint64) { s.says(conn, Frame{Kind: Redirect}) }, true},
		"the node is to be left": {func(s *stage, conn uint64) { s.says(conn, Frame{Kind: Bye, Why: Leaving}) }, true},
	} {
		s := newStage(t, "a", "b")
		conn := s.opens("a", 1)
		r, wire := s.given(conn, "x")
		s.unlock(r)
		s.wants(what+": left", r, Left)
		c.leaves(s, conn)
		if c.returns {
			if got := s.hears(what, conn, fmt.Sprint("RETURN ", wire)); len(got) == 1 && got[0].Count != 5 {
				t.Errorf("%s: returned: %+v", what, got[0])
			}
		}
		next := s.lock("x")
		s.wants(what+": not at the former node", next)
		other := s.opens("b", 2)
		s.hears(what+": at the other node", other, fmt.Sprint("LOCK ", next))
		s.says(other, Frame{Kind: Held, Number: next, Token: member.Token{Epoch: 2, Count: 1}})
		s.wants(what+": from the other node", next, Granted)
	}
}
