package museum

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
)

var update = flag.Bool("update", false, "rewrite docs/museum.md")

// The museum as committed is what the checker finds.
func TestMuseum(t *testing.T) {
	const file = "../../docs/museum.md"
	got, err := Page(check.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(data), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("docs/museum.md, line %d\n got %s\nwant %s\nif that is better: make museum", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("docs/museum.md has %d lines, want %d; if that is better: make museum", len(w), len(g))
	}
}

// What is to be proved of elections and deadlock methods can be: there is
// everything that the lists name.
func TestElectionProofs(t *testing.T) {
	for _, e := range electionProofs() {
		if s, err := catalog.Make(e.name, core.Options{}); err != nil || s.Family != core.Election {
			t.Errorf("%s is no election: %v", e.name, err)
		}
	}
	for _, d := range deathProofs() {
		if s, err := catalog.Make(d.name, core.Options{}); err != nil || !s.Detects {
			t.Errorf("%s does not survive deaths: %v", d.name, err)
		}
	}
	for _, d := range deadlockProofs() {
		m, err := deadlock.Find(d.name)
		if err == nil {
			_, err = m.Spec(deadlock.Spread(d.sites, d.processes, d.processes), d.mode)
		}
		if err != nil {
			t.Errorf("%s %s: %v", d.name, d.mode, err)
		}
	}
}

// A command says every option that there is.
func TestCommandSaysEveryOption(t *testing.T) {
	s := setting{algorithm: "a", options: core.Options{Topology: "line", Sets: "1:1;2:2", Inform: "1:2", K: 3, Coordinator: 2, Experiment: true}}
	const want = `stile check a --requests unbounded --topology line --sets "1:1;2:2" --inform "1:2" --k 3 --coordinator 2 --experiment`
	if got := s.command(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	all := reflect.ValueOf(s.options)
	for i := range all.NumField() {
		if all.Field(i).IsZero() {
			t.Errorf("%s is not tried", all.Type().Field(i).Name)
		}
	}
}

// A row says what was checked, and each verdict by a letter.
func TestResult(t *testing.T) {
	r := &check.Report{States: 1234, Transitions: 5, Depth: 6, Seconds: 0.25, Properties: []check.Property{
		{Verdict: check.Holds}, {Verdict: check.HoldsBounded}, {Verdict: check.Violated}, {Verdict: check.NotChecked}, {Verdict: check.Unfinished},
	}}
	b := &builder{}
	told := ""
	if err := b.result(r, nil, func(line string) { told = line }, "x | 3", "MDSFV"); err != nil {
		t.Fatal(err)
	}
	const want = "| x | 3 | 1,234 | 5 | 6 | Md!S?V | 0.2 |"
	if told != want || b.String() != want+"\n" {
		t.Errorf("told %q, written %q, want %q", told, b.String(), want)
	}
}
