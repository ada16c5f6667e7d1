package first

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/check"
)

// deaf listens only while it has the baton.
type deaf struct{ baton }

func (d *deaf) Receive(from algorithm.ID, m *message, out *algorithm.Out[message]) {
	if m.Kind == want && !d.here {
		return // the process that has the baton will hear it
	}
	d.baton.Receive(from, m, out)
}

func Example_deaf() {
	spec := Baton()
	spec.Name = "deaf"
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &deaf{baton{self: self, here: self == v.Holder}})
	})
	report, err := check.Run(check.Config{Spec: spec, Nodes: 3, Requests: 1, Properties: []string{check.MutualExclusion, check.Deadlock}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Err())
	// Output:
	// deaf among 3: deadlock violated: after 8 steps
	//
	//     1  P2 asks and sends WANT to P1 and P3.
	//     2  P3 asks and sends WANT to P1 and P2.
	//     3  P1 receives WANT from P2 and answers BATON.
	//     4  P3, which asked later, receives WANT from P2 and does not answer.
	//     5  P1 receives WANT from P3.
	//     6  P2, which asked earlier, receives WANT from P3 and does not answer.
	//     7  P2 receives BATON from P1 and enters.
	//     8  P2 leaves.
	//        Nothing more need happen, and P3 waits.
	//
	//  step  P1    P2    P3       ┊ idle   ┃ waiting   █ inside
	//     1  ┊     ○     ┊     P2 asks · WANT → P1 P3
	//     2  ┊     ┃     ○     P3 asks · WANT → P1 P2
	//     3  ●◄────┨     ┃     P1 ← P2 WANT · BATON → P2
	//     4  ┊     ┠────►●     P3 ← P2 WANT
	//     5  ●◄────╂─────┨     P1 ← P3 WANT
	//     6  ┊     ●◄────┨     P2 ← P3 WANT
	//     7  ├────►▄     ┃     P2 ← P1 BATON · enters
	//     8  ┊     ▀     ┃     P2 leaves
	//        ▓▓▓ VIOLATION of lost-request: P3 asked and was never granted
}
