package storm

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/internal/member"
)

// live returns all live algorithms.
func live() []member.Choice {
	var all []member.Choice
	for _, s := range catalog.Live() {
		all = append(all, member.Choice{Algorithm: s.Name, Version: s.Version})
	}
	return all
}

func pick(seed uint64) Config {
	c := Pick(seed, Choice{live(), []int{1, 2, 3, 4, 5, 7, 9}, AllFaults | Beyond})
	c.Spec = catalog.MakeLive
	return c
}

func TestStorm(t *testing.T) {
	var sum Result
	bad := 0
	for seed := range uint64(300) {
		r, err := Run(pick(seed))
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			c := pick(seed)
			t.Errorf("seed %d (%s, %d): %v", seed, c.Algorithms[0].Algorithm, c.Nodes, r.Violation)
			if bad++; bad > 10 {
				break
			}
		}
		sum.Entries += r.Entries
		sum.Views += r.Views
		sum.Lost += r.Lost
		sum.Strikes += r.Strikes
		sum.Tries += r.Tries
		sum.Deposits += r.Deposits
		sum.Refused += r.Refused
		sum.Longest = max(sum.Longest, r.Longest)
		sum.Simulated += r.Simulated
	}
	t.Logf("%+v", sum)
}
