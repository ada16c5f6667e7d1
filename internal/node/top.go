package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/words"
)

// The values of LockQuery.By.
const (
	ByWait = "wait" // whose first requests here have waited longest
	ByHold = "hold" // that are held longest through this node
	ByRate = "rate" // that were acquired most often here in the last seconds
)

const (
	maxTop        = 100    // the maximum of LockQuery.Top, so that the answer is not too long
	maxBusy       = 10_000 // more than are known
	maxTopWaiters = 10     // waiters of a lock that are listed, where there are few
)

// top answers a query for the first locks by a criterion, of those that may be listed, as far
// as they fit.
func (n *Node) top(m *member.Member, q *LockQuery, may func(name []byte) bool) ([]byte, error) {
	names, err := n.first(m, q, may)
	if err != nil {
		return nil, err
	}
	page := LockPage[json.RawMessage]{Locks: []json.RawMessage{}}
	size := 0
	for _, name := range names {
		w, known := m.Inspect(name)
		more := fewWaiters(&w)
		l := n.describe(m, &w)
		if l.Unlisted += more; !known {
			n.unused(&l, name)
		}
		if n.meter != nil {
			l.Acquired = n.meter.Count(name)
		}
		b, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		if size += len(b) + 1; size > maxAnswer/2 {
			break
		}
		page.Locks = append(page.Locks, b)
	}
	return json.Marshal(page)
}

// first returns the names of the first locks by the criterion of a query.
func (n *Node) first(m *member.Member, q *LockQuery, may func(name []byte) bool) ([]string, error) {
	most := min(q.Top, maxTop)
	switch q.By {
	case "":
		names := n.busiest(most, false, may)
		for _, name := range longest(m, most, waitsSince, may) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names, nil
	case ByWait:
		return longest(m, most, waitsSince, may), nil
	case ByHold:
		return longest(m, most, heldSince, may), nil
	case ByRate:
		return n.busiest(most, true, may), nil
	}
	return nil, fmt.Errorf("locks cannot be sorted by %s: want %s, %s or %s", words.Quoted(q.By), ByWait, ByHold, ByRate)
}

// busiest returns the names of locks that are acquired often: of all time, or lately.
func (n *Node) busiest(most int, lately bool, may func(name []byte) bool) (names []string) {
	if n.meter == nil {
		return nil
	}
	all := n.meter.Busiest
	if lately {
		all = func(most int) []meter.Busy { return n.meter.Hottest(n.clock(), most) }
	}
	for _, b := range all(maxBusy) {
		if len(names) < most && may([]byte(b.Name)) {
			names = append(names, b.Name)
		}
	}
	return names
}

// longest returns the names of locks for which something has lasted longest.
func longest(m *member.Member, most int, since func(q *member.Queue) member.Instant, may func(name []byte) bool) []string {
	type one struct {
		name  string
		since member.Instant
	}
	var all []one
	cut := func() {
		slices.SortFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.name, b.name)) })
		all = all[:min(len(all), most)]
	}
	for q := range m.Queues {
		if at := since(&q); at != member.Never && may(q.Name) {
			if all = append(all, one{string(q.Name), at}); len(all) >= 4*most {
				cut()
			}
		}
	}
	cut()
	names := make([]string, 0, len(all))
	for _, x := range all {
		names = append(names, x.name)
	}
	return names
}

// waitsSince returns since when a lock is waited for; Never if it is not.
func waitsSince(q *member.Queue) member.Instant { return q.Since }

// heldSince returns since when a lock is held; Never if it is not.
func heldSince(q *member.Queue) member.Instant { return q.Entered }
