package compare

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// A Config says what to compare: every algorithm with every number of
// processes, every rest time and every hold time.
type Config struct {
	Specs    []core.Spec
	Nodes    []int
	Think    []scenario.Dist // between an exit and the next request of a process
	Hold     []scenario.Dist // between entry and exit
	Entries  int             // of each run
	Seed     uint64
	Workers  int                   // runs at the same time; 0 means one for each processor
	Progress func(done, total int) // told after each run, by one goroutine at a time; may be nil
}

// A Place is one point of the map.
type Place struct {
	Nodes int
	Think scenario.Dist
	Hold  scenario.Dist
}

// Places lists the places of a comparison, ordered by hold time, think time and
// number of processes.
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

// Load says what theory may assume at this place.
func (p Place) Load() core.Load {
	if p.Think.Max() == 0 && p.Nodes > 1 {
		return core.Saturated
	}
	// Light: twenty times more rest than all entries together could take.
	if busy := int64(p.Nodes) * (p.Hold.Mean() + 4*scenario.T); p.Think.Mean() >= 20*busy {
		return core.Light
	}
	return core.AnyLoad
}

// A Cell is one algorithm at one place.
type Cell struct {
	Place
	Spec    core.Spec
	Result  *sim.Result // nil if skipped
	Skipped string      // why the algorithm cannot run there
}

// A Map is what a comparison found.
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

// Run makes all runs. The result does not depend on how many workers there
// are.
func Run(c Config) (*Map, error) {
	m := &Map{Config: c}
	for _, p := range c.Places() {
		for _, s := range c.Specs {
			m.Cells = append(m.Cells, Cell{Place: p, Spec: s})
		}
	}
	if len(m.Cells) == 0 {
		return nil, fmt.Errorf("nothing to compare: want at least one algorithm, number of processes, think and hold time")
	}
	return m, inParallel(len(m.Cells), c.Workers, c.Progress, func(i int) error { return m.Cells[i].run(c) })
}

// inParallel does so many jobs, several at a time: one for each processor if no
// number is given. It returns the error of the first job that has one.
func inParallel(total, workers int, progress func(done, total int), do func(i int) error) error {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := make(chan int)
	errs := make([]error, total)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range workers {
		wg.Go(func() {
			for i := range jobs {
				errs[i] = do(i)
				mu.Lock()
				done++
				if progress != nil {
					progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	for i := range total {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// run simulates one cell.
func (c *Cell) run(conf Config) error {
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		c.Skipped = err.Error()
		return nil
	}
	r, err := sim.Run(sim.Config{
		Spec: c.Spec, Nodes: c.Nodes, Entries: conf.Entries, Seed: conf.Seed,
		Think: c.Think, Hold: c.Hold, Latency: scenario.Always(scenario.T),
	})
	c.Result = r
	return err
}
