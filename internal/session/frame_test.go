package session

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/golden"
	"github.com/stile-lock/stile/internal/member"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// examples are one frame of each kind.
func examples() []Frame {
	key := Secret{1, 2, 3, 15: 16}
	return []Frame{
		{Kind: Hello, Number: 1, Protocol: Protocol, Oldest: OldestProtocol, Session: 300, Secret: key, Name: "web-7", Length: member.Second},
		{Kind: Renew, Number: 2},
		{Kind: Lock, Number: 3, Name: "orders/42", Try: true, Terms: member.Terms{Mode: 2, Units: 5, Tx: 9, Born: 1000}},
		{Kind: Check, Number: 3},
		{Kind: Unlock, Number: 3},
		{Kind: Close},
		{Kind: Claim, Number: 3, Name: "orders/42", Count: 42, Ticket: []byte("ticket")},
		{Kind: Ask, Number: 4, What: 2, Bytes: []byte("x")},
		{Kind: Welcome, Number: 1, Protocol: Protocol, Session: 300, Secret: key, Inc: 448, Length: member.Second, Span: 9, Again: 6, Act: 8, Nodes: []string{"a:1", "b"}, Cluster: 9, Earlier: []uint64{7, 8}},
		{Kind: Renewed, Number: 2, Span: 5, Again: 4},
		{Kind: Held, Number: 3, Token: member.Token{Epoch: 7, Count: 42}, Born: 1000, Ticket: []byte("ticket")},
		{Kind: Over, Number: 3, Why: Deadlock, Born: 1000, Victim: &member.Victim{Cycle: []member.Wait{{Node: "a", Inc: 448, Tx: 1, Lock: "x"}, {Inc: 513, Tx: 2, Lock: "y"}}, More: 3}},
		{Kind: Lost, Number: 3, Cause: member.Released},
		{Kind: Done, Number: 3, OK: true},
		{Kind: Bye, Why: Leaving, Nodes: []string{"b"}},
		{Kind: Answer, Number: 4, OK: true, Last: true, Bytes: []byte("yz")},
		{Kind: Value, Number: 3, Value: "job 7"},
		{Kind: Abort, Number: 3, Victim: &member.Victim{How: member.Wounded, Cycle: []member.Wait{{Node: "b", Inc: 513, Tx: 2, Lock: "x"}}}},
		{Kind: Redirect, Nodes: []string{"b", "c:2"}},
		{Kind: Delegated, Number: 3, Token: member.Token{Epoch: 7, Count: 42}, Count: 4137, Ticket: []byte("ticket")},
		{Kind: Recall, Number: 3},
		{Kind: Keep, Number: 3, Count: 50},
		{Kind: Return, Number: 3, Count: 51},
	}
}

// The bytes of frames are a contract with clients and nodes of other versions.
func TestGolden(t *testing.T) {
	var all []golden.Example
	for i, f := range examples() {
		if int(f.Kind) != i {
			t.Fatalf("row %d is %v", i, f.Kind)
		}
		all = append(all, golden.Example{Name: f.Kind.String(), Bytes: f.AppendTo(nil)})
	}
	if len(all) != int(kinds) {
		t.Errorf("%d examples of %d kinds", len(all), kinds)
	}
	for why := range whys {
		f := Frame{Kind: Bye, Why: why}
		if why == Foreign {
			f.Protocol, f.Oldest = Protocol, OldestProtocol
		}
		all = append(all, golden.Example{Name: fmt.Sprintf("BYE:%d", why), Bytes: f.AppendTo(nil)})
	}
	golden.Check(t, *update, all, func(_ string, b []byte) ([]byte, error) {
		f, err := Parse(b)
		return f.AppendTo(nil), err
	})
}

// Frames are read as they were written, and not if bytes are missing or too many.
func TestParse(t *testing.T) {
	for _, f := range examples() {
		b := f.AppendTo(nil)
		if got, err := Parse(b); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%v: read back as %+v, %v", f.Kind, got, err)
		}
		for n := range b {
			if _, err := Parse(b[:n]); !errors.Is(err, ErrFrame) {
				t.Errorf("%v: %d of %d bytes: %v", f.Kind, n, len(b), err)
			}
		}
		if _, err := Parse(append(b, 0)); !errors.Is(err, ErrFrame) {
			t.Errorf("%v: with a byte too many: %v", f.Kind, err)
		}
	}
}

// The two sides speak the highest version that both know.
func TestAgree(t *testing.T) {
	for _, x := range []struct{ oldest, newest, want uint64 }{
		{OldestProtocol, Protocol, Protocol},
		{OldestProtocol, Protocol + 5, Protocol}, // a newer program that still speaks this version
		{Protocol, Protocol, Protocol},
		{Protocol + 1, Protocol + 5, 0},
		{0, OldestProtocol - 1, 0},
		{Protocol + 1, Protocol, 0}, // no range
	} {
		if got := agree(x.oldest, x.newest); got != x.want {
			t.Errorf("%d to %d: %d, want %d", x.oldest, x.newest, got, x.want)
		}
	}
}

// Of a HELLO without a version in common, only the range is read, whatever follows.
func TestHelloOfAnotherVersion(t *testing.T) {
	n := newNode(t)
	b := binary.AppendUvarint(binary.AppendUvarint([]byte{byte(Hello), 1}, Protocol+2), Protocol+1)
	if err := n.d.Receive(n.now, n.m, 1, append(b, "in a later format"...)); err != nil {
		t.Fatal(err)
	}
	n.take()
	expect(t, "a later version", n.hears(1), Frame{Kind: Bye, Why: Foreign, Protocol: Protocol, Oldest: OldestProtocol})
	n.says(2, Frame{Kind: Hello, Number: 1, Protocol: OldestProtocol - 1})
	expect(t, "an earlier version", n.hears(2), Frame{Kind: Bye, Why: Foreign, Protocol: Protocol, Oldest: OldestProtocol})
}

// A client that its node refuses, because they have no version in common, names both ranges
// and which side to upgrade, and goes on to the next node.
func TestNodeOfAnotherVersion(t *testing.T) {
	for upgrade, bye := range map[string]Frame{
		"versions 2 to 3 of the client protocol, and this client 1 to 1: upgrade the client": {Oldest: 2, Protocol: 3},
		"versions 0 to 0 of the client protocol, and this client 1 to 1: upgrade the node":   {Oldest: 0, Protocol: 0},
	} {
		s := newStage(t, "a", "b")
		conn, h := s.greets("a")
		if h.Protocol != Protocol || h.Oldest != OldestProtocol {
			t.Errorf("HELLO names versions %d to %d", h.Oldest, h.Protocol)
		}
		bye.Kind, bye.Why = Bye, Foreign
		if got := bye.Reason(); !strings.HasSuffix(got, upgrade) {
			t.Errorf("%q, want %q", got, upgrade)
		}
		s.says(conn, bye)
		s.opens("b", 1)
	}
}

// Neither side ends a connection because of a frame that a later version calls optional.
// Any other unknown frame is refused, and so ends the connection.
func TestOptionalKinds(t *testing.T) {
	later := []byte{0x43, 1, 2, 3}
	if _, err := Parse(later); !errors.Is(err, errOptional) {
		t.Errorf("an optional frame: %v", err)
	}
	n := newNode(t)
	n.hello(1, Frame{})
	if err := n.d.Receive(n.now, n.m, 1, later); err != nil || !n.d.Bound(1) {
		t.Errorf("the node: %v", err)
	}
	if err := n.d.Receive(n.now, n.m, 1, []byte{byte(kinds), 1}); !errors.Is(err, ErrFrame) {
		t.Errorf("an unknown frame at the node: %v", err)
	}
}

// A client survives what a later version of its node may send: an optional frame, a cause
// and a reason that it does not know.
func TestClientOfALaterNode(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	request, err := p.g.Lock(p.now, "x", Opts{})
	if err != nil {
		t.Fatal(err)
	}
	p.settle()
	conn := p.g.cur.conn
	if err := p.g.Receive(p.now, conn, []byte{0x43, 1, 2, 3}); err != nil || p.g.cur.conn != conn || p.g.cur.phase != open {
		t.Fatalf("an optional frame: %v", err)
	}
	if err := p.g.Receive(p.now, conn, []byte{byte(kinds)}); !errors.Is(err, ErrFrame) {
		t.Errorf("an unknown frame: %v", err)
	}
	p.events = nil
	lost := Frame{Kind: Lost, Number: request, Cause: 200}
	if err := p.g.Receive(p.now, conn, lost.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	p.settle()
	if len(p.events) != 1 || p.events[0].Kind != Taken || p.events[0].Cause != member.NoCause {
		t.Errorf("an unknown cause: %+v", p.events)
	}
	bye := Frame{Kind: Bye, Why: 200}
	if err := p.g.Receive(p.now, conn, bye.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	p.settle()
	if p.g.cur.session != 0 {
		t.Error("its session goes on after an unknown reason to end it")
	}
}

// A reason or a cause of a later version is no reason to refuse the frame.
func TestLaterReasons(t *testing.T) {
	for _, f := range []Frame{{Kind: Over, Number: 1, Why: 200}, {Kind: Bye, Why: 200}, {Kind: Lost, Number: 1, Cause: 200}} {
		if got, err := Parse(f.AppendTo(nil)); err != nil || got.Why != f.Why || got.Cause != f.Cause {
			t.Errorf("%+v: %+v, %v", f, got, err)
		}
	}
	for why := range Why(255) {
		_ = why.String()
		_ = causeOf(why)
	}
}

// Whatever is out of bounds is refused.
func TestMalformed(t *testing.T) {
	key := strings.Repeat("00", 16)
	for what, text := range map[string]string{
		"nothing":                              "",
		"an unknown kind":                      "1300",
		"a number in a long form":              "018200",
		"neither yes nor no":                   "02010161" + "02",
		"a name that is no UTF-8":              "020101ff00",
		"a name that is too long":              "0201" + "8104" + strings.Repeat("61", 513) + "00",
		"a session without number":             "08010001" + key + "018094ebdc03" + "000000",
		"a session without length":             "08010101" + key + "0100" + "000000",
		"a value that is too long":             "1001" + "8102" + strings.Repeat("61", 257),
		"a reason that is too long":            "1101" + "8120" + strings.Repeat("61", 4097),
		"more units than a semaphore can have": "0201" + "0161" + "00" + "00" + "81808080" + "01" + "0000",
		"a span above a day":                   "0901" + "ffffffffffffff7f",
		"more nodes than bytes":                "0e05" + "40",
		"more nodes than a cluster can have":   "0e05" + "41" + strings.Repeat("0161", 65),
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(what, err)
		}
		if f, err := Parse(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %+v, %v", what, f, err)
		}
	}
	wrong := Frame{Kind: Welcome, Number: 1, Length: shortest, Nodes: []string{"a"}}
	if b := wrong.AppendTo(nil); len(b) < len(wrong.Secret) {
		t.Errorf("a session without a number is written as %x", b)
	}
	if _, err := Parse(make([]byte, MaxFrame+1)); !errors.Is(err, ErrFrame) {
		t.Error("too long:", err)
	}
}

// Every frame that can be read has only one encoding.
func FuzzParse(f *testing.F) {
	for _, x := range examples() {
		f.Add(x.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Parse(b)
		if err != nil || x.Kind == Hello && agree(x.Oldest, x.Protocol) == 0 { // the rest of which is not read
			return
		}
		if again := x.AppendTo(nil); string(again) != string(b) {
			t.Fatalf("%x is read, and written as %x", b, again)
		}
	})
}

// Requests are read without memory of their own, except for their names.
func TestParseDoesNotAllocate(t *testing.T) {
	for _, x := range []struct {
		frame Frame
		want  float64
	}{
		{Frame{Kind: Lock, Number: 300, Name: "kept/orders"}, 1},
		{Frame{Kind: Unlock, Number: 300}, 0},
		{Frame{Kind: Held, Number: 300, Token: member.Token{Epoch: 7, Count: 1000}}, 0},
		{Frame{Kind: Done, Number: 300, OK: true}, 0},
	} {
		b := x.frame.AppendTo(nil)
		got := testing.AllocsPerRun(1000, func() {
			if _, err := Parse(b); err != nil {
				t.Fatal(err)
			}
		})
		if got > x.want {
			t.Errorf("%v: %v allocations, want %v", x.frame.Kind, got, x.want)
		}
	}
}
