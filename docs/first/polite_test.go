package first

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/check"
)

func Example_polite() {
	for n := 2; n <= 3; n++ {
		report, err := check.Run(check.Config{Spec: Polite(), Nodes: n, Network: algorithm.Unordered})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d processes: %s, %d states\n", report.Nodes, report.Verdict, report.States)
	}
	// Output:
	// 2 processes: holds, 31 states
	// 3 processes: holds, 9535 states
}

// hermit relies on its own clock only.
type hermit struct{ polite }

func (h *hermit) Receive(from algorithm.ID, m *letter, out *algorithm.Out[letter]) {
	m.Clock = algorithm.Time{} // ignore the clocks of others
	h.polite.Receive(from, m, out)
}

// Hermit is the polite lock, gone wrong.
func Hermit() algorithm.Spec {
	spec := Polite()
	spec.Name = "hermit"
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &hermit{polite{self: self, n: v.N, clock: algorithm.First()}})
	})
	return spec
}

func Example_hermit() {
	report, err := check.Run(check.Config{Spec: Hermit(), Nodes: 2, Network: algorithm.Unordered, Requests: 2, Properties: []string{check.MutualExclusion}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Err())
	// Output:
	// hermit among 2: mutual-exclusion violated: after 6 steps
	//
	//     1  P2 asks and sends ASK to P1.
	//     2  P1 receives ASK from P2 and answers OKAY.
	//     3  P1 asks and sends ASK to P2.
	//     4  P2, which asked earlier, receives ASK from P1 and answers OKAY.
	//     5  P2 receives OKAY from P1 and enters.
	//     6  P1 receives OKAY from P2 and enters.
	//        VIOLATION of mutual-exclusion: P1 entered while P2 was inside.
	//
	//  step  P1    P2       ┊ idle   ┃ waiting   █ inside
	//     1  ┊     ○     P2 asks · ASK → P1
	//     2  ●◄────┨     P1 ← P2 ASK · OKAY → P2
	//     3  ○     ┃     P1 asks · ASK → P2
	//     4  ┠────►●     P2 ← P1 ASK · OKAY → P1
	//     5  ┠────►▄     P2 ← P1 OKAY · enters
	//     6  ▄◄────█     P1 ← P2 OKAY · enters
	//        ▓▓▓ VIOLATION of mutual-exclusion: P1 entered while P2 was inside
}

func Example_spreads() {
	for _, spreads := range []bool{false, true} {
		spec := Hermit()
		spec.Spreads = spreads
		report, err := check.Run(check.Config{Spec: spec, Nodes: 2, Properties: []string{check.Deadlock}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(report.Verdict, report.Find(check.Deadlock).Note)
	}
	// Output:
	// unfinished hermit: P1: a logical time reached 64, above 63: too many different times at once; if its times can drift apart without bound, set Spec.Spreads
	// holds
}
