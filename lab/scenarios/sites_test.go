package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
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
	all, _ := read(t)
	for _, sc := range all {
		if !sc.Transacts() {
			continue
		}
		name := strings.TrimSuffix(sc.File, ".stile")
		t.Run(name, func(t *testing.T) {
			b := replaySites(t, sc)
			tr := b.Trace()
			if err := tr.Check(); err != nil {
				t.Error(err)
			}
			golden(t, name+".txt", fmt.Sprintf("%s\n\n%s\n%s:\n%s", sc.Title, sim.Story(b.Sites.Run.Layout, tr), b.Sites.Ledger.When(), draw.WaitForText(b.Sites.Ledger.Graph)))
			golden(t, name+".graph.svg", sim.Graph(&b.Sites.Run, b.Sites.Ledger, sc.Title))
			golden(t, name+".svg", tr.SVG(trace.Options{}))
		})
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
