package museum

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/check"
)

var update = flag.Bool("update", false, "rewrite docs/results/museum.md")

// The museum as committed is what the checker finds.
func TestMuseum(t *testing.T) {
	const file = "../../../docs/results/museum.md"
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
			t.Fatalf("docs/results/museum.md, line %d\n got %s\nwant %s\nif that is better: make museum", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("docs/results/museum.md has %d lines, want %d; if that is better: make museum", len(w), len(g))
	}
}

// What is to be proved can be: there is everything that the tables name, and it
// is what the table is about. docs/results/proofs.md has these tables, and no other row.
func TestTables(t *testing.T) {
	data, err := os.ReadFile("../../../docs/results/proofs.md")
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]func(c check.Config) bool{
		"Elections":                 func(c check.Config) bool { return c.Spec.Family == algorithm.Election },
		"Locks that survive deaths": func(c check.Config) bool { return c.Spec.Detects && c.Requests == 1 },
		"Methods against deadlock":  func(c check.Config) bool { return c.Family != nil && c.Family.Sites > 0 },
	}
	for _, table := range tables() {
		_, page, _ := strings.Cut(string(data), "\n## "+table.title+"\n")
		page, _, _ = strings.Cut(page, "\n## ")
		if !strings.Contains(page, table.text) || !strings.Contains(page, "\n| "+table.columns+" | states |") || !strings.Contains(page, "\n|"+table.align+"|--:|") {
			t.Errorf("docs/results/proofs.md tells something else of %s", table.title)
		}
		if rows := strings.Count(page, "\n| ") - 1; rows != len(table.proofs) {
			t.Errorf("docs/results/proofs.md has %d rows of %s, want %d", rows, table.title, len(table.proofs))
		}
		for _, p := range table.proofs {
			if c, err := p.config(); err != nil || !about[table.title](c) {
				t.Errorf("%s: %+v does not belong there: %v", table.title, p, err)
			}
			_, after, ok := strings.Cut(page, "\n| "+table.say(p)+" | ")
			if page = "\n" + after; !ok {
				t.Fatalf("docs/results/proofs.md has no row %q, or not in this order", table.say(p))
			}
		}
	}
}

// A command says every option that there is.
func TestCommandSaysEveryOption(t *testing.T) {
	s := setting{algorithm: "a", options: algorithm.Options{Topology: "line", Sets: "1:1;2:2", Inform: "1:2", K: 3, Coordinator: 2, Experiment: true, Patience: 8}}
	const want = `stile check a --requests unbounded --topology line --sets "1:1;2:2" --inform "1:2" --k 3 --coordinator 2 --experiment --patience 8`
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

// Each verdict is a letter.
func TestVerdicts(t *testing.T) {
	all := []check.Property{
		{Verdict: check.Holds}, {Verdict: check.HoldsBounded}, {Verdict: check.Violated}, {Verdict: check.NotChecked}, {Verdict: check.Unfinished},
	}
	if got := verdicts(all, "MDSFV"); got != "Md!S?V" {
		t.Errorf("got %q, want Md!S?V", got)
	}
}

// A table has a row for each proof, which is told when it is known.
func TestTable(t *testing.T) {
	one := table{
		title: "T", text: "About.", columns: "lock | N", align: "---|--:", letters: "MS",
		say:    func(p proof) string { return "x | " + times(p.nodes) },
		proofs: []proof{{name: "central+bully", nodes: 1, requests: 1}},
	}
	told := ""
	b := newPage("P", "museum", check.Limits{Workers: 1}, func(line string) { told = line })
	if err := b.table(one); err != nil {
		t.Fatal(err)
	}
	seconds := told[max(0, strings.LastIndex(strings.TrimSuffix(told, " |"), "| ")):]
	want := "# P\n\n<!-- made by 'stile check --museum': do not edit, run 'make museum' -->\n\n## T\n\nAbout.\n\n" +
		"| lock | N | states | transitions | depth | properties | seconds |\n|---|--:|--:|--:|--:|---|--:|\n| x | 1 | 3 | 2 | 3 | ms " + seconds + "\n"
	if b.String() != want || !strings.HasPrefix(told, "| x | 1 | ") {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A page that is interrupted has all parts that were finished, and says what is
// missing.
func TestInterruptedPages(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	text, err := Proofs(check.Limits{Context: ctx}, func(string) {
		if rows++; rows == 2 {
			cancel()
		}
	})
	var early Interrupted
	if !errors.As(err, &early) || !strings.HasPrefix(early.After, "2 of ") || !strings.HasSuffix(early.After, " rows") {
		t.Fatalf("proofs: got the error %v", err)
	}
	line := "\n\n**Interrupted after " + early.After + ".** All from central with N = 4 on a fifo network on is missing.\n"
	if !strings.HasSuffix(text, line) || strings.Count(text, "\n| central | ") != 2 {
		t.Errorf("proofs: %s", text[max(0, len(text)-600):])
	}
	for name, page := range map[string]func() (string, error){
		" exhibits": func() (string, error) { return Page(check.Limits{Context: ctx}) },
		" passes":   func() (string, error) { return Long(check.Limits{Context: ctx}, func(string) {}) },
	} {
		text, err := page()
		ended := errors.As(err, &early) && strings.HasPrefix(early.After, "0 of ") && strings.HasSuffix(early.After, name)
		if !ended || !strings.Contains(text, "**Interrupted after "+early.After+".**") || strings.Contains(text, "\n## ") {
			t.Errorf("%s: got the error %v, and\n%s", name, err, text)
		}
	}
}

// A part is there as a whole or not at all.
func TestPart(t *testing.T) {
	b := newPage("P", "museum", check.Limits{}, nil)
	b.total, b.things = 3, "parts"
	before := b.String()
	if err := b.part("one", func() error { b.line("whole"); return nil }); err != nil {
		t.Fatal(err)
	}
	err := b.part("two", func() error { b.line("half"); return fmt.Errorf("a check: %w", errInterrupted) })
	text, err := b.ended(err)
	if want := before + "whole\n\n**Interrupted after 1 of 3 parts.** All from two on is missing.\n"; text != want || !errors.Is(err, Interrupted{"1 of 3 parts"}) {
		t.Errorf("got %v and\n%s", err, text)
	}
	if text, err := b.ended(b.part("three", func() error { return errors.New("broken") })); err == nil || err.Error() != "three: broken" || text != "" {
		t.Errorf("got %v and %q", err, text)
	}
}
