package measure

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/peer"
)

// Page makes docs/live.md. It says where it was made, takes empty disks for voters
// from disk, and the cells of each row from say, which may measure them.
func Page(where string, disk func() engine.Store, say func(r Row) ([]string, error)) (string, error) {
	var b strings.Builder
	q := quotes{}
	for _, t := range tables(disk) {
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

func tables(disk func() engine.Store) []table {
	all := []table{
		entries(Local, "19 in 20 requests of a member are for one of its own ten locks, the others for a lock of another member. Which member is the home of a lock is chance. N = 3 / 5 / 9 / 25."),
		entries(Hot, "All ask for the same lock, and rest for T in the mean (exponential) before they ask again, so that nearly always all others wait. N = 3 / 5 / 9 / 25."),
		entries(Random, "Every request is for any of the 10 N locks. N = 3 / 5 / 9 / 25."),
		handover(), varied(), sorts(),
	}
	for _, n := range []int{one, 5} {
		all = append(all, deaths(Local, n), deaths(Random, n))
	}
	all = append(all, used(), early(one), early(5), orderly())
	return append(all, outages(disk)...)
}

func intro(where, conclusion string) string {
	return `# What live locks cost

<!-- made by 'go run ./internal/measure/page': do not edit, run 'make live' -->
<!-- ` + where + ` -->

Which algorithm should run the locks of a live cluster? Here all that can are measured, as whole members (internal/member) and not as bare algorithms: what an entry costs while all is well, and what a death, a join and a leave cost those who are left. At last whole processes (internal/peer) with the view service and its voters are measured: what the death of a voter, of the leader and of a holder cost. Time is simulated and chance comes from seeds, so these numbers are the same on every machine; a test measures some rows again.

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

**Outages**: whole processes, each a member, some of them voters with a log on a simulated disk; messages take from T/2 to 3T/2, locks are those of naimi-trehel. Times are those of a node. A voter ticks 20 times for each renewal, every 100 ms with a lease of 10 s and a renewal every 2 s, every 10 ms with a tenth of both. A leader is heard every ` + fmt.Sprint(peer.Heartbeat) + ` ticks; a voter that does not hear it for ` + fmt.Sprint(peer.Election) + ` to ` + fmt.Sprint(2*peer.Election-1) + ` ticks, as chance says, wants to lead. Each outage happens to ` + fmt.Sprint(outageSeeds) + ` clusters, at any moment between two renewals. Every member that is left holds a lock all the time. Times are from when it happens, where nothing else is said:

- *its lock*: until the lock that the dead one held, or the one that leaves, is entered by who waits for it.
- *another lock*: the longest wait of two who are left and use one lock in turns, being inside for 10 T and resting for 10 T in the mean; whoever dies has nothing to do with it.
- *a leader serves*: until another one does.
- *view*: until all who are left are in a view without the dead.
- *renewal*: the longest that a renewal of one who is left was not confirmed, from when it was sent. A leader confirms at its next tick.
- *may end*: until the one that leaves hears that it may.
- *lost*: locks that those who are left had to give up because a lease was over.

"The leader stands still" for two leases, and then goes on as if nothing had happened.
`
}
