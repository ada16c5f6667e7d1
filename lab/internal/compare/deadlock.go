package compare

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/lab/sim"
)

// A DeadlockConfig says which methods against deadlock to compare: each with every number
// of processes, under the same load.
type DeadlockConfig struct {
	Methods      []deadlock.Method
	Processes    []int
	Locks, Sites int
	Transactions int // transactions of each run
	Seed         uint64
	jobs.Parallel
}

// A DeadlockRow is a method in one of its modes, with a result for each number of
// processes.
type DeadlockRow struct {
	Name    string // name, including its mode
	Method  deadlock.Method
	Mode    string
	Results []*sim.Ledger // nil if the comparison ended before the run did
}

// A DeadlockMap is the result of a comparison of methods.
type DeadlockMap struct {
	DeadlockConfig
	Rows []DeadlockRow
}

// RunDeadlock makes all runs. The result does not depend on the number of workers.
func RunDeadlock(c DeadlockConfig) (*DeadlockMap, error) {
	m := &DeadlockMap{DeadlockConfig: c}
	for _, method := range c.Methods {
		if len(method.Modes) == 0 {
			m.Rows = append(m.Rows, DeadlockRow{Name: method.Name, Method: method, Results: make([]*sim.Ledger, len(c.Processes))})
		}
		for _, mode := range method.Modes {
			m.Rows = append(m.Rows, DeadlockRow{method.Name + ", " + mode, method, mode, make([]*sim.Ledger, len(c.Processes))})
		}
	}
	if len(m.Rows) == 0 || len(c.Processes) == 0 {
		return nil, fmt.Errorf("nothing to compare: want at least one method and number of processes")
	}
	return m, c.Do(len(m.Rows)*len(c.Processes), func(i int) (bool, error) {
		return m.one(i/len(c.Processes), i%len(c.Processes))
	})
}

// Stopped says how far the comparison had come when it was stopped, if it was.
func (m *DeadlockMap) Stopped() string {
	missing := 0
	for _, r := range m.Rows {
		for _, x := range r.Results {
			if x == nil {
				missing++
			}
		}
	}
	return far(missing, len(m.Rows)*len(m.Processes))
}

// one makes one run, and reports whether it completed.
func (m *DeadlockMap) one(row, n int) (bool, error) {
	if m.Over() {
		return false, nil
	}
	r := &m.Rows[row]
	c := sim.UsualTransactions()
	c.Method, c.Mode, c.Seed, c.Number = r.Method, r.Mode, m.Seed, m.Transactions
	c.Layout = deadlock.Spread(m.Sites, m.Processes[n], m.Locks)
	c.Watch = ended(m.Parallel)
	x, err := sim.RunTransactions(c)
	if err != nil || x.Stopped {
		return false, err
	}
	r.Results[n] = x
	return true, nil
}

// A DeadlockMeasure is one measure to judge methods by.
type DeadlockMeasure struct {
	Title, Unit string
	of          func(r *sim.Ledger) float64 // NaN if a run says nothing about it
}

// Value returns what a run measured, or NaN if it says nothing or there is no run.
func (m DeadlockMeasure) Value(r *sim.Ledger) float64 {
	if r == nil {
		return math.NaN()
	}
	return m.of(r)
}

// DeadlockMeasures returns all measures, in display order.
func DeadlockMeasures() []DeadlockMeasure {
	each := func(n func(r *sim.Ledger) int) func(r *sim.Ledger) float64 {
		return func(r *sim.Ledger) float64 {
			if r.Stuck > 0 {
				return math.NaN()
			}
			return float64(n(r)) / float64(max(1, r.Committed))
		}
	}
	return []DeadlockMeasure{
		{"Throughput", "commits per T", func(r *sim.Ledger) float64 {
			if r.Stuck > 0 {
				return 0
			}
			return r.Throughput
		}},
		{"Messages per transaction", "messages", each(func(r *sim.Ledger) int { return r.Messages })},
		{"Aborts per transaction", "aborts", each(func(r *sim.Ledger) int { return r.Aborted })},
		{"Unnecessary aborts per transaction", "aborts", each(func(r *sim.Ledger) int { return r.Unnecessary })},
		{"Detection delay", "T", func(r *sim.Ledger) float64 {
			if r.Resolved == 0 {
				return math.NaN()
			}
			return r.DetectionDelay
		}},
		{"False positives per 1,000 transactions", "reports", each(func(r *sim.Ledger) int { return 1000 * r.FalsePositives })},
	}
}
