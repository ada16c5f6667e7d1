package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/world/draw"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// replaySites runs a scenario with sites, which must come out as it expects.
func replaySites(t *testing.T, sc *scenario.Scenario) *sim.Playback {
	t.Helper()
	spec, err := sim.SiteSpec(sc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range b.Differences {
		t.Errorf("%s: %v", sc.File, d)
	}
	return b
}

// The story, the graph and the pictures of every scenario with sites are those
// that were read and looked at before.
func TestSitesGolden(t *testing.T) {
	for _, file := range files(t) {
		sc := read(t, file)
		if !sc.Transacts() {
			continue
		}
		t.Run(strings.TrimSuffix(file, ".stile"), func(t *testing.T) {
			b := replaySites(t, sc)
			tr := b.Trace()
			if err := tr.Check(); err != nil {
				t.Error(err)
			}
			name := strings.TrimSuffix(file, ".stile")
			golden(t, name+".txt", fmt.Sprintf("%s\n\n%s\n%s:\n%s", sc.Title, sim.Story(b.Sites.Run.Layout, tr), b.Sites.Ledger.When(), draw.WaitForText(b.Sites.Ledger.Graph)))
			golden(t, name+".graph.svg", sim.Graph(&b.Sites.Run, b.Sites.Ledger, sc.Title))
			golden(t, name+".svg", tr.SVG(trace.Options{}))
		})
	}
}

// reduced reduces a graph of resources, which must come out as it expects.
func reduced(t *testing.T, sc *scenario.Scenario) *sim.Verdict {
	t.Helper()
	v, err := sim.Reduce(sc)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Differences {
		t.Errorf("%s: %v", sc.File, d)
	}
	v.Differences = nil
	return v
}

// The text and the picture of every graph of resources are those that were read
// and looked at before.
func TestGraphsGolden(t *testing.T) {
	graphs := 0
	for _, file := range files(t) {
		sc := read(t, file)
		if !sc.IsGraph() {
			continue
		}
		graphs++
		v := reduced(t, sc)
		name := strings.TrimSuffix(file, ".stile")
		golden(t, name+".txt", sc.Title+"\n\n"+draw.AllocationText(v.Graph))
		golden(t, name+".svg", draw.Allocation(v.Graph, sc.Title))
	}
	if graphs < 3 {
		t.Errorf("%d graphs, want a cycle without a deadlock, a deadlock and a reduction at least", graphs)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; rewrite it with go test ./scenarios -update, and read the difference. Got\n%s", file, got)
	}
}
