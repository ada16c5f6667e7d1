package compare

import (
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A Measure is one measure to judge algorithms by.
type Measure struct {
	Key   string // its name in JSON
	Title string
	Unit  string
	More  bool                        // more is better
	Of    func(r *sim.Result) float64 // NaN if a run says nothing about it

	// Theory returns what theory says; a zero Cost means nothing.
	Theory func(t algorithm.Theory) algorithm.Cost
}

// Measures returns all measures, in display order.
func Measures() []Measure {
	silent := func(algorithm.Theory) algorithm.Cost { return algorithm.Cost{} }
	return []Measure{
		{
			Key: "messages_per_entry", Title: "Messages per entry", Unit: "messages",
			Of:     func(r *sim.Result) float64 { return r.PerEntry },
			Theory: func(t algorithm.Theory) algorithm.Cost { return t.Messages },
		}, {
			Key: "sync_delay", Title: "Synchronisation delay", Unit: "T",
			Of:     func(r *sim.Result) float64 { return mean(r.Sync) },
			Theory: func(t algorithm.Theory) algorithm.Cost { return t.Sync },
		}, {
			Key: "throughput", Title: "Throughput", Unit: "entries per T", More: true,
			Of:     func(r *sim.Result) float64 { return r.Throughput },
			Theory: silent,
		}, {
			Key: "response_time", Title: "Response time", Unit: "T",
			Of:     func(r *sim.Result) float64 { return mean(r.Response) },
			Theory: silent,
		},
	}
}

// fewest is the minimum number of cases for a mean to be meaningful.
const fewest = 20

func mean(s *sim.Stats) float64 {
	if s == nil || s.Samples < fewest {
		return math.NaN()
	}
	return s.Mean
}

// Value returns what a cell measured, or NaN if that is nothing.
func (m Measure) Value(c *Cell) float64 {
	if c.Result == nil {
		return math.NaN()
	}
	return m.Of(c.Result)
}

// Range returns what theory says about a cell; ok is false if it says nothing.
func (m Measure) Range(c *Cell) (r algorithm.Range, ok bool) {
	if c.Result == nil {
		return r, false
	}
	if m.Key == "throughput" {
		return throughput(c)
	}
	return m.Theory(c.Spec.Theory).At(c.Nodes, c.Load())
}

// throughput follows from the synchronisation delay if there is always a waiting process:
// one entry per hold and handover.
func throughput(c *Cell) (r algorithm.Range, ok bool) {
	sync, ok := c.Spec.Theory.Sync.At(c.Nodes, algorithm.Saturated)
	if !ok || c.Load() != algorithm.Saturated {
		return r, false
	}
	hold := float64(c.Hold.Mean()) / scenario.T
	return algorithm.Range{Lo: 1 / (hold + sync.Hi), Hi: 1 / max(hold+sync.Lo, 1e-6)}, true
}

// Constant returns Maekawa's c, the messages per entry in units of sqrt(N), for an
// algorithm that asks quorums, and NaN for any other.
func (c *Cell) Constant() float64 {
	if c.Result == nil || c.Spec.Class != algorithm.Quorum {
		return math.NaN()
	}
	return c.Result.PerEntry / math.Sqrt(float64(c.Nodes))
}

// tie is how near to the best a value must be to share first place.
const tie = 0.01

// A Best says which algorithms are best at one place by one measure.
type Best struct {
	Value float64
	Specs []int // indices of the algorithms within one per cent of it, in their order
	All   bool  // these are all the algorithms that have a value, and more than one
}

// Best returns the best algorithms at place number i, or none at all if most of them have
// no value, or if a run is missing, which might have been better. An algorithm that
// violated a property does not take part, nor does a lock that denies requests instead of
// queueing them: it has no waiting to measure.
func (m *Map) Best(by Measure, i int) Best {
	best := Best{Value: math.NaN()}
	cells := m.At(i)
	candidates, ranked := 0, 0
	if !m.Complete(i) {
		return best
	}
	for k := range cells {
		if !cells[k].ranked() {
			continue
		}
		ranked++
		if x := by.Value(&cells[k]); !math.IsNaN(x) {
			if candidates == 0 || by.better(x, best.Value) {
				best.Value = x
			}
			candidates++
		}
	}
	if 2*candidates < ranked {
		return Best{Value: math.NaN()} // the others would have to be compared with nothing
	}
	for k := range cells {
		x := by.Value(&cells[k])
		if cells[k].ranked() && math.Abs(x-best.Value) <= tie*math.Abs(best.Value) {
			best.Specs = append(best.Specs, k)
		}
	}
	best.All = candidates > 1 && len(best.Specs) == candidates
	return best
}

// ranked reports whether a cell takes part.
func (c *Cell) ranked() bool {
	return c.Spec.Wrong == "" && !c.Spec.TryLock && c.Result != nil && c.Result.Violations == 0
}

func (m Measure) better(x, than float64) bool {
	if m.More {
		return x > than
	}
	return x < than
}
