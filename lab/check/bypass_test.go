package check

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/mutex"
)

// A bypass without bound comes with a run that shows the others entering again
// and again, and a bound that is exceeded with one that exceeds it.
func TestBypassIsShown(t *testing.T) {
	entries := func(p *Property) int {
		back, err := p.Replay()
		if err != nil {
			t.Fatal(err)
		}
		return len(back.Entries)
	}
	r, err := Run(Config{Spec: mutex.Raymond(mutex.Kary(2)), Nodes: 3, Properties: []string{Bypass}})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(Bypass)
	if p.Verdict != Violated || p.Loop >= len(p.Trace) || entries(p) < 2 {
		t.Errorf("raymond among 3: %s, %d entries, loop from %d of %d steps; want a loop with entries", p.Verdict, entries(p), p.Loop, len(p.Trace))
	}
	strict := mutex.Central(0)
	strict.Theory.Bypass = func(int) int { return 1 }
	if r, err = Run(Config{Spec: strict, Nodes: 3, Properties: []string{Bypass}}); err != nil {
		t.Fatal(err)
	}
	p = r.Find(Bypass)
	if p.Verdict != Violated || p.Loop != len(p.Trace) || entries(p) < 2 {
		t.Errorf("central among 3, claiming 1: %s, %d entries, loop from %d of %d steps; want 2 entries and no loop", p.Verdict, entries(p), p.Loop, len(p.Trace))
	}
}
