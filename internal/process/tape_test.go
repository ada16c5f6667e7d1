package process

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A recorder notes what a tape is shown.
type recorder struct {
	took    []Kind
	effects int
	crashed []Kind
}

func (r *recorder) Took(in *Input, out *Output) {
	r.took = append(r.took, in.Kind)
	r.effects += len(out.Effects)
}

func (r *recorder) Crashed(in *Input, out *Output) { r.crashed = append(r.crashed, in.Kind) }

// A tape is shown each input after its step, with all effects, and an input on which the
// process panics before the panic continues.
func TestTape(t *testing.T) {
	c := newCluster(t, 1, "a")
	tape := &recorder{}
	config := c.nodes[0].config(true)
	config.Tape = tape
	broken := false
	spec := config.Spec
	config.Spec = func(algorithm string, version int) (algorithm.Spec, error) {
		if broken {
			panic("of a test")
		}
		return spec(algorithm, version)
	}
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	taken, effects := 0, 0
	var saves []uint64
	take := func(in Input) {
		p.Step(&in)
		taken++
		effects += len(p.Out.Effects)
		for _, e := range p.Out.Effects {
			if e.Kind == Save {
				saves = append(saves, e.Number)
			}
		}
	}
	take(Input{Kind: Start, At: 1})
	take(Input{Kind: Start, At: 2})
	take(Input{Kind: Lock, At: 3, Text: "x"})
	if len(tape.took) != taken || tape.effects != effects || effects == 0 || tape.took[2] != Lock {
		t.Errorf("%v, %d effects of %d", tape.took, tape.effects, effects)
	}
	broken = true
	func() {
		defer func() {
			if recover() != "of a test" {
				t.Error("the panic does not go on")
			}
		}()
		for range 100 { // until it becomes a member
			if len(saves) == 0 {
				take(Input{Kind: Wake, At: p.Out.Wake})
				continue
			}
			number := saves[0]
			saves = saves[1:]
			take(Input{Kind: Saved, At: 4, Number: number})
		}
	}()
	if len(tape.crashed) != 1 || len(tape.took) != taken {
		t.Errorf("%d crashes, %d inputs of %d", len(tape.crashed), len(tape.took), taken)
	}
}

// Inputs are named for people.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kinds + 1 {
		if seen[k.String()] || k.String() == "" {
			t.Errorf("%d is called %q", k, k)
		}
		seen[k.String()] = true
	}
}

// What a message is can be asked of any bytes.
func TestMessageKinds(t *testing.T) {
	for _, b := range [][]byte{nil, {}, {Packet}, {serviceMessage}, {voterMessage}, {9}, {serviceMessage, 4}} {
		rest, service := IsService(b)
		if voters := IsVoters(b); service != (len(b) > 0 && b[0] == serviceMessage) || voters != (len(b) > 0 && b[0] == voterMessage) {
			t.Errorf("%x: %t, %t", b, service, voters)
		}
		if service && len(rest) != len(b)-1 {
			t.Errorf("%x: %x", b, rest)
		}
	}
}
