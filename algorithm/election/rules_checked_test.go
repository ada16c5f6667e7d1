package election_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// For every rule there is a run that needs it. The checker finds the shortest one for the
// election that lacks the rule, and none for the sound election.
func TestRules(t *testing.T) {
	caught := 0
	for _, c := range []struct {
		bug                       string
		nodes, crashes, comebacks int
		property                  string
		steps                     int
	}{
		{"what was refused is remembered during an election", 4, 2, 0, elections.Agreement, 11},
		{"the time for an answer is that of one message", 3, 1, 0, elections.OneLeader, 6},
		{"a process that was answered wins by a timeout", 3, 2, 1, elections.OneLeader, 11},
		{"a leader that is asked does not say so", 2, 1, 1, elections.Agreement, 3},
		{"an election has no time to go round", 2, 1, 0, elections.Agreement, 3},
		{"the number of a dead process goes on", 3, 2, 1, elections.Agreement, 11},
	} {
		for _, m := range election.RuleMutants() {
			if m.Bug != c.bug {
				continue
			}
			caught++
			run := func(spec algorithm.Spec) *check.Property {
				r, err := check.Run(check.Config{Spec: spec, Nodes: c.nodes, Crashes: c.crashes, Comebacks: c.comebacks})
				if err != nil {
					t.Fatal(err)
				}
				return r.Find(c.property)
			}
			if p := run(m.Broken); p.Verdict != check.Violated || len(p.Trace) != c.steps {
				t.Errorf("%s: %s: %s %s after %d steps, want %d: %v", m.Sound.Name, c.bug, p.Name, p.Verdict, len(p.Trace), c.steps, p.Trace)
			}
			if p := run(m.Sound); p.Verdict != check.HoldsBounded {
				t.Errorf("%s: %s %s without the bug", m.Sound.Name, p.Name, p.Verdict)
			}
		}
	}
	if want := len(election.RuleMutants()) - len(longRuns()); caught != want {
		t.Errorf("%d mutants were caught, want %d", caught, want)
	}
}

// longRuns returns the runs that the checker takes too long to find, for the rules that
// they need.
func longRuns() map[string]string {
	return map[string]string{
		"refused news is not remembered": "processes 4, holder 4 busy, schedule steps, crash P3, crash P4, P2 asks, deliver 2 -> 3, restart P3, P2 timer 0 expires, P3 timer 0 expires, deliver 3 -> 1, P1 suspects P4, deliver 2 -> 1, deliver 3 -> 2, deliver 2 -> 4, deliver 3 -> 4, P2 suspects P4, P3 suspects P4",
	}
}

// TestRulesInLongRuns: at the end of the run all is quiet, and not every process follows
// the highest.
func TestRulesInLongRuns(t *testing.T) {
	caught := 0
	for _, m := range election.RuleMutants() {
		steps, ok := longRuns()[m.Bug]
		if !ok {
			continue
		}
		caught++
		sc, err := scenario.Parse("", "algorithm "+m.Sound.Name+"\n"+strings.ReplaceAll(steps, ", ", "\n")+"\nexpect violation agreement\n")
		if err != nil {
			t.Fatal(err)
		}
		if back, err := sim.Replay(m.Broken, sc, sim.ReplayOptions{}); err != nil || len(back.Differences) > 0 {
			t.Errorf("%s: %s: %v, %v", m.Sound.Name, m.Bug, back.Differences, err)
		}
		if back, err := sim.Replay(m.Sound, sc, sim.ReplayOptions{}); err != nil || len(back.Differences) != 1 {
			t.Errorf("%s: %s: %v, %v without the bug", m.Sound.Name, m.Bug, back.Differences, err)
		}
	}
	if caught != len(longRuns()) {
		t.Errorf("%d mutants were caught, want %d", caught, len(longRuns()))
	}
}
