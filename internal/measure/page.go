package measure

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// Page produces docs/results/live.md. The page says where it was measured. logs are the
// logs of the voters, and say returns the cells of each row, which it may measure.
func Page(where string, logs views.Logs, say func(r Row) ([]string, error)) (string, error) {
	var b strings.Builder
	q := quotes{}
	for _, t := range tables(logs) {
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

// quotes are the numbers of a page, by place.
type quotes map[place][]string

type place struct{ table, row, column string }

// get returns a number; i selects among those in one cell.
func (q quotes) get(table, row, column string, i int) string {
	if c := q[place{table, row, column}]; i < len(c) {
		return c[i]
	}
	return "?"
}

// Line formats a row with its cells.
func (r Row) Line(cells []string) string {
	return fmt.Sprintf("| %s | %s |\n", r.Name, strings.Join(cells, " | "))
}

func tables(logs views.Logs) []table {
	all := []table{
		entries(Local, "19 in 20 requests of a member are for one of its own ten locks, the others for a lock of another member. The home of a lock is random. N = 3 / 5 / 9 / 25."),
		entries(Hot, "All requests are for the same lock. Applications rest for T on average (exponential), so that nearly all others are waiting at any time. N = 3 / 5 / 9 / 25."),
		entries(Random, "Every request is for any of the 10 N locks. N = 3 / 5 / 9 / 25."),
		handover(), kept(), varied(), sorts(),
	}
	for _, n := range []int{one, 5} {
		all = append(all, crashes(Local, n), crashes(Random, n))
	}
	all = append(all, used(), early(one), early(5), orderly())
	return append(all, outages(logs)...)
}

func intro(where, conclusion string) string {
	return `# What live locks cost

<!-- made by 'go run ./internal/measure/page': do not edit, run 'make live' -->
<!-- ` + where + ` -->

Which algorithm should run the locks of a live cluster? This page measures all algorithms that can, in whole processes (internal/process) and not on their own: what an entry costs in a healthy cluster, and what a crash, a join and a leave cost the other members. The last tables measure the view service: what the crash of a voter, of the leader and of a holder cost. Time is simulated and chance comes from seeds, so the numbers are the same on every machine.

` + conclusion + `
## How it was measured

Processes are connected by links that lose nothing and keep the order of messages. A message takes T, or from T/2 to 3T/2 where the table says so. Computing and saving take no time. **Entries**: each member has one application, which requests a lock, holds it for T, rests for 10 T on average (exponential) and requests the next. 10,000 entries are measured after 2,000 that are not. No member is a voter, and the view service answers after a round trip.

- *frames per entry*: all frames between members, over the entries. It counts neither renewals of leases nor confirmations of links.
- *synchronisation delay*: from a release to the next entry, in T, if an application waited at the release.
- *client delay*: from request to entry, in T, if the lock was neither held nor waited for.
- *wait*: from request to entry, in T, of all requests.
- *busiest member*: the frames that it sends and receives, over those of an average member.

**Crashes**: 2,000 locks, and 90 applications on all members together, each of which holds locks for 10 T and rests for 10 T on average (both exponential). Messages take from T/2 to 3T/2, and T is 1 ms. There are as many runs as members. In each another member crashes, 2 to 4 s after the start, spread evenly over the 2 s between two renewals of its lease. The lease is 10 s, and clocks may differ by 1 %, so the view service counts 10.2 s from the last renewal that it received. After half of that it evicts the crashed member: 3.1 to 5.1 s after the crash. The others learn of the next view within 1.5 T. Each lock is then requested by one of them, chosen at random, as soon as it is in that view. There are no other requests after the crash.

A lock *stalls* if it is entered only when the lease of the crashed member has expired. That depends on what the member was to the lock. Each lock is of the first kind that applies:

- *holder*: the member held the lock when it crashed.
- *home, used by others*: it was the lock's home (the member that has the lock when a view begins), and others had requested the lock too.
- *home, not used by others*: it was the home, and no other member had requested the lock. Then no other member can know whether it is held.
- *last holder*: it was the last holder, and had released the lock.
- *earlier holder*: it had requested the lock, and others held it later.
- *neither*: it was not the home, and had never requested the lock.

**Outages**: some members are voters, with a log on a simulated disk. Messages take from T/2 to 3T/2, and locks use naimi-trehel. All times are those of a real node. A voter ticks 20 times for each renewal: every 100 ms with a lease of 10 s and a renewal every 2 s, and every 10 ms with a tenth of both. A leader sends a heartbeat every ` + fmt.Sprint(process.Heartbeat) + ` ticks. A voter that has not received one for ` + fmt.Sprint(process.Election) + ` to ` + fmt.Sprint(2*process.Election-1) + ` ticks, a random number, starts an election. Each outage happens in ` + fmt.Sprint(outageSeeds) + ` clusters, at a random time between two renewals. Every other member holds a lock all the time. Times are from the outage on, unless noted:

- *its lock*: until the lock that the victim held is entered by the process that waits for it. A process that leaves releases its lock at once.
- *another lock*: the longest wait of two other members that use one lock in turns, which they hold for 10 T and rest from for 10 T on average. The victim does not use it.
- *new leader*: until another leader serves.
- *view*: until all other members are in a view without the victim.
- *renewal*: the longest time that a renewal of another member was not confirmed, from when it was sent. A leader confirms at its next tick.
- *leave*: until the process that leaves learns that it may stop.
- *lost*: locks that other members lost because a lease expired.

A paused leader does nothing for two leases. It is evicted meanwhile, and joins again when it resumes.
`
}
