package measure

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
)

const file = "../../../docs/results/live.md"

// A committed page is the one in the repository: where it was measured, and its rows.
type committed struct {
	text, where string
	rows        map[[2]string][]string // by table and name
}

func read(t *testing.T) committed {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

func parse(t *testing.T, text string) committed {
	t.Helper()
	c := committed{text: text, rows: map[[2]string][]string{}}
	where := regexp.MustCompile(`<!-- (measured at commit [0-9a-f]{7,}, .*) -->`).FindStringSubmatch(c.text)
	if where == nil {
		t.Fatal("docs/results/live.md does not say at which commit it was measured")
	}
	c.where = where[1]
	table := ""
	for line := range strings.Lines(c.text) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			table = title
		}
		if row, ok := strings.CutPrefix(line, "| "); ok {
			cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
			c.rows[[2]string{table, cells[0]}] = cells[1:]
		}
	}
	return c
}

// sampled reports whether a row is measured again: those of the default algorithm, and
// some others where that is quick.
func sampled(r Row) bool {
	quick := strings.HasPrefix(r.Table, "Entries")
	switch r.Name {
	case "naimi-trehel":
		return quick || r.Table != "A member joins or leaves: 9 members" && !strings.Contains(r.Table, "5 members")
	case "central", "token-ring-lazy", "carvalho-roucairol":
		return quick
	case "maekawa", "lamport":
		return strings.Contains(r.Table, "several") || r.Table == "A crash: random locks, 5 members" && r.Name == "lamport"
	case "random locks, 0.1 to 0.3 s":
		return true
	case "the leader and the holder crash", "the leader leaves":
		return strings.Contains(r.Table, "5 members, 3 voters")
	}
	return false
}

// against makes the page from its own rows, measures some of them again, and returns
// where it differs.
func (c committed) against(again func(r Row) bool) error {
	got, err := Page(c.where, logs(), func(r Row) ([]string, error) {
		if again(r) {
			return r.Measure()
		}
		if cells := c.rows[[2]string{r.Table, r.Name}]; cells != nil {
			return cells, nil
		}
		return nil, errors.New("the page has no such row")
	})
	if err != nil {
		return err
	}
	g, w := strings.Split(got, "\n"), strings.Split(c.text, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Errorf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		return fmt.Errorf("%d lines, want %d", len(w), len(g))
	}
	return nil
}

// The page in the repository is what the code makes: its text, and the rows that are
// measured again, to the last digit.
func TestPage(t *testing.T) {
	measured := 0
	err := read(t).against(func(r Row) bool {
		if sampled(r) {
			measured++
		}
		return sampled(r)
	})
	if err != nil {
		t.Errorf("docs/results/live.md: %v\nif that is intended, run: make live", err)
	}
	if measured < 20 {
		t.Errorf("only %d rows were measured again", measured)
	}
}

// A digit, a sentence, a quoted number or a row that the code does not make is found.
func TestPagePlanted(t *testing.T) {
	row := func(r Row) bool { return r.Table == hot && r.Name == "naimi-trehel" }
	for old, planted := range map[string]string{
		"| naimi-trehel | 2.37 /":          "| naimi-trehel | 2.36 /",
		"10,000 entries":                   "20,000 entries",
		"token-ring-lazy sends 2.19":       "token-ring-lazy sends 2.18",
		"| lamport | 6.00 / 12.0 / 24.0 /": "| another | 6.00 / 12.0 / 24.0 /",
	} {
		c := read(t)
		if !strings.Contains(c.text, old) {
			t.Errorf("the page does not say %q: plant something else", old)
		}
		c = parse(t, strings.Replace(c.text, old, planted, 1))
		if c.against(row) == nil {
			t.Errorf("%q in the place of %q is not found", planted, old)
		}
	}
}

// docs/protocol.md quotes the page.
func TestQuoted(t *testing.T) {
	b, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	c, n := read(t), 0
	for _, x := range tables(logs()) {
		if x.title != "An outage: 5 members, 3 voters, a lease of 10s" {
			continue
		}
		for _, r := range x.rows {
			n++
			if line := r.Line(c.rows[[2]string{r.Table, r.Name}]); !strings.Contains(string(b), "\n"+line) {
				t.Errorf("docs/protocol.md does not say\n%s", line)
			}
		}
	}
	if n == 0 {
		t.Error("nothing is quoted")
	}
}

// number returns a number of the page.
func (c committed) number(t *testing.T, table, row, column string, i int) float64 {
	t.Helper()
	for _, x := range tables(logs()) {
		for k, name := range x.columns {
			if cells := c.rows[[2]string{table, row}]; x.title == table && name == column && k < len(cells) {
				parts := strings.Split(cells[k], " / ")
				v, err := strconv.ParseFloat(parts[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
	}
	t.Fatalf("%s, %s: there is no %s", table, row, column)
	return 0
}

// The conclusion of the page agrees with its tables.
func TestConclusion(t *testing.T) {
	c := read(t)
	if strings.Contains(c.text, "?:") || strings.Contains(c.text, " ? ") {
		t.Error("a number is quoted that is not there")
	}
	const nt = "naimi-trehel"
	claim := func(holds bool, what string) {
		t.Helper()
		if !holds {
			t.Error("the page is wrong: " + what)
		}
	}
	for _, s := range catalog.Live() {
		for i, n := range sizes() {
			claim(s.Name == nt || c.number(t, local, nt, frames, i) < c.number(t, local, s.Name, frames, i), "naimi-trehel sends fewer frames with locality than "+s.Name)
			claim(c.number(t, hot, s.Name, sync, i) > 0.98, s.Name+" needs T to hand over")
			if n >= 5 {
				claim(s.Name == "token-ring-lazy" || c.number(t, hot, "token-ring-lazy", frames, i) < c.number(t, hot, s.Name, frames, i), "token-ring-lazy sends fewer frames on a hot lock than "+s.Name)
				claim(s.Name == "token-ring-lazy" || n == 5 || c.number(t, random, "token-ring-lazy", wait, i) > c.number(t, random, s.Name, wait, i), "token-ring-lazy is slower than "+s.Name)
			}
			if i >= 2 && s.Name != nt {
				claim(s.Name == "raymond" || c.number(t, local, "raymond", frames, i) < c.number(t, local, s.Name, frames, i), "raymond is the next")
			}
			claim(c.number(t, hot, nt, busiest, i) < 1.3 && c.number(t, local, nt, busiest, i) <= c.number(t, local, nt, busiest, 3) && c.number(t, random, nt, busiest, i) < 1.3, "no member is much busier than others")
		}
		for _, table := range []string{"A crash: locality, 9 members", "A crash: random locks, 9 members", "A crash: locality, 5 members", "A crash: random locks, 5 members"} {
			get := func(column string) float64 { return c.number(t, table, s.Name, column, 0) }
			claim(get("holder") == 100 && get("home, not used by others") == 100, "locks of which no member can know whether they are held stall")
			claim(get("neither") < 1 && get("earlier holder") < 1.5, "locks that the crashed member did not hold last do not stall")
			told := s.Name == "lamport" || s.Name == "maekawa"
			claim((get("last holder") > 98) == (!told && s.Name != "central"), "the last holder matters with "+s.Name)
			claim((get("home, used by others") == 100) == (s.Name == "central"), "the home of a lock that others used matters only with central")
			claim(!told || get("all") < c.number(t, table, nt, "all", 0)/4, s.Name+" lets few locks stall")
			claim(c.number(t, table, s.Name, "go on, T", 2) < 20, "the others are entered within a few T")
		}
		for _, choice := range []Choice{Local, Random} {
			longest := func(what string) float64 {
				return c.number(t, "A member joins or leaves: 9 members", s.Name, what+", "+string(choice), 2)
			}
			claim(longest("leaves") < 20 && longest("joins") < 500, "no request waits for a lease with "+s.Name)
		}
	}
	for i := 2; i < 4; i++ {
		claim(c.number(t, random, "central", frames, i) < c.number(t, random, nt, frames, i), "central sends fewer frames with random locks")
	}
	for _, other := range []string{"suzuki-kasami", "ricart-agrawala-token", "carvalho-roucairol"} {
		claim(c.number(t, local, other, wait, 2) < c.number(t, local, nt, wait, 2), other+" waits less")
		claim(c.number(t, local, other, frames, 2) < 4*c.number(t, local, nt, frames, 2), other+" sends up to four times as many frames with nine members")
	}
}
