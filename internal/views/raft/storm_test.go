package raft

import (
	"flag"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// seeds is for the ledger: go test ./internal/views/raft -run TestStorm -seeds 50000
var seeds = flag.Int("seeds", 900, "how many runs TestStorm makes")

func plans(n int) []plan {
	var all []plan
	for i := range n {
		all = append(all, plan{seed: uint64(i), voters: 1 + 2*(i%3), length: 400, maxLog: 5 + i%40, restless: i%7 == 0})
	}
	return all
}

// Runs that have broken something break nothing now.
func TestSeeds(t *testing.T) {
	all := plans(33_000)
	for _, x := range []struct {
		what  string
		seeds []int
	}{
		{"a change of voters was applied behind a snapshot that had overtaken it", []int{1403, 2930, 5219, 6254, 8011}},
		{"a snapshot of the voter's own was saved behind a later one from the leader", []int{7080, 10085, 12560, 13967, 14365}},
		{"the end of a change of voters was never proposed, since the leader handed over to one that did not take over", []int{32885}},
	} {
		for _, i := range x.seeds {
			if w := run(all[i]); w.wrong != nil {
				t.Errorf("%s: seed %d: %v", x.what, i, w.wrong)
			}
		}
	}
}

// Three voters that restart all the time, so that what each promised before counts.
func TestRestarts(t *testing.T) {
	for i, p := range plans(*seeds / 10) {
		p.voters, p.fixed, p.restless = 3, true, true
		if w := run(p); w.wrong != nil {
			t.Fatalf("seed %d: %v", i, w.wrong)
		}
	}
}

// Voters agree on the log, one leads in a term, reads see what was applied before, and a
// healed group continues within the bound.
func TestStorm(t *testing.T) {
	n := *seeds
	if !nightly.On() {
		n = 200
	}
	var sum stats
	worst := 0
	for _, p := range plans(n) {
		w := run(p)
		if w.wrong != nil {
			t.Fatalf("seed %d, %d voters: %v", p.seed, p.voters, w.wrong)
		}
		worst = max(worst, w.stats.healed)
		sum.applied += w.stats.applied
		sum.reads += w.stats.reads
		sum.crashes += w.stats.crashes
		sum.snapshots += w.stats.snapshots
		sum.voters += w.stats.voters
		sum.learners += w.stats.learners
		sum.unborn += w.stats.unborn
		sum.lost += w.stats.lost
		sum.elections += w.stats.elections
	}
	t.Logf("%+v, healed after at most %d ticks", sum, worst)
}
