package measure

import (
	"fmt"
	"strings"
)

// Page makes docs/live.md. It says where it was made, and takes the cells of
// each row from say, which may measure them.
func Page(where string, say func(r Row) ([]string, error)) (string, error) {
	var b strings.Builder
	q := quotes{}
	for _, t := range tables() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.title, t.text)
		fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", t.of, strings.Join(t.columns, " | "), strings.Repeat("--:|", len(t.columns)))
		for _, r := range t.rows {
			cells, err := say(r)
			if err == nil && len(cells) != len(t.columns) {
				err = fmt.Errorf("%d cells for %d columns", len(cells), len(t.columns))
			}
			if err != nil {
				return "", fmt.Errorf("%s, %s: %w", r.Table, r.Name, err)
			}
			b.WriteString(r.Line(cells))
			for i, c := range cells {
				q[place{t.title, r.Name, t.columns[i]}] = strings.Split(c, " / ")
			}
		}
	}
	return intro(where, conclusion(q)) + b.String(), nil
}

// quotes are the numbers of a page, by where they are.
type quotes map[place][]string

type place struct{ table, row, column string }

// get returns a number; i says which of those in one cell.
func (q quotes) get(table, row, column string, i int) string {
	if c := q[place{table, row, column}]; i < len(c) {
		return c[i]
	}
	return "?"
}

// Line writes a row with its cells.
func (r Row) Line(cells []string) string {
	return fmt.Sprintf("| %s | %s |\n", r.Name, strings.Join(cells, " | "))
}

func tables() []table {
	all := []table{
		entries(Local, "19 in 20 requests of a member are for one of its own ten locks, the others for a lock of another member. Which member is the home of a lock is chance. N = 3 / 5 / 9 / 25."),
		entries(Hot, "All ask for the same lock, and rest for T in the mean (exponential) before they ask again, so that nearly always all others wait. N = 3 / 5 / 9 / 25."),
		entries(Random, "Every request is for any of the 10 N locks. N = 3 / 5 / 9 / 25."),
		handover(), varied(), sorts(),
	}
	for _, n := range []int{one, 5} {
		all = append(all, deaths(Local, n), deaths(Random, n))
	}
	return append(all, used(), early(one), early(5), orderly())
}

func intro(where, conclusion string) string {
	return `# What live locks cost

<!-- made by 'go run ./internal/measure/page': do not edit, run 'make live' -->
<!-- ` + where + ` -->

Which algorithm should run the locks of a live cluster? Here all that can are measured, as whole members (internal/member) and not as bare algorithms: what an entry costs while all is well, and what a death, a join and a leave cost those who are left. Time is simulated and chance comes from seed 1, so these numbers are the same on every machine; a test measures some rows again.

` + conclusion + `
## How it was measured

Members talk over reliable links that keep their order. A message takes T, or from T/2 to 3T/2 where that is said; computing takes no time. **Entries**: each member has one application, which asks for a lock, is inside for T, rests for 10 T in the mean (exponential) and asks again. 10,000 entries are counted after 2,000 that are not.

- *frames per entry*: all that members send each other, over the entries; renewals of leases are not in it.
- *synchronisation delay*: from one's exit to the next one's entry, in T, if somebody waited at the exit.
- *client delay*: from request to entry, in T, if nobody was inside or waited at the request.
- *wait*: from request to entry, in T, whoever was inside or waited.
- *busiest member*: the frames that it sends and gets, over those of a mean member.

**Deaths**: 2,000 locks, and 90 applications on all members together, each inside for 10 T and resting for 10 T in the mean (both exponential). Messages take from T/2 to 3T/2, and T is 1 ms. In as many runs as there are members, each of them dies once, 2 to 4 s after the start, spread evenly over the 2 s between two renewals of its lease. The lease is 10 s, and clocks may differ by 1 %, so that the view service counts 10.2 s from the last renewal it heard of. When half of that is over it evicts the dead member: 3.1 to 5.1 s after the death. The others then hear of the next view within 1.5 T; each lock is asked for by one of them, any, as soon as it is in that view. Nobody else asks after the death.

A lock *stalls* if it is entered only when the lease of the dead is over. That depends on what the dead was to the lock; each lock is of the first sort that fits:

- *inside*: it was inside when it died.
- *home, others used it*: it was the lock's home (the member that every view begins with inside), and others had asked for the lock too.
- *home, nobody else did*: it was the home, and nobody else had asked. Nobody can know then whether it is inside.
- *last inside*: it was the last one inside, and had left.
- *used it before*: it had asked for the lock, and others were inside after it.
- *neither*: it was not the home, and had never asked.
`
}
