package measure

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
)

const file = "../../docs/results/live.md"

// A committed page is the one in the repository, with its rows.
type committed struct {
	text string
	rows map[[2]string][]string // by table and name
}

func read(t *testing.T) committed {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := committed{text: string(b), rows: map[[2]string][]string{}}
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

// docs/protocol.md quotes the page.
func TestQuoted(t *testing.T) {
	b, err := os.ReadFile("../../docs/protocol.md")
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
			claim(c.number(t, table, s.Name, "others, T", 2) < 20, "the others are entered within a few T")
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
