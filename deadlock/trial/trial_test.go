package trial

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/deadlock"
)

func TestSketch(t *testing.T) {
	for _, m := range deadlock.Methods() {
		modes := m.Modes
		if modes == nil {
			modes = []string{""}
		}
		for _, mode := range modes {
			c := Usual()
			c.Method, c.Mode, c.Layout, c.Transactions = m, mode, deadlock.Spread(3, 10, 10), 1000
			r, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%-20s%-8s committed %d aborted %d unn %d false %d ph %d dead %d found %d delay %.2f long %d msgs %.2f thr %.3f stuck %d wrong %d mostab %d life %d viol %v\n", m.Name, mode, r.Committed, r.Aborted, r.Unnecessary, r.FalsePositives, r.Phantoms, r.Deadlocks, r.Found, r.DetectionDelay, r.LongestDelay/1000000, r.PerTransaction, r.Throughput, r.Stuck, r.WrongVictims, r.MostAborts, r.LongestLife/1000000, r.Violations)
		}
	}
}
