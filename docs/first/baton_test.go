package first

import (
	"fmt"

	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func Example() {
	result, err := sim.Run(sim.Config{
		Spec: Baton(), Nodes: 5, Entries: 1000,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d entries, %d violations\n", result.Entries, result.Violations)
	fmt.Printf("%.1f messages per entry; theory says %v to %v\n",
		result.PerEntry, result.Theory.Messages.Lo, result.Theory.Messages.Hi)
	fmt.Printf("%.1f T from exit to entry\n", result.Sync.Mean)
	// Output:
	// 1000 entries, 0 violations
	// 5.0 messages per entry; theory says 0 to 8
	// 1.0 T from exit to entry
}
