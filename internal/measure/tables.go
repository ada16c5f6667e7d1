package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/scenario"
)

// A table is a table of docs/results/live.md.
type table struct {
	title, text string
	of          string // subject of its rows
	columns     []string
	rows        []Row
}

// A Row is a row of a table: its name, and how to measure its cells.
type Row struct {
	Table   string // title of its table
	Name    string
	Measure func() ([]string, error)
}

// each gives a table a row for each algorithm that runs live.
func (t table) each(cells func(s algorithm.Spec) ([]string, error)) table {
	t.of = "algorithm"
	for _, s := range catalog.Live() {
		t.rows = append(t.rows, Row{t.title, s.Name, func() ([]string, error) { return cells(s) }})
	}
	return t
}

// sizes returns the numbers of members for which entries are measured.
func sizes() []int { return []int{3, 5, 9, 25} }

// one is the number of members where only one size is measured.
const one = 9

// load returns the load for the tables of entries.
func load(c Choice, n int) (Load, Budget) {
	l := Load{Choice: c, Locks: 10 * n, Apps: 1, Latency: scenario.Always(T), Hold: scenario.Always(T), Think: exp(10 * T), Seed: 1}
	if c == Hot {
		l.Locks, l.Think = 1, exp(T)
	}
	return l, Budget{Warm: 2000, Entries: 10_000}
}

func exp(mean int64) scenario.Dist { return scenario.Exponential(mean) }

// varying is a latency with the mean T.
func varying() scenario.Dist { return scenario.Uniform(T/2, 3*T/2) }

// entries is the table of what entries cost.
func entries(c Choice, text string) table {
	t := table{
		title: "Entries: " + string(c), text: text,
		columns: []string{"frames per entry", "synchronisation delay", "client delay", "wait", "busiest member"},
	}
	return t.each(func(s algorithm.Spec) ([]string, error) {
		cells := make([][]string, len(t.columns))
		for _, n := range sizes() {
			l, b := load(c, n)
			m, err := Costs(s, n, l, b)
			if err != nil {
				return nil, err
			}
			for i, x := range []float64{m.Frames, m.Sync, m.Client, m.Wait, m.Busiest} {
				cells[i] = append(cells[i], number(x))
			}
		}
		return join(cells), nil
	})
}

// handover is the table of what entries cost with several applications at each member.
func handover() table {
	apps := []int{1, 4, 16, 64}
	return table{
		title:   "Entries: several applications at each member",
		text:    fmt.Sprintf("One hot lock and %d members, with 1 / 4 / 16 / 64 applications at each. A member that has the lock lets up to 16 of its own applications enter, one after the other, before other members have their turn. That costs no frame and no time.", one),
		columns: []string{"frames per entry", "synchronisation delay", "busiest member"},
	}.each(func(s algorithm.Spec) ([]string, error) {
		cells := make([][]string, 3)
		for _, k := range apps {
			l, b := load(Hot, one)
			l.Apps = k
			m, err := Costs(s, one, l, b)
			if err != nil {
				return nil, err
			}
			for i, x := range []float64{m.Frames, m.Sync, m.Busiest} {
				cells[i] = append(cells[i], number(x))
			}
		}
		return join(cells), nil
	})
}

// kept is the table of what entries of kept locks cost, beside central.
func kept() table {
	t := table{
		title: "Entries: kept locks", of: "lock",
		text:    "[Kept locks](../kept.md) have a home that grants them, as central has a coordinator. With one hot lock, *shared* and *units* let all applications in at once. N = 3 / 5 / 9 / 25.",
		columns: []string{"random locks: frames", "random locks: client delay", "one hot lock: frames", "one hot lock: wait"},
	}
	for _, x := range []struct {
		name  string
		kept  bool
		terms member.Terms
	}{
		{"central", false, member.Terms{}},
		{"kept, exclusive", true, member.Terms{}},
		{"kept, shared", true, member.Terms{Mode: deadlock.Shared}},
		{"kept, 1 of 25 units", true, member.Terms{Mode: 1, Units: 25}},
	} {
		t.rows = append(t.rows, Row{t.title, x.name, func() ([]string, error) {
			cells := make([][]string, len(t.columns))
			for _, n := range sizes() {
				var m [2]Cost
				for i, c := range []Choice{Random, Hot} {
					l, b := load(c, n)
					l.Kept, l.Terms = x.kept, x.terms
					var err error
					if m[i], err = Costs(centrally(), n, l, b); err != nil {
						return nil, err
					}
				}
				for i, v := range []float64{m[0].Frames, m[0].Client, m[1].Frames, m[1].Wait} {
					cells[i] = append(cells[i], number(v))
				}
			}
			return join(cells), nil
		}})
	}
	return t
}

// centrally returns central.
func centrally() algorithm.Spec {
	all := catalog.Live()
	return all[slices.IndexFunc(all, func(s algorithm.Spec) bool { return s.Name == "central" })]
}

// varied is the table of what entries cost if latencies vary.
func varied() table {
	return table{
		title:   "Entries: messages that take from T/2 to 3T/2",
		text:    fmt.Sprintf("%d members: first with messages that all take T, as above, then with messages that take from T/2 to 3T/2. Each link keeps their order.", one),
		columns: []string{"locality: frames", "one hot lock: frames", "one hot lock: synchronisation delay", "random locks: frames", "random locks: client delay"},
	}.each(func(s algorithm.Spec) ([]string, error) {
		cells := make([][]string, 5)
		for _, latency := range []scenario.Dist{scenario.Always(T), varying()} {
			var m [3]Cost
			for i, c := range []Choice{Local, Hot, Random} {
				l, b := load(c, one)
				l.Latency = latency
				var err error
				if m[i], err = Costs(s, one, l, b); err != nil {
					return nil, err
				}
			}
			for i, x := range []float64{m[0].Frames, m[1].Frames, m[1].Sync, m[2].Frames, m[2].Client} {
				cells[i] = append(cells[i], number(x))
			}
		}
		return join(cells), nil
	})
}

// join joins what was measured for several sizes into one cell each.
func join(cells [][]string) []string {
	var all []string
	for _, c := range cells {
		all = append(all, strings.Join(c, " / "))
	}
	return all
}

// number formats a number with at least three digits.
func number(x float64) string {
	switch {
	case x < 0:
		return "–" // there was nothing to measure
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func percent(part, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(all))
}

// spread formats the median, the 99th percentile and the maximum of sorted times.
func spread(all []int64, unit int64, decimals int) string {
	if len(all) == 0 {
		return "–"
	}
	var cells []string
	for _, i := range []int{len(all) / 2, len(all) * 99 / 100, len(all) - 1} {
		cells = append(cells, fmt.Sprintf("%.*f", decimals, float64(all[i])/float64(unit)))
	}
	return strings.Join(cells, " / ")
}
