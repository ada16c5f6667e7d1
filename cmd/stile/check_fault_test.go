package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/world/faults"
	"github.com/stile-lock/stile/internal/world/museum"
	"github.com/stile-lock/stile/scenario"
)

var update = flag.Bool("update", false, "rewrite docs/results/faults.md")

// checkOutput runs a command line that begins with stile check, and returns its output.
func checkOutput(line string, more ...string) (string, error) {
	return execute(newCheck(), append(strings.Fields(strings.TrimPrefix(line, "stile check ")), more...)...)
}

// faultCommand is the command of the page that tries this.
func faultCommand(c faults.Config) string {
	line := fmt.Sprintf("stile check %s --fault %v", c.Spec.Name, c.Kind)
	var at []string
	for _, p := range c.At {
		at = append(at, fmt.Sprint(int(p)+1))
	}
	if at != nil {
		line += " --at " + strings.Join(at, ",")
	}
	return line
}

// faultResult runs a command of the page and reads its JSON output.
func faultResult(line string) (*faults.Report, error) {
	text, err := checkOutput(line, "--json")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", line, err)
	}
	var h faultReport
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return nil, fmt.Errorf("%s: %w", line, err)
	}
	r := &faults.Report{Runs: h.Runs, What: h.What}
	for o := faults.GoesOn; o <= faults.Unsafe; o++ {
		r.Count[o] = h.Outcomes[o.String()]
		if o.String() == h.Worst {
			r.Worst = o
		}
	}
	for _, p := range h.Waiting {
		r.Waiting = append(r.Waiting, algorithm.ID(p-1))
	}
	if h.Runs == 0 {
		return r, nil
	}
	_, err = scenario.Parse("", h.Scenario)
	return r, err
}

// The committed page shows what its commands print. Every day this runs the commands
// of one lock; 'make nightly' runs all of them.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	const file = "../../docs/results/faults.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := nightly() || *update
	known := faultResults(t, string(page), func(line string) bool {
		return all || strings.HasPrefix(line, "stile check raymond --fault ")
	})
	got, err := museum.FaultsBy(check.Limits{}, func(string) {}, func(c faults.Config) (*faults.Report, error) {
		if r := known[faultCommand(c)]; r != nil {
			return r, nil
		}
		if !all {
			return &faults.Report{}, nil
		}
		return faultResult(faultCommand(c)) // a row that the page does not have yet
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	compared := 0
	for line := range strings.Lines(got) {
		if all || strings.HasPrefix(line, "| raymond |") || strings.HasPrefix(line, "| `stile check raymond --fault ") {
			compared++
			if !strings.Contains(string(page), "\n"+line) && !strings.HasPrefix(string(page), line) {
				t.Errorf("docs/results/faults.md lacks the line\n%s\nif the new result is right: make faults", line)
			}
		}
	}
	if all && len(got) != len(page) || compared < 6 {
		t.Errorf("docs/results/faults.md has %d bytes, want %d, and %d lines were compared; if the new page is right: make faults", len(page), len(got), compared)
	}
}

// faultResults runs those commands of a page that are wanted, several at a time.
func faultResults(t *testing.T, page string, want func(line string) bool) map[string]*faults.Report {
	var lines []string
	total := 0
	for line := range strings.Lines(page) {
		if cell, ok := strings.CutPrefix(line, "| `stile check "); ok {
			total++
			cell, _, _ = strings.Cut(cell, "`")
			if line := "stile check " + cell; want(line) {
				lines = append(lines, line)
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d commands found: has the format of the page changed?", total)
	}
	known, lock := map[string]*faults.Report{}, sync.Mutex{}
	t.Run("commands", func(t *testing.T) {
		for part := range slices.Chunk(lines, len(lines)/8+1) {
			t.Run(part[0], func(t *testing.T) {
				t.Parallel()
				for _, line := range part {
					r, err := faultResult(line)
					if err != nil {
						t.Error(err)
					}
					lock.Lock()
					known[line] = r
					lock.Unlock()
				}
			})
		}
	})
	return known
}

// The worst run is printed, and written as a scenario.
func TestWorstRun(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/worst.stile"
	text, err := checkOutput("stile check central --fault inside --at 2,3", "--trace", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all-wait        46 of 46 runs", "The worst of them:", "crash P2", "P2 crashes", "VIOLATION of lost-request"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(text, strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", "\n    ")[:40]) {
		t.Errorf("%v: %s", err, data)
	}
	if text, err = checkOutput("stile check central-deny --fault waiting --at 1"); err != nil || !strings.Contains(text, "The fault cannot happen there.") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err = checkOutput("stile check majority --fault idle"); err != nil || !strings.Contains(text, "One of them:") {
		t.Errorf("%v: %s", err, text)
	}
}

// Flags that do not apply to --fault are refused.
func TestFaultRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"stile check wait-die --fault idle":                    "wait-die",
		"stile check maekawa-naive --fault idle":               "'stile check maekawa-naive'",
		"stile check raymond --fault idle --at 4":              "1 to 3",
		"stile check raymond --fault idle --property deadlock": "--property",
		"stile check --faults --fault idle":                    "--faults",
	} {
		if _, err := checkOutput(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
