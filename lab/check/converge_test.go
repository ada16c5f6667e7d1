package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/nightly"
)

// The ring needs twice as many values as it has processes.
func TestConvergenceOfMachines(t *testing.T) {
	nightly.Only(t)
	for _, c := range []struct {
		n, k int
		want Verdict
	}{{2, 2, Violated}, {2, 3, Violated}, {2, 4, Holds}, {3, 2, Violated}} {
		r, err := Run(Config{Spec: mutex.Dijkstra(c.k), Nodes: c.n, Properties: []string{Convergence}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(Convergence)
		if p.Verdict != c.want || r.Verdict != c.want {
			t.Errorf("N=%d K=%d: %s (%s), want %s", c.n, c.k, p.Verdict, p.Note, c.want)
		}
		if p.Verdict == Violated && (p.Counterexample == nil || p.Counterexample.Check() != nil || len(p.Counterexample.Set) == 0) {
			t.Errorf("N=%d K=%d: no counterexample that can be replayed", c.n, c.k)
		}
	}
}

// A ring of three has too many states to explore, and the note says how many there are to
// start from.
func TestConvergenceOfMany(t *testing.T) {
	r := mustRun(t, Config{Spec: mutex.Dijkstra(0), Nodes: 3, Properties: []string{Convergence}, Limits: Limits{Time: time.Nanosecond}})
	if p := r.Find(Convergence); p.Verdict != Unfinished || !strings.Contains(p.Note, "of the 46656 it starts from") {
		t.Errorf("%s: %s", p.Verdict, p.Note)
	}
}

// A start may have too many states, and most algorithms do not stabilise.
func TestConvergenceNotChecked(t *testing.T) {
	for _, c := range []struct {
		config Config
		note   string
	}{
		{Config{Spec: mutex.Dijkstra(0), Nodes: 3}, "from 46656 states"},
		{Config{Spec: mutex.Central(0), Nodes: 2, Properties: []string{Convergence}}, "does not claim"},
	} {
		r, err := Run(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Convergence); p == nil || p.Verdict != NotChecked || !strings.Contains(p.Note, c.note) {
			t.Errorf("%s: %+v, want not-checked, %s", c.config.Spec.Name, p, c.note)
		}
	}
}
