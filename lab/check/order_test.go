package check

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/nightly"
)

// The table of docs/algorithms.md, for any number of requests, as far as that
// is quick: in how many steps order is violated, 0 if it holds.
func TestOrder(t *testing.T) {
	const unchecked = -1
	for _, c := range []struct {
		name         string
		nodes        int
		network      algorithm.Network
		closed, open int
	}{
		{"ricart-agrawala", 3, algorithm.FIFO, 0, 0},
		{"central", 3, algorithm.FIFO, 0, 3},
		{"central", 5, algorithm.FIFO, 0, unchecked},
		{"central-stamped", 3, algorithm.FIFO, 0, 3},
		{"central-stamped", 4, algorithm.FIFO, 0, unchecked},
		{"token-ring", 3, algorithm.FIFO, 0, 3},
		{"token-ring", 5, algorithm.FIFO, 0, unchecked},
		{"token-ring-lazy", 3, algorithm.FIFO, 0, 3},
		{"token-ring-lazy", 5, algorithm.FIFO, 0, unchecked},
		{"dijkstra", 3, algorithm.FIFO, 0, 3},
		{"dijkstra", 5, algorithm.FIFO, 0, unchecked},
		{"maekawa", 3, algorithm.FIFO, 0, 5},
		{"suzuki-kasami", 2, algorithm.FIFO, 0, 3},
		{"suzuki-kasami", 3, algorithm.FIFO, 5, 3},
		{"ricart-agrawala-token", 3, algorithm.FIFO, 5, 3},
		{"carvalho-roucairol", 3, algorithm.FIFO, 9, 3},
		{"raymond", 3, algorithm.FIFO, 9, 3},
		{"naimi-trehel", 3, algorithm.FIFO, 0, 3},
		{"naimi-trehel", 4, algorithm.FIFO, 14, 3},
		{"naimi-trehel", 3, algorithm.Unordered, 9, 3},
		{"bakery", 2, algorithm.FIFO, 0, 14},
	} {
		if !nightly.On() && c.nodes > 3 {
			continue
		}
		spec, err := catalog.Make(c.name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for property, want := range map[string]int{Order: c.closed, OrderOpen: c.open} {
			if want == unchecked {
				continue
			}
			r, err := Run(Config{Spec: spec, Nodes: c.nodes, Network: c.network, Properties: []string{property}})
			if err != nil {
				t.Fatal(err)
			}
			p := r.Find(property)
			ok := p.Verdict == Holds
			if want > 0 {
				ok = p.Verdict == Violated && p.Note == fmt.Sprintf("after %d steps", want)
			}
			if !ok {
				t.Errorf("%s among %d, %v: %s %s, %s; want it after %d steps", c.name, c.nodes, c.network, property, p.Verdict, p.Note, want)
			}
		}
	}
}
