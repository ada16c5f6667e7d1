package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// Transactions say what to run: processes over several locks at sites, and a method
// against deadlock.
//
// Processes run transactions one after the other. A transaction requests its locks one by
// one, stays a while, and commits; one that must abort starts again with the same locks
// until it commits. The simulator knows which process has which lock, and which request
// has arrived where. So it knows the true wait-for graph at any time, when a deadlock
// arises, and whether a reported one exists. It never looks into a site, except for the
// ages of transactions when it judges a victim.
type Transactions struct {
	Method deadlock.Method
	Mode   string
	Layout deadlock.Layout // layout, whose transactions are the processes
	Number int             // number of transactions that commit in all

	Few, Many int // fewest and most locks that a transaction requests
	Hot       int // percentage of the requests that go to the first fifth of the locks

	// Program, if not nil, decides what the n-th transaction of a process requests, and
	// in which order, instead of chance.
	Program func(p algorithm.ID, n int) []int

	// ModeOf, if not nil, decides the mode in which that transaction requests a lock;
	// otherwise all are exclusive.
	ModeOf func(p algorithm.ID, n, lock int) deadlock.Mode

	Think   scenario.Dist // time before a transaction
	Hold    scenario.Dist // time after each lock
	Backoff scenario.Dist // time after an abort
	Latency scenario.Dist // latency of a message between sites
	Links   []script.Link // latencies of single links between sites, where they differ

	Crashes []SiteCrash
	Seed    uint64
	Patient int64                 // ticks after which a standing deadlock ends the run; five times as many without a commit do so too
	Observe func(e trace.Event)   // called for every event; nil is fastest
	Explain func(why []trace.Why) // called with the reasons for a step: see Config; may be nil
	Watch   Watch                 // may stop the run early; may be nil
}

// A SiteCrash is the death of a site.
type SiteCrash struct {
	Site algorithm.ID
	At   int64
}

// UsualTransactions returns the default settings of a run.
func UsualTransactions() Transactions {
	return Transactions{
		Number: 100, Few: 2, Many: 4, Hot: 20, Seed: 1,
		Think:   scenario.Exponential(8 * scenario.T),
		Hold:    scenario.Exponential(scenario.T),
		Backoff: scenario.Uniform(scenario.T, 8*scenario.T),
		Latency: scenario.Uniform(scenario.T/2, 3*scenario.T/2),
		Patient: 2000 * scenario.T,
	}
}

// Philosophers returns the dinner: n philosophers, each between two forks, at three
// sites. Each takes the left fork, and then the right one.
func Philosophers(m deadlock.Method, mode string, n, meals int) Transactions {
	c := UsualTransactions()
	c.Method, c.Mode, c.Layout, c.Number = m, mode, deadlock.Spread(3, n, n), meals
	c.Program = func(p algorithm.ID, _ int) []int { return []int{int(p), (int(p) + 1) % n} }
	c.Think = scenario.Exponential(2 * scenario.T)
	return c
}

func (c *Transactions) check() error {
	if c.Number < 1 {
		return fmt.Errorf("%d transactions: want at least 1", c.Number)
	}
	if c.Program == nil && (c.Few < 1 || c.Many < c.Few) {
		return fmt.Errorf("%d to %d locks per transaction: want at least 1, and the smaller number first", c.Few, c.Many)
	}
	if err := c.Latency.CheckLatency(); err != nil {
		return err
	}
	for _, x := range c.Crashes {
		if x.Site < 0 || int(x.Site) >= c.Layout.Sites {
			return fmt.Errorf("crash of site %d: there are sites 1 to %d", x.Site+1, c.Layout.Sites)
		}
	}
	return nil
}

// RunTransactions runs c until all transactions have committed, or nothing more can
// happen, or a deadlock has stood for too long.
func RunTransactions(c Transactions) (*Ledger, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", c.Method.Name, err)
	}
	t, err := c.start()
	if err != nil {
		return nil, err
	}
	err = t.w.guard(func() error {
		for t.w.Pending() && !t.over() && t.w.on() {
			t.ledger.Events++
			if err := t.w.next(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.finish(c.Number), nil
}

// start makes the group of a run, in which nothing has happened yet.
func (c *Transactions) start() (*transacting, error) {
	spec, err := c.Method.Spec(c.Layout, c.Mode)
	if err != nil {
		return nil, err
	}
	w := newWorld(kernel.Config{
		Processes: c.Layout.Sites, Latency: c.Latency, Links: c.Links, Seed: c.Seed,
		Adversary: len(c.Crashes) > 0, Detects: true, Names: siteNames(c.Layout.Sites), Observe: c.Observe,
	})
	t, err := w.transact(spec, *c)
	if err != nil {
		return nil, err
	}
	w.Happen, w.watch, w.explain = t.happen, c.Watch, c.Explain
	w.far = func() (done, of int) { return t.ledger.Committed, c.Number }
	for p := range t.procs {
		t.later(algorithm.ID(p), t.procs[p].rand.Sample(c.Think))
	}
	for i, x := range c.Crashes {
		w.At(x.At, planned, algorithm.None, i)
	}
	return t, nil
}

// over reports whether the run has ended.
func (t *transacting) over() bool {
	return t.ledger.Committed+t.ledger.Lost >= t.Number || t.hopeless()
}

// hopeless reports whether for too long a deadlock has stood, or no process has
// committed.
func (t *transacting) hopeless() bool {
	now := t.w.Now()
	stands := len(t.standing) > 0 && now-t.standing[0].since > t.Patient
	return stands || now-t.progress > 5*t.Patient
}

func (t *transacting) happen(e *kernel.Event) {
	if e.Kind == act {
		t.due(e)
	} else if d := t.Crashes[e.Arg()].Site; !t.w.Crashed(d) {
		t.w.crash(d)
	}
}

// draw decides what the next transaction of a process requests. Locks of dead sites are
// left out.
func (t *transacting) draw(p algorithm.ID) (locks []int, modes []deadlock.Mode) {
	x := &t.procs[p]
	switch {
	case x.job != nil:
		locks = slices.Clone(x.job.Locks)
		for _, m := range x.job.Modes {
			modes = append(modes, deadlock.Mode(m))
		}
	case t.Program != nil:
		locks = slices.Clone(t.Program(p, x.drawn))
	default:
		locks = t.chance(p)
	}
	if t.ModeOf != nil {
		for _, k := range locks {
			modes = append(modes, t.ModeOf(p, x.drawn, k))
		}
	}
	x.drawn++
	locks, modes = t.alive(locks, modes)
	switch sorted := t.Method.Sorted && !t.w.Steps(); {
	case sorted && modes == nil:
		slices.Sort(locks)
	case sorted:
		of := make(map[int]deadlock.Mode)
		for i, k := range locks {
			of[k] = modes[i]
		}
		slices.Sort(locks)
		for i, k := range locks {
			modes[i] = of[k]
		}
	}
	return locks, modes
}

// alive leaves out the locks of dead sites, which would never be granted. In steps a line
// must show what comes of that.
func (t *transacting) alive(locks []int, modes []deadlock.Mode) ([]int, []deadlock.Mode) {
	if t.w.Steps() {
		return locks, modes
	}
	var left []int
	var as []deadlock.Mode
	for i, k := range locks {
		if t.env.Lost(t.group, k) {
			continue
		}
		if left = append(left, k); modes != nil {
			as = append(as, modes[i])
		}
	}
	return left, as
}

func (t *transacting) chance(p algorithm.ID) []int {
	r := &t.procs[p].rand
	all := len(t.Layout.At)
	n := min(all, t.Few+int(r.Below(int64(t.Many-t.Few+1))))
	hot := max(1, all/5)
	var locks []int
	for len(locks) < n {
		k := int(r.Below(int64(all)))
		if int(r.Below(100)) < t.Hot {
			k = int(r.Below(int64(hot)))
		}
		for slices.Contains(locks, k) {
			k = (k + 1) % all
		}
		locks = append(locks, k)
	}
	return locks
}
