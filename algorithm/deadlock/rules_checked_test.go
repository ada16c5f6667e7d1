package deadlock_test

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
)

// A need is the smallest case known in which a rule is needed, and what is violated
// without it, after how many steps.
type need struct {
	meal     meal
	crashes  int
	property string
	steps    int
}

func needs() map[string]need {
	// While a grant of L1 is in flight, P1 wounds P2, commits, and P2 asks for L1 again.
	late := meal{"late", func(m deadlock.Method, mode string) transactions.Config {
		return transactions.Config{
			Method: m, Mode: mode, Layout: deadlock.Layout{Sites: 2, Home: []algorithm.ID{0, 0, 1}, At: []algorithm.ID{1, 0, 0}},
			Programs: [][]int{{2, 1}, {1, 0}, {0}},
		}
	}, 1}
	// P2 and P3 take turns, and one of them always holds what P1 claims, too.
	turns := meal{"turns", func(m deadlock.Method, mode string) transactions.Config {
		return transactions.Config{
			Method: m, Mode: mode, Layout: deadlock.Layout{Sites: 1, Home: make([]algorithm.ID, 3), At: make([]algorithm.ID, 3)},
			Programs: [][]int{{0, 1, 2}, {1, 0}, {2, 0}},
		}
	}, 0}
	return map[string]need{
		"a message about another attempt is not void":               {late, 0, check.MutualExclusion, 11},
		"a message from a dead site is not void":                    {dinner(2, 2, 1), 1, check.Deadlock, 9},
		"a transaction that runs again does not abort":              {dinner(2, 2, 1), 0, check.Deadlock, 6},
		"transactions with locks at a dead site go on":              {dinner(2, 2, 1), 1, check.Deadlock, 5},
		"a request that arrives before the news of a death is lost": {crowd(3, 1), 1, check.Deadlock, 7},
		"the next banker does not wait for the others":              {crowd(3, 1), 1, check.MutualExclusion, 7},
		"a young transaction overtakes an older one":                {turns, 0, check.Starvation, 14},
		"a demand during a round is forgotten":                      {dinner(3, 2, 1), 1, check.Starvation, 16},
		"a round waits for a site that has died":                    {dinner(3, 2, 1), 1, check.Starvation, 17},
	}
}

// Every rule is needed: without it the checker finds a violation, and with it none.
func TestRulesAreNeeded(t *testing.T) {
	all := needs()
	sound := map[string]bool{} // cases that were checked with all rules
	for _, r := range deadlock.Rules() {
		c, ok := all[r.Bug]
		if !ok {
			t.Errorf("%s: no case", r.Bug)
			continue
		}
		if !nightly.On() && c.property == check.Starvation && c.crashes > 0 {
			continue // it takes seconds
		}
		d := c.meal.of(r.Method, r.Mode)
		broken, err := r.Spec(d.Layout)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.run(t, d, broken).Find(c.property); p.Verdict != check.Violated || len(p.Trace) != c.steps {
			t.Errorf("%s: %s %s after %d steps, want %d: %s, %v", r.Bug, p.Name, p.Verdict, len(p.Trace), c.steps, p.Note, p.Trace)
		}
		name := fmt.Sprint(r.Method.Name, r.Mode, c.meal.name, c.crashes, c.property)
		if sound[name] {
			continue
		}
		sound[name] = true
		method, err := deadlock.Find(r.Method.Name)
		if err != nil {
			t.Fatal(err)
		}
		d = c.meal.of(method, r.Mode)
		whole, err := d.Spec()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.run(t, d, whole).Err(); err != nil {
			t.Errorf("%s: with all rules: %v", r.Bug, err)
		}
	}
}

// run checks one property of a method in this case.
func (c need) run(t *testing.T, d transactions.Config, spec algorithm.Spec) *check.Report {
	t.Helper()
	r, err := check.Run(check.Config{Spec: spec, Family: d.Family(), Nodes: len(d.Programs), Requests: c.meal.rounds, Crashes: c.crashes, Properties: []string{c.property}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
