package trial

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shows is an example with a method, and what must be in its story.
func shows() []struct{ example, method, mode, want string } {
	return []struct{ example, method, mode, want string }{
		{"ring", "none", "", "+->P2 --L3--> P3 --L4--> P4 -+"},
		{"two-sites", "none", "", "+->P1 --L2--> P5 --L3--> P2 -+"},
		{"two-sites", "detect-distributed", "", "PATH to site 2: P2->P1 L2"},
		{"false-cycle", "detect-central", deadlock.OnChange, "1 false"},
		{"false-cycle", "detect-central", deadlock.OnDemand, "0 false"},
		{"dead-site", "detect-distributed", "", "site 2  dies"},
		{"ages", "wait-die", "", "DIE to site 2: P2"},
		{"ages", "wound-wait", "", "site 2  P2 aborts"},
	}
}

// TestExamples: every worked example ends as it should, and its story, its
// graph and its diagram are those that were read before.
func TestExamples(t *testing.T) {
	for _, s := range shows() {
		name := strings.TrimSuffix(s.example+"-"+s.method+"-"+s.mode, "-")
		t.Run(name, func(t *testing.T) {
			e, err := FindExample(s.example)
			if err != nil {
				t.Fatal(err)
			}
			m, err := deadlock.Find(s.method)
			if err != nil {
				t.Fatal(err)
			}
			c := e.Config(m, s.mode)
			lanes := Lanes(c.Layout)
			tr := trace.Trace{N: len(lanes), Names: lanes, Title: e.Title, Algorithm: s.method, Kinds: deadlock.Kinds(), Unit: scenario.T}
			c.Observe = func(e trace.Event) { tr.Events = append(tr.Events, e) }
			r, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.Check(); err != nil {
				t.Error(err)
			}
			text := fmt.Sprintf("%s\n%s\n\n%s\n%s\n%d committed, %d aborted, %d deadlocks, %d false, %d stuck\n",
				e.Title, m.Title, Story(c.Layout, tr.Events), r.Graph.Text(), r.Committed, r.Aborted, r.Deadlocks, r.FalsePositives, r.Stuck)
			if !strings.Contains(text, s.want) {
				t.Errorf("no %q in\n%s", s.want, text)
			}
			golden(t, name+".txt", text)
			golden(t, name+".graph.svg", r.Graph.SVG(deadlock.Picture{Title: e.Title, Note: m.Title, Victim: victimOf(r)}))
			golden(t, name+".svg", tr.SVG(trace.SVGOptions{}))
		})
	}
}

func victimOf(r *Result) core.ID {
	if r.Found == 0 {
		return core.None
	}
	return r.Victim
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
		t.Errorf("%s differs; rewrite it with -update, and read the difference. Got\n%s", file, got)
	}
}
