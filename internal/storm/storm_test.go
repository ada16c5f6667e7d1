package storm

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
)

func quick() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = 400*member.Millisecond, 50*member.Millisecond, 20*member.Millisecond
	return s
}

func TestStorm(t *testing.T) {
	for _, alg := range []string{"naimi-trehel", "central", "raymond", "ricart-agrawala", "suzuki-kasami", "maekawa"} {
		var sum Result
		for seed := range uint64(40) {
			r, err := Run(Config{
				Seed: seed, Members: 3 + int(seed%3), Locks: 2, Choices: []member.Choice{{Algorithm: alg}}, Settings: quick(),
				Spec:   func(name string, _ int) (core.Spec, error) { return catalog.Make(name, core.Options{}) },
				Length: 6 * second,
				Faults: Faults{Crash: 8, Pause: 12, Cut: 4, Break: 20, Join: 30, Leave: 5, Loss: seed%2 == 0, Drift: 5000},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != "" {
				t.Fatalf("%s, seed %d: at %d ms: %s", alg, seed, r.At/ms, r.Violation)
			}
			sum.Entries += r.Entries
			sum.Views += r.Views
			sum.Lost += r.Lost
			sum.Longest = max(sum.Longest, r.Longest)
		}
		t.Logf("%s: %d entries, %d views, %d lost, longest wait %d ms", alg, sum.Entries, sum.Views, sum.Lost, sum.Longest/ms)
	}
}
