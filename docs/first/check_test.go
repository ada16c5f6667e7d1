package first

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/check"
)

func TestBatonHolds(t *testing.T) {
	for _, c := range []check.Config{
		{Spec: Baton(), Nodes: 2},
		{Spec: Baton(), Nodes: 3, Requests: 2},
		{Spec: Baton(), Nodes: 3, Requests: 1, Network: algorithm.Unordered},
	} {
		report, err := check.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Err(); err != nil {
			t.Error(err)
		}
	}
}

func Example_verdicts() {
	for _, c := range []check.Config{{Spec: Baton(), Nodes: 2}, {Spec: Baton(), Nodes: 3, Requests: 2}} {
		report, err := check.Run(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d processes: %s, %d states\n", report.Nodes, report.Verdict, report.States)
	}
	// Output:
	// 2 processes: holds, 14 states
	// 3 processes: holds-bounded, 26645 states
}
