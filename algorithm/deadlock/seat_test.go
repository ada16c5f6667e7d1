package deadlock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// stuckWithout runs a method while one coordinator after the other dies, the
// second one in the middle of an election, and returns how many transactions are
// stuck at the end, and how many deadlocks there were.
func stuckWithout(t *testing.T, m deadlock.Method, mode string, seed uint64) (stuck, deadlocks int) {
	t.Helper()
	c := sim.UsualTransactions()
	c.Method, c.Mode, c.Seed, c.Number = m, mode, seed, 300
	c.Layout = deadlock.Spread(6, 12, 9)
	c.Hot = 60
	for i, at := range []int64{40, 41, 43, 120} {
		at := at*scenario.T + int64(seed%4)*scenario.T/4
		c.Crashes = append(c.Crashes, sim.SiteCrash{Site: []algorithm.ID{0, 5, 4, 3}[i], At: at})
	}
	c.Patient = 300 * scenario.T
	r, err := sim.RunTransactions(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Found) > 0 {
		t.Errorf("%s %s, seed %d: %v", m.Name, mode, seed, r.Found)
	}
	return r.Stuck, r.Deadlocks
}

// TestCoordinatorsDie: whenever the coordinator dies, and whichever site dies in the
// middle of the election, there is another one, which finds every deadlock.
// Without any part of that a process is stuck.
func TestCoordinatorsDie(t *testing.T) {
	for _, mode := range deadlock.DetectCentral().Modes {
		all := 0
		for seed := range uint64(30) {
			stuck, deadlocks := stuckWithout(t, deadlock.DetectCentral(), mode, seed)
			if all += deadlocks; stuck > 0 {
				t.Errorf("%s, seed %d: %d stuck", mode, seed, stuck)
			}
		}
		if all < 100 {
			t.Errorf("%s: %d deadlocks in all: too few to tell", mode, all)
		}
		for _, m := range deadlock.Vacancies(mode) {
			if m.Bug == "the new coordinator gets no graphs" && mode == deadlock.OnDemand {
				continue // it asks for them anyway
			}
			found := false
			for seed := uint64(0); seed < 60 && !found; seed++ {
				stuck, _ := stuckWithout(t, m.Method, "", seed)
				found = stuck > 0
			}
			if !found {
				t.Errorf("%s: not found: %s", mode, m.Bug)
			}
		}
	}
}

// standing is the smallest case in which a deadlock can stand without the
// coordinator: site 1 has nothing but that role.
func standing(m deadlock.Method, mode string) transactions.Config {
	return transactions.Config{
		Method: m, Mode: mode,
		Layout:   deadlock.Layout{Sites: 3, Home: []algorithm.ID{1, 2}, At: []algorithm.ID{1, 2}},
		Programs: [][]int{{0, 1}, {1, 0}},
	}
}

// TestCoordinatorDiesInTheChecker: in every order of events, with one site dying
// at any step, every deadlock is found. Without an election, or if the new
// coordinator gets no graphs, one stays.
func TestCoordinatorDiesInTheChecker(t *testing.T) {
	nightly.Only(t)
	explored := func(m deadlock.Method, mode string) *check.Report {
		d := standing(m, mode)
		spec, err := d.Spec()
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Run(check.Config{Spec: spec, Family: d.Family(), Nodes: 2, Requests: 1, Crashes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for mode, states := range map[string]int64{deadlock.OnDemand: 652971, deadlock.OnChange: 9319, deadlock.InBatch: 21306} {
		r := explored(deadlock.DetectCentral(), mode)
		if err := r.Err(); err != nil || r.States != states {
			t.Errorf("%s: %d states, want %d; %v", mode, r.States, states, err)
		}
	}
	for _, m := range deadlock.Vacancies(deadlock.OnChange) {
		if p := explored(m.Method, "").Find(check.Starvation); p.Verdict != check.Violated {
			t.Errorf("%s: starvation %s", m.Bug, p.Verdict)
		}
	}
}

// TestElectionCosts: if all are notified of the death at once, each remaining site
// calls an election, and each election goes round them twice.
func TestElectionCosts(t *testing.T) {
	for sites := 2; sites <= 7; sites++ {
		var b strings.Builder
		fmt.Fprintf(&b, "algorithm detect-central\nmode change\nprocesses 1\nsite 1\nsite 2 P1 L1\n")
		for s := 3; s <= sites; s++ {
			fmt.Fprintf(&b, "site %d\n", s)
		}
		left := sites - 1
		each := left * left
		if left == 1 {
			each = 0 // a site that is alone asks no other
		}
		fmt.Fprintf(&b, "at 0 crash site 1\nat 2 P1 takes L1\nexpect messages ELECTION %d\nexpect messages COORDINATOR %d\n", each, each)
		sc, err := scenario.Parse("", b.String())
		if err != nil {
			t.Fatal(err)
		}
		spec, err := sim.SiteSpec(sc)
		if err != nil {
			t.Fatal(err)
		}
		back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
		if err != nil || len(back.Differences) > 0 {
			t.Errorf("%d sites: %v, %v", sites, back.Differences, err)
		}
	}
}
