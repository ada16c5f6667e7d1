package check

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/nightly"
)

// sameVerdicts checks with and without spent messages and compares everything that is
// said about the properties, the shortest counterexamples included.
func sameVerdicts(t *testing.T, c Config) (full, reduced *Report) {
	t.Helper()
	full, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Reduce = true
	if reduced, err = Run(c); err != nil {
		t.Fatal(err)
	}
	alike := func(p, q Property) bool {
		return p.Name == q.Name && p.Verdict == q.Verdict && p.Note == q.Note && slices.Equal(p.Trace, q.Trace)
	}
	if !slices.EqualFunc(full.Properties, reduced.Properties, alike) || full.Hint != reduced.Hint {
		t.Errorf("%s, N=%d: %v, and without spent messages %v", c.Spec.Name, c.Nodes, full.Properties, reduced.Properties)
	}
	return full, reduced
}

// A verdict is the same without spent messages, and so is a counterexample.
func TestReduce(t *testing.T) {
	for _, spec := range catalog.All() {
		if f := (Config{Spec: spec}).Settled().Family; f.Detects {
			continue
		}
		sameVerdicts(t, Config{Spec: spec, Nodes: 2})
	}
	for _, bug := range []string{"", "drop", "try", "perjury", "birth"} {
		sameVerdicts(t, Config{Spec: toy(bug), Nodes: 3})
	}
	sameVerdicts(t, Config{Spec: mutex.RaymondPrinted(mutex.Kary(2)), Nodes: 3})
	sameVerdicts(t, Config{Spec: hosted(3), Family: pairs(), Nodes: 3})
	if !nightly.On() {
		return // it takes seconds
	}
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
		c := Config{Spec: mutex.RicartAgrawalaToken(), Nodes: 3, Network: network, Properties: []string{MutualExclusion, Deadlock, Token, Alibi, Fence}}
		if full, reduced := sameVerdicts(t, c); !reduced.Reduced || full.Reduced || 4*reduced.States > full.States {
			t.Errorf("%v: %d states, and %d without spent messages: the reduction does nothing", network, full.States, reduced.States)
		}
	}
}
