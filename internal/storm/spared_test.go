package storm

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
)

// deaths has members die, with many locks that they have nothing to do with.
func deaths(c *Config) {
	c.Nodes, c.Voters, c.Shelter = 5, 3, false
	c.Locks, c.Apps, c.Clients, c.Think = 64, 1, 0, 10*member.Millisecond
	c.Faults, c.Intensity = Crash, 3
}

// A death stalls no lock that the dead had nothing to do with; and that is found out if
// no instance can vouch for any process, so that locks wait for the lease.
func TestSpared(t *testing.T) {
	nightly.Only(t)
	var sum Result
	caught := 0
	for seed := range uint64(60) {
		c := pick(seed)
		deaths(&c)
		r, err := Run(c)
		if err != nil || r.Violation != nil {
			t.Fatalf("seed %d: %v, %v", seed, r.Violation, err)
		}
		sum.Add(r)
		c.Spec = doubting
		if r, err = Run(c); err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil && r.Violation.Invariant == Spared {
			caught++
		}
	}
	t.Logf("judged %d times; caught %d times if nothing is ruled out", sum.Spared, caught)
	if sum.Spared < 60 || caught < 5 {
		t.Error("that is too seldom")
	}
}

// doubting returns algorithms whose instances vouch for no process.
func doubting(name string, version int) (algorithm.Spec, error) {
	spec, err := catalog.MakeLive(name, version)
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return doubter{birth(self, v)} }, err
	}
	return spec, err
}

type doubter struct{ algorithm.Machine }

func (d doubter) Unwrap() algorithm.Machine { return d.Machine }

func (doubter) Alibi(algorithm.ID) bool { return false }
