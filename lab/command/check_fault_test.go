package command

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/lab/faults"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
)

// checkOutput runs a command line that begins with stile-lab check, and returns its output.
func checkOutput(line string, more ...string) (string, error) {
	return execute(newCheck(), append(strings.Fields(strings.TrimPrefix(line, "stile-lab check ")), more...)...)
}

// The commands of docs/results/faults.md print what the page says: here those of one lock.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/results/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(stile-lab check raymond --fault .*)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != len(faults.Kinds()) {
		t.Errorf("%d commands found: has the format of the page changed?", len(rows))
	}
	for _, row := range rows {
		text, err := checkOutput(row[1], "--json")
		if err != nil {
			t.Fatal(err)
		}
		var h faultReport
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s of %s", words.Grouped(h.Outcomes[h.Worst]), words.Grouped(h.Runs)); h.What != row[2] || got != row[3] {
			t.Errorf("%s: %s, %s; the page says %s, %s; if that is better: make faults", row[1], h.What, got, row[2], row[3])
		}
		if _, err := scenario.Parse("", h.Scenario); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
	}
}

// The worst run is printed, and written as a scenario.
func TestWorstRun(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/worst.stile"
	text, err := checkOutput("stile-lab check central --fault inside --at 2,3", "--trace", file)
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
	if text, err = checkOutput("stile-lab check central-deny --fault waiting --at 1"); err != nil || !strings.Contains(text, "The fault cannot happen there.") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err = checkOutput("stile-lab check majority --fault idle"); err != nil || !strings.Contains(text, "One of them:") {
		t.Errorf("%v: %s", err, text)
	}
}

// Flags that do not apply to --fault are refused.
func TestFaultRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"stile-lab check wait-die --fault idle":                    "wait-die",
		"stile-lab check maekawa-naive --fault idle":               "'stile-lab check maekawa-naive'",
		"stile-lab check raymond --fault idle --at 4":              "1 to 3",
		"stile-lab check raymond --fault idle --property deadlock": "--property",
		"stile-lab check --faults --fault idle":                    "--faults",
	} {
		if _, err := checkOutput(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
