package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/internal/member"
)

// A control is a rule misread, where that is seen, and in how many steps at
// least.
type control struct {
	name      string
	wrong     member.Misreading
	algorithm string
	setting
	breaks explore.Broken
	steps  int
}

// controls has all misreadings that the model can express. Not: NoDrift,
// FromReceipt and NotNested, as it has no clocks; TriesStay, as nobody tries;
// NoBound, as with bounded requests the local ones come to an end.
func controls() []control {
	all := settings()
	home, same := all["home evicted"], all["nobody evicted"]
	with := func(s setting, cancels, lapses, late, asks int) setting {
		s.Cancels, s.Lapses, s.Late, s.Asks = cancels, lapses, late, asks
		return s
	}
	third := all["nothing, twice"]
	return []control{
		{"NoTouch", member.NoTouch, "maekawa", setting{4, nil, []uint64{1}, Config{Asks: 1, Quiet: []uint64{1, 2}}}, Waits, 5},
		{"Reborn", member.Reborn, "naimi-trehel", home, Waits, 12},
		{"StaleReport", member.StaleReport, "naimi-trehel", home, Mutual, 9},
		{"NoReports", member.NoReports, "naimi-trehel", home, Mutual, 7},
		{"MostReports", member.MostReports, "naimi-trehel", same, Mutual, 7},
		{"NotOnBehalf", member.NotOnBehalf, "naimi-trehel", home, Mutual, 9},
		{"NoGhosts", member.NoGhosts, "naimi-trehel", home, Mutual, 5},
		{"NoLendee", member.NoLendee, "naimi-trehel", third, Mutual, 8},
		{"CountClears", member.CountClears, "ricart-agrawala", loans(), Mutual, 20},
		{"AnyWitness", member.AnyWitness, "central", skips(), Mutual, 15},
		{"UntouchedProves", member.UntouchedProves, "naimi-trehel", third, Mutual, 6},
		{"NoReleased", member.NoReleased, "naimi-trehel", home, Waits, 14},
		{"NoOrder", member.NoOrder, "naimi-trehel", home, Order, 7},
		{"LeftInOrder", member.LeftInOrder, "naimi-trehel", with(home, 1, 0, 0, 1), Waits, 12},
		{"NoDone", member.NoDone, "naimi-trehel", same, Waits, 14},
		{"KeepsLost", member.KeepsLost, "naimi-trehel", home, Leased, 2},
		{"Unleased", member.Unleased, "naimi-trehel", home, Leased, 2},
		{"ReportsPending", member.ReportsPending, "naimi-trehel", with(home, 0, 1, 0, 1), Waits, 14},
		{"LeaverEnters", member.LeaverEnters, "naimi-trehel", all["home leaves"], Mutual, 6},
		{"CountStays", member.CountStays, "naimi-trehel", home, Tokens, 5},
		{"HandoverSame", member.HandoverSame, "naimi-trehel", with(home, 0, 0, 0, 2), Tokens, 3},
		{"UnlockAny", member.UnlockAny, "naimi-trehel", with(home, 0, 0, 1, 2), Fenced, 4},
		{"AskOnce", member.AskOnce, "naimi-trehel", home, Waits, 9},
		{"CancelLeaks", member.CancelLeaks, "naimi-trehel", with(home, 1, 0, 0, 1), Waits, 13},
	}
}

// loans is where somebody has been lent a lock that its home has not let go of:
// c, whom b has heard nothing of, while a, the home, has heard of b.
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

// skips is where a, who knows of epoch 1, goes on to epoch 3, while c, who was
// home in between, has entered.
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

// TestControls sees to it that the model finds what members do wrong, and
// nothing where they do not.
func TestControls(t *testing.T) {
	var table strings.Builder
	for _, c := range controls() {
		c.Setup = func(m *member.Member) { member.Misread(m, c.wrong) }
		m := c.model(t, c.algorithm)
		e, err := explore.Explore(m, explore.Limits{Stop: c.breaks})
		if err != nil {
			t.Fatal(err)
		}
		steps := e.StepsTo(c.breaks)
		fmt.Fprintf(&table, "| %s | %s | %s | %d |\n", c.name, c.algorithm, Names(c.breaks)[0], steps)
		if steps == c.steps {
			continue
		}
		story, err := m.Story(c.breaks, explore.Limits{})
		t.Errorf("%s: %v is broken after %d steps (-1 is never), want %d: %v\n%s", c.name, Names(c.breaks), steps, c.steps, err, strings.Join(story, "\n"))
	}
	t.Logf("\n%s", table.String())
}

// TestControlsAlone sees to it that it is the misreading that a control finds.
func TestControlsAlone(t *testing.T) {
	for _, c := range controls() {
		if c.Only == nil && len(c.changes) > 0 {
			continue // the setting is among the runs, or a part of one
		}
		e, err := explore.Explore(c.model(t, c.algorithm), explore.Limits{})
		if err != nil || len(e.Broken) > 0 || e.Unfinished != "" {
			t.Errorf("%s: %+v, %v: want nothing broken", c.name, e, err)
		}
	}
}
