//go:build !race

// These checks run in one thread: the race detector has nothing to find here,
// and would take minutes for it.

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/deadlock"
)

// TestDeadlockMethods: every order of events, for every method. Each of some
// processes takes its own lock and then the next one's. Prevention and
// avoidance never let a cycle arise; every deadlock that arises under
// detection is found, with exactly one victim, the youngest; every
// transaction commits in every fair run; also if a site dies at any time.
// Only batches report what is not there. The counts are pinned: a change of a
// number is a change of behaviour.
func TestDeadlockMethods(t *testing.T) {
	for _, c := range []struct {
		name, mode                     string
		sites, processes, transactions int
		crash                          bool
		states, transitions            int64
		violated                       string
	}{
		{"none", "", 2, 2, 2, false, 149, 232, "deadlock starvation"},
		{"none", "", 2, 3, 1, false, 385, 684, "deadlock starvation"},
		{"none", "", 3, 3, 1, false, 323, 594, "deadlock starvation"},
		{"none", "", 2, 2, 1, true, 163, 306, "deadlock starvation"},
		{"none", "", 3, 3, 1, true, 3992, 10806, "deadlock starvation"},
		{"ordered", "", 2, 2, 2, false, 228, 341, ""},
		{"ordered", "", 2, 3, 1, false, 337, 575, ""},
		{"ordered", "", 3, 3, 1, false, 450, 863, ""},
		{"ordered", "", 2, 2, 1, true, 191, 362, ""},
		{"ordered", "", 3, 3, 1, true, 5022, 14292, ""},
		{"priority", "", 2, 2, 2, false, 812, 1321, ""},
		{"priority", "", 2, 3, 1, false, 921, 1821, ""},
		{"priority", "", 3, 3, 1, false, 4025, 11715, ""},
		{"priority", "", 2, 2, 1, true, 328, 675, ""},
		{"priority", "", 3, 3, 1, true, 28872, 106874, ""},
		{"wait-die", "", 2, 2, 2, false, 595, 1037, ""},
		{"wait-die", "", 2, 3, 1, false, 883, 1893, ""},
		{"wait-die", "", 3, 3, 1, false, 1002, 2223, ""},
		{"wait-die", "", 2, 2, 1, true, 308, 643, ""},
		{"wait-die", "", 3, 3, 1, true, 9452, 29271, ""},
		{"wound-wait", "", 2, 2, 2, false, 450, 712, ""},
		{"wound-wait", "", 2, 3, 1, false, 931, 1872, ""},
		{"wound-wait", "", 3, 3, 1, false, 1678, 4474, ""},
		{"wound-wait", "", 2, 2, 1, true, 209, 413, ""},
		{"wound-wait", "", 3, 3, 1, true, 13462, 45909, ""},
		{"banker", "", 2, 2, 2, false, 200, 277, ""},
		{"banker", "", 2, 3, 1, false, 343, 608, ""},
		{"banker", "", 3, 3, 1, false, 522, 1002, ""},
		{"banker", "", 2, 2, 1, true, 128, 262, ""},
		{"banker", "", 3, 3, 1, true, 6198, 18111, ""},
		{"detect-central", "demand", 2, 2, 2, false, 45697, 156389, ""},
		{"detect-central", "demand", 2, 3, 1, false, 65089, 259974, ""},
		{"detect-central", "demand", 2, 2, 1, true, 5565, 19312, ""},
		{"detect-central", "change", 2, 2, 2, false, 868, 1465, ""},
		{"detect-central", "change", 2, 3, 1, false, 705, 1313, ""},
		{"detect-central", "change", 3, 3, 1, false, 1549, 3677, ""},
		{"detect-central", "change", 2, 2, 1, true, 355, 688, ""},
		{"detect-central", "change", 3, 3, 1, true, 34361, 107415, ""},
		{"detect-central", "batch", 2, 2, 2, false, 21996, 57264, "false-report one-victim"},
		{"detect-central", "batch", 2, 3, 1, false, 4221, 10650, ""},
		{"detect-central", "batch", 3, 3, 1, false, 14056, 48145, ""},
		{"detect-central", "batch", 2, 2, 1, true, 942, 2452, ""},
		{"detect-distributed", "", 2, 2, 2, false, 411, 615, ""},
		{"detect-distributed", "", 2, 3, 1, false, 432, 756, ""},
		{"detect-distributed", "", 3, 3, 1, false, 431, 840, ""},
		{"detect-distributed", "", 2, 2, 1, true, 237, 431, ""},
		{"detect-distributed", "", 3, 3, 1, true, 6253, 16823, ""},
	} {
		t.Run(fmt.Sprintf("%s %s %d %d %d %v", c.name, c.mode, c.sites, c.processes, c.transactions, c.crash), func(t *testing.T) {
			t.Parallel()
			m, err := deadlock.Find(c.name)
			if err != nil {
				t.Fatal(err)
			}
			config := check.Dinner(m, c.mode, c.sites, c.processes, c.transactions)
			config.Crash = c.crash
			r, err := check.RunDeadlock(config)
			if err != nil {
				t.Fatal(err)
			}
			var violated []string
			for _, p := range r.Properties {
				switch p.Verdict {
				case check.Violated:
					violated = append(violated, p.Name)
					if len(p.Trace) == 0 {
						t.Errorf("%s %s: %s is violated, but nobody says how", c.name, c.mode, p.Name)
					}
				case check.Unfinished:
					t.Errorf("%s %s: %s is unfinished", c.name, c.mode, p.Name)
				}
			}
			if got := strings.Join(violated, " "); got != c.violated || r.States != c.states || r.Transitions != c.transitions {
				t.Errorf("%d states, %d transitions, violated %q, want %d, %d, %q", r.States, r.Transitions, got, c.states, c.transitions, c.violated)
			}
		})
	}
}

// TestFalseCycle: with three sites that send their graphs on every change, too,
// the coordinator can see a cycle that never was.
func TestFalseCycle(t *testing.T) {
	c := check.Dinner(deadlock.DetectCentral(), deadlock.OnChange, 3, 3, 2)
	c.First = true
	r, err := check.RunDeadlock(c)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(check.FalseReport)
	if p.Verdict != check.Violated || !strings.Contains(p.Trace[len(p.Trace)-1], "aborts: P1->P2->P3->P1") {
		t.Errorf("false-report %s: %v, want a false cycle of three", p.Verdict, p.Trace)
	}
}

// TestDeadlockRefused: what cannot be checked is refused.
func TestDeadlockRefused(t *testing.T) {
	c := check.Dinner(deadlock.WaitDie(), "", 2, 2, 0)
	if _, err := check.RunDeadlock(c); err == nil {
		t.Error("no transactions: want an error")
	}
	c = check.Dinner(deadlock.WaitDie(), "change", 2, 2, 1)
	if _, err := check.RunDeadlock(c); err == nil {
		t.Error("a mode that there is not: want an error")
	}
}
