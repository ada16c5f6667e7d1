package exercise

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/bank"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// examine explores everything that two and three processes can do, in every order,
// and fails with the shortest story of what goes wrong.
func examine(t *testing.T, requests int, properties ...string) {
	t.Helper()
	for _, c := range []check.Config{{Nodes: 2}, {Nodes: 3}, {Nodes: 3, Network: algorithm.Unordered}} {
		c.Spec, c.Requests, c.Properties = Mine(), requests, properties
		c.Memory = 1 << 30
		report, err := check.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSafety(t *testing.T) { examine(t, 1, check.MutualExclusion) }

func TestLiveness(t *testing.T) { examine(t, 1, check.Deadlock) }

func TestOrder(t *testing.T) { examine(t, 2, check.MutualExclusion, check.Order) }

func TestTalk(t *testing.T) { examine(t, 1, check.OrderOpen) }

// Any number of requests: 0 means without bound.
func TestProof(t *testing.T) {
	examine(t, 0, check.MutualExclusion, check.Deadlock, check.Starvation, check.Order, check.OrderOpen)
}

func TestMessages(t *testing.T) {
	for n := 1; n <= 10; n++ {
		r, err := sim.Run(sim.Config{
			Spec: Mine(), Nodes: n, Entries: 200, Seed: 1,
			Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 * float64(n-1); r.PerEntry != want || r.Entries != 200 {
			t.Fatalf("N=%d: %g messages per entry, want %g; %d of 200 entries", n, r.PerEntry, want, r.Entries)
		}
	}
}

func TestBank(t *testing.T) {
	for seed := range uint64(100) {
		scene, err := bank.Play(Mine(), 2, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := scene.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
