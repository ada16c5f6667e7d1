package controls

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	page     = flag.String("page", "", "file to write how often the storm finds each control to")
	atCommit = flag.String("at", "unknown", "commit that the page names")
)

// pageSeeds is how many seeds of each control the page counts.
const pageSeeds = 300

// A row is what the storm prints with the flag -tally.
type row struct {
	Runs, Broke            int
	Invariants, Algorithms map[string]int
}

// TestPage makes docs/results/storm-controls.md.
func TestPage(t *testing.T) {
	if *page == "" {
		t.Skip("without -page: make controls")
	}
	dir := binaries(t)
	all := Table()
	rows := make([]row, len(all))
	t.Run("storms", func(t *testing.T) {
		for i := range all {
			if x, ok := all[i].Storm(); ok && !all[i].Harmless {
				t.Run(all[i].Name, func(t *testing.T) {
					t.Parallel()
					rows[i] = x.tally(t, dir, all[i].Selected())
				})
			}
		}
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, pageHead, *atCommit, pageSeeds, pageSeeds-1)
	for i := range all {
		if c, r := &all[i], &rows[i]; r.Runs > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s |\n", c.Name, c.Section, c.Text, r.Broke, ranked(r.Invariants), ranked(r.Algorithms))
		}
	}
	fmt.Fprint(&b, pageOthers)
	for i := range all {
		if c := &all[i]; rows[i].Runs == 0 && !c.Harmless {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, c.Section, c.Text, finders(c.Tests))
		}
	}
	if t.Failed() {
		return
	}
	if err := os.WriteFile(*page, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tally runs all seeds of a storm, and returns what it counts.
func (x *Test) tally(t *testing.T, dir, selected string) (r row) {
	t.Helper()
	got := x.run(t, dir, selected, time.Hour, append(slices.Clone(x.Flags), "-tally", "-seeds", fmt.Sprint(pageSeeds))...)
	for line := range strings.Lines(got.text) {
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Error(err)
			}
		}
	}
	if !got.passed || r.Runs != pageSeeds {
		t.Errorf("%d runs are counted, want %d:\n%s", r.Runs, pageSeeds, end(got.text))
	}
	return r
}

const pageHead = `# Broken rules, found by the storm

<!-- made by 'make controls' at commit %[1]s: do not edit -->

A check that has never failed proves nothing. Each row is a rule of [protocol.md](../protocol.md), broken by a rewrite of the source in a test build ([internal/controls](../../internal/controls/doc.go)) and run in %[2]d storms: seeds 0 to %[3]d, all live algorithms. The row shows how many of the %[2]d storms violated an invariant, which invariants, and with which algorithms. Some rows use storms that are tuned so that the rule matters: see internal/storm/tuned_test.go. Every test run finds each of them again.

| control | section | what is wrong | violations | invariants | algorithms |
|---|---|---|--:|---|---|
`

const pageOthers = `
These controls are not counted in storms, which find them rarely or never. Other tests find each of them in every test run. The exhaustive check of the view change finds many controls of both tables: see [proofs-view.md](proofs-view.md).

| control | section | what is wrong | found by |
|---|---|---|---|
`

// finders names tests, with their packages.
func finders(all []Test) string {
	var names []string
	for _, x := range all {
		names = append(names, x.Package+" "+x.Name)
	}
	return strings.Join(names, ", ")
}

// ranked writes names by how often they occur.
func ranked(counts map[string]int) string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	if len(names) == 10 {
		return "all ten"
	}
	return strings.Join(names, ", ")
}
