package measure

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
)

func afterCrash(t *testing.T, s algorithm.Spec) Aftermath {
	t.Helper()
	l := changeLoad(Random, 3)
	l.Locks = 300
	a, err := After(Change{What: Crashes, From: 400 * T, To: 2400 * T}, s, 3, l)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Every lock is entered in the end. Those that stall wait until the lease expires, and no
// longer.
func TestCrash(t *testing.T) {
	for _, s := range catalog.Live() {
		a := afterCrash(t, s)
		stalled, all := a.All()
		if all != 900 || stalled != len(a.Waited) || stalled+a.Behind+len(a.Passed) != all {
			t.Errorf("%s: of %d locks %d stall, %d wait their turn and %d do not wait", s.Name, all, stalled, a.Behind, len(a.Passed))
		}
		u := member.Usual()
		longest := int64(u.Patience())*102/100 + 200*T
		if first, last := a.Waited[0], a.Waited[len(a.Waited)-1]; first < int64(u.Lease-u.Renew) || last > longest {
			t.Errorf("%s: they wait from %d to %d ms", s.Name, first/T, last/T)
		}
		if last := a.Passed[len(a.Passed)-1]; last > 20*T {
			t.Errorf("%s: one that does not stall takes %d ms", s.Name, last/T)
		}
	}
}

// A seed gives the same numbers again, and another one gives others.
func TestSame(t *testing.T) {
	s := catalog.Live()[0]
	a, b := afterCrash(t, s), afterCrash(t, s)
	if a.Stalled != b.Stalled || !slices.Equal(a.Waited, b.Waited) || !slices.Equal(a.Passed, b.Passed) {
		t.Error("the same seed gives other numbers")
	}
	l, budget := load(Random, 3)
	one, err1 := Costs(s, 3, l, budget)
	two, err2 := Costs(s, 3, l, budget)
	l.Seed++
	other, err3 := Costs(s, 3, l, budget)
	if err1 != nil || err2 != nil || err3 != nil || one != two || one == other {
		t.Errorf("%+v, again %+v, with another seed %+v", one, two, other)
	}
}

// With an algorithm that gives no alibis, all locks stall that were used: the measurement
// notices.
func TestNoAlibi(t *testing.T) {
	s, err := catalog.MakeLive("maekawa", 1)
	if err != nil {
		t.Fatal(err)
	}
	with := afterCrash(t, s)
	plan := s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return silent{birth(self, v)} }, err
	}
	without := afterCrash(t, s)
	some, _ := with.All()
	most, _ := without.All()
	if some > 90 || most < 600 || without.Stalled[Last] != without.Locks[Last] {
		t.Errorf("of 900 locks %d stall with alibis and %d without", some, most)
	}
}

// A silent machine gives no alibis.
type silent struct{ algorithm.Machine }

func (silent) Alibi(algorithm.ID) bool { return false }

// A lock that is held twice at a time is noticed.
func TestTwoInside(t *testing.T) {
	r, err := newRun(catalog.Live()[0], 3, 0, Load{Choice: Hot, Locks: 1, Apps: 1, Latency: varying(), Hold: exp(T), Think: exp(T)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.until(func() bool { return r.locks[0].inside != none }); err != nil {
		t.Fatal(err)
	}
	other := (r.locks[0].inside + 1) % len(r.apps)
	r.enter(other, member.Event{Kind: member.Held})
	if r.err == nil {
		t.Error("it is not noticed")
	}
}
