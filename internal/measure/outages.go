package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// outageSeeds is the number of clusters in which each outage happens.
const outageSeeds = 40

// groups returns the clusters in which outages happen.
func groups(logs views.Logs) []Group {
	var all []Group
	for _, s := range []member.Settings{member.Usual(), brief()} {
		for _, n := range [][2]int{{3, 3}, {5, 3}, {5, 5}, {9, 3}, {9, 5}} {
			all = append(all, Group{Members: n[0], Voters: n[1], Settings: s, Logs: logs})
		}
	}
	return all
}

// title returns the title of the table of a group.
func (g *Group) title() string {
	return fmt.Sprintf("An outage: %d members, %d voters, a lease of %s", g.Members, g.Voters, g.Settings.Lease)
}

// outages returns the tables of what outages cost.
func outages(logs views.Logs) []table {
	var all []table
	for _, g := range groups(logs) {
		t := table{
			title: g.title(), of: "what happens",
			text:    "In ms: median / longest. Then how many locks the other members have lost.",
			columns: []string{"its lock", "another lock", "new leader", "view", "renewal", "leave", "lost"},
		}
		for _, o := range Outages() {
			if o.Possible(&g) {
				t.rows = append(t.rows, Row{t.title, o.Name, func() ([]string, error) { return outageOf(o, g) }})
			}
		}
		all = append(all, t)
	}
	return all
}

// outageOf measures a row of a table of outages.
func outageOf(o Outage, g Group) ([]string, error) {
	var all [6][]int64
	lost := 0
	for seed := range uint64(outageSeeds) {
		x, err := o.Measure(g, seed+1)
		if err != nil {
			return nil, err
		}
		for i, v := range []int64{x.Next, x.Other, x.Serves, x.View, x.Renewal, x.Free} {
			all[i] = append(all[i], v)
		}
		lost += x.Lost
	}
	var cells []string
	for i, times := range all {
		decimals := 0
		if i == 1 {
			decimals = 1
		}
		cells = append(cells, middle(times, decimals))
	}
	return append(cells, fmt.Sprint(lost)), nil
}

// middle formats the median and the maximum of some times, in ms. A negative time means
// that the awaited event did not happen.
func middle(times []int64, decimals int) string {
	slices.Sort(times)
	if times[len(times)-1] < 0 {
		return "–"
	}
	never := func(i int) string {
		if times[i] < 0 {
			return "never"
		}
		return fmt.Sprintf("%.*f", decimals, float64(times[i])/T)
	}
	if times[0] < 0 {
		return "never"
	}
	return strings.Join([]string{never(len(times) / 2), never(len(times) - 1)}, " / ")
}
