package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// delegates lets a client acquire a lock until it is delegated, and returns the grant.
func (n *node) delegates(conn uint64, name string) Frame {
	n.t.Helper()
	for i := range uint64(8) {
		n.says(conn, Frame{Kind: Lock, Number: 100 + i, Name: name})
		got := n.hears(conn)
		if len(got) == 1 && got[0].Kind == Delegated {
			return got[0]
		}
		n.says(conn, Frame{Kind: Unlock, Number: 100 + i})
		n.hears(conn)
	}
	n.t.Fatal("the lock is not delegated")
	return Frame{}
}

// A lock is delegated after several silent grants in a row, and its counts are used up by RETURN:
// the client could prove that it was granted them.
func TestDelegate(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	if d.Number != 100+usualStreak || d.Token != (member.Token{Epoch: 1, Count: 4}) || d.Count != 4+blockLength-1 {
		t.Fatalf("delegated: %+v", d)
	}
	n.says(1, Frame{Kind: Return, Number: d.Number, Count: 9})
	expect(t, "after RETURN", n.hears(1), Frame{Kind: Done, Number: d.Number, OK: true})
	n.says(1, Frame{Kind: Return, Number: d.Number, Count: 9})
	expect(t, "after the same RETURN", n.hears(1), Frame{Kind: Done, Number: d.Number, OK: true})
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	if got := n.hears(2); len(got) != 1 || got[0].Kind != Held || got[0].Token.Count != d.Count+1 {
		t.Errorf("the next entry: %+v", got)
	}
}

// A lock that its client returns again and again is delegated each time.
func TestDelegateAgain(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	for i := range uint64(1000) {
		n.says(1, Frame{Kind: Return, Number: d.Number, Count: d.Token.Count})
		n.hears(1)
		n.says(1, Frame{Kind: Lock, Number: 1000 + i, Name: "x"})
		got := n.hears(1)
		if len(got) != 1 || got[0].Kind != Delegated {
			t.Fatalf("after %d delegations: %+v", i+1, got)
		}
		d = got[0]
	}
}

// Locks that a client acquires in turn are delegated too.
func TestDelegateTwo(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	for i := range uint64(16) {
		n.says(1, Frame{Kind: Lock, Number: 1 + i, Name: string(rune('x' + i%2))})
		got := n.hears(1)
		if len(got) == 1 && got[0].Kind == Delegated {
			return
		}
		n.says(1, Frame{Kind: Unlock, Number: 1 + i})
		n.hears(1)
	}
	t.Error("neither lock is delegated")
}

// A delegated lock is recalled when another client wants it. In use, it is kept; the recall is
// repeated behind the repeated grant.
func TestRecall(t *testing.T) {
	n := newNode(t)
	was := n.hello(1, Frame{})
	d := n.delegates(1, "x")
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	expect(t, "recalled", n.hears(1), Frame{Kind: Recall, Number: d.Number})
	n.hello(3, was)
	n.says(3, Frame{Kind: Check, Number: d.Number})
	expect(t, "on another connection", n.hears(3), d, Frame{Kind: Recall, Number: d.Number})
	n.says(3, Frame{Kind: Keep, Number: d.Number, Count: 20})
	n.says(3, Frame{Kind: Check, Number: d.Number})
	if got := n.hears(3); len(got) != 1 || got[0].Kind != Held || got[0].Token.Count != 20 {
		t.Errorf("kept: %+v", got)
	}
	expect(t, "a waiter", n.hears(2))
	n.says(3, Frame{Kind: Unlock, Number: d.Number})
	if got := n.hears(2); len(got) != 1 || got[0].Kind != Held || got[0].Token.Count != d.Count+1 {
		t.Errorf("the next entry: %+v", got)
	}
}

// A client that comes back to the node that has delegated a lock to it claims that lock with the
// token of the present entry. The delegation ends, and the hold rests on that node again.
func TestDelegatedComesBack(t *testing.T) {
	n := newNode(t)
	was := n.hello(1, Frame{})
	d := n.delegates(1, "x")
	n.hello(2, was)
	claim := Frame{Kind: Claim, Number: d.Number, Name: "x", Count: d.Token.Count + 7, Ticket: d.Ticket}
	for range 2 { // the first answer may be lost with a connection
		n.says(2, claim)
		expect(t, "claimed", n.hears(2), Frame{Kind: Held, Number: d.Number})
	}
	n.hello(3, Frame{})
	n.says(3, Frame{Kind: Lock, Number: 1, Name: "x"})
	expect(t, "no longer recalled", n.hears(2))
	n.says(2, Frame{Kind: Unlock, Number: d.Number})
	if got := n.hears(3); len(got) != 1 || got[0].Kind != Held || got[0].Token.Count != d.Count+1 {
		t.Errorf("the next entry: %+v", got)
	}
}

// A claim with a count outside of the block is refused, as other such frames are. One with
// another ticket is that of another entry, and ends nothing.
func TestDelegatedClaimedWrongly(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	for _, count := range []uint64{d.Token.Count - 1, d.Count + 1} {
		f := Frame{Kind: Claim, Number: d.Number, Name: "x", Count: count, Ticket: d.Ticket}
		if err := n.d.Receive(n.now, n.m, 1, f.AppendTo(nil)); !errors.Is(err, ErrFrame) {
			t.Errorf("a claim of count %d: %v", count, err)
		}
	}
	n.says(1, Frame{Kind: Claim, Number: d.Number, Name: "x", Count: d.Token.Count, Ticket: d.Ticket[1:]})
	expect(t, "a claim with another ticket", n.hears(1), d)
}

// Every end of a delegation but RETURN and KEEP uses up its counts.
func TestBlockUsedUp(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	n.says(1, Frame{Kind: Close})
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	if got := n.hears(2); len(got) != 1 || got[0].Kind != Held || got[0].Token.Count != d.Count+1 {
		t.Errorf("the next entry: %+v", got)
	}
}

// A count outside of the block is refused.
func TestForeignCount(t *testing.T) {
	for _, kind := range []Kind{Keep, Return} {
		n := newNode(t)
		n.hello(1, Frame{})
		d := n.delegates(1, "x")
		for _, count := range []uint64{d.Token.Count - 1, d.Count + 1} {
			f := Frame{Kind: kind, Number: d.Number, Count: count}
			if err := n.d.Receive(n.now, n.m, 1, f.AppendTo(nil)); !errors.Is(err, ErrFrame) {
				t.Errorf("%v of count %d: %v", kind, count, err)
			}
		}
	}
}

// A try waits for the answer to the recall: an idle lock is free, one in use is not, and no
// answer counts as use.
func TestTryRecalls(t *testing.T) {
	for name, c := range map[string]struct {
		answer Frame
		want   Kind
	}{
		"idle":   {Frame{Kind: Return, Count: 9}, Held},
		"in use": {Frame{Kind: Keep, Count: 9}, Over},
		"silent": {Frame{Kind: Renew}, Over},
	} {
		n := newNode(t)
		n.hello(1, Frame{})
		d := n.delegates(1, "x")
		n.hello(2, Frame{})
		n.says(2, Frame{Kind: Lock, Number: 1, Name: "x", Try: true})
		expect(t, name+": asked", n.hears(1), Frame{Kind: Recall, Number: d.Number})
		expect(t, name+": at once", n.hears(2))
		if c.answer.Kind != Renew {
			c.answer.Number = d.Number
			n.says(1, c.answer)
		} else {
			n.wake(n.now + member.Instant(60*ms))
		}
		if got := n.hears(2); len(got) != 1 || got[0].Kind != c.want {
			t.Errorf("%s: got %+v, want %v", name, got, c.want)
		}
	}
}

// A delegation that is recalled early makes the next one come later.
func TestEarlyRecall(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	n.says(1, Frame{Kind: Return, Number: d.Number, Count: d.Token.Count})
	n.says(2, Frame{Kind: Unlock, Number: 1})
	n.hears(1)
	for i := range uint64(2*usualStreak - 1) {
		n.says(1, Frame{Kind: Lock, Number: 200 + i, Name: "x"})
		if got := n.hears(1); len(got) != 1 || got[0].Kind != Held {
			t.Fatalf("grant %d: %+v", i, got)
		}
		n.says(1, Frame{Kind: Unlock, Number: 200 + i})
		n.hears(1)
	}
	n.says(1, Frame{Kind: Lock, Number: 300, Name: "x"})
	if got := n.hears(1); len(got) != 1 || got[0].Kind != Delegated {
		t.Errorf("then: %+v", got)
	}
}

// A delegation of which the client makes much use, recalled or not, makes the next one come as
// soon as usual.
func TestMuchUse(t *testing.T) {
	for _, recalled := range []bool{false, true} {
		n := newNode(t)
		n.hello(1, Frame{})
		n.hello(2, Frame{})
		number := uint64(0)
		grants := func() (until int, d Frame) { // until the lock is delegated
			for {
				number++
				n.says(1, Frame{Kind: Lock, Number: number, Name: "x"})
				got := n.hears(1)
				if until++; len(got) != 1 || until > 20 {
					t.Fatalf("grant %d: %+v", until, got)
				}
				if got[0].Kind == Delegated {
					return until, got[0]
				}
				n.says(1, Frame{Kind: Unlock, Number: number})
				n.hears(1)
			}
		}
		returns := func(d Frame, used uint64, recalled bool) {
			if recalled {
				n.says(2, Frame{Kind: Lock, Number: number, Name: "x"})
			}
			n.says(1, Frame{Kind: Return, Number: d.Number, Count: d.Token.Count + used})
			if recalled {
				n.says(2, Frame{Kind: Unlock, Number: number})
			}
			n.hears(1)
		}
		_, d := grants()
		returns(d, littleUse-1, true)
		late, d := grants()
		returns(d, littleUse, recalled)
		if usual, _ := grants(); usual >= late {
			t.Errorf("recalled %t: delegated after %d grants, and after %d when the last one was recalled early", recalled, usual, late)
		}
	}
}

// given lets the node of a stage delegate the lock that the client requests.
func (s *stage) given(conn uint64, name string) (request, wire uint64) {
	s.t.Helper()
	r := s.lock(name)
	s.hears("the request", conn, fmt.Sprint("LOCK ", r))
	s.says(conn, Frame{Kind: Delegated, Number: r, Token: member.Token{Epoch: 1, Count: 5}, Count: 8})
	s.wants("the grant", r, Granted)
	return r, r
}

// The applications of a client enter and leave a delegated lock without a message, one after
// the other, each with the next count, until the block is used up.
func TestDelegated(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	first, wire := s.given(conn, "x")
	second := s.lock("x")
	s.unlock(first)
	s.wants("left", first, Left)
	if e := s.wants("handed over", second, Granted); e.Token.Count != 6 {
		t.Errorf("the second entry has %v", e.Token)
	}
	s.unlock(second)
	s.pass(5 * ms)
	third := s.lock("x")
	if e := s.wants("entered again", third, Granted); e.Token.Count != 7 {
		t.Errorf("the third entry has %v", e.Token)
	}
	s.hears("nothing", conn)
	s.unlock(third)
	fourth := s.lock("x")
	s.wants("and again", fourth, Granted)
	s.unlock(fourth)
	s.wants("used up", fourth, Left)
	if got := s.hears("the block", conn, "RETURN 1"); got[0].Number != wire || got[0].Count != 8 {
		t.Errorf("returned: %+v", got[0])
	}
	s.says(conn, Frame{Kind: Done, Number: wire, OK: true})
	fifth := s.lock("x")
	s.hears("an ordinary request", conn, fmt.Sprint("LOCK ", fifth))
}

// An idle lock goes back after a while, and at once when it is recalled.
func TestIdleReturns(t *testing.T) {
	for _, recalled := range []bool{false, true} {
		s := newStage(t, "a")
		conn := s.opens("a", 1)
		r, wire := s.given(conn, "x")
		s.unlock(r)
		s.hears("while it is idle", conn)
		if recalled {
			s.says(conn, Frame{Kind: Recall, Number: wire})
		} else {
			s.pass(idleTime)
		}
		if got := s.hears("afterwards", conn, "RETURN 1"); len(got) != 1 || got[0].Count != 5 {
			t.Errorf("returned: %+v", got)
		}
	}
}

// After a recall no other application enters: those that wait are sent to the node.
func TestRecalledInUse(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	r, wire := s.given(conn, "x")
	waits := s.lock("x")
	s.says(conn, Frame{Kind: Recall, Number: wire})
	if got := s.hears("recalled", conn, "KEEP 1", fmt.Sprint("LOCK ", waits)); got[0].Count != 5 {
		t.Errorf("answered: %+v", got)
	}
	s.says(conn, Frame{Kind: Recall, Number: wire})
	s.hears("once more", conn, "KEEP 1")
	s.unlock(r)
	s.hears("left", conn, "UNLOCK 1")
}

// When a client's session has expired, it no longer enters a lock that is delegated to it.
func TestDelegatedExpires(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	r, _ := s.given(conn, "x")
	s.alive[conn] = false
	s.pass(member.Span(s.g.Deadline(r)-s.now) - 2*ms)
	s.unlock(r)
	s.wants("left", r, Left)
	s.pass(3 * ms)
	s.wants("after the deadline", s.lock("x"))
}

// A node that is about to stop recalls what it has delegated.
func TestDrainRecalls(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	d := n.delegates(1, "x")
	n.d.Drain(n.now, n.m)
	n.take()
	expect(t, "before it stops", n.hears(1), Frame{Kind: Recall, Number: d.Number}, Frame{Kind: Bye, Why: Leaving})
}

// A connection that breaks frees nothing, whether an application is inside or not.
func TestBreakFreesNothing(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.delegates(1, "x")
	n.hello(2, Frame{})
	n.d.Closed(1)
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	n.wake(n.now + member.Instant(20*ms))
	expect(t, "beside a client that is away", n.hears(2))
}

// Requests of a client for a lock that is delegated to it enter in their order, without those
// that were withdrawn. After a recall the rest is sent to the node.
func TestDelegatedQueue(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	first, _ := s.given(conn, "x")
	second, withdrawn, third, fourth := s.lock("x"), s.lock("x"), s.lock("x"), s.lock("x")
	s.unlock(withdrawn)
	s.wants("withdrawn", withdrawn, Left)
	s.unlock(first)
	s.wants("the second", second, Granted)
	s.unlock(second)
	if e := s.wants("the third", third, Granted); e.Token.Count != 7 {
		t.Errorf("the third entry has %v", e.Token)
	}
	s.hears("without a message", conn)
	s.says(conn, Frame{Kind: Recall, Number: first})
	s.hears("recalled", conn, "KEEP 1", fmt.Sprint("LOCK ", fourth))
	s.unlock(third)
	s.hears("left", conn, "UNLOCK 1")
	s.says(conn, Frame{Kind: Done, Number: first, OK: true})
	s.wants("released", third, Left)
	s.says(conn, Frame{Kind: Held, Number: fourth, Token: member.Token{Epoch: 1, Count: 9}})
	s.wants("from the node", fourth, Granted)
}

// A lock that is entered again by itself, after other requests, is kept and released as any
// other.
func TestReenteredKept(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	first, wire := s.given(conn, "x")
	other := s.lock("y")
	s.hears("another request", conn, fmt.Sprint("LOCK ", other))
	s.unlock(first)
	again := s.lock("x")
	s.wants("entered again", again, Granted)
	s.says(conn, Frame{Kind: Recall, Number: wire})
	s.hears("recalled", conn, "KEEP 1")
	s.unlock(again)
	s.hears("left", conn, "UNLOCK 1")
	s.says(conn, Frame{Kind: Done, Number: wire, OK: true})
	s.wants("released", again, Left)
	s.says(conn, Frame{Kind: Held, Number: other, Token: member.Token{Epoch: 1, Count: 1}})
	s.wants("the other request", other, Granted)
}

// Idle locks go back in the order in which they became idle.
func TestIdleOrder(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	x, _ := s.given(conn, "x")
	s.unlock(x)
	y := s.lock("y")
	s.hears("the request", conn, fmt.Sprint("LOCK ", y))
	s.says(conn, Frame{Kind: Delegated, Number: y, Token: member.Token{Epoch: 1, Count: 1}, Count: 8})
	s.unlock(y)
	s.pass(idleTime / 2)
	x = s.lock("x")
	s.unlock(x)
	s.hears("while they are idle", conn)
	s.pass(idleTime / 2)
	s.hears("the first", conn, fmt.Sprint("RETURN ", y))
	s.pass(idleTime / 2)
	s.hears("the second", conn, "RETURN 1")
}

// A lock to which an application has attached a value goes back at once, and the value with it.
func TestValueReturns(t *testing.T) {
	s := newStage(t, "a")
	conn := s.opens("a", 1)
	r, _ := s.given(conn, "x")
	if err := s.g.SetValue(s.now, r, "v"); err != nil {
		t.Fatal(err)
	}
	s.take()
	s.hears("the value", conn, "VALUE 1")
	s.unlock(r)
	s.hears("left", conn, "RETURN 1")
}

// A client that loses its node claims a delegated lock with the token of the present entry if
// it is in use, and otherwise drops it.
func TestDelegatedMoves(t *testing.T) {
	s := newStage(t, "a", "b")
	conn := s.opens("a", 1)
	first, _ := s.given(conn, "x")
	s.unlock(first)
	used := s.lock("x")
	s.wants("entered again", used, Granted)
	idle := s.lock("y")
	s.hears("the request", conn, fmt.Sprint("LOCK ", idle))
	s.says(conn, Frame{Kind: Delegated, Number: idle, Token: member.Token{Epoch: 1, Count: 1}, Count: 8})
	s.unlock(idle)
	s.dies(conn, "a")
	other := s.opens("b", 2)
	got := s.hears("at the other node", other, "CLAIM 1")
	if got[0].Name != "x" || got[0].Count != 6 {
		t.Errorf("claimed: %+v", got[0])
	}
	s.says(other, Frame{Kind: Held, Number: got[0].Number, Token: member.Token{Epoch: 1, Count: 6}})
	s.unlock(used)
	s.hears("released", other, "UNLOCK 1")
}

// When rights or quotas change, all delegated locks are recalled: of clients that are away, when
// they are back.
func TestRecallAll(t *testing.T) {
	n := newNode(t)
	was := n.hello(1, Frame{})
	x := n.delegates(1, "x")
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "y"})
	n.hears(1)
	n.hello(2, Frame{})
	z := n.delegates(2, "z")
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "z2"})
	n.hears(1)
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "z2"}) // it waits
	n.hears(2)
	n.d.Closed(1)
	n.d.Recall()
	n.take()
	expect(t, "connected", n.hears(2), Frame{Kind: Recall, Number: z.Number})
	n.hello(3, was)
	n.says(3, Frame{Kind: Check, Number: x.Number})
	expect(t, "back", n.hears(3), x, Frame{Kind: Recall, Number: x.Number})
	n.says(3, Frame{Kind: Return, Number: x.Number, Count: x.Token.Count})
	expect(t, "returned", n.hears(3), Frame{Kind: Done, Number: x.Number, OK: true})
	r := n.d.requests[key{n.d.conns[2].Session, 2}]
	n.d.Told(&member.Event{Ticket: r.ticket, Kind: member.Held, Token: member.Token{Epoch: 1, Count: 9}, Last: 20})
	n.take()
	expect(t, "granted later", n.hears(2), Frame{Kind: Delegated, Number: 2, Token: member.Token{Epoch: 1, Count: 9}, Count: 20}, Frame{Kind: Recall, Number: 2})
}

// A delegated lock that has moved to another node moves back when that one is lost. The former
// node, which still has it as delegated, honours the claim.
func TestDelegatedMovesBack(t *testing.T) {
	n := newNode(t)
	was := n.hello(1, Frame{})
	d := n.delegates(1, "x")
	s := newStage(t, "a", "b")
	conn := s.opens("a", n.m.Inc)
	s.g.last = d.Number - 1 // the request is that of the delegation at the node
	r := s.lock("x")
	s.hears("the request", conn, fmt.Sprint("LOCK ", r))
	s.says(conn, d)
	s.unlock(r)
	r = s.lock("x") // with the second count
	s.dies(conn, "a")
	other := s.opens("b", 2)
	s.hears("at the other node", other, fmt.Sprint("CLAIM ", d.Number))
	back := s.opens("a", n.m.Inc)
	n.hello(2, was)
	s.hears("the former node", back, fmt.Sprint("CHECK ", d.Number))
	second := member.Token{Epoch: d.Token.Epoch, Count: d.Token.Count + 1}
	moved := ticket.Ticket{Token: second, Last: second.Count, Through: []uint64{n.m.Inc, 2}}
	s.says(other, Frame{Kind: Held, Number: d.Number, Token: second, Ticket: n.d.office.AppendTo(nil, &moved, "", "x")})
	s.dies(other, "b")
	claims := s.hears("the former node, again", back, fmt.Sprint("CLAIM ", d.Number))
	n.says(2, claims[0])
	for _, f := range n.hears(2) {
		s.says(back, f)
	}
	if held := s.g.find(r); held == nil || held.on != s.g.cur || s.g.cur.address != "a" {
		t.Error("the lock has not moved back")
	}
}

// When the key for tickets is replaced by another one, all holds get new tickets: clients that
// are away, when they are back. A key that is not used yet changes none.
func TestRekey(t *testing.T) {
	n := newNode(t)
	was := n.hello(1, Frame{})
	x := n.delegates(1, "x")
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "y"})
	y := n.hears(1)[0]
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "z"})
	n.hears(2)
	n.says(2, Frame{Kind: Lock, Number: 2, Name: "y"}) // it waits
	n.hears(2)
	n.d.Closed(2)
	keys := []ticket.Key{{Epoch: 2, Secret: [32]byte{8}}, {Epoch: 1, Secret: [32]byte{7}}}
	n.d.Rekey(n.inc, keys)
	n.take()
	expect(t, "a key for later", n.hears(1))
	n.d.Rekey(n.inc, slices.Insert(keys, 0, ticket.Key{Epoch: 3}))
	n.take()
	all := n.hears(1)
	for i, old := range []Frame{y, x} {
		if len(all) != 2 || all[i].Number != old.Number || all[i].Kind != old.Kind || all[i].Token != old.Token || bytes.Equal(all[i].Ticket, old.Ticket) {
			t.Fatalf("after %+v: %+v", old, all)
		}
	}
	n.hello(3, was)
	n.says(3, Frame{Kind: Check, Number: x.Number})
	if got := n.hears(3); len(got) != 1 || !bytes.Equal(got[0].Ticket, all[1].Ticket) {
		t.Errorf("%+v", got)
	}
}
