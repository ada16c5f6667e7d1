package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A client whose node dies claims at another node what it holds, and sends there what
// waits. When the claim is honoured, the hold rests on the new session; the client
// then shows the ticket that it has got there.
func TestClaim(t *testing.T) {
	s := newStage(t, "a", "b", "c")
	a := s.opens("a", 7)
	r := s.grants(a)
	waits := s.lock("y")
	end := s.g.Deadline(r)
	s.dies(a, "a")
	s.wants("waits", waits, Again)
	b := s.opens("b", 9)
	f := s.hears("claimed", b, "LOCK 2", "CLAIM 1")[1]
	if f.Name != "x" || f.Count != token.Count || string(f.Ticket) != "granted" {
		t.Errorf("claim %+v", f)
	}
	if s.rests("claimed", r, true, "a"); s.g.Deadline(r) != end {
		t.Error("its deadline follows a claim that is not answered")
	}
	s.says(b, Frame{Kind: Held, Number: r, Token: token, Ticket: []byte("claimed")})
	s.says(b, Frame{Kind: Held, Number: r, Token: token, Ticket: []byte("renewed")})
	if s.rests("honoured", r, true); s.g.Deadline(r) != s.g.cur.limit() {
		t.Error("its deadline does not follow the new session")
	}
	s.pass(2000 * ms)
	s.rests("for long", r, true)
	s.wants("goes on", r)
	s.dies(b, "b")
	c := s.opens("c", 11)
	f = s.hears("again", c, "LOCK 2", "CLAIM 1")[1]
	if string(f.Ticket) != "renewed" {
		t.Errorf("claimed with the ticket %q", f.Ticket)
	}
	s.says(c, Frame{Kind: Held, Number: r, Token: token})
	s.unlock(r)
	s.hears("released", c, "UNLOCK 1")
	s.says(c, Frame{Kind: Done, Number: r, OK: true})
	if e := s.wants("released", r, Left); !e.OK {
		t.Error("it was held until then")
	}
}

// A claim that is honoured when the old session's time is over, by the client's clock, comes
// too late: the lock is lost, and given up where it is held now.
func TestClaimHonouredTooLate(t *testing.T) {
	for _, woken := range []bool{true, false} {
		s := newStage(t, "a", "b")
		a := s.opens("a", 7)
		r := s.grants(a)
		s.dies(a, "a")
		b := s.opens("b", 9)
		s.hears("claimed", b, "CLAIM 1")
		end := s.g.Deadline(r)
		if woken {
			s.pass(member.Span(end - s.now))
		}
		s.now = end
		s.says(b, Frame{Kind: Held, Number: r, Token: token})
		if e := s.wants("too late", r, Taken); e.Cause != member.Session || e.Token != token {
			t.Errorf("%+v", e)
		}
		s.rests("too late", r, false)
		s.hears("too late", b, "UNLOCK 1", "UNLOCK 1")
		s.breaks(b) // before it has heard that
		b = s.opens("b", 9)
		s.hears("told again", b, "UNLOCK 1")
		s.says(b, Frame{Kind: Done, Number: r})
		s.breaks(b)
		s.hears("told once", s.opens("b", 9))
	}
}

// A refused claim changes nothing: the hold stays valid until its deadline, is not claimed
// again in the same session, and may be claimed at another node.
func TestClaimRefused(t *testing.T) {
	s := newStage(t, "a", "b", "c")
	a := s.opens("a", 7)
	r := s.grants(a)
	end := s.g.Deadline(r)
	s.dies(a, "a")
	b := s.opens("b", 9)
	s.hears("claimed", b, "CLAIM 1")
	s.says(b, Frame{Kind: Lost, Number: r})
	s.rests("refused", r, true, "a")
	s.breaks(b)
	b = s.opens("b", 9)
	s.hears("not claimed again", b)
	s.dies(b, "b")
	c := s.opens("c", 11)
	f := s.hears("claimed elsewhere", c, "CLAIM 1")[0]
	if string(f.Ticket) != "granted" {
		t.Errorf("claimed with the ticket %q", f.Ticket)
	}
	s.says(c, Frame{Kind: Lost, Number: r})
	s.pass(member.Span(end - s.now - 1))
	s.rests("until its deadline", r, true, "a")
	s.pass(1)
	s.wants("then", r, Taken)
	s.rests("then", r, false)
}

// If a claim is refused because an operator has taken the lock, the hold is lost at once,
// although the node that it rests on cannot be reached.
func TestClaimReleased(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	s.hears("claimed", b, "CLAIM 1")
	s.says(b, Frame{Kind: Lost, Number: r, Cause: member.Released})
	s.wants("taken", r, Taken)
	s.rests("taken", r, false)
	s.hears("nothing is left to release", b)
}

// A claim is repeated after each reconnect. Grants of another entry, and of claims that are
// no longer made, are given up.
func TestClaimRepeated(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	s.hears("claimed", b, "CLAIM 1")
	s.breaks(b)
	b = s.opens("b", 9)
	s.hears("claimed again", b, "CLAIM 1")
	other := Frame{Kind: Held, Number: r, Token: member.Token{Epoch: 9, Count: 9}}
	s.says(b, other)
	s.hears("another entry", b, "UNLOCK 1")
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.hears("not claimed any more", b, "UNLOCK 1")
	s.rests("it rests where it was", r, true, "a")
}

// If only the path to a node was broken, the old session is resumed and goes on, whatever
// becomes of the claim. What waited there is withdrawn. When the claim is honoured, the
// old node is not notified, because it may have been evicted; it is when the lock is
// released.
func TestBlip(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	waits := s.lock("y")
	s.dies(a, "a")
	b := s.opens("b", 9)
	s.hears("claimed", b, "LOCK 2", "CLAIM 1")
	a = s.opens("a", 7)
	s.hears("resumed", a, "UNLOCK 2", "CHECK 1")
	s.says(a, Frame{Kind: Held, Number: waits, Token: token}) // just before it heard that
	s.hears("not wanted here", a, "UNLOCK 2")
	s.says(a, Frame{Kind: Done, Number: waits, OK: true})
	s.says(a, Frame{Kind: Done, Number: waits})
	s.says(a, Frame{Kind: Held, Number: r, Token: token})
	s.pass(2000 * ms)
	s.rests("both go on", r, true, "a")
	s.wants("waits at the other node", waits, Again)
	s.breaks(a)
	a = s.opens("a", 7)
	s.hears("resumed again, nothing is owed", a, "CHECK 1")
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.rests("honoured", r, true, "a")
	s.hears("evicted or not, it must not pass it on", a)
	s.says(a, Frame{Kind: Held, Number: r, Token: token}) // late
	s.says(a, Frame{Kind: Lost, Number: r, Cause: member.Lease})
	s.hears("nor now", a)
	s.rests("it does not rest there", r, true, "a")
	s.unlock(r)
	s.hears("released", a, "UNLOCK 1", "CLOSE")
	s.hears("released", b, "UNLOCK 1")
	s.rests("released", r, false)
	if !slices.Contains(s.hung, a) {
		t.Error("the old connection is kept")
	}
	s.says(b, Frame{Kind: Done, Number: r, OK: true})
	s.wants("released", r, Left)
}

// An old session through which nothing is held any more is not renewed. It ends with its
// time, without a word.
func TestBlipThenSilence(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	a = s.opens("a", 7)
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.hears("resumed", a, "CHECK 1")
	delete(s.alive, a)
	s.pass(2000 * ms)
	s.hears("not renewed", a)
	if s.rests("over", r, true); !slices.Contains(s.hung, a) {
		t.Error("the old connection is kept")
	}
	// The same if its connection breaks.
	s.dies(b, "b")
	a = s.opens("a", 8)
	b = s.opens("b", 9)
	s.says(a, Frame{Kind: Held, Number: r, Token: token})
	s.rests("moved back", r, true, "b")
	s.breaks(b)
	if s.rests("broken", r, true); len(s.dials) > 0 {
		t.Errorf("dials %v", s.dials)
	}
}

// A lock that is released while it is claimed is released at both nodes. The one that it
// rests on confirms it.
func TestReleaseWhileClaimed(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	s.hears("claimed", b, "CLAIM 1")
	s.unlock(r)
	s.hears("withdrawn", b, "UNLOCK 1")
	s.says(b, Frame{Kind: Done, Number: r})
	s.says(b, Frame{Kind: Held, Number: r, Token: token}) // as if it had crossed
	s.hears("given up", b, "UNLOCK 1")
	s.rests("not confirmed", r, false, "a")
	s.wants("not confirmed", r)
	a = s.opens("a", 7)
	s.hears("resumed", a, "UNLOCK 1")
	s.says(a, Frame{Kind: Done, Number: r, OK: true})
	if e := s.wants("confirmed", r, Left); !e.OK {
		t.Error("it was held until then")
	}
	s.hears("nothing is held there", a, "CLOSE")
	s.rests("confirmed", r, false)

	// If it cannot confirm it, the end of its session does.
	r = s.grants(b)
	s.dies(b, "b")
	a = s.opens("a", 7)
	s.unlock(r)
	s.pass(1000 * ms)
	if e := s.wants("not confirmed", r, Left); e.OK {
		t.Error("confirmed by nobody")
	}
	s.hears("withdrawn", a, "CLAIM 2", "UNLOCK 2")
}

// The clients of a node that leaves go elsewhere at once, on another connection, and claim
// there what they hold. The node is not asked to renew any more, and is notified when all
// have moved. A node that leaves too refuses them: they try the next one.
func TestPlannedStop(t *testing.T) {
	s := newStage(t, "a", "b", "c")
	a := s.opens("a", 7)
	r, second := s.grants(a), s.grants(a)
	waits := s.lock("y")
	s.hears("asked", a, "LOCK 3")
	s.says(a, Frame{Kind: Bye, Why: Leaving})
	s.wants("waits", waits, Again)
	s.hears("kept in peace", a)
	b, _ := s.greets("b")
	s.says(b, Frame{Kind: Bye, Why: Leaving})
	c := s.opens("c", 11)
	s.hears("claimed", c, "LOCK 3", "CLAIM 1", "CLAIM 2")
	delete(s.alive, a)
	s.pass(500 * ms)
	s.hears("not renewed", a)
	s.breaks(a) // and it is dialled again
	a = s.opens("a", 7)
	s.hears("resumed", a, "CHECK 1", "CHECK 2")
	s.says(a, Frame{Kind: Bye, Why: Leaving})
	s.says(c, Frame{Kind: Held, Number: r, Token: token})
	s.hears("not all have moved", a)
	s.says(c, Frame{Kind: Held, Number: second, Token: token})
	s.hears("all have moved", a, "CLOSE")
	if s.rests("moved", r, true); !slices.Contains(s.hung, a) || !slices.Contains(s.hung, b) {
		t.Errorf("closed %v, want %d and %d", s.hung, a, b)
	}
	// What is late on the first connection counts for nothing.
	s.says(a, Frame{Kind: Lost, Number: r, Cause: member.Leaving})
	s.says(a, Frame{Kind: Bye, Why: Finished})
	s.g.Disconnected(s.now, a)
	s.take()
	s.pass(2000 * ms)
	s.rests("goes on", r, true)
	s.wants("goes on", r)
}

// If a hold of a node that leaves cannot move, it is lost at its deadline. The node is not
// notified then, because its application may still act.
func TestPlannedStopTooLate(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	end := s.g.Deadline(r)
	s.says(a, Frame{Kind: Bye, Why: Leaving})
	for s.now < end {
		if len(s.dials) > 0 {
			s.refuses(s.dials[0].Address)
		}
		s.pass(min(ms, member.Span(end-s.now)))
	}
	s.wants("its time is over", r, Taken)
	s.hears("not a word", a)
	if s.rests("over", r, false); !slices.Contains(s.hung, a) {
		t.Error("the connection is kept")
	}
}

// A client that knows one address stays with its node until its time is over, if the node
// dies and if it leaves.
func TestSingleAddress(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		s := newStage(t, "a")
		a := s.opens("a", 7)
		r := s.grants(a)
		end := s.g.Deadline(r)
		if leaves {
			s.says(a, Frame{Kind: Bye, Why: Leaving})
		} else {
			s.dies(a, "a")
			s.refuses("a")
			s.refuses("a")
		}
		s.rests("it stays", r, true)
		s.pass(member.Span(end - s.now - 1))
		s.rests("it stays", r, true)
		s.pass(1)
		s.wants("its time is over", r, Taken)
		if conn := s.opens("a", 8); s.g.cur.inc != 8 {
			t.Errorf("connection %d to %d", conn, s.g.cur.inc)
		}
		s.grants(s.g.cur.conn)
	}
}

// A node that was restarted is another one. What was held through it is claimed through it,
// or elsewhere if the client is there by then: the session that it has begun is closed.
func TestRestarted(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	restarts := func() uint64 {
		conn, h := s.greets("a")
		s.last++
		s.alive[conn] = true
		s.says(conn, Frame{Kind: Welcome, Number: h.Number, Session: s.last, Inc: 6 + s.last, Length: 1000 * ms, Span: 900 * ms, Act: 100 * ms})
		return conn
	}
	s.breaks(a)
	a = restarts()
	f := s.hears("claimed", a, "CLAIM 1")[0]
	if string(f.Ticket) != "granted" {
		t.Errorf("claimed with the ticket %q", f.Ticket)
	}
	s.rests("claimed", r, true, "a")
	s.says(a, Frame{Kind: Held, Number: r, Token: token})
	s.rests("honoured", r, true)
	s.dies(a, "a")
	b := s.opens("b", 20)
	s.hears("claimed", b, "CLAIM 1")
	a = restarts()
	s.hears("not wanted", a, "CLOSE")
	if s.rests("claimed", r, true, "a"); !slices.Contains(s.hung, a) {
		t.Error("the connection is kept")
	}
	if s.pass(500 * ms); len(s.dials) > 0 {
		t.Errorf("dials %v", s.dials)
	}
	s.unlock(r) // which the node that it rests on cannot confirm
	if e := s.wants("released", r, Left); !e.OK {
		t.Error("it was held until then")
	}
	s.hears("withdrawn", b, "UNLOCK 1")
	s.rests("released", r, false)
}

// If the next node cannot be used and the first one is reached again, it is the current one
// again, with its session.
func TestReturns(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	waits := s.lock("y")
	s.hears("asked", a, "LOCK 2")
	s.dies(a, "a")
	b := s.dialled("b")
	a = s.opens("a", 7)
	s.hears("resumed", a, "UNLOCK 2", "CHECK 1")
	s.g.Disconnected(s.now, b)
	s.take()
	s.refuses("b") // what is withdrawn at the first one is not confirmed yet
	s.says(a, Frame{Kind: Done, Number: waits, OK: true})
	s.refuses("b")
	s.hears("asked again", a, "LOCK 2")
	if _, node, up := s.g.Session(); node != "a" || !up {
		t.Errorf("it is at %s, connected %t", node, up)
	}
	s.rests("as before", r, true)
	s.wants("waits", waits, Again)
	s.pass(2000 * ms)
	s.rests("as before", r, true)
}

// A node that is silent is left at once, when a third of the session has passed, if locks
// are held through it. It is dialled again too.
func TestSilentNode(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	delete(s.alive, a)
	s.pass(member.Span(s.g.cur.renewAt - s.now))
	s.pass(member.Span(s.g.cur.silent() - s.now))
	if len(s.dials) != 1 || s.dials[0].Address != "b" || !slices.Contains(s.hung, a) {
		t.Errorf("dials %v, closed %v", s.dials, s.hung)
	}
	s.rests("silent", r, true, "a")
	s.hears("claimed", s.opens("b", 9), "CLAIM 1")
	s.hears("resumed", s.opens("a", 7), "CHECK 1")
}

// An old node that ends the session, or says that a lock is lost, ends what rests on it, and
// no more. A claim is then withdrawn.
func TestOldNodeTakes(t *testing.T) {
	for what, f := range map[string]Frame{
		"evicted": {Kind: Bye, Why: Evicted}, "expired": {Kind: Bye, Why: Expired}, "lost": {Kind: Lost, Number: 1, Cause: member.Released},
	} {
		s := newStage(t, "a", "b")
		a := s.opens("a", 7)
		r := s.grants(a)
		s.dies(a, "a")
		b := s.opens("b", 9)
		other := s.lock("z")
		s.says(b, Frame{Kind: Held, Number: other, Token: token})
		s.wants(what, other, Granted)
		s.hears(what, b, "CLAIM 1", "LOCK 2")
		a = s.opens("a", 7)
		s.hears(what, a, "CHECK 1")
		s.says(a, f)
		s.wants(what, r, Taken)
		s.hears(what, b, "UNLOCK 1")
		s.hears(what, a)
		s.rests(what, other, true)
	}
}

// Close notifies all nodes.
func TestCloseAll(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	a = s.opens("a", 7)
	s.g.Close(s.now)
	s.take()
	s.wants("closed", r, Taken)
	s.hears("closed", a, "CHECK 1", "CLOSE")
	s.hears("closed", b, "CLAIM 1", "CLOSE")
	if !slices.Contains(s.hung, a) || !slices.Contains(s.hung, b) || s.g.Out.Wake != member.Never {
		t.Errorf("closed %v, woken at %d", s.hung, s.g.Out.Wake)
	}
}

// Older attachments are bounded.
func TestManyMoves(t *testing.T) {
	nodes := strings.Fields(strings.Repeat("n ", maxOld+3))
	for i := range nodes {
		nodes[i] += fmt.Sprint(i)
	}
	s := newStage(t, nodes...)
	r := s.grants(s.opens(nodes[0], 1))
	for i := 1; i < maxOld+3; i++ {
		s.dies(s.g.cur.conn, nodes[i-1])
		b := s.opens(nodes[i], uint64(i+1))
		s.says(b, Frame{Kind: Held, Number: r, Token: token})
	}
	s.rests("moved", r, true)
	s = newStage(t, nodes...)
	var all []uint64
	for i := range maxOld + 1 {
		b := s.opens(nodes[i], uint64(i+1))
		delete(s.sent, b) // claims
		all = append(all, s.grants(b))
		s.dies(b, nodes[i])
	}
	s.refuses(nodes[maxOld])
	if _, node, _ := s.g.Session(); node != nodes[maxOld] || len(s.g.old) != maxOld {
		t.Errorf("at %s with %d older attachments", node, len(s.g.old))
	}
	for _, r := range all {
		if !s.g.Valid(r, s.now) {
			t.Errorf("%d is lost", r)
		}
	}
}

// A lock that is lost after it has moved is not kept by the session of the node through
// which it was held before: the client begins another one there.
func TestLostAfterMove(t *testing.T) {
	s := newStage(t, "a", "b")
	a := s.opens("a", 7)
	r := s.grants(a)
	s.dies(a, "a")
	b := s.opens("b", 9)
	a = s.opens("a", 7)
	s.says(b, Frame{Kind: Held, Number: r, Token: token})
	s.hears("resumed", a, "CHECK 1")
	s.says(b, Frame{Kind: Bye, Why: Evicted})
	s.wants("lost", r, Taken)
	if s.hears("an application may still act", a); !slices.Contains(s.hung, a) {
		t.Error("the old connection is kept")
	}
	for _, at := range append(slices.Clone(s.g.old), s.g.cur) {
		if at.session != 0 {
			t.Errorf("it goes on with its session at %s", at.address)
		}
	}
}
