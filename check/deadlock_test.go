package check_test

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/deadlock"
)

func TestSketchDeadlock(t *testing.T) {
	for _, m := range []deadlock.Method{deadlock.DetectCentral(), deadlock.DetectDistributed(), deadlock.WaitDie(), deadlock.WoundWait()} {
		modes := m.Modes
		if modes == nil {
			modes = []string{""}
		}
		for _, mode := range modes {
			for _, x := range [][3]int{{2, 2, 1}, {2, 2, 2}, {2, 3, 1}, {3, 3, 1}, {3, 3, 2}} {
				c := check.Dinner(m, mode, x[0], x[1], x[2])
				c.Memory = 2 << 30
				c.Time = 10e9
				r, err := check.RunDeadlock(c)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Printf("%s %s %v: %s states %d trans %d depth %d %.2fs\n", m.Name, mode, x, r.Verdict, r.States, r.Transitions, r.Depth, r.Seconds)
				for _, p := range r.Properties {
					if p.Verdict == check.Violated || p.Verdict == check.Unfinished {
						fmt.Println("   ", p.Name, p.Note, p.Trace)
					}
				}
			}
		}
	}
}
