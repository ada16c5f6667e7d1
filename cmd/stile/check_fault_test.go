package main

import (
	"bytes"
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

// checkTold runs a line of a page that begins with stile check, and returns what it
// prints.
func checkTold(line string, more ...string) (string, error) {
	c := newCheck()
	var out, bad bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&bad)
	c.SetArgs(append(strings.Fields(strings.TrimPrefix(line, "stile check ")), more...))
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

// command is the line of a page that tries this.
func command(c faults.Config) string {
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

// checkRead makes a report of what a command says to programs.
func checkRead(line string) (*faults.Report, error) {
	text, err := checkTold(line, "--json")
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

// The page as committed is what the commands on it say, every one of them.
func TestFaultsPage(t *testing.T) {
	const file = "../../docs/results/faults.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := answers(t, string(page))
	got, err := museum.FaultsBy(check.Limits{}, func(string) {}, func(c faults.Config) (*faults.Report, error) {
		if r := known[command(c)]; r != nil {
			return r, nil
		}
		return checkRead(command(c)) // a row that the page does not have yet
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
	g, w := strings.Split(got, "\n"), strings.Split(string(page), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("docs/results/faults.md, line %d\n got %s\nwant %s\nif that is better: make faults", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("docs/results/faults.md has %d lines, want %d; if that is better: make faults", len(w), len(g))
	}
}

// answers runs the commands of the cells of a page, several at a time.
func answers(t *testing.T, page string) map[string]*faults.Report {
	var lines []string
	for line := range strings.Lines(page) {
		if cell, ok := strings.CutPrefix(line, "| `stile check "); ok {
			cell, _, _ = strings.Cut(cell, "`")
			lines = append(lines, "stile check "+cell)
		}
	}
	if len(lines) < 100 {
		t.Errorf("only %d commands: how are they written?", len(lines))
	}
	known, lock := map[string]*faults.Report{}, sync.Mutex{}
	t.Run("commands", func(t *testing.T) {
		for part := range slices.Chunk(lines, len(lines)/8+1) {
			t.Run(part[0], func(t *testing.T) {
				t.Parallel()
				for _, line := range part {
					r, err := checkRead(line)
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

// The worst run is told, and written as a scenario.
func TestWorstRun(t *testing.T) {
	file := t.TempDir() + "/worst.stile"
	text, err := checkTold("stile check central --fault inside --at 2,3", "--trace", file)
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
	if text, err = checkTold("stile check central-deny --fault waiting --at 1"); err != nil || !strings.Contains(text, "It cannot happen there.") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err = checkTold("stile check majority --fault idle"); err != nil || !strings.Contains(text, "One of them:") {
		t.Errorf("%v: %s", err, text)
	}
}

// What does not fit is refused, and says so.
func TestFaultRefused(t *testing.T) {
	for line, want := range map[string]string{
		"stile check raymond --at 2":                           "there is none",
		"stile check bully --fault idle":                       "is an election",
		"stile check wait-die --fault idle":                    "is a method against deadlock",
		"stile check maekawa-naive --fault idle":               "fails without a fault",
		"stile check raymond --fault idle --at 4":              "there are processes 1 to 3",
		"stile check raymond --fault idle --nodes 10":          "from 1 to 9",
		"stile check raymond --fault idle --network lossy":     "--network does not fit --fault",
		"stile check raymond --fault idle --property deadlock": "--property does not fit --fault",
		"stile check --faults --fault idle":                    "--fault does not fit --faults",
	} {
		if _, err := checkTold(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
