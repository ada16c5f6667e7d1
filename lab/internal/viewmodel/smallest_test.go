package viewmodel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A small setting is one in which a rule of the protocol matters, and what is broken
// first without the rule, after how many steps.
type small struct {
	rule      string
	algorithm string
	setting
	breaks explore.Broken
	steps  int
}

// smallest has a setting for every rule that the model can express. internal/controls
// breaks each of them. Not here are the rules about drift, about what a lease counts
// from and about the length of sessions, because the model has no clocks; about tries,
// because no process tries; and about the bound of local handovers, because requests
// are bounded.
func smallest() []small {
	all := settings()
	home, same := all["home evicted"], all["nobody evicted"]
	with := func(s setting, cancels, lapses, late, asks int) setting {
		s.Cancels, s.Lapses, s.Late, s.Asks = cancels, lapses, late, asks
		return s
	}
	quiet := func(s setting, who ...uint64) setting {
		s.Quiet = who
		return s
	}
	evicted, stays := all["claim, a evicted"], all["claim at the home, nobody evicted"]
	third := setting{2, []Change{{}, {}}, []uint64{1, 1, 1}, Config{Asks: 1}}
	return []small{
		{"NoTouch", "maekawa", setting{4, nil, []uint64{1}, Config{Asks: 1, Quiet: []uint64{1, 2}}}, Waits, 5},
		{"Reborn", "naimi-trehel", home, Waits, 12},
		{"StaleReport", "naimi-trehel", home, Mutual, 9},
		{"NoReports", "naimi-trehel", home, Mutual, 7},
		{"MostReports", "naimi-trehel", same, Mutual, 7},
		{"NotOnBehalf", "naimi-trehel", home, Mutual, 9},
		{"NoGhosts", "naimi-trehel", home, Mutual, 5},
		{"NoLendee", "naimi-trehel", third, Mutual, 8},
		{"CountClears", "ricart-agrawala", loans(), Mutual, 20},
		{"AnyWitness", "central", skips(), Mutual, 15},
		{"UntouchedProves", "naimi-trehel", third, Mutual, 6},
		{"LapsedDenied", "naimi-trehel", setting{2, []Change{{Join: []uint64{3}}}, []uint64{1, 3}, Config{Asks: 1, Quiet: []uint64{2}, Lapses: 1}}, Mutual, 8},
		{"NoReleased", "naimi-trehel", home, Waits, 14},
		{"NoOrder", "naimi-trehel", home, Order, 7},
		{"LeftInOrder", "naimi-trehel", with(home, 1, 0, 0, 1), Waits, 12},
		{"NoDone", "naimi-trehel", same, Waits, 14},
		{"KeepsLost", "naimi-trehel", home, Leased, 2},
		{"Unleased", "naimi-trehel", home, Leased, 2},
		{"ReportsPending", "naimi-trehel", with(home, 0, 1, 0, 1), Waits, 12},
		{"LeaverEnters", "naimi-trehel", with(all["home leaves"], 0, 0, 0, 1), Mutual, 6},
		{"CountStays", "naimi-trehel", home, Tokens, 5},
		{"HandoverSame", "naimi-trehel", quiet(with(home, 0, 0, 0, 2), 2, 3), Tokens, 3},
		{"UnlockAny", "naimi-trehel", quiet(with(home, 0, 0, 1, 2), 2, 3), Fenced, 4},
		{"AskOnce", "naimi-trehel", home, Waits, 9},
		{"CancelLeaks", "naimi-trehel", with(home, 1, 0, 0, 1), Waits, 13},
		{"LateConfirmation", "naimi-trehel", quiet(evicted, 2), Mutual, 7},
		{"ClaimAfterRelease", "naimi-trehel", all["claim, a of three evicted"], Mutual, 14},
		{"ClaimInOwnView", "naimi-trehel", quiet(stays, 2), Refused, 4},
		{"ClaimUnawaited", "naimi-trehel", quiet(stays, 2), Mutual, 10},
		{"ClaimInside", "naimi-trehel", all["claim, nobody evicted"], Mutual, 14},
		{"ClaimUnreported", "naimi-trehel", all["claim, a evicted, a home joins"], Mutual, 11},
		{"ReleasedForAll", "naimi-trehel", quiet(stays, 1), Mutual, 11},
		{"NoProof", "naimi-trehel", quiet(evicted, 2), Mutual, 6},
		{"StrikesReported", "naimi-trehel", all["claim, a home joins"], Mutual, 16},
		{"OlderTestifies", "naimi-trehel", all["claim, nothing, a home joins"], Mutual, 18},
		{"ClaimTestifies", "naimi-trehel", all["claim, a of three evicted"], Mutual, 15},
		{"WitnessForgetsClaims", "naimi-trehel", quiet(all["claim, nothing, twice"], 2), Mutual, 14},
		{"DelegatesHeard", "central", all["delegated elsewhere"], Waits, 4},
		{"DelegatedUnreported", "naimi-trehel", quiet(all["delegated, a home joins"], 1, 2), Mutual, 7},
		{"KeepUncounted", "naimi-trehel", quiet(all["delegated"], 2, 3), Tokens, 10},
		{"LossUncounted", "naimi-trehel", quiet(all["delegated"], 2, 3), Tokens, 5},
		{"NoRecallByFrame", "naimi-trehel", quiet(all["delegated"], 1, 3), Waits, 3},
		{"NoRecallHere", "naimi-trehel", quiet(all["delegated"], 2, 3), Waits, 2},
		{"NoRecallByView", "naimi-trehel", quiet(all["delegated, a home joins"], 1, 2), Waits, 13},
	}
}

// loans is where the home a has lent the lock to c and not let go of it. b has heard
// nothing of c, while a has heard of b.
func loans() setting {
	s := settings()["nothing, then c evicted"]
	s.Only = func(k Kind, who member.Who, epoch uint64) bool {
		switch k {
		case Ask:
			return who.Name != "a" && epoch == 1 || who.Name == "a" && epoch == 3
		case Deliver:
			return epoch > 1
		case Unlock:
			return who.Name != "c"
		}
		return k == Install
	}
	return s
}

// skips is where a goes from epoch 1 to epoch 3, while c, the home in between, has
// entered.
func skips() setting {
	s := settings()["a home joins, is evicted"]
	s.Only = func(k Kind, who member.Who, epoch uint64) bool {
		switch {
		case who.Name == "a" && epoch == 2:
			return false
		case k == Ask:
			return who.Name == "a" && epoch == 3 || who.Name == "b" && epoch == 1 || who.Name == "c" && epoch == 2
		}
		return k == Deliver || k == Install || k == Unlock
	}
	return s
}

// TestSmallest sees to it that nothing is broken in these settings.
func TestSmallest(t *testing.T) {
	nightly.Only(t)
	for _, c := range smallest() {
		t.Run(c.rule, func(t *testing.T) {
			m := c.model(t, c.algorithm)
			e, err := explore.Explore(m, explore.Limits{Stop: c.breaks})
			if err != nil || e.Unfinished != "" && len(e.Broken) == 0 {
				t.Fatalf("%s, %v", e.Unfinished, err)
			}
			if len(e.Broken) == 0 {
				return
			}
			steps, verdict := e.StepsTo(c.breaks), "as expected"
			if steps != c.steps {
				verdict = fmt.Sprintf("expected after %d steps", c.steps)
			}
			story, err := m.Story(c.breaks, explore.Limits{})
			t.Errorf("%v is broken after %d steps, %s: %v\n%s", Names(c.breaks), steps, verdict, err, strings.Join(story, "\n"))
		})
	}
}
