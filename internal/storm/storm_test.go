package storm

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
)

func live() []string {
	return []string{"naimi-trehel", "central", "raymond", "token-ring-lazy", "suzuki-kasami", "ricart-agrawala-token", "carvalho-roucairol", "ricart-agrawala", "lamport", "maekawa"}
}

func pick(seed uint64) Config {
	c := Pick(seed, Choice{live(), []int{1, 2, 3, 4, 5, 7, 9}, AllFaults | Beyond})
	c.Spec = func(name string, _ int) (core.Spec, error) { return catalog.Make(name, core.Options{}) }
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
			t.Errorf("seed %d (%s, %d): %v", seed, c.Algorithms[0], c.Nodes, r.Violation)
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
