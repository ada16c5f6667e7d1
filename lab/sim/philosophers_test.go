package sim

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/scenario"
)

// longestMeal is how long, in T, a philosopher who is treated fairly goes from
// the first request to the end of the meal: it may wait for the meals of
// others, one after the other, and start again.
const longestMeal = 60

// standingBound is how long a deadlock of philosophers may stand, in ticks,
// with the methods that let one arise. A message takes 1.5 T at most.
func standingBound(m deadlock.Method, mode string) int64 {
	const message = 3 * scenario.T / 2
	switch {
	case m.Family != deadlock.Detection:
		return 0
	case mode == deadlock.OnChange:
		return 2 * message // GRAPH and ABORT
	case mode == deadlock.InBatch:
		return (8 + 2) * message // the batch is not full: its timer, GRAPH and ABORT
	case mode == deadlock.OnDemand:
		return (4 + 8) * message // patience, DEMAND, COLLECT and GRAPH of the round before and of this one, CONFIRM, ANSWER, ABORT
	case m.Name == "timeout":
		return (15 + 1) * message // its timer, and DIE
	}
	return 8 * message // WAITS, four PATHs since five forks at three sites make five hops, CONFIRM, ANSWER, and ABORT
}

// TestPhilosophers: 100,000 meals of five philosophers over five forks at
// three sites, with each method in each of its modes. No deadlock stands for
// longer than the bound, no meal takes too long, and everybody eats.
func TestPhilosophers(t *testing.T) {
	meals := 100_000
	if !nightly.On() {
		meals = 5_000
	}
	each(t, func(t *testing.T, m deadlock.Method, mode string) {
		if m.Family == deadlock.Ignore {
			t.Skip("see TestPhilosophersStarve")
		}
		r, err := RunTransactions(Philosophers(m, mode, 5, meals))
		if err != nil {
			t.Fatal(err)
		}
		if r.Committed != meals || r.Stuck != 0 || len(r.Found) > 0 {
			t.Errorf("%d meals, %d stuck, violations %v, want %d meals", r.Committed, r.Stuck, r.Found, meals)
		}
		if some := m.Family == deadlock.Detection; some != (r.Deadlocks > 0) || r.Resolved != r.Deadlocks {
			t.Errorf("%d deadlocks, %d found; it lets some arise: %v", r.Deadlocks, r.Resolved, some)
		}
		if bound := standingBound(m, mode); r.LongestDelay > bound {
			t.Errorf("a deadlock stood for %s T, longer than %s", scenario.FormatTime(r.LongestDelay), scenario.FormatTime(bound))
		}
		if m.Exact(mode) && r.FalsePositives+r.WrongVictims > 0 {
			t.Errorf("%d false reports, %d wrong victims, want none", r.FalsePositives, r.WrongVictims)
		}
		switch {
		case m.Name == "priority":
			favours(t, r, meals)
		case m.Starves:
			lingers(t, r, longestMeal*3/2)
		default:
			fair(t, r, meals)
		}
	})
}

// fair: everybody has at least three quarters of an equal share, and nobody
// waits for long.
func fair(t *testing.T, r *Ledger, meals int) {
	for p, n := range r.Commits {
		if n < meals/5*3/4 {
			t.Errorf("%v had %d of %d meals, less than three quarters of its share", algorithm.ID(p), n, meals)
		}
	}
	if r.LongestLife > longestMeal*scenario.T {
		t.Errorf("a meal took %s T, longer than %d", scenario.FormatTime(r.LongestLife), longestMeal)
	}
}

// favours: with plain priorities the last one has less than half of its share
// and waits far too long, the first one has twice its own. As long as the
// others rest between meals everybody eats now and then; TestStarves
// is about when they do not.
func favours(t *testing.T, r *Ledger, meals int) {
	first, last := r.Commits[0], r.Commits[len(r.Commits)-1]
	if first < meals/5*2 || last > meals/5/2 {
		t.Errorf("the first had %d and the last %d of %d meals, want more than twice and less than half a share", first, last, meals)
	}
	if last < meals/20 {
		t.Errorf("the last had %d of %d meals, want a quarter of its share at least", last, meals)
	}
	lingers(t, r, 2*longestMeal)
}

// lingers: some meal takes longer than this, in T, which is far too long.
func lingers(t *testing.T, r *Ledger, than int64) {
	if r.LongestLife < than*scenario.T {
		t.Errorf("the longest meal took %s T, want more than %d", scenario.FormatTime(r.LongestLife), than)
	}
}

// TestPhilosophersStarve: with no method all five soon sit in a ring, each
// waiting for the next, whatever the seed; and the graph shows it.
func TestPhilosophersStarve(t *testing.T) {
	for seed := range uint64(20) {
		c := Philosophers(deadlock.None(), "", 5, 100_000)
		c.Seed = seed
		r, err := RunTransactions(c)
		if err != nil {
			t.Fatal(err)
		}
		ring := [][]algorithm.ID{{0, 1, 2, 3, 4}}
		if r.Stuck != 5 || r.Deadlocks != 1 || !reflect.DeepEqual(r.Graph.Cycles(), ring) {
			t.Errorf("seed %d: %d stuck, %d deadlocks, cycles %v, want all five in one ring", seed, r.Stuck, r.Deadlocks, r.Graph.Cycles())
		}
		if text := draw.WaitForText(r.Graph); !strings.Contains(text, "+->P1 --L2--> P2 --L3--> P3 --L4--> P4 --L5--> P5 -+\n +") {
			t.Errorf("seed %d: no ring in\n%s", seed, text)
		}
	}
}
