package compare

import (
	"testing"

	"github.com/stile-lock/stile/internal/jobs"
)

func TestNoMethodsToCompare(t *testing.T) {
	if _, err := RunDeadlock(DeadlockConfig{}); err == nil {
		t.Error("nothing to compare: want an error")
	}
}

// Every method has a row for each of its modes, and workers do not matter.
func TestCompareMethods(t *testing.T) {
	one, three := methods(t, jobs.Parallel{Workers: 1}), methods(t, jobs.Parallel{Workers: 3})
	if written(t, one.Report()) != written(t, three.Report()) || one.SVG() != three.SVG() {
		t.Error("the comparison depends on the number of workers")
	}
	rows := map[string]int{}
	for _, r := range one.Rows {
		rows[r.Name]++
	}
	for _, name := range []string{"none", "wait-die", "detect-central, demand", "detect-central, batch", "detect-distributed"} {
		if rows[name] != 1 {
			t.Errorf("%s has %d rows, want 1", name, rows[name])
		}
	}
}
