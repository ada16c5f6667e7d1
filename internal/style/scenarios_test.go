package style

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// examine returns what is wrong with a graph of resources: it cannot be read, or does not
// meet its expectations.
func examine(text string) error {
	g, err := scenario.ParseGraph("docs/scenarios.md", text)
	if err != nil {
		return err
	}
	v, err := sim.Reduce(g)
	if err == nil && len(v.Differences) > 0 {
		err = fmt.Errorf("came out otherwise: %v", v.Differences)
	}
	return err
}

// replays returns what is wrong with a whole scenario: it cannot be read, cannot be run,
// or does not meet its expectations.
func replays(text string) error {
	if scenario.IsGraph(text) {
		return examine(text)
	}
	sc, err := scenario.Parse("docs/scenarios.md", text)
	if err != nil {
		return err
	}
	spec, err := catalog.Make(sc.Algorithm, sc.Options)
	if sc.Transacts() {
		spec, err = sim.SiteSpec(sc)
	}
	if err != nil {
		return err
	}
	run, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err == nil && len(run.Differences) > 0 {
		err = fmt.Errorf("came out otherwise: %v", run.Differences)
	}
	return err
}

// heads are the heads that a single line can follow.
func heads() []string {
	const lock = "algorithm raymond\nprocesses 5\n"
	const sites = "algorithm none\nprocesses 5\nsite 1 P1 P2 L1\nsite 2 P3 P4 P5 L2 L3\nunits L3 4\n"
	const sections = lock + "section seats among 1,2,4\nsection films among 2,3,5\n"
	const graph = "processes 4\nresources R1 2 R2 2\n"
	return []string{lock, lock + "schedule steps\n", sections, sites, sites + "schedule steps\n", graph}
}

// reads returns why a line can follow no head, or nil.
func reads(line string) error {
	var wrong error
	word, _, _ := strings.Cut(line, " ")
	for _, head := range heads() {
		var kept strings.Builder // a setting may be given only once
		for said := range strings.Lines(head) {
			if key, _, _ := strings.Cut(strings.TrimSpace(said), " "); key != word || strings.HasPrefix(line, "site 1 suspects") || strings.HasPrefix(line, "site 1 timer") {
				kept.WriteString(said)
			}
		}
		if word == "site" && kept.Len() < len(head) {
			kept.WriteString("site 2 P3 P4 P5 L2 L3\n")
		}
		for _, at := range []string{"", "at 1 "} {
			text := kept.String() + at + line + "\n"
			if _, wrong = scenario.Parse("line", text); scenario.IsGraph(text) {
				_, wrong = scenario.ParseGraph("line", text)
			}
			if wrong == nil {
				return nil
			}
		}
	}
	return wrong
}

var cell = regexp.MustCompile("(?m)^\\| (`.*?`) \\| ")

// Every line of the tables on the page is valid. TestSnippets replays its whole examples.
func TestScenariosPage(t *testing.T) {
	page := readPage(t, "scenarios.md")
	lines := 0
	for _, m := range cell.FindAllStringSubmatch(page, -1) {
		for _, span := range code.FindAllString(m[1], -1) {
			lines++
			line := strings.ReplaceAll(strings.Trim(span, "`"), `\|`, "|")
			if err := reads(line); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines: how are they written?", lines)
	}
}

func TestScenariosPagePlanted(t *testing.T) {
	const good = "algorithm central\nprocesses 2\nat 0 P1 asks\nexpect entries 1\n"
	if err := replays(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, "entries 1", "entries 2", 1), strings.Replace(good, "asks", "begs", 1), strings.Replace(good, "central", "centre", 1),
	} {
		if replays(bad) == nil {
			t.Errorf("not found wrong:\n%s", bad)
		}
	}
	for _, line := range []string{"P1 begs", "expect P1", "latencies 3", "crash site", "partition 1 || 2"} {
		if reads(line) == nil {
			t.Errorf("%q is not found wrong", line)
		}
	}
}
