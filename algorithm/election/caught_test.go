package election_test

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func TestMutantsAreCaught(t *testing.T) {
	for _, m := range election.Mutants() {
		if !caught(t, m.Broken) {
			t.Errorf("%s: nobody noticed: %s", m.Sound.Name, m.Bug)
		}
	}
	for _, spec := range []algorithm.Spec{election.Bully(), election.Ring(), election.ChangRoberts(false)} {
		if caught(t, spec) {
			t.Errorf("%s is taken for a mutant", spec.Name)
		}
	}
}

// caught runs elections among five: with the highest dead, and then with
// another crash and a comeback.
func caught(t *testing.T, spec algorithm.Spec) bool {
	t.Helper()
	for seed := range uint64(60) {
		r := kernel.NewRand(seed, 7)
		c := sim.Election{
			Spec: spec, Nodes: 5, Seed: seed, Dead: []algorithm.ID{4}, Starters: []algorithm.ID{algorithm.ID(r.Below(4))},
			Latency: scenario.Uniform(scenario.T/4, scenario.T),
		}
		if seed%2 == 1 {
			at := r.Below(6 * scenario.T)
			c.Outages = []sim.Outage{{Proc: 3, At: at, Back: at + r.Below(9*scenario.T)}}
		}
		o, err := sim.RunElection(c)
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		if len(o.Found) > 0 || o.Messages > 400 {
			return true
		}
	}
	r, err := check.Run(check.Config{Spec: spec, Nodes: 3, Crashes: 1, Comebacks: 1})
	if err != nil {
		t.Fatalf("%s: %v", spec.Name, err)
	}
	return r.Verdict == check.Violated
}
