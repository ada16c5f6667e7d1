// Package trial runs methods against deadlock in simulated time, under random
// loads (Run) or as a scenario with sites says (Replay), and judges them by an
// oracle of its own.
//
// Processes run transactions one after the other. A transaction asks for its
// locks one by one, stays a while, and commits; one that is told to abort
// starts again with the same locks until it commits. The oracle knows who has
// which lock, and whose request has arrived where. So it knows the true
// wait-for graph at any time, when a deadlock arises, and whether one that is
// reported is there. It never looks into a site, but for the ages of
// transactions when it judges a victim.
package trial

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A Config says what to run. Processes are the transactions of the layout:
// each runs one after the other.
type Config struct {
	Method       deadlock.Method
	Mode         string
	Layout       deadlock.Layout
	Transactions int // how many commit in all

	Few, Many int // how many locks a transaction asks for
	Hot       int // per cent of the requests that go to the first fifth of the locks

	// Program, if not nil, decides what the n-th transaction of a process asks
	// for, and in which order, instead of chance.
	Program func(p core.ID, n int) []int

	// Jobs, if not nil, are all transactions that there are. Those of one
	// process run one after the other, in this order.
	Jobs []Job

	Think   scenario.Dist   // before a transaction
	Hold    scenario.Dist   // after each lock
	Backoff scenario.Dist   // after an abort
	Latency scenario.Dist   // of a message between sites
	Links   []scenario.Link // latencies of single links between sites, where they differ
	Until   int64           // when the run ends at the latest, in ticks; 0 means when it is over

	Crashes []Crash
	Seed    uint64
	Patient int64               // ticks after which a deadlock that stands ends the run; five times as many without a commit do so too
	Observe func(e trace.Event) // told of everything that happens; nil is fastest
}

// A Crash is the death of a site.
type Crash struct {
	Site core.ID
	At   int64
}

// A Job is one transaction of a process: it begins at a time, or as soon after
// as the one before it has committed.
type Job struct {
	Proc  core.ID
	At    int64          // ticks
	Locks []int          // in the order in which it asks for them
	Hold  *scenario.Dist // after each lock; nil means as the Config says
}

// Usual returns the settings that a run has unless it is told otherwise.
func Usual() Config {
	return Config{
		Transactions: 100, Few: 2, Many: 4, Hot: 20, Seed: 1,
		Think:   scenario.Dist{Shape: scenario.Exponential, A: 8 * scenario.T},
		Hold:    scenario.Dist{Shape: scenario.Exponential, A: scenario.T},
		Backoff: scenario.Dist{Shape: scenario.Uniform, A: scenario.T, B: 8 * scenario.T},
		Latency: scenario.Dist{Shape: scenario.Uniform, A: scenario.T / 2, B: 3 * scenario.T / 2},
		Patient: 2000 * scenario.T,
	}
}

func (c *Config) check() error {
	if c.Transactions < 1 && c.Jobs == nil {
		return fmt.Errorf("%d transactions: there must be at least 1", c.Transactions)
	}
	if c.Program == nil && c.Jobs == nil && (c.Few < 1 || c.Many < c.Few) {
		return fmt.Errorf("%d to %d locks for a transaction: want at least 1, and the smaller number first", c.Few, c.Many)
	}
	if c.Latency.Mean() < 1 || c.Latency.Shape == scenario.Uniform && c.Latency.A < 1 {
		return fmt.Errorf("a latency of %v: a message must take some time", c.Latency)
	}
	for _, j := range c.Jobs {
		if j.Proc < 0 || int(j.Proc) >= len(c.Layout.Home) || len(j.Locks) == 0 || slices.Min(j.Locks) < 0 || slices.Max(j.Locks) >= len(c.Layout.At) {
			return fmt.Errorf("a job of process %d with locks %v: want a process from 0 to %d, and some locks from 0 to %d", j.Proc, j.Locks, len(c.Layout.Home)-1, len(c.Layout.At)-1)
		}
	}
	for _, x := range c.Crashes {
		if x.Site < 0 || int(x.Site) >= c.Layout.Sites {
			return fmt.Errorf("crash of site %d: there are sites 1 to %d", x.Site+1, c.Layout.Sites)
		}
	}
	return nil
}

// draw decides what the next transaction of a process asks for. Locks of dead
// sites are left out.
func (w *world) draw(p int) []int {
	c := &w.Config
	var locks []int
	if job := w.procs[p].job; job != nil {
		locks = slices.Clone(job.Locks)
	} else if c.Program != nil {
		locks = slices.Clone(c.Program(core.ID(p), w.procs[p].drawn))
	} else {
		locks = w.chance(p)
	}
	w.procs[p].drawn++
	locks = slices.DeleteFunc(locks, func(k int) bool { return w.dead.Has(c.Layout.At[k]) && !c.Method.Claims })
	if c.Method.Sorted {
		slices.Sort(locks)
	}
	return locks
}

func (w *world) chance(p int) []int {
	c, r := &w.Config, &w.procs[p].rand
	all := len(c.Layout.At)
	n := min(all, c.Few+int(r.Below(int64(c.Many-c.Few+1))))
	hot := max(1, all/5)
	var locks []int
	for len(locks) < n {
		k := int(r.Below(int64(all)))
		if int(r.Below(100)) < c.Hot {
			k = int(r.Below(int64(hot)))
		}
		for slices.Contains(locks, k) {
			k = (k + 1) % all
		}
		locks = append(locks, k)
	}
	return locks
}

// Philosophers returns the dinner: n philosophers, each between two forks, at
// three sites. Each takes the left fork, and then the right one.
func Philosophers(m deadlock.Method, mode string, n, meals int) Config {
	c := Usual()
	c.Method, c.Mode, c.Layout, c.Transactions = m, mode, deadlock.Spread(3, n, n), meals
	c.Program = func(p core.ID, _ int) []int { return []int{int(p), (int(p) + 1) % n} }
	c.Think = scenario.Dist{Shape: scenario.Exponential, A: 2 * scenario.T}
	return c
}

// newRand returns the stream of one process.
func newRand(seed uint64, p int) kernel.Rand { return kernel.NewRand(seed, uint64(p)+1) }
