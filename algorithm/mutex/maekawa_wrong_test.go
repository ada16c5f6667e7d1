package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func TestMaekawaNaiveThreeProcesses(t *testing.T) {
	r := group(t, MaekawaNaive(quorum.Grid), 3)
	r.ask(1, 2, 3)
	r.settle()
	if !r.stuck() {
		t.Error("three that vote for themselves: want a standstill")
	}
	r = group(t, Maekawa(quorum.Grid), 3)
	r.ask(1, 2, 3)
	r.finish()
	if len(r.entries) != 3 {
		t.Errorf("maekawa: entered %v, want all three", r.entries)
	}
}

// In the grid of six by six P3 and P23 share the voters 5 and 21. Each gets
// one of them.
func TestMaekawaNaiveGrid(t *testing.T) {
	for _, c := range []struct {
		spec  algorithm.Spec
		stuck bool
	}{{MaekawaNaive(quorum.Grid), true}, {Maekawa(quorum.Grid), false}} {
		r := group(t, c.spec, 36)
		r.ask(3, 23)
		r.deliver(3, 5, "REQUEST")
		r.deliver(23, 21, "REQUEST")
		r.settle()
		if r.stuck() != c.stuck {
			t.Errorf("%s: stuck %v, want %v", c.spec.Name, r.stuck(), c.stuck)
		}
	}
}

// judges is a system in which three candidates share two voters who are none
// of them.
func judges() quorum.Builder {
	sets := make(quorum.System, 5)
	for i := range sets {
		sets[i] = algorithm.SetOf(3, 4)
	}
	return quorum.Given(sets)
}

// P4 votes for P3, the youngest. P2 comes: P4 inquires. P1, older still,
// comes. P3 gives way and P1 gets the vote. P2 has P5's vote, which P1 needs,
// and gives it back only if it was told that it is not the oldest at P4.
func standInBetween(r *rig) {
	r.ask(1, 2, 3)
	r.deliver(3, 4, "REQUEST")
	r.deliver(2, 5, "REQUEST")
	r.deliver(2, 4, "REQUEST")
	r.deliver(1, 4, "REQUEST")
	r.deliver(3, 5, "REQUEST")
	r.deliver(1, 5, "REQUEST")
	r.settle()
}

func TestMaekawaPublishedStandsStill(t *testing.T) {
	r := group(t, MaekawaPublished(judges()), 5)
	standInBetween(r)
	if !r.stuck() {
		t.Error("want a standstill")
	}
	r.wantField(4, "vote", "<1,1>")
	r.wantField(5, "vote", "<1,2>")

	r = group(t, Maekawa(judges()), 5)
	standInBetween(r)
	r.finish()
	r.wantEntries(1, 2, 3)
}

func TestMaekawaPublishedStandsStillInSimulation(t *testing.T) {
	c := sim.Config{
		Spec: MaekawaPublished(quorum.Grid), Nodes: 25, Entries: 500, Seed: 1,
		Think:   scenario.Exponential(100 * scenario.T),
		Hold:    scenario.Always(2 * scenario.T),
		Latency: scenario.Always(scenario.T),
	}
	r, err := sim.Run(c)
	if err != nil || r.Violations == 0 || r.Found[0].Property != "lost-request" {
		t.Errorf("seed 1 went well: %v %v", err, r.Found)
	}
	c.Spec = Maekawa(quorum.Grid)
	if r, err = sim.Run(c); err != nil || r.Violations != 0 {
		t.Errorf("maekawa, seed 1: %v %v", err, r.Found)
	}
}
