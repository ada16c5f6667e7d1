package member

import (
	"flag"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// The bytes of frames and packets are a contract with members of other versions.
func TestGolden(t *testing.T) {
	var all []golden.Example
	who := deadlock.Attempt{Origin: 448, Tx: 12, Number: 1, Stamp: algorithm.TimeOf(290), Seq: 2}
	for k := range frameKinds {
		f := frame{
			kind: k, clock: 300, name: []byte("orders/42"), cleared: true, count: 7, bytes: []byte{1, 2, 3}, until: Stamp{9, 8, 448}, next: Stamp{9, 7, 449},
			held: []holding{{"a", olderHold{Token{8, 41}, 4136, owner{true, "client/billing"}, true}}, {"b", olderHold{token: Token{8, 1}, last: 1}}}, waits: []wanted{{"c", Stamp{8, 5, 448}}}, more: true,
			names: []string{"a", "b"}, may: []mayBe{{"a", set{1, 1 << 40}}}, try: 77, again: true, token: Token{8, 41}, through: []uint64{448, 513}, verdict: passedOn, claimer: "client/billing",
			who: who, mode: 2, units: 4, ext: true, refusal: otherUnits, victim: &Victim{How: InCycle, Cycle: []Wait{{"", 448, 12, "a"}, {"", 449, 3, "b"}}},
			round: 6, arcs: []arc{{who, deadlock.Attempt{Origin: 449, Tx: 3, Number: 1, Stamp: algorithm.TimeOf(250)}, "a", 1, 0}}, lock: "a", path: []deadlock.Attempt{who, {Origin: 449, Tx: 3, Number: 1, Stamp: algorithm.TimeOf(250), Seq: 1}},
			kept: []keptLine{{"a", 0, deadlock.Request{Attempt: who, Mode: deadlock.Shared, Ext: true}, Token{8, 41}, byClaim, "client/billing"}, {"b", 4, deadlock.Request{Attempt: who, Mode: 3}, Token{}, byOwn, ""}},
		}
		all = append(all, golden.Example{Name: k.String(), Bytes: f.append(nil)})
	}
	frames := len(all)
	l := NewLink(9, 448, 513, 1<<20, Second)
	l.Up()
	all = append(all, golden.Example{Name: "packet:question", Bytes: l.Append(nil, 0)})
	for _, b := range []string{"first", "second"} {
		if err := l.Send([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	all = append(all, golden.Example{Name: "packet:frames", Bytes: l.Append(nil, 0)})
	packets := map[string]bool{"packet:question": true, "packet:frames": true}
	if frames != int(frameKinds) {
		t.Errorf("%d examples of %d kinds", frames, frameKinds)
	}
	golden.Check(t, *update, all, func(name string, b []byte) ([]byte, error) {
		if packets[name] {
			return packetAgain(b)
		}
		var f frame
		err := f.parse(b)
		return f.append(nil), err
	})
}

// packetAgain has the other end receive a packet, and writes what it has understood.
func packetAgain(b []byte) ([]byte, error) {
	var p linkPacket
	if err := p.parse(b); err != nil {
		return nil, err
	}
	var w writer
	for _, x := range [...]uint64{p.epoch, p.from, p.to, p.got, p.echo, p.ask, p.first, p.n} {
		w.number(x)
	}
	for range p.n {
		w.blob(p.frame())
	}
	return w, nil
}
