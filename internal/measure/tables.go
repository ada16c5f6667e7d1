package measure

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A table is one of docs/live.md.
type table struct {
	title, text string
	of          string // what its rows are about
	columns     []string
	rows        []Row
}

// A Row is a row of a table: what it is about, and how its cells are measured.
type Row struct {
	Table   string // its title
	Name    string
	Measure func() ([]string, error)
}

// each gives a table a row for each algorithm that runs live.
func (t table) each(cells func(s core.Spec) ([]string, error)) table {
	t.of = "algorithm"
	for _, s := range catalog.Live() {
		t.rows = append(t.rows, Row{t.title, s.Name, func() ([]string, error) { return cells(s) }})
	}
	return t
}

// sizes are the numbers of members for which entries are measured.
func sizes() []int { return []int{3, 5, 9, 25} }

// one is how many members there are where only one number is measured.
const one = 9

// load returns what the tables of entries measure.
func load(c Choice, n int) (Load, Budget) {
	l := Load{Choice: c, Locks: 10 * n, Apps: 1, Latency: scenario.Always(T), Hold: scenario.Always(T), Think: exp(10 * T), Seed: 1}
	if c == Hot {
		l.Locks, l.Think = 1, exp(T)
	}
	return l, Budget{Warm: 2000, Entries: 10_000}
}

func exp(mean int64) scenario.Dist { return scenario.Dist{Shape: scenario.Exponential, A: mean} }

// varying is a latency of T in the mean.
func varying() scenario.Dist { return scenario.Dist{Shape: scenario.Uniform, A: T / 2, B: 3 * T / 2} }

// entries is a table of what entries cost.
func entries(c Choice, text string) table {
	t := table{
		title: "Entries: " + string(c), text: text,
		columns: []string{"frames per entry", "synchronisation delay", "client delay", "wait", "busiest member"},
	}
	return t.each(func(s core.Spec) ([]string, error) {
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

// handover is a table of what entries cost if several ask at each member.
func handover() table {
	apps := []int{1, 4, 16, 64}
	return table{
		title:   "Entries: several applications at each member",
		text:    fmt.Sprintf("One hot lock and %d members, with 1 / 4 / 16 / 64 applications at each. A member that is inside lets up to 16 of its own in, one after the other, before the others have their turn; that costs no frame and no time.", one),
		columns: []string{"frames per entry", "synchronisation delay", "busiest member"},
	}.each(func(s core.Spec) ([]string, error) {
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

// varied is a table of what entries cost if messages take different times.
func varied() table {
	return table{
		title:   "Entries: messages that take from T/2 to 3T/2",
		text:    fmt.Sprintf("%d members; first as above, with messages that all take T, then with such that take anything from T/2 to 3T/2, each link keeping its order.", one),
		columns: []string{"locality: frames", "one hot lock: frames", "one hot lock: synchronisation delay", "random locks: frames", "random locks: client delay"},
	}.each(func(s core.Spec) ([]string, error) {
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

// changeLoad returns what the tables of changes measure: as many applications
// whatever the number of members.
func changeLoad(c Choice, n int) Load {
	return Load{Choice: c, Locks: 2000, Apps: 90 / n, Latency: varying(), Hold: exp(10 * T), Think: exp(10 * T), Seed: 1}
}

// change returns what happens, and when: over one interval between renewals.
func change(w What, early bool) Change {
	return Change{What: w, Early: early, From: 2000 * T, To: 4000 * T}
}

// deaths is a table of what a death does to locks that are asked for in the next
// view.
func deaths(c Choice, n int) table {
	return table{
		title:   fmt.Sprintf("A death: %s, %d members", c, n),
		text:    "Of the locks of each sort, and of all, how many per cent stall. Behind it, how long the others take from the asking on, in T, and those that stall from the death on, in ms and in leases: half of them / 99 per cent / all.",
		columns: append(sortNames(), "all", "go on, T", "stall, ms", "stall, leases"),
	}.each(func(s core.Spec) ([]string, error) {
		a, err := After(change(Dies, false), s, n, changeLoad(c, n))
		if err != nil {
			return nil, err
		}
		var cells []string
		for p := range Parts {
			cells = append(cells, percent(a.Stalled[p], a.Locks[p]))
		}
		return append(cells, percent(a.All()), spread(a.Passed, T, 1), spread(a.Waited, T, 0), spread(a.Waited, 10_000*T, 2)), nil
	})
}

// sorts is a table of how many locks of each sort there are.
func sorts() table {
	t := table{
		title: "A death: how many locks are of each sort", of: "load",
		text:    "In per cent, and how often a lock was entered before the death, in the mean; with naimi-trehel. The others differ little.",
		columns: append(sortNames(), "entries"),
	}
	for _, n := range []int{one, 5} {
		for _, c := range []Choice{Local, Random} {
			t.rows = append(t.rows, Row{t.title, fmt.Sprintf("%s, %d members", c, n), func() ([]string, error) { return sortsOf(c, n) }})
		}
	}
	return t
}

// sortNames are the heads of columns, one for each sort of lock.
func sortNames() []string {
	return []string{"inside", "home, others used it", "home, nobody else did", "last inside", "used it before", "neither"}
}

// sortsOf is a row of sorts.
func sortsOf(c Choice, n int) ([]string, error) {
	a, err := After(change(Dies, false), catalog.Live()[0], n, changeLoad(c, n))
	if err != nil {
		return nil, err
	}
	var cells []string
	_, all := a.All()
	for p := range Parts {
		cells = append(cells, percent(a.Locks[p], all))
	}
	return append(cells, number(float64(a.Entries)/float64(all))), nil
}

// used is a table of what it matters how often locks were used before a death.
func used() table {
	t := table{
		title: "A death: how often locks were used before", of: "load",
		text:    fmt.Sprintf("With naimi-trehel and %d members, a death early in a view: how many per cent of the locks stall whose home the dead was, which it had used and is not the home of, and of all. What a home never told anybody of, nobody knows of.", one),
		columns: []string{"entries per lock", "home", "used", "all"},
	}
	for _, from := range []int64{100, 500, 2000} {
		for _, c := range []Choice{Local, Random} {
			row := fmt.Sprintf("%s, %.1f to %.1f s", c, float64(from)/1000, float64(from+200)/1000)
			t.rows = append(t.rows, Row{t.title, row, func() ([]string, error) { return usedOf(c, from*T) }})
		}
	}
	return t
}

// usedOf is a row of used.
func usedOf(c Choice, from int64) ([]string, error) {
	a, err := After(Change{What: Dies, From: from, To: from + 200*T}, catalog.Live()[0], one, changeLoad(c, one))
	if err != nil {
		return nil, err
	}
	_, all := a.All()
	return []string{
		number(float64(a.Entries) / float64(all)),
		percent(a.Stalled[HomeUsed]+a.Stalled[HomeOnly], a.Locks[HomeUsed]+a.Locks[HomeOnly]),
		percent(a.Stalled[Last]+a.Stalled[Before], a.Locks[Last]+a.Locks[Before]),
		percent(a.All()),
	}, nil
}

// early is a table of what becomes of those who ask right at the death.
func early(n int) table {
	t := table{
		title: fmt.Sprintf("A death: asked for at once, %d members", n),
		text:  "Every lock is asked for at the moment of the death, by somebody who is left and does not know of it yet: how many per cent are entered before the eviction / with the next view / when the lease of the dead is over.",
	}
	choices := []Choice{Local, Random}
	for _, c := range choices {
		t.columns = append(t.columns, string(c))
	}
	return t.each(func(s core.Spec) ([]string, error) {
		var cells []string
		for _, c := range choices {
			a, err := After(change(Dies, true), s, n, changeLoad(c, n))
			if err != nil {
				return nil, err
			}
			stalled, all := a.All()
			cells = append(cells, strings.Join([]string{percent(a.Kept, all), percent(all-stalled-a.Kept, all), percent(stalled, all)}, " / "))
		}
		return cells, nil
	})
}

// orderly is a table of what a member costs that joins or leaves.
func orderly() table {
	t := table{
		title: fmt.Sprintf("A member joins or leaves: %d members", one),
		text:  "Nobody dies; every lock is asked for in the next view. How long those take that nobody else was inside of or waited for, from the asking to the entry, in T: half of them / 99 per cent / all.",
	}
	choices := []Choice{Local, Random}
	for _, w := range []string{"joins", "leaves"} {
		for _, c := range choices {
			t.columns = append(t.columns, fmt.Sprintf("%s, %s", w, c))
		}
	}
	return t.each(func(s core.Spec) ([]string, error) {
		var cells []string
		for _, w := range []What{Joins, Leaves} {
			for _, c := range choices {
				a, err := After(change(w, false), s, one, changeLoad(c, one))
				if err != nil {
					return nil, err
				}
				cells = append(cells, spread(a.Passed, T, 1))
			}
		}
		return cells, nil
	})
}

// join writes what was measured for several numbers into one cell each.
func join(cells [][]string) []string {
	var all []string
	for _, c := range cells {
		all = append(all, strings.Join(c, " / "))
	}
	return all
}

// number writes a number so that it can be compared with others.
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

// spread writes the median, the 99th percentile and the largest of sorted times.
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
