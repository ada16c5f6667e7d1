package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// In a star the hub of the greedy variant enters between any two others, so a
// waiting process is overtaken by it about N-1 times; in Raymond's own, once.
func TestRaymondGreedyOvertakes(t *testing.T) {
	bypass := func(spec algorithm.Spec, n int) int {
		r, err := sim.Run(sim.Config{
			Spec: spec, Nodes: n, Entries: 40 * n, Seed: 1,
			Hold: scenario.Always(5 * scenario.T), Latency: scenario.Always(scenario.T),
		})
		if err != nil || r.Violations > 0 {
			t.Fatalf("%s: %v %v", spec.Name, err, r.Found)
		}
		return r.MaxBypass
	}
	for _, n := range []int{4, 8, 16, 32} {
		if got := bypass(RaymondGreedy(Star), n); got < n-3 {
			t.Errorf("greedy, star of %d: overtaken at most %d times", n, got)
		}
		if got := bypass(Raymond(Star), n); got > 1 {
			t.Errorf("raymond, star of %d: overtaken %d times", n, got)
		}
	}
}

func TestRaymondInitializeWaitsForStart(t *testing.T) {
	r := newRig(t, RaymondInitialize(Kary(2)), algorithm.View{N: 7, Holder: 4})
	r.ask(1, 7)
	r.settle()
	if !r.stuck() {
		t.Fatal("without INITIALIZE nobody knows whom to ask")
	}
	r.start()
	if n := r.count("INITIALIZE"); n != 1 {
		t.Errorf("P5 sent %d INITIALIZE, want 1: it has one neighbour", n)
	}
	r.finish()
	r.wantEntries(1, 7)
	for p, want := range map[int]string{1: "3", 2: "1", 3: "7", 4: "2", 5: "2", 6: "3", 7: "7"} {
		r.wantField(p, "holder", want)
	}
}

func TestRaymondInitializeCostsNMinusOne(t *testing.T) {
	for _, n := range []int{1, 2, 7, 20} {
		r := newRig(t, RaymondInitialize(Kary(2)), algorithm.View{N: n, Holder: algorithm.ID(n / 2)})
		r.start()
		sent := 0
		for len(r.flight) > 0 {
			r.take(0)
			sent++
		}
		if sent != n-1 {
			t.Errorf("%d processes: %d INITIALIZE, want %d", n, sent, n-1)
		}
	}
}
