package measure

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// changeLoad returns the load for the tables of changes. The number of applications does
// not depend on the number of members.
func changeLoad(c Choice, n int) Load {
	return Load{Choice: c, Locks: 2000, Apps: 90 / n, Latency: varying(), Hold: exp(10 * T), Think: exp(10 * T), Seed: 1}
}

// change returns what happens, and when: within one interval between renewals.
func change(w What, early bool) Change {
	return Change{What: w, Early: early, From: 2000 * T, To: 4000 * T}
}

// crashes is the table of the effects of a crash on locks that are requested in the next
// view.
func crashes(c Choice, n int) table {
	return table{
		title:   fmt.Sprintf("A crash: %s, %d members", c, n),
		text:    "Percentage of locks that stall, by kind and in total. Then the time from request to entry of the others, in T, and the time from the crash to the entry of those that stall, in ms and in leases: median / 99th percentile / longest.",
		columns: append(sortNames(), "all", "others, T", "stall, ms", "stall, leases"),
	}.each(func(s algorithm.Spec) ([]string, error) {
		a, err := After(change(Crashes, false), s, n, changeLoad(c, n))
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

// sorts is the table of the number of locks of each sort.
func sorts() table {
	t := table{
		title: "A crash: locks of each kind", of: "load",
		text:    "In percent, and the mean number of entries of a lock before the crash, with naimi-trehel. The other algorithms differ little.",
		columns: append(sortNames(), "entries"),
	}
	for _, n := range []int{one, 5} {
		for _, c := range []Choice{Local, Random} {
			t.rows = append(t.rows, Row{t.title, fmt.Sprintf("%s, %d members", c, n), func() ([]string, error) { return sortsOf(c, n) }})
		}
	}
	return t
}

// sortNames returns the column headings, one for each sort of lock.
func sortNames() []string {
	return []string{"holder", "home, used by others", "home, not used by others", "last holder", "earlier holder", "neither"}
}

// sortsOf is a row of sorts.
func sortsOf(c Choice, n int) ([]string, error) {
	a, err := After(change(Crashes, false), catalog.Live()[0], n, changeLoad(c, n))
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

// used is the table of how the use of locks before a crash matters.
func used() table {
	t := table{
		title: "A crash: earlier use of locks", of: "load",
		text:    fmt.Sprintf("A crash early in a view, with naimi-trehel and %d members: percentage of locks that stall among those whose home the crashed member was, among others that it had used, and in total. If only the home has used a lock, no other member knows whether it is held.", one),
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
	a, err := After(Change{What: Crashes, From: from, To: from + 200*T}, catalog.Live()[0], one, changeLoad(c, one))
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

// early is the table of the fate of requests that are made at the moment of the crash.
func early(n int) table {
	t := table{
		title: fmt.Sprintf("A crash: requested at once, %d members", n),
		text:  "Every lock is requested at the moment of the crash, by one of the other members, which does not know of the crash yet. Percentage of locks that are entered before the eviction / with the next view / when the lease of the crashed member expires.",
	}
	choices := []Choice{Local, Random}
	for _, c := range choices {
		t.columns = append(t.columns, string(c))
	}
	return t.each(func(s algorithm.Spec) ([]string, error) {
		var cells []string
		for _, c := range choices {
			a, err := After(change(Crashes, true), s, n, changeLoad(c, n))
			if err != nil {
				return nil, err
			}
			stalled, all := a.All()
			cells = append(cells, strings.Join([]string{percent(a.Kept, all), percent(all-stalled-a.Kept, all), percent(stalled, all)}, " / "))
		}
		return cells, nil
	})
}

// orderly is the table of what a join and a leave cost.
func orderly() table {
	t := table{
		title: fmt.Sprintf("A member joins or leaves: %d members", one),
		text:  "Every lock is requested in the next view. Time from request to entry of locks that are neither held nor waited for, in T: median / 99th percentile / longest.",
	}
	choices := []Choice{Local, Random}
	for _, w := range []string{"joins", "leaves"} {
		for _, c := range choices {
			t.columns = append(t.columns, fmt.Sprintf("%s, %s", w, c))
		}
	}
	return t.each(func(s algorithm.Spec) ([]string, error) {
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
