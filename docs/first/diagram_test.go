package first

import (
	"fmt"

	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

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
