package compare

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A Config says what to compare: every algorithm with every number of
// processes, every rest time and every hold time.
type Config struct {
	Specs    []algorithm.Spec
	Topology string // topology of all of them, if one was chosen
	Nodes    []int
	Think    []scenario.Dist // between a process's exit and its next request
	Hold     []scenario.Dist // between entry and exit
	Entries  int             // entries of each run
	Seed     uint64
	jobs.Parallel

	// Found, if not nil, is called for each run that has ended, or cannot be made, by the
	// goroutine that made it: concurrently by several.
	Found func(i int, c *Cell)
}

// A Place is one point of the map.
type Place struct {
	Nodes int
	Think scenario.Dist
	Hold  scenario.Dist
}

// Places lists the places of a comparison, ordered by hold time, think time and number of
// processes.
func (c Config) Places() []Place {
	var all []Place
	for _, hold := range c.Hold {
		for _, think := range c.Think {
			for _, n := range c.Nodes {
				all = append(all, Place{n, think, hold})
			}
		}
	}
	return all
}

// Load returns what theory may assume at this place.
func (p Place) Load() algorithm.Load {
	if p.Think.Max() == 0 && p.Nodes > 1 {
		return algorithm.Saturated
	}
	// Light: twenty times more rest than all entries together could take.
	if busy := int64(p.Nodes) * (p.Hold.Mean() + 4*scenario.T); p.Think.Mean() >= 20*busy {
		return algorithm.Light
	}
	return algorithm.AnyLoad
}

// A Cell is one algorithm at one place.
type Cell struct {
	Place
	Spec    algorithm.Spec
	Result  *sim.Result // nil if skipped or stopped
	Skipped string      // why the algorithm cannot run there
	Stopped bool        // the comparison ended before the run did
}

// A Map is the result of a comparison.
type Map struct {
	Config
	Cells []Cell // for each place, one for each algorithm
}

// At returns the cells of place number i.
func (m *Map) At(i int) []Cell { return m.Cells[i*len(m.Specs) : (i+1)*len(m.Specs)] }

// Find returns the cell of an algorithm at a place, or nil.
func (m *Map) Find(spec int, nodes, think, hold int) *Cell {
	place := (hold*len(m.Think)+think)*len(m.Nodes) + nodes
	return &m.Cells[place*len(m.Specs)+spec]
}

// Run makes all runs. The result does not depend on the number of workers.
func Run(c Config) (*Map, error) {
	m := &Map{Config: c}
	for _, p := range c.Places() {
		for _, s := range c.Specs {
			m.Cells = append(m.Cells, Cell{Place: p, Spec: s})
		}
	}
	if len(m.Cells) == 0 {
		return nil, fmt.Errorf("nothing to compare: want at least one algorithm, number of processes, think time and hold time")
	}
	return m, c.Do(len(m.Cells), func(i int) (bool, error) {
		done, err := m.Cells[i].run(c)
		if done && c.Found != nil {
			c.Found(i, &m.Cells[i])
		}
		return done, err
	})
}

// Stopped says how far the comparison had come when it was stopped, if it was.
func (m *Map) Stopped() string {
	missing := 0
	for i := range m.Cells {
		if m.Cells[i].Stopped {
			missing++
		}
	}
	return far(missing, len(m.Cells))
}

// Complete reports whether all runs at place number i were made.
func (m *Map) Complete(i int) bool {
	return !slices.ContainsFunc(m.At(i), func(c Cell) bool { return c.Stopped })
}

// Begun reports whether a run under this load was made.
func (m *Map) Begun(think, hold int) bool {
	for n := range m.Nodes {
		for s := range m.Specs {
			if !m.Find(s, n, think, hold).Stopped {
				return true
			}
		}
	}
	return false
}

// far says how many of all runs were made.
func far(missing, all int) string {
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s", all-missing, words.Plural(all, "run"))
}

// ended ends a run when the whole comparison should end.
func ended(p jobs.Parallel) sim.Watch {
	return func(sim.Progress) bool { return !p.Over() }
}

// run simulates one cell, and reports whether the run completed.
func (c *Cell) run(conf Config) (bool, error) {
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		c.Skipped = err.Error()
		return true, nil
	}
	if c.Stopped = conf.Over(); c.Stopped {
		return false, nil
	}
	r, err := sim.Run(sim.Config{
		Spec: c.Spec, Nodes: c.Nodes, Entries: conf.Entries, Seed: conf.Seed,
		Think: c.Think, Hold: c.Hold, Latency: scenario.Always(scenario.T),
		Watch: ended(conf.Parallel),
	})
	if err != nil {
		return false, err
	}
	if c.Stopped = r.Stopped; !c.Stopped {
		c.Result = r
	}
	return !c.Stopped, nil
}
