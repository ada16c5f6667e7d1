package trial

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
)

// An Example is a worked example: who asks for what, where and when. It can be
// run with any method.
type Example struct {
	Name, Title string
	Method      string // the one it is meant for
	Mode        string
	config      func() Config
}

// Config returns the run of the example with a method.
func (e Example) Config(m deadlock.Method, mode string) Config {
	c := e.config()
	c.Method, c.Mode = m, mode
	return c
}

// Examples lists the worked examples.
func Examples() []Example {
	return []Example{
		{"ring", "P2, P3 and P4 wait for each other; P1 waits for P2 and is outside", "none", "", ring},
		{"two-sites", "No site has a cycle, but both together have: P1 -> P5 -> P2 -> P1", "detect-distributed", "", twoSites},
		{"false-cycle", "Graphs of different times, put together, have a cycle that never was", "detect-central", deadlock.OnChange, falseCycle},
		{"dead-site", "Site 2 dies in the middle of a deadlock: P5 goes, and no edge of it stays", "detect-distributed", "", deadSite},
		{"ages", "An older and a younger one want what the other has", "wait-die", "", ages},
	}
}

// FindExample returns the example of that name.
func FindExample(name string) (Example, error) {
	var names []string
	for _, e := range Examples() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Example{}, fmt.Errorf("unknown example %q: want %s", name, strings.Join(names, ", "))
}

// written returns a run without chance: locks by process, everything at a time
// of its own, every message under way for T.
func written(l deadlock.Layout, starts []float64, programs ...[]int) Config {
	c := Usual()
	c.Layout, c.Transactions = l, len(l.Home)
	c.Latency, c.Think = scenario.Always(scenario.T), scenario.Always(scenario.T)
	c.Hold, c.Backoff = scenario.Always(3*scenario.T), scenario.Always(4*scenario.T)
	for _, s := range starts {
		c.Starts = append(c.Starts, int64(s*scenario.T))
	}
	c.Program = func(p core.ID, n int) []int {
		var locks []int
		for _, k := range programs[p] {
			locks = append(locks, k-1)
		}
		return locks
	}
	return c
}

// ring: P2 has L2 and wants L3, P3 has L3 and wants L4, P4 has L4 and wants L2.
// P1 wants L2 too.
func ring() Config {
	return written(deadlock.Spread(2, 4, 4), []float64{1.5, 0, 0.1, 0.2}, []int{2}, []int{2, 3}, []int{3, 4}, []int{4, 2})
}

// twoSites: P1 and P2 are at home at site 1, the others at site 2. L1 is at
// site 1, L2 and L3 are at site 2.
func twoSites() Config {
	l := deadlock.Layout{Sites: 2, Home: []core.ID{0, 0, 1, 1, 1}, At: []core.ID{0, 1, 1}}
	return written(l, []float64{0, 0.2, 0, 0, 0.4}, []int{1, 2}, []int{3, 1}, nil, nil, []int{2, 3})
}

// deadSite is twoSites, but site 2 dies as soon as the ring is closed. P1 and
// P2 have lost the locks that were there, abort, and end with what is left.
func deadSite() Config {
	c := twoSites()
	c.Crashes = []Crash{{1, int64(5.5 * scenario.T)}}
	return c
}

// ages: P1 begins first. Each takes its lock and then asks for the other's.
func ages() Config {
	return written(deadlock.Spread(2, 2, 2), []float64{0, 0.5}, []int{1, 2}, []int{2, 1})
}

// falseCycle is a run by chance, found by trying seeds: three processes that
// take two of three locks at three sites.
func falseCycle() Config {
	c := Usual()
	c.Layout, c.Transactions, c.Seed = deadlock.Spread(3, 3, 3), 4, falseSeed
	c.Few, c.Many, c.Hot = 2, 2, 0
	c.Think = scenario.Always(scenario.T / 2)
	c.Hold = scenario.Dist{Shape: scenario.Uniform, A: scenario.T / 2, B: 2 * scenario.T}
	c.Latency = scenario.Dist{Shape: scenario.Uniform, A: scenario.T / 5, B: 2 * scenario.T}
	return c
}

// falseSeed gives a false cycle at 6.46, before anybody has aborted.
const falseSeed = 26
