package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A Config says what to simulate. All durations are in ticks; scenario.T is one unit of
// time.
type Config struct {
	Spec    algorithm.Spec
	Nodes   int
	Holder  algorithm.ID // process that has the token at the start, if there is one
	Busy    bool         // whether Holder starts inside; its exit counts as one of the entries
	Entries int          // number of requests in all

	Latency scenario.Dist // latency of a message; at least 1 tick
	Network algorithm.Network
	Links   []script.Link // latencies of single links, where they differ

	Think      scenario.Dist  // time between an exit and the next request of a process
	Hold       scenario.Dist  // time between entry and exit
	Requesters []algorithm.ID // processes that request; nil means all
	Quota      int            // if above 0, the most requests that each of them makes
	Local      int            // if above 1, how many times as often the first requester requests
	Burst      int            // if above 1, the number of requests that a process makes without thinking, before it thinks that many times as long

	// Work, if not nil, is called for every entry and returns how long p stays inside, in
	// ticks, instead of Hold.
	Work func(p algorithm.ID, now int64) int64

	Crashes []Outage // deaths; no process comes back

	Seed    uint64
	Paged   bool                // whether to rebuild every machine from its bytes before every step
	Order   bool                // whether to check happened-before even if the algorithm does not claim it
	Observe func(e trace.Event) // called for every event; nil is fastest
	Watch   Watch               // may stop the run early; may be nil

	// Explain, if not nil, is called with the reasons for a step, which belong to the last
	// event that Observe was called with.
	Explain func(why []trace.Why)
}

func (c Config) check() error {
	if c.Spec.Family != algorithm.MutualExclusion {
		return fmt.Errorf("it has no critical section: its family is %v", c.Spec.Family)
	}
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		return err
	}
	if c.Entries < 1 {
		return fmt.Errorf("%d entries: want at least 1", c.Entries)
	}
	if err := c.Latency.CheckLatency(); err != nil {
		return err
	}
	for _, o := range c.Crashes {
		if o.Proc < 0 || int(o.Proc) >= c.Nodes || o.At < 0 {
			return fmt.Errorf("process %d crashes at %s: there are processes 1 to %d and times from 0", o.Proc+1, scenario.FormatTime(o.At), c.Nodes)
		}
	}
	for _, p := range c.Requesters {
		if p < 0 || int(p) >= c.Nodes {
			return fmt.Errorf("requester %d: there are processes 1 to %d", p+1, c.Nodes)
		}
	}
	return nil
}

// stallLimit is how many events a run may see without an entry or exit, for each process,
// before its waiting requests count as lost, unless they wait for a process that is
// inside; and how many denials in a row then end it, if no process waits. Otherwise a
// token that circulates forever would never end a run, nor would a lock that denies every
// request.
const stallLimit = 10_000

// Run simulates c until every request is granted and released.
func Run(c Config) (*Result, error) {
	all, err := c.simulate(nil)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunSections simulates several critical sections side by side, each an instance of the
// algorithm among the processes that use it, and each with as many requests as c says.
// The results are in the order of the sections.
func RunSections(c Config, sections []script.Section) ([]*Result, error) {
	if len(sections) == 0 {
		return nil, fmt.Errorf("cannot simulate %s: there are no sections", c.Spec.Name)
	}
	return c.simulate(sections)
}

func (c Config) simulate(sections []script.Section) ([]*Result, error) {
	r, err := c.prepare(c.kernel(), sections)
	if err != nil {
		return nil, fmt.Errorf("cannot simulate %s: %w", c.Spec.Name, err)
	}
	if err := r.guard(r.whole); err != nil {
		return nil, err
	}
	var results []*Result
	for _, l := range r.loads {
		result := newResult(l.Config, l.lock, c.setting(r.stopped))
		result.Stopped, result.Stalled = r.stopped, r.cut != ""
		results = append(results, result)
	}
	return results, nil
}

func (c Config) kernel() kernel.Config {
	return kernel.Config{
		Processes: c.Nodes, Latency: c.Latency, Links: c.Links, Network: c.Network, Seed: c.Seed, Observe: c.Observe,
		Adversary: len(c.Crashes) > 0, Detects: len(c.Crashes) > 0 && c.Spec.Detects,
	}
}

// A running is a world with a workload for each of its groups.
type running struct {
	*world
	loads []*workload
	total int
}

// prepare makes the world of a run: one group of all processes, or one for each section.
func (c Config) prepare(k kernel.Config, sections []script.Section) (*running, error) {
	each := []Config{c}
	if sections == nil {
		sections = []script.Section{{}}
	} else {
		each = nil
		for _, s := range sections {
			if err := s.CheckMembers(c.Nodes); err != nil {
				return nil, err
			}
			each = append(each, c.within(s))
		}
	}
	for _, in := range each {
		if err := in.check(); err != nil {
			return nil, err
		}
	}
	r := &running{world: newWorld(k)}
	r.Happen, r.watch, r.explain = r.happen, c.Watch, c.Explain
	r.far = func() (done, of int) { return r.exits, r.total }
	for i, s := range sections {
		if err := r.load(each[i], s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// within returns c for one section: processes are its seats, and none is inside at the
// start.
func (c Config) within(s script.Section) Config {
	v := s.View(c.Holder)
	asks := []algorithm.ID{}
	for seat, p := range s.Members {
		if c.Requesters == nil || slices.Contains(c.Requesters, p) {
			asks = append(asks, algorithm.ID(seat))
		}
	}
	c.Nodes, c.Holder, c.Busy, c.Requesters = v.N, v.Holder, false, asks
	return c
}

// load adds a group and its workload.
func (r *running) load(c Config, s script.Section) error {
	l, err := r.lock(c.Spec, algorithm.View{N: c.Nodes, Holder: c.Holder, Busy: c.Busy}, s)
	if err != nil {
		return err
	}
	if c.Order {
		l.watchOrder()
	}
	if c.Paged {
		l.paged()
	}
	r.loads = append(r.loads, newWorkload(c, l))
	if c.Requesters == nil || len(c.Requesters) > 0 {
		r.total += c.Entries
	}
	return nil
}

// begin schedules the first requests.
func (r *running) begin() {
	for _, l := range r.loads {
		l.begin()
	}
	for p := range algorithm.ID(r.Processes()) {
		r.At(0, start, p, 0)
	}
	for i, o := range r.loads[0].Crashes {
		r.At(o.At, planned, algorithm.None, i)
	}
}

// die makes a process die. The run does not wait for its remaining requests.
func (r *running) die(p algorithm.ID) {
	for _, l := range r.loads {
		if seat := l.seat(p); seat != algorithm.None && l.Quota > 0 {
			r.total -= l.Quota - l.done[seat]
		}
	}
	r.crash(p)
}

// whole runs the workload from beginning to end and judges it.
func (r *running) whole() error {
	r.begin()
	if err := r.run(); err != nil {
		return err
	}
	for _, l := range r.loads {
		if !r.stopped {
			l.ended()
		}
		l.blame()
	}
	return nil
}

// run handles events until the workload is done or nothing more can happen.
func (r *running) run() error {
	quiet, limit := 0, stallLimit*(r.Processes()+10)
	for moves := 0; r.Pending() && r.exits < r.total && r.on(); quiet++ {
		if now := r.entries + r.exits; now != moves {
			moves, quiet, r.denied = now, 0, 0
		}
		if quiet > limit {
			if r.stalls() {
				r.cut = idly(quiet)
				break
			}
			if !r.Has(leave) && r.denied > stallLimit {
				return fmt.Errorf("%s: no process enters: the last %d requests were denied, although no process is inside", r.loads[0].Spec.Name, r.denied)
			}
			quiet = 0
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// idly reports after how many events without progress a run was cut.
func idly(events int) string {
	return fmt.Sprintf("after %d events without progress", events)
}

// stalls reports whether nothing will come of further events.
func (r *running) stalls() bool { return !r.Has(leave) && (r.anyWaits() || !r.Has(ask)) }

func (r *running) anyWaits() bool {
	return slices.ContainsFunc(r.loads, func(l *workload) bool {
		waiting, _ := l.env.Count()
		return waiting > 0
	})
}

func (r *running) happen(e *kernel.Event) {
	switch e.Kind {
	case start:
		r.start(e.Proc())
		return
	case planned:
		r.die(r.loads[0].Crashes[e.Arg()].Proc)
		return
	}
	l := r.loads[e.Arg()]
	switch seat := l.seat(e.Proc()); e.Kind {
	case ask:
		l.request(seat)
	case leave:
		l.exit(seat)
	}
}
