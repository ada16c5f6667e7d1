package measure

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
)

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
