package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A Config says what to simulate. All durations are in ticks, scenario.T being
// one unit of time.
type Config struct {
	Spec    core.Spec
	Nodes   int
	Holder  core.ID // who has the token at the start, if there is one
	Busy    bool    // Holder starts inside; its exit counts as one of the entries
	Entries int     // how many requests are made in all

	Latency scenario.Dist // of a message; 1 tick at least
	Network core.Network
	Links   []Link // latencies of single links, where they differ

	Think      scenario.Dist // between an exit and the next request of a process
	Hold       scenario.Dist // between entry and exit
	Requesters []core.ID     // who asks; nil means everybody
	Quota      int           // if above 0, how many requests each of them makes at most
	Local      int           // if above 1, the first requester asks so many times as often
	Burst      int           // if above 1, so many requests of a process come without thinking, and then it thinks so many times as long

	// Work, if not nil, is told of every entry and decides how long p stays
	// inside, in ticks, instead of Hold.
	Work func(p core.ID, now int64) int64

	Seed    uint64
	Paged   bool                // rebuild every machine from its bytes before every step
	Order   bool                // watch happened-before even if the algorithm does not claim it
	Observe func(e trace.Event) // told of everything that happens; nil is fastest
}

// A Link is the latency of messages from one process to another.
type Link = scenario.Link

func (c Config) check() error {
	if c.Spec.Family != core.MutualExclusion {
		return fmt.Errorf("there is no critical section in it: its family is %v", c.Spec.Family)
	}
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		return err
	}
	if c.Entries < 1 {
		return fmt.Errorf("%d entries: there must be at least 1", c.Entries)
	}
	if err := checkLatency(c.Latency); err != nil {
		return err
	}
	for _, p := range c.Requesters {
		if p < 0 || int(p) >= c.Nodes {
			return fmt.Errorf("requester %d: there are processes 1 to %d", p+1, c.Nodes)
		}
	}
	return nil
}

func checkLatency(d scenario.Dist) error {
	if d.Mean() < 1 || d.Shape == scenario.Uniform && d.A < 1 {
		return fmt.Errorf("a latency of %v: a message must take some time", d)
	}
	return nil
}

// stallLimit is how many events a run may see without an entry, for each
// process, before its waiting requests count as lost. A token that runs round
// for ever would otherwise never end a run.
const stallLimit = 10_000

// Run simulates c until every request is granted and released.
func Run(c Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot simulate %s: %w", c.Spec.Name, err)
	}
	load, err := c.prepare(c.kernel())
	if err != nil {
		return nil, err
	}
	load.begin()
	if err := load.run(); err != nil {
		return nil, err
	}
	return newResult(c, load.locks), nil
}

func (c Config) kernel() kernel.Config {
	return kernel.Config{
		Processes: c.Nodes, Latency: c.Latency, Links: c.Links, Network: c.Network, Seed: c.Seed, Observe: c.Observe,
	}
}

// prepare makes the world of a run.
func (c Config) prepare(k kernel.Config) (*workload, error) {
	w := newWorld(k)
	l, err := w.lock(c.Spec, core.View{N: c.Nodes, Holder: c.Holder, Busy: c.Busy}, nil)
	if err != nil {
		return nil, err
	}
	if c.Order {
		l.watchOrder()
	}
	if c.Paged {
		l.paged()
	}
	load := newWorkload(c, l)
	w.own = load.happen
	return load, nil
}

// run lets events happen until the workload is done or nothing more can.
func (l *workload) run() error {
	quiet, limit := 0, stallLimit*(l.view.N+10)
	for entries := 0; l.w.Pending() && l.meter.exits < l.total; quiet++ {
		if l.meter.entries != entries {
			entries, quiet = l.meter.entries, 0
		}
		if quiet > limit {
			if l.oracle.nWait > 0 || !l.w.Has(ask, leave) {
				break
			}
			quiet = 0
		}
		if err := l.w.next(); err != nil {
			return err
		}
	}
	l.ended()
	return nil
}

func (l *workload) happen(e kernel.Event) error {
	seat := l.seat(e.Proc())
	switch e.Kind {
	case ask:
		l.request(seat)
	case leave:
		l.leave(seat)
		l.left(seat)
	case start:
		return l.w.start(e.Proc())
	}
	return l.w.err
}

// A workload decides who asks when, and for how long.
type workload struct {
	Config
	*locks
	total  int
	issued int
	asks   core.Set
	made   []int         // requests so far, per process
	streak []int         // requests of the current burst, per process
	rand   []kernel.Rand // a stream for each process
}

func newWorkload(c Config, on *locks) *workload {
	l := &workload{Config: c, locks: on, total: c.Entries}
	if l.Requesters == nil {
		for p := range core.ID(c.Nodes) {
			l.Requesters = append(l.Requesters, p)
		}
	}
	l.asks = core.SetOf(l.Requesters...)
	l.made = make([]int, c.Nodes)
	l.streak = make([]int, c.Nodes)
	l.rand = make([]kernel.Rand, c.Nodes)
	for p := range l.rand {
		l.rand[p] = kernel.NewRand(c.Seed, uint64(p)+1)
	}
	l.onEnter = func(p core.ID) { l.at(leave, p, l.hold(p)) }
	l.onDeny = func(p core.ID) {
		l.issued--
		l.made[p]--
		l.at(ask, p, max(l.rand[p].Sample(l.Think), l.Latency.Mean()))
	}
	return l
}

func (l *workload) at(kind kernel.EventKind, p core.ID, after int64) {
	l.w.At(l.w.Now()+after, kind, l.proc(p), 0)
}

// begin schedules the first requests.
func (l *workload) begin() {
	if l.Busy {
		l.issued++
		l.onEnter(l.Holder)
	}
	for _, p := range l.Requesters {
		if l.Busy && p == l.Holder {
			continue
		}
		l.at(ask, p, l.think(p))
	}
	for p := range core.ID(l.Nodes) {
		l.w.At(0, start, p, 0)
	}
}

func (l *workload) request(p core.ID) {
	if l.issued < l.total {
		l.issued++
		l.made[p]++
		l.ask(p)
	}
}

// left lets p think and ask again, if it is one of those who ask.
func (l *workload) left(p core.ID) {
	if l.issued < l.total && l.asks.Has(p) && (l.Quota < 1 || l.made[p] < l.Quota) {
		l.at(ask, p, l.think(p))
	}
}

func (l *workload) hold(p core.ID) int64 {
	if l.Work != nil {
		return max(0, l.Work(p, l.w.Now()))
	}
	return l.rand[p].Sample(l.Hold)
}

func (l *workload) think(p core.ID) int64 {
	t := l.rand[p].Sample(l.Think)
	if l.Local > 1 && p == l.Requesters[0] {
		t /= int64(l.Local)
	}
	if l.Burst > 1 {
		l.streak[p]++
		if l.streak[p] < l.Burst {
			return 0
		}
		l.streak[p] = 0
		t *= int64(l.Burst)
	}
	return t
}
