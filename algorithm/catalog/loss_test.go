package catalog

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/check"
)

// Where messages are lost, a lock makes its processes wait, and no worse; two are
// inside of those that say so.
func TestGapless(t *testing.T) {
	for _, s := range Sound() {
		r, err := check.Run(check.Config{
			Spec: s, Nodes: 2, Requests: 1, Network: algorithm.Lossy, Properties: []string{check.MutualExclusion},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(check.MutualExclusion)
		if unsafe := p.Verdict == check.Violated; unsafe != s.Gapless || !unsafe && p.Verdict != check.HoldsBounded {
			t.Errorf("%s says that it is gapless %v, but mutual exclusion is %s: %s", s.Name, s.Gapless, p.Verdict, p.Note)
		}
		with, err := Make(s.Name+"+bully", algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if with.Gapless != s.Gapless {
			t.Errorf("%s is gapless %v, and %s %v", s.Name, s.Gapless, with.Name, with.Gapless)
		}
	}
}
