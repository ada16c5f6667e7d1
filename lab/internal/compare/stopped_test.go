package compare

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
)

// until returns how to make runs one after the other until so many are done.
func until(t *testing.T, runs int) jobs.Parallel {
	ctx, cancel := context.WithCancel(t.Context())
	return jobs.Parallel{Workers: 1, Context: ctx, Progress: func(done, _ int) {
		if done == runs {
			cancel()
		}
	}}
}

// written returns a report as JSON.
func written(t *testing.T, report any) string {
	t.Helper()
	out, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A comparison that is interrupted has the runs that were made, says so, and names
// nobody best where one is missing.
func TestStoppedComparison(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	c.Parallel = until(t, 3) // of two at each place
	m := mustRun(t, c)
	if got := m.Stopped(); got != "3 of 16 runs" {
		t.Errorf("stopped after %q, want 3 of 16 runs", got)
	}
	by := Measures()[0]
	if best := m.Best(by, 0); len(best.Specs) == 0 {
		t.Error("nobody is best where all runs were made")
	}
	if best := m.Best(by, 1); len(best.Specs) > 0 {
		t.Errorf("%v is best where a run is missing", best)
	}
	if !m.Begun(0, 0) || m.Begun(1, 1) || !m.Complete(0) || m.Complete(1) {
		t.Error("it does not know what was run")
	}
	text := written(t, m.Report())
	if n := strings.Count(text, `"stopped":true`); n != 14 { // 13 runs, and the whole
		t.Errorf("%d times stopped, want 14: %s", n, text)
	}
	c.Parallel = jobs.Parallel{}
	if strings.Contains(written(t, mustRun(t, c).Report()), "stopped") {
		t.Error("a comparison that came to its end says that it was interrupted")
	}
}

// A run under way is ended, and does not count.
func TestStoppedRun(t *testing.T) {
	c := small(t, "raymond")
	ctx, cancel := context.WithCancel(t.Context())
	c.Entries, c.Context = 1_000_000, ctx
	cell := Cell{Place: c.Places()[0], Spec: c.Specs[0]}
	cancel()
	if done, err := cell.run(c); done || err != nil || !cell.Stopped {
		t.Errorf("not begun: done %t, %v, %+v", done, err, cell)
	}
	looks := 0
	c.Context = lateContext{t.Context(), &looks}
	cell = Cell{Place: c.Places()[0], Spec: c.Specs[0]}
	if done, err := cell.run(c); done || err != nil || !cell.Stopped || cell.Result != nil || looks != 3 {
		t.Errorf("under way: done %t, %v, %+v, %d looks", done, err, cell, looks)
	}
}

// A lateContext is done at the third look.
type lateContext struct {
	context.Context
	looks *int
}

func (c lateContext) Err() error {
	if *c.looks++; *c.looks < 3 {
		return nil
	}
	return context.Canceled
}

func TestStoppedDeadlockComparison(t *testing.T) {
	c := DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: until(t, 4)}
	m, err := RunDeadlock(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Stopped(); got != "4 of 24 runs" {
		t.Errorf("stopped after %q, want 4 of 24 runs", got)
	}
	text := written(t, m.Report())
	if n := strings.Count(text, `"result":null,"stopped":true`); n != 20 {
		t.Errorf("%d runs are missing, want 20: %s", n, text)
	}
}
