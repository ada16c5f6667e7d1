package raft

import (
	"testing"
)

func plans(n int) []plan {
	var all []plan
	for i := range n {
		all = append(all, plan{seed: uint64(i), voters: 1 + 2*(i%3), length: 400, maxLog: 5 + i%40})
	}
	return all
}

func TestStorm(t *testing.T) {
	n := 1500
	if testing.Short() {
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
		sum.changes += w.stats.changes
		sum.elections += w.stats.elections
	}
	t.Logf("%+v, healed after at most %d ticks", sum, worst)
}
