package first

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// The baton is the token algorithm of Ricart and Agrawala without numbers: a process that
// hears of a request cannot know whether it was granted meanwhile, and may pass the baton
// to a process that has no use for it. That costs messages and violates nothing.
func Example_needlessPasses() {
	for _, think := range []scenario.Dist{scenario.Exponential(100_000 * scenario.T), scenario.Exponential(10 * scenario.T), {}} {
		for _, spec := range []algorithm.Spec{mutex.RicartAgrawalaToken(), Baton()} {
			r, err := sim.Run(sim.Config{
				Spec: spec, Nodes: 10, Entries: 2000, Think: think, Network: spec.Network,
				Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
			})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("think %v, %s: %.1f messages per entry, %d violations\n", think, spec.Name, r.PerEntry, r.Violations)
		}
	}
	// Output:
	// think exp:100000, ricart-agrawala-token: 8.9 messages per entry, 0 violations
	// think exp:100000, baton: 13.1 messages per entry, 0 violations
	// think exp:10, ricart-agrawala-token: 10.0 messages per entry, 0 violations
	// think exp:10, baton: 10.1 messages per entry, 0 violations
	// think 0, ricart-agrawala-token: 10.0 messages per entry, 0 violations
	// think 0, baton: 10.0 messages per entry, 0 violations
}
