package storm

import "testing"

// Without faults there is one view, and nothing is lost.
func TestCalm(t *testing.T) {
	for seed := range uint64(100) {
		c := pick(seed)
		c.Faults &= Drift
		c.Strikes = []Strike{}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || r.Views != 1 || r.Lost != 0 {
			t.Errorf("seed %d: %d views, %d lost, %v", seed, r.Views, r.Lost, r.Violation)
		}
	}
}
