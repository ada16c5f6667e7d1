package command

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Wherever a diagram is printed or written, --clocks puts clocks into it, and
// nothing else does.
func TestClocks(t *testing.T) {
	scenario, err := os.ReadFile("../../lab/scenarios/ricart-agrawala-a.stile")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.stile", scenario, 0o666); err != nil {
		t.Fatal(err)
	}
	const vector = "1 [1 0"
	for _, test := range []struct{ args, file string }{
		{"replay a.stile", ""},
		{"replay a.stile --ascii", ""},
		{"replay a.stile --svg new.svg", "new.svg"},
		{"check lamport --nodes 2 --network unordered --property mutual-exclusion", ""},
		{"check lamport --nodes 2 --network unordered --property mutual-exclusion --json --trace new.svg", "new.svg"},
		{"sim ricart-agrawala --nodes 3 --entries 5 --trace new.txt", "new.txt"},
		{"sim ricart-agrawala --nodes 3 --entries 5 --svg new.svg", "new.svg"},
		{"bank --lock ricart-agrawala --svg new.svg", "new.svg"},
		{"bank --lock ricart-agrawala --trace new.txt", "new.txt"},
		{"deadlock wound-wait --sites 2 --transactions 5 --trace new.svg", "new.svg"},
	} {
		for _, clocks := range []bool{false, true} {
			args := strings.Fields(test.args)
			if clocks {
				args = append(args, "--clocks")
			}
			code, text, stderr := do(args...)
			if code > 1 {
				t.Fatalf("stile-lab %s: %s", args, stderr)
			}
			if test.file != "" {
				data, err := os.ReadFile(test.file)
				if err != nil {
					t.Fatal(err)
				}
				text = string(data)
			}
			if strings.Contains(text, vector) != clocks {
				t.Errorf("stile-lab %s: that there is %q should be %t:\n%s", args, vector, clocks, text)
			}
		}
	}
}

// A watch says how far a run is, and ends it when the command is interrupted.
func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := &cobra.Command{}
	c.SetContext(ctx)
	l := terminal.StartProgress(c)
	defer l.End()
	watch := watchRun(l, "entries")
	if !watch(sim.Progress{Events: 70_000, Done: 1234, Of: 5000}) || !watch(sim.Progress{Events: 140_000}) {
		t.Error("ended without an interrupt")
	}
	cancel()
	if watch(sim.Progress{}) || l.On() {
		t.Error("interrupted, and it goes on")
	}
	for want, p := range map[string]sim.Progress{"1,234 of 5,000 entries, 70,000 events": {Events: 70_000, Done: 1234, Of: 5000}, "140,000 events": {Events: 140_000}} {
		if got := runProgress(p, "entries"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// All files of an interrupted run say so; those of a run that came to its end do
// not, and hold everything or are refused.
func TestRecorderInterrupted(t *testing.T) {
	r := newRecorder(2, algorithm.Spec{Title: "Title", Name: "name", Kinds: []string{"K"}})
	r.observe(trace.Event{Kind: trace.Ask, Proc: 1, Peer: algorithm.None})
	paths := []string{"x.json", "x.log", "x.txt"}
	contents := func() []string {
		var all []string
		for _, path := range paths {
			files, err := r.files(&traceOutput{svg: "x.svg", trace: path})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				data, err := f.Content()
				if err != nil {
					t.Fatalf("%s: %v", f.Path, err)
				}
				all = append(all, string(data))
			}
		}
		return append(all, r.storyText(t))
	}
	says := func(s string) bool { return strings.Contains(s, "interrupted after 1 of 9 entries") }
	if all := contents(); slices.ContainsFunc(all, says) {
		t.Errorf("not interrupted, but one of them says so: %q", all)
	}
	r.interrupted("1 of 9 entries")
	for i, s := range contents() {
		if !says(s) {
			t.Errorf("file %d does not say that it was interrupted: %s", i, s)
		}
	}
	if err := r.kept(algorithm.None).Check(); err != nil {
		t.Error(err)
	}
	r.missed = true
	if all := contents(); !strings.Contains(all[1], "500000 events") {
		t.Errorf("events were not kept, but the file does not say so: %s", all[1])
	}
	r.interrupted("")
	files, _ := r.files(&traceOutput{trace: "x.json"})
	if data, err := files[0].Content(); err == nil {
		t.Errorf("a run that was not kept was written: %s", data)
	}
}

func (r *recorder) storyText(t *testing.T) string {
	r.story = func(t *trace.Trace) string { return t.Title }
	files, err := r.files(&traceOutput{trace: "x.txt"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := files[0].Content()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
