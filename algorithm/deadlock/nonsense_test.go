package deadlock

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// TestStrings is the worked example: site 1 has EXT->P2->P1->EXT.
func TestStrings(t *testing.T) {
	l := Layout{Sites: 2, Home: []algorithm.ID{0, 0, 1, 1, 1}, At: []algorithm.ID{0, 1, 1}}
	p := newPushing(&l)
	s := newSite(0, &l, p)
	m := algorithm.NewSite[message](0, algorithm.View{N: 2}, s, len(l.Home))
	var o host.Output
	step := func(in host.Input) {
		if err := m.Step(in, &o); err != nil {
			t.Fatal(err)
		}
	}
	step(host.Input{Kind: host.Request, From: 0, Arg: 0}) // P1 has L1
	step(host.Input{Kind: host.Request, From: 0, Arg: 1}) // and waits for L2 at site 2
	s.txs[1] = transaction{Attempt: Attempt{Tx: 1, Number: 1, Stamp: algorithm.First()}, phase: running, wants: -1, has: []int{2}}
	step(host.Input{Kind: host.Request, From: 1, Arg: 0}) // P2 has L3 and waits for L1
	if got := p.strings(s); !slices.Equal(got, []string{"EXT->P2->P1->EXT"}) {
		t.Errorf("site 1 has %v, want EXT->P2->P1->EXT", got)
	}
	sent := slices.ContainsFunc(o.Sends, func(x host.Send) bool { return x.Kind == path && x.To == 1 })
	if !sent {
		t.Errorf("sent %v, want a path to site 2", o.Sends)
	}
}

// strings returns the graph of a site as paths: EXT->P2->P1->EXT.
func (p *pushing) strings(s *site) []string {
	var all []string
	p.look(s.local(), s.ext())
	p.web.walk(&news{all: true, roster: p.roster}, func(nodes []Attempt) {
		var ids []algorithm.ID
		for _, n := range nodes {
			ids = append(ids, algorithm.ID(n.Tx))
		}
		if p.web.of(nodes[len(nodes)-1]).exit > 0 {
			all = append(all, "EXT->"+Chain(ids)+"->EXT")
		}
	})
	return all
}

// at returns the n-th time there is; 0 for none.
func at(n int) algorithm.Time {
	var t algorithm.Time
	for range n {
		t.Tick()
	}
	return t
}

// TestNonsense: whatever a peer sends, no site panics, and its state can be
// written and read again.
func TestNonsense(t *testing.T) {
	chance := uint64(1)
	below := func(n int) int {
		chance = chance*6364136223846793005 + 1442695040888963407
		return int(chance>>33) % n
	}
	some := func() Attempt {
		return Attempt{Tx: below(8) - 1, Number: uint64(below(4)), Stamp: at(below(5)), Seq: below(3)}
	}
	l := Spread(3, 5, 4)
	for _, method := range Methods() {
		for _, mode := range append(slices.Clone(method.Modes), "") {
			spec, err := method.Spec(l, mode)
			if err != nil {
				t.Fatal(err)
			}
			m, err := spec.New(1, algorithm.View{N: 3})
			if err != nil {
				t.Fatal(err)
			}
			other, _ := spec.New(1, algorithm.View{N: 3})
			o := host.Output{Listen: true}
			for range 4000 {
				g := message{kind: uint8(below(int(answer) + 1)), from: some(), lock: below(6) - 1, round: uint64(below(3)), mode: Mode(below(4) - 1), ext: below(2) == 0, yes: below(2) == 0}
				for range below(4) {
					g.edges = append(g.edges, Arc{some(), some(), below(6) - 1, below(3), below(3)})
					g.wishes = append(g.wishes, wish{some(), below(6) - 1})
					g.path = append(g.path, some())
				}
				g.claims = []int{below(6)}
				for range below(6) {
					g.bytes = append(g.bytes, byte(below(5)))
				}
				in := host.Input{Kind: host.InputKind(below(int(host.Abort) + 1)), From: algorithm.ID(below(4) - 1), Arg: below(6) - 1, Timer: below(7)}
				if below(3) > 0 {
					in = host.Input{Kind: host.Receive, From: algorithm.ID(2 * below(2)), Bytes: encoded(g)}
				}
				if in.Kind == host.Suspect && below(20) > 0 {
					continue
				}
				if err := m.Step(in, &o); errors.Is(err, host.ErrAlgorithm) { // another one if it does not decode
					t.Fatal(err)
				}
				for _, r := range o.Reasons {
					_ = spec.Say(1, r)
				}
				state := m.AppendState(nil)
				if err := other.LoadState(state); err != nil {
					t.Fatalf("%s: the state does not load: %v", method.Name, err)
				}
				if !bytes.Equal(other.AppendState(nil), state) {
					t.Fatalf("%s: a state loads as another one", method.Name)
				}
			}
		}
	}
}

// encoded returns the bytes of a message.
func encoded(g message) []byte {
	echo := algorithm.NewSite[message](0, algorithm.View{N: 3}, &sender{g}, 1)
	var o host.Output
	if err := echo.Step(host.Input{Kind: host.Request}, &o); err != nil || len(o.Sends) == 0 {
		return nil
	}
	return slices.Clone(o.Bytes(0))
}

// A sender is a site that sends one message.
type sender struct{ m message }

func (s *sender) Fields(*algorithm.Coder)               {}
func (s *sender) Claim(algorithm.ID, int)               {}
func (s *sender) Acquire(_ algorithm.ID, _ int, o *out) { o.Send(1, s.m) }
func (s *sender) Finish(algorithm.ID, *out)             {}
func (s *sender) Abort(algorithm.ID, *out)              {}
func (s *sender) Receive(algorithm.ID, *message, *out)  {}
