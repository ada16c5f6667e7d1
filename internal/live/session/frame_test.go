package session

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/live/member"
)

// golden are the bytes of one frame of each kind: they are a contract with clients of
// other versions.
func golden() []struct {
	f     Frame
	bytes string
} {
	key := Secret{1, 2, 3, 15: 16}
	const keyHex = "01020300000000000000000000000010"
	return []struct {
		f     Frame
		bytes string
	}{
		{Frame{Kind: Hello, Number: 1, Protocol: 1, Session: 300, Secret: key, Name: "web-7", Length: member.Second}, "000101ac02" + keyHex + "057765622d378094ebdc03"},
		{Frame{Kind: Renew, Number: 2}, "0102"},
		{Frame{Kind: Lock, Number: 3, Name: "orders/42", Try: true}, "0203096f72646572732f343201"},
		{Frame{Kind: Check, Number: 3}, "0303"},
		{Frame{Kind: Unlock, Number: 3}, "0403"},
		{Frame{Kind: Close}, "05"},
		{Frame{Kind: Claim, Number: 3, Name: "orders/42", Token: member.Token{Epoch: 7, Count: 42}, Through: []uint64{448, 513}}, "0603096f72646572732f3432072a02c0038104"},
		{Frame{Kind: Ask, Number: 4, What: 2, Bytes: []byte("x")}, "0704020178"},
		{Frame{Kind: Welcome, Number: 1, Session: 300, Secret: key, Inc: 448, Length: member.Second, Span: 9, Again: 6, Act: 8, Nodes: []string{"a:1", "b"}}, "0801ac02" + keyHex + "c0038094ebdc030906080203613a310162"},
		{Frame{Kind: Renewed, Number: 2, Span: 5, Again: 4}, "09020504"},
		{Frame{Kind: Held, Number: 3, Token: member.Token{Epoch: 7, Count: 42}}, "0a03072a"},
		{Frame{Kind: Over, Number: 3, Why: ManyWaiters}, "0b0304"},
		{Frame{Kind: Lost, Number: 3, Cause: member.Released}, "0c0306"},
		{Frame{Kind: Done, Number: 3, OK: true}, "0d0301"},
		{Frame{Kind: Bye, Why: Leaving, Nodes: []string{"b"}}, "0e06010162"},
		{Frame{Kind: Answer, Number: 4, OK: true, Last: true, Bytes: []byte("yz")}, "0f04010102797a"},
		{Frame{Kind: Value, Number: 3, Value: "job 7"}, "1003056a6f622037"},
	}
}

func TestGolden(t *testing.T) {
	for i, g := range golden() {
		if int(g.f.Kind) != i {
			t.Fatalf("row %d is %v", i, g.f.Kind)
		}
		b := g.f.AppendTo(nil)
		if got := hex.EncodeToString(b); got != g.bytes {
			t.Errorf("%v: %s, want %s", g.f.Kind, got, g.bytes)
		}
		if f, err := Parse(b); err != nil || !reflect.DeepEqual(f, g.f) {
			t.Errorf("%v: read back as %+v, %v", g.f.Kind, f, err)
		}
		for n := range b {
			if _, err := Parse(b[:n]); !errors.Is(err, ErrFrame) {
				t.Errorf("%v: %d of %d bytes: %v", g.f.Kind, n, len(b), err)
			}
		}
		if _, err := Parse(append(b, 0)); !errors.Is(err, ErrFrame) {
			t.Errorf("%v: with a byte too many: %v", g.f.Kind, err)
		}
	}
	if len(golden()) != int(kinds) {
		t.Errorf("%d golden frames of %d kinds", len(golden()), kinds)
	}
}

// Whatever is out of bounds is refused.
func TestMalformed(t *testing.T) {
	key := strings.Repeat("00", 16)
	for what, text := range map[string]string{
		"nothing":                            "",
		"an unknown kind":                    "1100",
		"a number in a long form":            "018200",
		"neither yes nor no":                 "02010161" + "02",
		"a name that is no UTF-8":            "020101ff00",
		"a name that is too long":            "0201" + "8104" + strings.Repeat("61", 513) + "00",
		"a value that is too long":           "1001" + "8102" + strings.Repeat("61", 257),
		"a request over by BYE":              "0b0105",
		"a session over by OVER":             "0e0000",
		"a reason of clients":                "0e0c00",
		"no such cause":                      "0c0107",
		"a session without number":           "08010" + "0" + key + "018094ebdc03" + "000000",
		"a session without length":           "080101" + key + "0100" + "000000",
		"a span above a day":                 "0901" + "ffffffffffffff7f",
		"more nodes than bytes":              "0e05" + "40",
		"more nodes than a cluster can have": "0e05" + "41" + strings.Repeat("0161", 65),
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
	for _, g := range golden() {
		f.Add(g.f.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Parse(b)
		if err != nil {
			return
		}
		if again := x.AppendTo(nil); string(again) != string(b) {
			t.Fatalf("%x is read, and written as %x", b, again)
		}
	})
}
