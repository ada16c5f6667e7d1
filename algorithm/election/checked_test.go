package election_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/lab/check"
)

// The checker finds the mutants, too, with the shortest way there in the
// smallest group, and nothing without the bug.
func TestMutantsInTheChecker(t *testing.T) {
	type capture struct {
		bug             string
		nodes           int
		slow            bool
		property, story string
	}
	all := map[string][]capture{
		"bully": {
			{"a coordinator announced too early", 2, false, elections.OneLeader, "crash P2, P1 suspects P2, restart P2, P1 asks"},
			{"higher ones do not answer", 2, false, elections.Agreement, "crash P1, restart P1, deliver 1 -> 2, P1 timer 0 expires"},
			{"COORDINATOR is not sent to one", 2, false, elections.Agreement, "crash P2, P1 suspects P2, restart P2, P1 asks, deliver 1 -> 2, deliver 2 -> 1"},
			{"stale news are followed", 3, false, elections.Agreement, "crash P3, P2 asks, deliver 2 -> 3, P2 timer 0 expires, restart P3, deliver 3 -> 1, deliver 2 -> 1, deliver 3 -> 2"},
		},
		"ring-election": {
			{"the lowest number is chosen", 2, false, elections.Agreement, "crash P1, restart P1, deliver 1 -> 2"},
			{"a coordinator announced too early", 4, true, elections.Agreement, "crash P1, restart P1, deliver 1 -> 2, deliver 2 -> 3, P3 trusts P4, deliver 3 -> 4, P1 timer 0 expires, deliver 1 -> 2, deliver 2 -> 3, deliver 3 -> 4, P1 timer 0 expires, deliver 1 -> 2"},
			{"a lost election is waited for", 2, false, elections.Agreement, "crash P2, P1 asks, P1 suspects P2, deliver 1 -> 2, P1 timer 0 expires"},
		},
		"chang-roberts": {
			{"the id rule reversed", 2, false, elections.Agreement, "crash P2, P1 asks, restart P2, deliver 1 -> 2, deliver 2 -> 1, deliver 2 -> 1, P2 timer 0 expires, deliver 2 -> 1"},
			{"a coordinator announced too early", 3, false, elections.OneLeader, "crash P3, P1 suspects P3, P2 suspects P3, restart P3, P1 asks, P2 asks, deliver 1 -> 2, deliver 2 -> 3"},
			{"COORDINATOR stops on the way", 4, true, elections.Agreement, "crash P4, restart P4, deliver 4 -> 1, deliver 1 -> 2, deliver 2 -> 3, deliver 3 -> 4, deliver 4 -> 1, deliver 1 -> 2, P3 timer 0 expires, deliver 3 -> 4, deliver 4 -> 1, deliver 1 -> 2, deliver 2 -> 3"},
		},
	}
	caught := 0
	for _, m := range election.Mutants() {
		for _, c := range all[m.Sound.Name] {
			if c.bug != m.Bug {
				continue
			}
			caught++
			sound := check.Config{Spec: m.Sound, Nodes: c.nodes, Crashes: 1, Comebacks: 1}
			if c.slow {
				sound.Pace = check.Slow
			}
			broken := sound
			broken.Spec = m.Broken
			r, err := check.Run(broken)
			if err != nil {
				t.Fatal(err)
			}
			p := r.Find(c.property)
			if got := strings.Join(p.Trace, ", "); p.Verdict != check.Violated || got != c.story {
				t.Errorf("%s: %s: %s %s\n got %s\nwant %s", m.Sound.Name, c.bug, p.Name, p.Verdict, got, c.story)
			}
			if r, err = check.Run(sound); err != nil || r.Verdict != check.HoldsBounded {
				t.Errorf("%s: %s %v without a bug", m.Sound.Name, r.Verdict, err)
			}
		}
	}
	if caught != len(election.Mutants()) {
		t.Errorf("%d of %d mutants were caught", caught, len(election.Mutants()))
	}
}
