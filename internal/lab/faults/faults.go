package faults

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A Kind is one fault.
type Kind uint8

// The faults.
const (
	Lost       Kind = iota // one message never arrives
	Duplicated             // one message arrives twice, the second time at once or later
	Idle                   // a process dies while it is idle
	Waiting                // a process dies while it waits
	Inside                 // a process dies inside
)

// kinds names them, and says what happens.
var kinds = [...]struct{ name, means string }{
	Lost:       {"lost", "one message is lost"},
	Duplicated: {"duplicated", "one message is duplicated"},
	Idle:       {"idle", "a process crashes while idle"},
	Waiting:    {"waiting", "a process crashes while waiting"},
	Inside:     {"inside", "a process crashes inside"},
}

// Kinds lists the faults.
func Kinds() []Kind { return []Kind{Lost, Duplicated, Idle, Waiting, Inside} }

// String returns the name of a fault.
func (k Kind) String() string { return kinds[k].name }

// Means says what happens, in words.
func (k Kind) Means() string { return kinds[k].means }

// crash reports whether a process dies.
func (k Kind) crash() bool { return k >= Idle }

// An Outcome is the outcome of a fault.
type Outcome uint8

// The outcomes, the worst last.
const (
	GoesOn   Outcome = iota // every live process gets in again
	SomeWait                // a live process waits forever
	AllWait                 // every live process waits forever
	Unsafe                  // two processes are inside at once, or one that had not asked
)

var outcomes = [...]string{"goes-on", "some-wait", "all-wait", "unsafe"}

// String returns the name of an outcome.
func (o Outcome) String() string { return outcomes[o] }

// A Config says what to try.
type Config struct {
	Spec    algorithm.Spec
	Options algorithm.Options // options that Spec was made with
	Nodes   int
	Kind    Kind
	At      []algorithm.ID      // processes that may have the fault, a message counting as its sender's; nil means any
	Workers int                 // concurrent workers; 0 means one for each core
	Watch   func(runs int) bool // receives the number of runs begun, by any worker, and returns whether to continue; may be nil
}

// A Report is the outcome of all runs.
type Report struct {
	Runs    int
	Count   [len(outcomes)]int // number of runs with each outcome
	Worst   Outcome
	Waiting []algorithm.ID // processes that wait forever in the worst run
	What    string         // fault and outcome of the worst run, in words
	Stopped bool           // by Config.Watch

	// Scenario is a worst run, made as short as possible, with what is expected of it;
	// nil if the fault cannot happen.
	Scenario *scenario.Scenario
	Playback *sim.Playback // its playback
}

// ErrAlone is the error of an algorithm that fails without any fault.
var ErrAlone = errors.New("it fails even without a fault, so the effect of a fault cannot be judged")

// Try applies the fault wherever it can happen.
func Try(c Config) (*Report, error) {
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		return nil, err
	}
	all, err := c.tryAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Spec.Name, err)
	}
	total := &trial{Config: c}
	for _, t := range all {
		total.add(t)
	}
	if total.worst == nil {
		return &total.report, nil
	}
	total.shrink(total.worst)
	if err := total.expect(total.worst); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Spec.Name, err)
	}
	r := &total.report
	r.Worst, r.Waiting, r.Scenario, r.Playback = total.worst.outcome, total.worst.waiting, total.worst.sc, total.worst.back
	return r, nil
}

// tryAll tries each plan, several at a time.
func (c Config) tryAll() ([]*trial, error) {
	plans := c.plans()
	all, errs := make([]*trial, len(plans)), make([]error, len(plans))
	var next, runs atomic.Int64
	var workers sync.WaitGroup
	for range cmp.Or(c.Workers, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(plans); i = next.Add(1) - 1 {
				all[i] = &trial{Config: c, runs: &runs}
				errs[i] = all[i].plan(plans[i])
			}
		})
	}
	workers.Wait()
	return all, cmp.Or(errs...)
}

// A trial is what has been tried so far.
type trial struct {
	Config
	report Report
	worst  *run
	runs   *atomic.Int64 // runs of all trials
}

// plan tries all faults in one plan.
func (t *trial) plan(p plan) error {
	base, err := t.base(p)
	if err != nil {
		return err
	}
	if base.outcome != GoesOn {
		return ErrAlone
	}
	for _, fault := range t.faults(base) {
		if t.report.Stopped = t.Watch != nil && !t.Watch(int(t.runs.Add(1))); t.report.Stopped {
			break
		}
		r, err := t.play(p, base, fault)
		if err != nil {
			return err
		}
		t.count(r)
	}
	return nil
}

// count counts a run, and keeps it if it is worse than all before.
func (t *trial) count(r *run) {
	t.report.Runs++
	t.report.Count[r.outcome]++
	t.keep(r)
}

// add adds the results of another trial.
func (t *trial) add(o *trial) {
	t.report.Runs += o.report.Runs
	t.report.Stopped = t.report.Stopped || o.report.Stopped
	for i, n := range o.report.Count {
		t.report.Count[i] += n
	}
	t.keep(o.worst)
}

// keep keeps a run if it is worse than all before.
func (t *trial) keep(r *run) {
	if r != nil && (t.worst == nil || t.worst.less(r)) {
		t.worst = r
	}
}

// less reports whether another run is worse: by its outcome, and then by how many
// processes wait forever.
func (r *run) less(than *run) bool {
	return cmp.Or(cmp.Compare(r.outcome, than.outcome), cmp.Compare(len(r.waiting), len(than.waiting))) < 0
}

// may reports whether a process may have the fault.
func (t *trial) may(p algorithm.ID) bool { return t.At == nil || slices.Contains(t.At, p) }
