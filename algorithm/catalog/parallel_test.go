package catalog

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Spec is one value for all workers of a checker: machines that are born at
// the same time have nothing in common. The race detector sees to the rest.
func TestBirthsAtTheSameTime(t *testing.T) {
	specs := slices.Concat(All(), Elections())
	for _, name := range []string{"central+bully", "central-stamped+bully", "raymond+ring-election"} {
		spec, err := Make(name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, spec)
	}
	for _, spec := range specs {
		const n = 4
		want := lives(t, spec, n)
		var wg sync.WaitGroup
		got := make([][]byte, 8)
		for i := range got {
			wg.Go(func() { got[i] = lives(t, spec, n) })
		}
		wg.Wait()
		for _, b := range got {
			if !bytes.Equal(b, want) {
				t.Errorf("%s: machines made at the same time come to %x, one after the other to %x", spec.Name, b, want)
				break
			}
		}
	}
}

// lives lets a group be born and take a few steps, the first process dying if
// others are told of that, and returns all states.
func lives(t *testing.T, spec algorithm.Spec, n int) []byte {
	birth, err := spec.Birth(n)
	if err != nil {
		t.Error(err)
		return nil
	}
	var all []byte
	var out host.Output
	for seat := range algorithm.ID(n) {
		m := birth(seat, algorithm.View{N: n})
		inputs := []host.Input{{Kind: host.Start, From: algorithm.None}, {Kind: host.Request, From: algorithm.None}}
		if spec.Detects {
			for dead := range algorithm.ID(n) {
				inputs = append(inputs, host.Input{Kind: host.Suspect, From: dead}, host.Input{Kind: host.Expire})
			}
		}
		for _, in := range inputs {
			if err := m.Step(in, &out); err != nil {
				t.Errorf("%s: %v: %v", spec.Name, seat, err)
			}
			all = m.AppendState(all)
		}
	}
	return all
}
