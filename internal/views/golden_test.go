package views

import (
	"flag"
	"testing"

	"github.com/stile-lock/stile/internal/golden"
	"github.com/stile-lock/stile/internal/member"
)

var update = flag.Bool("update", false, "rewrite the golden messages")

// The bytes of messages, records and changes are a contract with processes of other
// versions; records and pasts are also on disks.
func TestGolden(t *testing.T) {
	r := born(t, 3, 3)
	r = must(t, r, Change{Base: 1, Drop: []uint64{65}, Ghosts: []member.Ghost{{Inc: 65, Rest: 5 * member.Second}}})
	r.Earlier = []uint64{4, 5}
	x := Birth(Start{Cluster: 9, Epoch: 1, Settings: member.Usual()}, 3, central(), Joiner{Name: "A", Address: "a:1", Nonce: 101})
	all := []golden.Example{
		{Name: "record", Bytes: r.AppendTo(nil)},
		{Name: "past", Bytes: Past{Cluster: 9, Epoch: 7, Stopped: 101}.AppendTo(nil)},
		{Name: "change:birth", Bytes: x.AppendTo(nil)},
	}
	for k := range kinds {
		m := Message{
			Kind: k, Cluster: 9, Inc: 448, Nonce: 101, Number: 5, Epoch: 7, Seen: 8, Stopped: 99, Voter: 64, Name: "a", Address: "10.0.0.5:7420",
			Who: []uint64{448, 513}, Forget: true, Refresh: true, Stops: true, Former: 6, Newer: true, Reason: VoterUse, Record: []byte{1, 2, 3},
		}
		all = append(all, golden.Example{Name: k.String(), Bytes: m.AppendTo(nil)})
	}
	golden.Check(t, *update, all, func(name string, b []byte) ([]byte, error) {
		switch name {
		case "record":
			r, err := ParseRecord(b)
			return r.AppendTo(nil), err
		case "past":
			p, err := ParsePast(b)
			return p.AppendTo(nil), err
		case "change:birth":
			x, err := ParseChange(b)
			return x.AppendTo(nil), err
		}
		m, err := ParseMessage(b)
		return m.AppendTo(nil), err
	})
}

// An unknown message of a later version changes nothing, if that version calls it optional.
func TestOptionalKinds(t *testing.T) {
	p, _ := joined(t)
	if err := p.Receive(second, "A", []byte{0x40, 1, 2}); err != nil || len(p.Out.Send) > 0 || p.Out.View || p.Out.Ending != Running {
		t.Errorf("%v, %+v", err, p.Out)
	}
	if ForVoter([]byte{0x40}) {
		t.Error("it is passed to voters, who refuse it")
	}
}
