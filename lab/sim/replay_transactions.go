package sim

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A SitesPlayback is the record of the transactions of a scenario with sites.
type SitesPlayback struct {
	Run      Transactions // the run as the scenario describes it
	Ledger   *Ledger      // ledger, as of any run
	Commits  []Ending
	Aborts   []Ending         // aborts of transactions that were ordered to
	Cycles   [][]algorithm.ID // deadlocks that arose
	False    [][]algorithm.ID // deadlocks that were reported, but never existed
	Phantoms [][]algorithm.ID // deadlocks that were reported although an abort or a death had just broken them
	Wrong    []algorithm.ID   // processes ordered to abort, although another one should have been, or had been
	Stuck    []algorithm.ID   // processes whose transactions never end
}

// An Ending is the end of a transaction, or of one attempt.
type Ending struct {
	Proc  algorithm.ID
	At    int64          // ticks, or in steps the number of the action
	Cycle []algorithm.ID // abort: the deadlock that it breaks, if it was reported with one
}

// Patience of a scenario: how long a deadlock may stand in T before the run ends, and how
// many events may happen for each process without progress.
const (
	patience = 100
	restless = 1000
)

// A siteCast plays a scenario of transactions.
type siteCast struct {
	p *player
	*transacting
	number int // number of transactions expected
}

// transactionsOf returns the run that a scenario with sites describes, under the method
// that it names.
func transactionsOf(sc *scenario.Scenario) (Transactions, error) {
	m, err := deadlock.Find(sc.Algorithm)
	return transactionsUnder(m, sc), err
}

// transactionsUnder returns the run that a scenario describes, under a given method.
func transactionsUnder(m deadlock.Method, sc *scenario.Scenario) Transactions {
	return Transactions{
		Method: m, Mode: sc.Mode, Layout: deadlock.Layout{Sites: sc.Sites, Home: sc.Homes, At: sc.Locks, Units: sc.Units},
		Hold: sc.Hold, Backoff: sc.Backoff, Latency: sc.Latency, Links: sc.Links, Seed: sc.Seed,
		Patient: patience * scenario.T,
	}
}

// transactions returns the run that the scenario describes. The method of a given family,
// if there is one, need not be known by name.
func (p *player) transactions() (Transactions, error) {
	if m, ok := transactions.MethodOf(p.family); ok {
		return transactionsUnder(m, p.sc), nil
	}
	return transactionsOf(p.sc)
}

// SiteSpec returns the method of a scenario with sites, as Replay needs it.
func SiteSpec(sc *scenario.Scenario) (algorithm.Spec, error) {
	spec, err := siteSpec(sc)
	return spec, within(sc.File, err)
}

func siteSpec(sc *scenario.Scenario) (algorithm.Spec, error) {
	if !sc.Transacts() {
		return algorithm.Spec{}, fmt.Errorf("there are no sites: add lines such as site 1 P1 L1")
	}
	run, err := transactionsOf(sc)
	if err != nil {
		return algorithm.Spec{}, err
	}
	return run.Method.Spec(run.Layout, run.Mode)
}

func newSiteCast(p *player, spec algorithm.Spec) (*siteCast, error) {
	run, err := p.transactions()
	if err != nil {
		return nil, err
	}
	for _, a := range p.sc.Actions {
		if a.Kind == script.Take {
			run.Number++
		}
	}
	t, err := p.w.transact(spec, run)
	if err != nil {
		return nil, err
	}
	t.back = &SitesPlayback{Run: run}
	p.back.Sites = t.back
	p.back.frame = frame(run.Trace(), p.sc)
	p.back.frame.Kinds = spec.Kinds
	return &siteCast{p, t, run.Number}, nil
}

func (c *siteCast) happen(e *kernel.Event) { c.due(e) }
func (c *siteCast) progress() int          { return c.issued + c.ledger.Committed }
func (c *siteCast) patience(int) int       { return restless * (len(c.procs) + 10) }
func (c *siteCast) over() bool             { return c.hopeless() }

func (c *siteCast) may(a *script.Action) error {
	if a.Kind == script.Take && !c.w.Steps() {
		return nil // it begins when the one before has committed
	}
	return c.group.may(a)
}

func (c *siteCast) do(a *script.Action) {
	x := &c.procs[a.Proc]
	switch {
	case a.Kind == script.Proceed:
		c.goOn(a.Proc)
	case a.Kind == script.Cancel || a.Kind == script.Abandon:
		c.env.Do(c.group, family.Act{Kind: a.Kind, Proc: a.Proc})
	case a.Kind == script.Take:
		x.jobs = append(x.jobs, a)
		if len(x.jobs) == 1 && !c.env.Waits(a.Proc) {
			c.goOn(a.Proc)
		}
	}
}

func (c *siteCast) finish(still bool) {
	b, number := c.p.back, c.number
	if c.p.cut || c.w.Steps() && (!still || c.canGoOn()) {
		number = 0 // the run was cut off: no process is stuck
	}
	s := b.Sites
	s.Ledger = c.transacting.finish(number)
	b.Violations = s.Ledger.Found
	if b.Stopped || s.Ledger.Stuck == 0 {
		return
	}
	for p := range algorithm.ID(len(c.procs)) {
		if c.env.Waits(p) {
			s.Stuck = append(s.Stuck, p)
		}
	}
	c.w.Wait(c.w.Now() + b.frame.Unit) // a while later nothing has changed
	c.w.Note(trace.Event{Kind: trace.Note, Proc: algorithm.None, Name: "stuck forever: " + processNames(s.Stuck)})
}

// canGoOn reports whether a line could make a process go on.
func (c *siteCast) canGoOn() bool {
	for p := range algorithm.ID(len(c.procs)) {
		if c.env.Waits(p) && !c.env.Blocked(p) {
			return true
		}
	}
	return false
}

func processNames(ids []algorithm.ID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, " ")
}
