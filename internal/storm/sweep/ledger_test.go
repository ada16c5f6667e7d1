package sweep

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A row of the ledger, as tools/ledger.sh writes it; the first ones knew of no voters.
var row = regexp.MustCompile("^\\| (\\d+) to (\\d+) \\| ([0-9a-f]{12}) \\| `stile storm --seed (\\d+) --seeds (\\d+)[^`]*` \\| (\\d+) \\| (\\d+) \\| (\\d+\\.\\d) \\| (0|\\d+, first seed \\d+) \\| ([0-9a-f]{16}) \\|( \\d+ \\| \\d+ \\|)?$")

// wrong says what is wrong with a row.
func wrong(line string) string {
	m := row.FindStringSubmatch(line)
	if m == nil {
		return "not a row that make ledger writes"
	}
	first, _ := strconv.ParseUint(m[1], 10, 64)
	last, _ := strconv.ParseUint(m[2], 10, 64)
	if seeds, _ := strconv.ParseUint(m[5], 10, 64); m[1] != m[4] || last-first+1 != seeds {
		return fmt.Sprintf("seeds %d to %d are not those of the command", first, last)
	}
	return ""
}

// The ledger has rows as they are written, and nothing else below its head.
func TestLedger(t *testing.T) {
	page, err := os.ReadFile("../../../docs/results/storm-ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, found := strings.Cut(string(page), "|--:|---|---|--:|--:|\n")
	if !found {
		t.Fatal("there is no table")
	}
	for line := range strings.Lines(rows) {
		if why := wrong(strings.TrimSuffix(line, "\n")); why != "" {
			t.Errorf("%s: %s", why, line)
		}
	}
}

func TestWrongRows(t *testing.T) {
	const old = "| 1 to 50 | 0123456789ab | `stile storm --seed 1 --seeds 50 --nodes 9` | 10 | 20 | 0.1 | 0 | 0123456789abcdef |"
	const good = old + " 30 | 40 |"
	if why := wrong(good) + wrong(old); why != "" {
		t.Error(why)
	}
	for old, new := range map[string]string{"1 to 50": "1 to 51", "--seed 1 ": "--seed 2 ", "--seeds 50": "--seeds 500", "0123456789ab |": "unknown |", "| 0 |": "|  |", "| 10 |": "| ten |", " 40 |": ""} {
		if line := strings.Replace(good, old, new, 1); wrong(line) == "" {
			t.Errorf("nothing is wrong with %s", line)
		}
	}
}
