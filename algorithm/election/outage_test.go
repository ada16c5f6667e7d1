package election_test

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func specs() []algorithm.Spec {
	return []algorithm.Spec{election.Bully(), election.Ring(), election.ChangRoberts(false), election.ChangRoberts(true)}
}

// random makes an election in which chance decides who starts, who crashes and
// who comes back when, and how long messages take.
func random(spec algorithm.Spec, seed uint64) sim.Election {
	r := kernel.NewRand(seed, 99)
	c := sim.Election{Spec: spec, Nodes: 2 + int(r.Below(6)), Seed: seed, Paged: seed%4 == 0}
	pick := func() algorithm.ID { return algorithm.ID(r.Below(int64(c.Nodes))) }
	c.Latency = scenario.Uniform(1+r.Below(scenario.T), scenario.T)
	c.Network = []algorithm.Network{algorithm.FIFO, algorithm.Unordered}[r.Below(2)]
	span := int64(c.Nodes) * 4 * scenario.T
	survivor := pick()
	for range r.Below(5) {
		o := sim.Outage{Proc: pick(), At: r.Below(span)}
		if o.Proc == survivor {
			continue
		}
		if r.Below(2) == 0 {
			o.Back = o.At + 1 + r.Below(span)
		}
		c.Outages = append(c.Outages, o)
	}
	for range 1 + r.Below(3) {
		c.Starters = append(c.Starters, pick())
	}
	return c
}

// Whoever crashes and comes back, and when: at most one wins in each round,
// and in the end all agree on the highest.
func TestOutages(t *testing.T) {
	for _, spec := range specs() {
		for seed := range uint64(2000) {
			c := random(spec, seed)
			o := hold(t, c)
			if !o.Agreed || len(o.Found) > 0 {
				t.Fatalf("%s seed %d: agreed %v, %v\n%s", spec.Name, seed, o.Agreed, o.Found, say(c))
			}
		}
	}
}

func say(c sim.Election) string {
	return fmt.Sprintf("%d processes, starters %v, latency %v, %v, outages %v", c.Nodes, c.Starters, c.Latency, c.Network, c.Outages)
}
