package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Cost is what entries cost. Times are means in T, or -1 if there was nothing to measure.
type Cost struct {
	Entries int
	Frames  float64 // per entry
	Sync    float64 // from a release to the next entry, if an application waited at the release
	Client  float64 // from request to entry, if the lock was neither held nor awaited
	Wait    float64 // from request to entry
	Busiest float64 // frames that the busiest member sends and receives, relative to the average member
}

// A Budget is the number of entries that are measured, and of those before that are not.
type Budget struct{ Warm, Entries int }

// A mean collects values.
type mean struct{ sum, n int64 }

func (m *mean) add(x int64) { m.sum, m.n = m.sum+x, m.n+1 }

func (m *mean) inT() float64 {
	if m.n == 0 {
		return -1
	}
	return float64(m.sum) / float64(m.n) / T
}

// Costs measures what entries cost under a load.
func Costs(spec algorithm.Spec, n int, l Load, b Budget) (Cost, error) {
	r, err := newRun(spec, n, 0, l)
	if err != nil {
		return Cost{}, err
	}
	var sync, client, wait mean
	r.entered = func(a int) {
		x := &r.apps[a]
		if r.entries < b.Warm {
			return
		}
		wait.add(r.Now() - x.asked)
		if x.free {
			client.add(r.Now() - x.asked)
		}
		if rec := &r.locks[x.lock]; rec.owed {
			sync.add(r.Now() - rec.left)
		}
	}
	if err := r.until(func() bool { return r.entries >= b.Warm }); err != nil {
		return Cost{}, fmt.Errorf("%s among %d: %w", spec.Name, n, err)
	}
	r.frames = 0
	clear(r.carried)
	if err := r.until(func() bool { return r.entries >= b.Warm+b.Entries }); err != nil {
		return Cost{}, fmt.Errorf("%s among %d: %w", spec.Name, n, err)
	}
	c := Cost{Entries: b.Entries, Frames: float64(r.frames) / float64(b.Entries), Sync: sync.inT(), Client: client.inT(), Wait: wait.inT()}
	var all int64
	for _, k := range r.carried {
		all += k
	}
	if all > 0 {
		c.Busiest = float64(slices.Max(r.carried)) * float64(n) / float64(all)
	}
	return c, nil
}
