package check

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/world/ring"
)

// Dijkstra's ring with one mover and as many values as processes: four, five
// and six need 3n(n-1)/2 - n - 1 steps at worst.
func TestRunRing(t *testing.T) {
	for n := 4; n <= 6; n++ {
		r, err := RunRing(RingConfig{Nodes: n, Values: n})
		if err != nil {
			t.Fatal(err)
		}
		worst := 3*n*(n-1)/2 - n - 1
		p := r.Find(Convergence)
		if p.Verdict != Holds || r.Verdict != Holds || r.Steps != worst || len(r.Longest) != worst+1 {
			t.Errorf("N=%d: %s after %d steps, of which %d are told; want %d", n, p.Verdict, r.Steps, len(r.Longest)-1, worst)
		}
	}
}

// Without a number of values the fewest are found, and it is said so.
func TestRunRingFewest(t *testing.T) {
	for n, want := range map[int]string{3: "2 values are the fewest that", 5: "4 values are the fewest, since with 3"} {
		r, err := RunRing(RingConfig{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Convergence); p.Verdict != Holds || r.Values != max(2, n-1) || !strings.Contains(p.Note, want) {
			t.Errorf("N=%d: %s with %d values: %s", n, p.Verdict, r.Values, p.Note)
		}
	}
}

func TestRunRingViolated(t *testing.T) {
	r, err := RunRing(RingConfig{Nodes: 4, Values: 2, Mover: ring.AllMove})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(Convergence)
	if r.Verdict != Violated || len(p.Trace) != 9 || p.Loop != 1 || !strings.HasPrefix(p.Trace[0], "at the start: flags ") || len(r.Longest) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRunRingRefuses(t *testing.T) {
	for _, c := range []RingConfig{{Nodes: 1}, {Nodes: 3, Values: 1}, {Nodes: 3, Values: 10_000}, {Nodes: 3, Mover: ring.EmptyLinks}} {
		if r, err := RunRing(c); err == nil {
			t.Errorf("%+v: got %+v, want an error", c, r)
		}
	}
}
