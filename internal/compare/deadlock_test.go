package compare

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
)

// TestDeadlockReport: every method in each of its modes has a line in every
// chart and its numbers in the table, and workers do not matter.
func TestDeadlockReport(t *testing.T) {
	run := func(workers int) string {
		m, err := RunDeadlock(DeadlockConfig{
			Methods: deadlock.Methods(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: jobs.Parallel{Workers: workers},
		})
		if err != nil {
			t.Fatal(err)
		}
		page, err := m.HTML()
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	page := run(1)
	if page != run(3) {
		t.Error("the report depends on the number of workers")
	}
	for _, name := range []string{"none", "wait-die", "detect-central, demand", "detect-central, batch", "detect-distributed"} {
		if n := strings.Count(page, "<td>"+name+"</td>"); n != 2 {
			t.Errorf("%s has %d rows of numbers, want 2", name, n)
		}
	}
	if n := strings.Count(page, `class="chart"`); n != len(DeadlockMeasures()) {
		t.Errorf("%d charts, want %d", n, len(DeadlockMeasures()))
	}
	if strings.Contains(page, "{{") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the template was not filled in")
	}
	if _, err := RunDeadlock(DeadlockConfig{}); err == nil {
		t.Error("nothing to compare: want an error")
	}
}
