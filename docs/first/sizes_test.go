package first

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// What the tutorial writes is right for other sizes and loads than it shows.
func TestSizes(t *testing.T) {
	for _, spec := range []algorithm.Spec{Baton(), Polite()} {
		for n := 1; n <= 16; n++ {
			for _, think := range []string{"0", "exp:5", "exp:1000"} {
				rest, err := scenario.ParseDist(think)
				if err != nil {
					t.Fatal(err)
				}
				r, err := sim.Run(sim.Config{
					Spec: spec, Nodes: n, Entries: 500, Think: rest, Network: spec.Network,
					Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: uint64(n), Paged: n%2 == 0,
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Violations != 0 || r.Entries != 500 || r.PerEntry > r.Theory.Messages.Hi {
					t.Errorf("%s, N=%d, think %s: %d entries, %v messages per entry, %d violations: %v",
						spec.Name, n, think, r.Entries, r.PerEntry, r.Violations, r.Found[:min(1, len(r.Found))])
				}
			}
		}
	}
}
