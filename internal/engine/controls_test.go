package engine

import "testing"

// Every rule that is broken on purpose must be found, within so many seeds. What
// is too rare for that is scripted: NoTerm in TestTermOfAnEntry, DropsAll in
// TestLeaverAndAccuser, NoGrace in TestGrace; NoReads is found by the storm of whole
// processes.
func TestControls(t *testing.T) {
	for _, x := range []struct {
		name  string
		wrong Misreading
		seeds uint64
	}{
		{"NoRound", NoRound, 20},
		{"KeptLeases", KeptLeases, 20},
		{"LostGhosts", LostGhosts, 50},
		{"RenewsDoomed", RenewsDoomed, 50},
		{"NoBase", NoBase, 100},
		{"Readmit", Readmit, 20},
		{"NoMargin", NoMargin, 20},
		{"KeptQueue", KeptQueue, 200},
		{"LastGhosts", LastGhosts, 20},
		{"HastyGone", HastyGone, 100},
		{"NoReach", NoReach, 50},
		{"NoComplaint", NoComplaint, 50},
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
