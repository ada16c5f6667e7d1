package viewmodel

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/internal/explore"
)

// A rule is a rule of the protocol about ghosts, expired leases, homes that enter on
// their own, or reports in parts. It has a small setting in which breaking the rule
// violates a property, and the length of the shortest counterexample. Each of them was
// broken by hand, and the counterexample was seen.
type rule struct {
	name, text string // how it is broken
	setting
	breaks explore.Broken
	steps  int
}

func rules() []rule {
	all := settings()
	quiet := func(name string, who ...uint64) setting {
		s := all[name]
		s.Quiet = who
		return s
	}
	ghost := all["home evicted, a home joins"]
	expires := quiet("b replaced by a home, lease expires", 2)
	parts := quiet("home evicted, reports in parts", 1)
	return []rule{
		// A ghost through two view changes.
		{"LastChangeGhosts", "a member counts only the ghosts of the last view change", ghost, Mutual, 5},
		{"WitnessForgetsGhosts", "a witness that was home does not name the ghosts that it suspected", ghost, Mutual, 8},
		{"WitnessEndsGhosts", "a witness that was home takes the leases of ghosts to have expired", ghost, Mutual, 8},
		{"GhostsStay", "a ghost is suspected after its lease has expired", ghost, Waits, 9},
		{"LoanUnreported", "a hold by a loan is not reported in the next view", quiet("lender evicted, a home joins", 1), Mutual, 12},
		// A lease that expires while its member is inside and stays in the view.
		{"WitnessForgetsExpired", "a witness does not count its own hold if the lease has lost it", expires, Mutual, 8},
		{"WitnessDeniesExpired", "a witness with a hold that the lease has lost says that no process is inside", expires, Mutual, 8},
		{"ExpiredUnreported", "a hold that the lease has lost is not reported", expires, Mutual, 8},
		{"ExpiredNotCarried", "a hold that the lease has lost is not carried to the next view", expires, Mutual, 8},
		{"ExpiredIdle", "a lock is forgotten if its only hold here was lost with the lease", expires, Mutual, 8},
		{"ExpiredNotReleased", "no RELEASED is sent for a carried hold that the lease has lost", expires, Waits, 13},
		{"ExpiredAtHome", "a home lets others enter beside its own hold that the lease has lost", all["b replaced by a home, lease expires"], Mutual, 5},
		{"PassAtOnce", "a lost lock is passed on before the lease has expired", all["b replaced by a home, lease expires"], Mutual, 5},
		{"PassAtRenewal", "a lost lock is passed on when the lease is renewed", all["b replaced by a home, lease expires"], Mutual, 6},
		// A home that enters on its own.
		{"WitnessForgetsOwn", "a witness does not count its own hold", quiet("nothing, a home joins", 2), Mutual, 8},
		{"WitnessForgetsReported", "a witness that was home does not name those that reported a hold to it", quiet("nothing, a home joins", 1), Mutual, 12},
		{"CarriedOnce", "a hold is not carried through a second view change", quiet("nothing, a home joins", 2), Waits, 15},
		// A report in parts.
		{"FirstPart", "a REPORT counts when its first part has come", parts, Refused, 4},
		{"LastPart", "only the last part of a REPORT counts", parts, Mutual, 11},
	}
}

// TestRules sees to it that no property is violated in these settings. If one is, the
// test reports whether it is what breaking the rule violates.
func TestRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			m := r.model(t, "naimi-trehel")
			e, err := explore.Explore(m, explore.Limits{Stop: r.breaks})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Broken) == 0 {
				if e.Unfinished != "" {
					t.Fatalf("unfinished: %s", e.Unfinished)
				}
				return
			}
			story, err := m.Story(r.breaks, explore.Limits{})
			t.Errorf("%s is violated after %d steps; with this rule broken, after %d: %v\n%s",
				Names(r.breaks)[0], e.StepsTo(r.breaks), r.steps, err, strings.Join(story, "\n"))
		})
	}
}

// TestLeaverActs explores a home that leaves and whose lease may expire before. Its host
// lets it leave only when no process can act on a hold that the lease has lost. Otherwise
// another member, for which a leaver is not a ghost, may enter while that process still acts.
func TestLeaverActs(t *testing.T) {
	s := setting{2, []Change{{Leave: []uint64{1}}}, []uint64{1, 2}, Config{Asks: 1, Lapses: 1}}
	m := s.model(t, "naimi-trehel")
	e, err := explore.Explore(m, explore.Limits{})
	if err != nil || e.Unfinished != "" || len(e.Broken) > 0 {
		story, _ := m.Story(Mutual, explore.Limits{})
		t.Errorf("%v, unfinished %q, violated %v:\n%s", err, e.Unfinished, e.Broken, strings.Join(story, "\n"))
	}
}

// TestClosesMoved explores a client that closes its session at a former member, of which
// it cannot know whether it was evicted. That is safe if nothing waits at the member, and
// therefore only a member that leaves is notified: see internal/session.
func TestClosesMoved(t *testing.T) {
	s := settings()["claim, a evicted"]
	s.Client.Moves = true
	for asks, violated := range map[uint64]bool{1: true, 2: false} {
		s.Quiet = []uint64{3 - asks}
		e, err := explore.Explore(s.model(t, "naimi-trehel"), explore.Limits{Stop: Mutual})
		if _, got := e.Broken[Mutual]; err != nil || got != violated {
			t.Errorf("only %d asks: violated %v, want %v (%v)", asks, got, violated, err)
		}
	}
}
