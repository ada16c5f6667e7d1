package museum

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/family/families"
	"github.com/stile-lock/stile/lab/check"
)

// parse is a Parser of the few flags that the exhibits of TestExhibits use; the command
// has the real one.
func parse(command string) (check.Config, error) {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	c := check.Config{}
	f.IntVar(&c.Nodes, "nodes", 3, "")
	requests := f.String("requests", "", "")
	f.StringVar(&c.Options.Topology, "topology", "", "")
	property := f.String("property", "", "")
	words := strings.Fields(command)
	err := f.Parse(words[1:])
	if err == nil {
		c.Spec, err = catalog.Make(words[0], c.Options)
	}
	if *requests != "unbounded" {
		c.Requests = 1
	}
	if *property != "" {
		c.Properties = strings.Split(*property, ",")
	}
	c.Family = families.Of(c.Spec)
	return c, err
}

// Exhibits of the museum as committed are what the checker finds: a counterexample, a
// scenario and proofs.
func TestExhibits(t *testing.T) {
	data, err := os.ReadFile("../../../docs/results/museum.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(exhibits, "\n## ")
	for _, title := range []string{"5. Raymond as printed", "9. Raymond's tree against order", "11. Raymond, greedy"} {
		i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, title+"\n") })
		if i < 0 {
			t.Fatalf("there is no exhibit %q", title)
		}
		got, err := page("\n## "+parts[i], parse, check.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got = strings.TrimSpace(got); !strings.Contains(string(data), got) {
			t.Errorf("docs/results/museum.md does not have\n%s\nif that is better: make museum", got)
		}
	}
}

// Rows of docs/results/faults.md as committed are what the faults do, and each has its
// commands: here those of a lock with a coordinator.
func TestFaultRows(t *testing.T) {
	data, err := os.ReadFile("../../../docs/results/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	table, rows := faultTables()[0], 0
	table.rows = slices.DeleteFunc(table.rows, func(s faultRow) bool { return s.lock != "central-deny" })
	b := newPage("P", "faults", check.Limits{}, func(string) { rows++ })
	if err := b.faults(table); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "\n## ")
	for line := range strings.Lines(got) {
		if !strings.Contains(string(data), line) {
			t.Errorf("docs/results/faults.md does not have\n%s\nif that is better: make faults", line)
		}
	}
	if rows != 2 || strings.Count(got, "\n| `stile check central-deny --fault ") != 10 {
		t.Errorf("got %d rows, and\n%s", rows, got)
	}
}

// Each verdict is a letter.
func TestVerdicts(t *testing.T) {
	r := &check.Report{Properties: []check.Property{
		{Name: "a", Verdict: check.Holds}, {Name: "b", Verdict: check.HoldsBounded}, {Name: "c", Verdict: check.Violated},
		{Name: "d", Verdict: check.NotChecked}, {Name: "f", Verdict: check.Unfinished},
	}}
	if got := verdicts(r, []string{"a", "b", "c", "d", "e", "f"}, "MDSEFV"); got != "Md!S?V" {
		t.Errorf("got %q, want Md!S?V", got)
	}
}

// A table has a row for each proof, which is told when it is known.
func TestTable(t *testing.T) {
	one := table{
		title: "T", text: "About.", columns: "lock | N", align: "---|--:", letters: "MS",
		say:      func(name string, c check.Config) string { return name + " | " + times(c.Nodes) },
		commands: []string{"central+bully --nodes 1 --requests 1"},
	}
	var err error
	if one.checks, err = parseAll(parse, one.commands); err != nil {
		t.Fatal(err)
	}
	told := ""
	b := newPage("P", "museum", check.Limits{Workers: 1}, func(line string) { told = line })
	if err := b.table(one); err != nil {
		t.Fatal(err)
	}
	seconds := told[max(0, strings.LastIndex(strings.TrimSuffix(told, " |"), "| ")):]
	want := "# P\n\n<!-- made by 'stile check --museum': do not edit, run 'make museum' -->\n\n## T\n\nAbout.\n\n" +
		"| lock | N | states | transitions | depth | properties | seconds |\n|---|--:|--:|--:|--:|---|--:|\n| central+bully | 1 | 3 | 2 | 3 | ms " + seconds + "\n"
	if b.String() != want || !strings.HasPrefix(told, "| central+bully | 1 | ") {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A page that is interrupted has all parts that were finished, and says what is
// missing.
func TestInterruptedPages(t *testing.T) {
	anything := func(string) (check.Config, error) { return parse("sanders --nodes 4") }
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	text, err := Proofs(anything, check.Limits{Context: ctx}, func(string) {
		if rows++; rows == 2 {
			cancel()
		}
	})
	var early Interrupted
	if !errors.As(err, &early) || !strings.HasPrefix(early.After, "2 of ") || !strings.HasSuffix(early.After, " rows") {
		t.Fatalf("proofs: got the error %v", err)
	}
	line := "\n\n**Interrupted after " + early.After + ".** Everything from central with N = 4 on a fifo network on is missing.\n"
	if !strings.HasSuffix(text, line) || strings.Count(text, "\n| central | ") != 2 {
		t.Errorf("proofs: %s", text[max(0, len(text)-600):])
	}
	for name, page := range map[string]func() (string, error){
		" exhibits": func() (string, error) { return Page(anything, check.Limits{Context: ctx}) },
		" passes":   func() (string, error) { return Long(anything, check.Limits{Context: ctx}, func(string) {}) },
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
	if want := before + "whole\n\n**Interrupted after 1 of 3 parts.** Everything from two on is missing.\n"; text != want || !errors.Is(err, Interrupted{"1 of 3 parts"}) {
		t.Errorf("got %v and\n%s", err, text)
	}
	if text, err := b.ended(b.part("three", func() error { return errors.New("broken") })); err == nil || err.Error() != "three: broken" || text != "" {
		t.Errorf("got %v and %q", err, text)
	}
}
