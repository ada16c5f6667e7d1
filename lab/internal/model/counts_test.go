package model

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// large names those whose state spaces are too large for a quick test of three
// processes.
const large = "lamport majority majority-naive bakery bakery-polling bakery-naive"

// The state space of every algorithm is pinned: a change of a number is a
// change of behaviour. It depends neither on the number of workers nor on which
// of the two explorers counts.
func TestCounts(t *testing.T) {
	nightly.Only(t)
	const file = "testdata/counts.txt"
	var b strings.Builder
	b.WriteString("algorithm nodes requests states transitions depth\n")
	for _, spec := range catalog.All() {
		for n := 2; n <= 3; n++ {
			requests := 0
			if n == 3 && spec.Endless != "" {
				requests = 1 // without a bound there would be no end
			}
			if n == 3 && slices.Contains(strings.Fields(large), spec.Name) {
				if spec.Name != "lamport" && spec.Name != "majority-naive" {
					continue
				}
				requests = 1
			}
			fmt.Fprintf(&b, "%s %d %d %s\n", spec.Name, n, requests, counts(t, spec, n, requests))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden := strings.Split(string(want), "\n")
	got := strings.Split(b.String(), "\n")
	if len(got) != len(golden) {
		t.Errorf("%d lines, and %d in %s: go test ./lab/internal/model -update rewrites it", len(got), len(golden), file)
	}
	for i := range min(len(got), len(golden)) {
		if got[i] != golden[i] {
			t.Errorf("got  %s\nwant %s\ngo test ./lab/internal/model -update rewrites %s", got[i], golden[i], file)
		}
	}
}

// counts explores with one worker, with two, and with the other explorer.
func counts(t *testing.T, spec algorithm.Spec, n, requests int) string {
	t.Helper()
	group := setup{Spec: spec, Nodes: n, Network: spec.Network, Requests: requests}
	var all []string
	for workers := 1; workers <= 2; workers++ {
		e, err := explore.Explore(mustModel(t, group), explore.Limits{Workers: workers})
		if err != nil {
			t.Fatalf("%s, N=%d: %v", spec.Name, n, err)
		}
		all = append(all, fmt.Sprintf("%d %d %d", e.States, e.Transitions, e.Depth))
	}
	g, err := explore.BuildGraph(mustModel(t, group), explore.GraphLimits{Edges: true})
	if err != nil {
		t.Fatalf("%s, N=%d: %v", spec.Name, n, err)
	}
	all = append(all, fmt.Sprintf("%d %d %d", g.States(), g.Transitions(), g.Levels()))
	if all[0] != all[1] || all[0] != all[2] {
		t.Errorf("%s, N=%d: states, transitions and depth are %q with 1 worker, with 2, and in the graph", spec.Name, n, all)
	}
	return all[0]
}
