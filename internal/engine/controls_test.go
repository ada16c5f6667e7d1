package engine

import "testing"

// Every rule that is broken on purpose must be found, within so many seeds.
func TestControls(t *testing.T) {
	for _, x := range []struct {
		name  string
		wrong Misreading
		seeds uint64
	}{
		{"NoRound", NoRound, 500},
		{"KeptLeases", KeptLeases, 500},
		{"LostGhosts", LostGhosts, 500},
		{"RenewsDoomed", RenewsDoomed, 500},
		{"NoBase", NoBase, 500},
		{"NoTerm", NoTerm, 500},
		{"Readmit", Readmit, 500},
		{"NoMargin", NoMargin, 500},
		{"KeptQueue", KeptQueue, 500},
		{"LastGhosts", LastGhosts, 500},
		{"HastyGone", HastyGone, 500},
		{"NoReach", NoReach, 500},
		{"NoComplaint", NoComplaint, 500},
		{"DropsAll", DropsAll, 500},
		{"NoGrace", NoGrace, 500},
	} {
		t.Run(x.name, func(t *testing.T) {
			for seed := range x.seeds {
				if w := storm(seed, x.wrong); w.broken != "" {
					t.Logf("seed %d: %s", seed, w.broken)
					return
				}
			}
			t.Errorf("not found in %d seeds", x.seeds)
		})
	}
}
