package first

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
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

func Example_diagram() {
	spec := Baton()
	t := trace.Trace{N: 3, Title: spec.Title, Kinds: spec.Kinds, Unit: scenario.T}
	_, err := sim.Run(sim.Config{
		Spec: spec, Nodes: 3, Entries: 4,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
		Observe: func(e trace.Event) { t.Events = append(t.Events, e) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(t.Text(trace.TextOptions{}))
	// Output:
	// The baton
	//
	//  time  P1    P2    P3       ┊ idle   ┃ waiting   █ inside
	//     0  ▄     ┊     ┊     P1 asks · enters
	//        █     ○     ┊     P2 asks · WANT → P1 P3
	//        █     ┃     ○     P3 asks · WANT → P1 P2
	//     1  ▀     ┃     ┃     P1 leaves
	//        ●◄────┨     ┃     P1 ← P2 WANT · BATON → P2
	//        ┊     ┠────►●     P3 ← P2 WANT
	//        ●◄────╂─────┨     P1 ← P3 WANT
	//        ┊     ●◄────┨     P2 ← P3 WANT
	//        ○     ┃     ┃     P1 asks · WANT → P2 P3
	//     2  ┠────►▄     ┃     P2 ← P1 BATON · enters
	//        ┠────►█     ┃     P2 ← P1 WANT
	//        ┠─────█────►●     P3 ← P1 WANT
	//     3  ┃     ▀     ┃     P2 leaves · BATON → P3
	//     4  ┃     ├────►▄     P3 ← P2 BATON · enters
	//     5  ┃     ┊     ▀     P3 leaves · BATON → P1
	//     6  ▄◄────┼─────┤     P1 ← P3 BATON · enters
	//     7  ▀     ┊     ┊     P1 leaves · BATON → P3
}

func TestBaton(t *testing.T) {
	for n := 1; n <= 16; n++ {
		for _, think := range []string{"0", "exp:5", "exp:1000"} {
			rest, err := scenario.ParseDist(think)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(sim.Config{
				Spec: Baton(), Nodes: n, Entries: 500, Think: rest, Network: Baton().Network,
				Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: uint64(n), Paged: n%2 == 0,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violations != 0 || r.Entries != 500 || r.PerEntry > r.Theory.Messages.Hi {
				t.Errorf("N=%d, think %s: %d entries, %v messages per entry, %d violations: %v",
					n, think, r.Entries, r.PerEntry, r.Violations, r.Found[:min(1, len(r.Found))])
			}
		}
	}
}
