package sim

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
)

// dumb counts for every pair.
type dumb struct {
	log  []algorithm.ID
	by   []int // the request of each entry
	most int
}

func (d *dumb) entered(p algorithm.ID, ask int) {
	d.passed(ask)
	d.log, d.by = append(d.log, p), append(d.by, ask)
}

func (d *dumb) passed(ask int) {
	seen := map[algorithm.ID]int{}
	for i, q := range d.log {
		if d.by[i] > ask {
			seen[q]++
			d.most = max(d.most, seen[q])
		}
	}
}

// The bypass against counting for every pair, on random logs: fair ones, and
// ones in which some are overtaken again and again.
func TestBypassAgainstDumbCount(t *testing.T) {
	most := 0
	for seed := range uint64(300) {
		r := kernel.NewRand(seed, 0)
		n := 1 + int(r.Below(6))
		b, d := newBypass(n), &dumb{}
		waits, asks := make([]int, n), 0
		slow := r.Below(20)
		for range 200 {
			p := algorithm.ID(r.Below(int64(n)))
			switch {
			case waits[p] == 0:
				asks++
				waits[p] = asks
			case p == 0 && r.Below(20) < slow:
				continue // it has to wait longer than the others
			case r.Below(10) == 0:
				waits[p] = 0 // denied
			default:
				b.entered(p, waits[p])
				d.entered(p, waits[p])
				waits[p] = 0
				if b.most != d.most {
					t.Fatalf("seed %d: %d, want %d", seed, b.most, d.most)
				}
			}
		}
		for _, ask := range waits {
			if ask > 0 { // it waits at the end
				b.passed(ask)
				d.passed(ask)
			}
		}
		if b.most != d.most {
			t.Fatalf("seed %d, with those who still wait: %d, want %d", seed, b.most, d.most)
		}
		most = max(most, d.most)
	}
	if most < 10 {
		t.Errorf("the longest bypass was %d: want a log that tries it", most)
	}
}
