package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
)

// A node passes on modes and transactions, and reports that a transaction must abort again
// on another connection.
func TestServeKept(t *testing.T) {
	n := newNode(t)
	shared := member.Terms{Mode: deadlock.Shared}
	n.hello(1, Frame{})
	w := n.hello(2, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "k/a", Terms: member.Terms{Tx: 7}})
	old := n.hears(1)
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "k/b", Terms: shared})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "k/b", Terms: member.Terms{Mode: deadlock.Shared, Tx: 7}})
	young := n.hears(2)
	expect(t, "readers share", append(young, n.hears(1)...), Frame{Kind: Held, Number: 1}, Frame{Kind: Held, Number: 2})
	if len(old) != 1 || old[0].Born == 0 || young[0].Born <= old[0].Born {
		t.Fatalf("born: %+v, %+v", old, young)
	}
	n.says(1, Frame{Kind: Unlock, Number: 2})
	n.says(1, Frame{Kind: Unlock, Number: 1})
	n.hears(1)
	n.says(1, Frame{Kind: Lock, Number: 3, Name: "k/b", Terms: member.Terms{Tx: 8, Born: old[0].Born}})
	abort := n.hears(2)
	expect(t, "an older one waits", abort, Frame{Kind: Abort, Number: 1})
	n.d.Closed(2)
	n.hello(3, w)
	n.says(3, Frame{Kind: Check, Number: 1})
	again := n.hears(3)
	expect(t, "on another connection", again, Frame{Kind: Held, Number: 1}, Frame{Kind: Abort, Number: 1})
	if why := abort[0].Victim; why == nil || why.How != member.Wounded || again[1].Victim.String() != why.String() {
		t.Errorf("why: %v, and then %v", why, again[1].Victim)
	}
	n.says(3, Frame{Kind: Lock, Number: 2, Name: "k/c", Terms: shared}) // another request is not affected
	expect(t, "another request", n.hears(3), Frame{Kind: Held, Number: 2})
	n.says(3, Frame{Kind: Unlock, Number: 1})
	n.says(3, Frame{Kind: Unlock, Number: 2})
	expect(t, "granted", n.hears(1), Frame{Kind: Held, Number: 3})
	n.says(1, Frame{Kind: Unlock, Number: 3})
	n.free("k/b")
}

// Every refusal of the member has its reason, and does not end the session.
func TestServeKeptRefusals(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	tx := func(number uint64, name string, terms member.Terms) []Frame {
		terms.Tx = 7
		n.says(1, Frame{Kind: Lock, Number: number, Name: name, Terms: terms})
		return n.hears(1)
	}
	expect(t, "the first", tx(1, "k/a", member.Terms{}), Frame{Kind: Held, Number: 1})
	expect(t, "not kept", tx(2, "a", member.Terms{}), Frame{Kind: Over, Number: 2, Why: Ordinary})
	expect(t, "reentrant", tx(3, "k/a", member.Terms{}), Frame{Kind: Over, Number: 3, Why: Reentrant})
	bad := tx(4, "k/s", member.Terms{Mode: 3, Units: 2})
	expect(t, "too many units", bad, Frame{Kind: Over, Number: 4, Why: BadMode})
	if bad[0].Text == "" {
		t.Error("there is no reason")
	}
	n.says(1, Frame{Kind: Lock, Number: 5, Name: "k/a", Terms: member.Terms{Tx: 8}})
	n.says(1, Frame{Kind: Lock, Number: 6, Name: "k/b", Terms: member.Terms{Tx: 8}})
	expect(t, "it waits", n.hears(1), Frame{Kind: Over, Number: 6, Why: Waiting})
	n.says(1, Frame{Kind: Lock, Number: 7, Name: "k/u", Terms: member.Terms{Mode: 1, Units: 2}})
	n.says(1, Frame{Kind: Lock, Number: 8, Name: "k/u", Terms: member.Terms{Mode: 1, Units: 3}})
	expect(t, "other units", n.hears(1), Frame{Kind: Held, Number: 7}, Frame{Kind: Over, Number: 8, Why: OtherUnits})
	n.says(1, Frame{Kind: Claim, Number: 9, Name: "k/c", Count: 1, Ticket: []byte("made up, and long enough to be one")})
	expect(t, "a claim", n.hears(1), Frame{Kind: Lost, Number: 9})
}

// A transaction releases a lock while it waits for another one: the wait ends.
func TestServeKeptEnded(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.hello(2, Frame{})
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "k/b"})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "k/a", Terms: member.Terms{Tx: 7}})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "k/b", Terms: member.Terms{Tx: 7}})
	n.hears(1)
	n.says(1, Frame{Kind: Unlock, Number: 1})
	expect(t, "released", n.hears(1), Frame{Kind: Done, Number: 1, OK: true}, Frame{Kind: Over, Number: 2, Why: Ended})
}

// Texts fit into frames.
func TestClip(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("ä", MaxText)} {
		got := clip(text)
		if len(got) > MaxText || !utf8.ValidString(got) || len(text) <= MaxText && got != text {
			t.Errorf("%d bytes become %q", len(text), got)
		}
	}
}

// locks makes a request of a transaction.
func (s *stage) locks(tx uint64, name string) uint64 {
	s.t.Helper()
	r, err := s.g.Lock(s.now, name, Opts{Terms: member.Terms{Tx: tx}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.take()
	return r
}

// partHeld begins a transaction that holds a lock through a, and waits for another.
func partHeld(t *testing.T, nodes ...string) (s *stage, a, held, waits uint64) {
	s = newStage(t, nodes...)
	a = s.opens("a", 7)
	held = s.locks(1, "x")
	s.says(a, Frame{Kind: Held, Number: held, Token: token, Born: 5, Ticket: []byte("granted")})
	if e := s.wants("granted", held, Granted); e.Born != 5 {
		t.Errorf("born %d", e.Born)
	}
	waits = s.locks(1, "y")
	s.hears("asked", a, fmt.Sprint("LOCK ", held), fmt.Sprint("LOCK ", waits))
	return s, a, held, waits
}

// A transaction that holds a lock through a node sends a request to another one only when
// that has taken the lock over.
func TestTransactionStays(t *testing.T) {
	s, a, held, waits := partHeld(t, "a", "b")
	s.breaks(a)
	a = s.opens("a", 7)
	s.hears("resumed", a, fmt.Sprint("CHECK ", held), fmt.Sprint("LOCK ", waits))
	s.wants("resumed", waits)
	s.says(a, Frame{Kind: Held, Number: held, Token: token, Born: 5})
	why := &member.Victim{How: member.Wounded, Cycle: []member.Wait{{Node: "a", Inc: 1, Tx: 2, Lock: "x"}}}
	s.says(a, Frame{Kind: Abort, Number: held, Victim: why})
	if e := s.wants("doomed", held, Doomed); e.Victim.String() != why.String() || !s.g.Valid(held, s.now) {
		t.Errorf("%+v: the lock is still held", e)
	}
	s.dies(a, "a")
	s.wants("moved", waits, Again)
	b := s.opens("b", 9)
	s.hears("moved", b, fmt.Sprint("CLAIM ", held))
	s.says(b, Frame{Kind: Lost, Number: held})
	s.rests("not honoured", held, true, "a")
	if e := s.wants("not honoured", waits, Refused); e.Why != Moved {
		t.Errorf("%+v", e)
	}
	late := s.locks(1, "z")
	if e := s.wants("another request", late, Refused); e.Why != Moved {
		t.Errorf("%+v", e)
	}
	other := s.locks(2, "z") // of another transaction
	s.hears("only another transaction", b, fmt.Sprint("LOCK ", other))
	s.says(b, Frame{Kind: Over, Number: other, Why: Deadlock, Born: 6, Victim: why})
	if e := s.wants("deadlock", other, Refused); e.Why != Deadlock || e.Born != 6 || e.Victim.String() != why.String() {
		t.Errorf("%+v", e)
	}
	s.pass(member.Second)
	s.wants("lost with its session", held, Taken)
	if len(s.g.txs) != 0 {
		t.Errorf("%d transactions are left", len(s.g.txs))
	}
	again := s.locks(1, "x") // with the number of one that has ended
	s.hears("begun again", b, fmt.Sprint("LOCK ", again))
}

// A transaction moves as a whole: its requests go to another node when that has taken over
// all its locks, which it claims with their tickets.
func TestTransactionMoves(t *testing.T) {
	s, a, held, waits := partHeld(t, "a", "b")
	s.says(a, Frame{Kind: Held, Number: waits, Token: member.Token{Epoch: 3, Count: 8}, Born: 5, Ticket: []byte("another")})
	s.wants("granted", waits, Granted)
	more := s.locks(1, "z")
	s.hears("asked", a, fmt.Sprint("LOCK ", more))
	s.dies(a, "a")
	s.wants("moved", more, Again)
	b, h := s.greets("b")
	s.alive[b] = true
	s.says(b, Frame{Kind: Welcome, Number: h.Number, Session: 5, Inc: 9, Length: 1000 * ms, Span: 900 * ms, Act: 100 * ms})
	for _, f := range s.sent[b] {
		if want := map[uint64]string{held: "granted", waits: "another"}[f.Number]; f.Kind != Claim || string(f.Ticket) != want {
			t.Errorf("%v with the ticket %q, want %q", f.Kind, f.Ticket, want)
		}
	}
	s.hears("both are claimed", b, fmt.Sprint("CLAIM ", held), fmt.Sprint("CLAIM ", waits))
	s.says(b, Frame{Kind: Held, Number: held, Token: token, Born: 5})
	s.hears("one is missing", b)
	s.says(b, Frame{Kind: Held, Number: waits, Token: member.Token{Epoch: 3, Count: 8}, Born: 5})
	s.hears("all have moved", b, fmt.Sprint("LOCK ", more))
	s.pass(member.Second)
	s.rests("moved", held, true)
	s.rests("moved", waits, true)
	s.wants("it goes on waiting", more)
}

// A transaction is not continued if it has lost a lock, however that happens.
func TestTransactionStranded(t *testing.T) {
	for what, end := range map[string]func(s *stage, a uint64){
		"the node leaves":    func(s *stage, a uint64) { s.says(a, Frame{Kind: Bye, Why: Leaving}); s.pass(member.Second) },
		"the session ends":   func(s *stage, a uint64) { s.says(a, Frame{Kind: Bye, Why: Expired}) },
		"the node restarted": func(s *stage, a uint64) { s.breaks(a); s.last++; s.forgets("a", 8); s.pass(member.Second) },
		"the time is over":   func(s *stage, a uint64) { s.breaks(a); s.pass(member.Second) },
	} {
		for _, nodes := range [][]string{{"a"}, {"a", "b"}} {
			s, a, held, waits := partHeld(t, nodes...)
			end(s, a)
			s.wants(what, held, Taken)
			if !slices.ContainsFunc(s.events, func(e Event) bool { return e.Request == waits && e.Kind == Refused && e.Why == Moved }) {
				t.Errorf("%s, %d nodes: %+v", what, len(nodes), s.events)
			}
		}
	}
	s := newStage(t, "a", "b") // but one that holds nothing is
	a := s.opens("a", 7)
	r := s.locks(1, "x")
	s.dies(a, "a")
	for len(s.dials) == 0 || s.dials[0].Address != "b" {
		s.refuses("a")
		s.pass(5 * ms)
	}
	s.hears("elsewhere", s.opens("b", 9), fmt.Sprint("LOCK ", r))
}

// A transaction ends with its requests, also at a node that does not know them any more.
func TestTransactionForgotten(t *testing.T) {
	s, a, held, waits := partHeld(t, "a")
	s.breaks(a)
	s.unlock(held)
	s.unlock(waits)
	s.forgets("a", 8)
	s.wants("released", held, Left)
	if len(s.g.txs) != 0 {
		t.Errorf("%d transactions are left", len(s.g.txs))
	}
}

// A request that has never been sent ends too.
func TestTransactionLate(t *testing.T) {
	s := newStage(t, "a")
	r, err := s.g.Lock(s.now, "x", Opts{Wait: 5 * ms, Terms: member.Terms{Tx: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.pass(10 * ms)
	s.wants("late", r, Refused)
	if len(s.g.txs) != 0 {
		t.Errorf("%d transactions are left", len(s.g.txs))
	}
}

// forgets lets an attempt succeed at a node that does not know the session.
func (s *stage) forgets(address string, inc uint64) {
	s.t.Helper()
	conn, h := s.greets(address)
	s.alive[conn] = true
	s.says(conn, Frame{Kind: Welcome, Number: h.Number, Session: h.Session + 100, Inc: inc, Length: 1000 * ms, Span: 900 * ms, Act: 100 * ms})
}
