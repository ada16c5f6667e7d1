package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/deadlock"
)

// TestSketchDeadlock
func TestSketchDeadlock(t *testing.T) {
	for _, m := range deadlock.Methods() {
		modes := m.Modes
		if modes == nil {
			modes = []string{""}
		}
		for _, mode := range modes {
			for _, x := range [][4]int{{2, 2, 2, 0}, {2, 3, 1, 0}, {3, 3, 1, 0}, {2, 2, 1, 1}, {3, 3, 1, 1}} {
				if mode == "demand" && x[0] == 3 {
					continue
				}
				c := check.Dinner(m, mode, x[0], x[1], x[2])
				c.Memory = 2 << 30
				c.Crash = x[3] == 1
				c.Time = 6e9
				r, err := check.RunDeadlock(c)
				if err != nil {
					t.Fatal(err)
				}
				var bad []string
				for _, p := range r.Properties {
					if p.Verdict == check.Violated || p.Verdict == check.Unfinished {
						bad = append(bad, p.Name)
						fmt.Println("   ", p.Name, p.Note, p.Trace)
					}
				}
				fmt.Printf("{%q, %q, %d, %d, %d, %v, %d, %d, %q}, // %.2f\n", m.Name, mode, x[0], x[1], x[2], c.Crash, r.States, r.Transitions, strings.Join(bad, " "), r.Seconds)
			}
		}
	}
}
