package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	maxBusy       = 10_000 // more than are known: a few hundred
	maxTopWaiters = 10     // waiters of a lock that are listed, where there are few
)

// first returns the names of the first locks by the criterion of a query.
func (l *listing) first() ([]string, error) {
	most := min(l.q.Top, maxTop)
	switch l.q.By {
	case "":
		names, err := l.busiest(most, false)
		if err != nil {
			return nil, err
		}
		others, err := l.longest(most, waitsSince)
		for _, name := range others {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names, err
	case ByWait:
		return l.longest(most, waitsSince)
	case ByHold:
		return l.longest(most, heldSince)
	case ByRate:
		return l.busiest(most, true)
	}
	return nil, fmt.Errorf("locks cannot be sorted by %s: want %s, %s or %s", words.Quoted(l.q.By), ByWait, ByHold, ByRate)
}

// busiest returns the names of locks that are acquired often: of all time, or lately.
func (l *listing) busiest(most int, lately bool) (names []string, err error) {
	n := l.n
	if n.meter == nil {
		return nil, nil
	}
	var all []meter.Busy
	err = l.hold(func(*member.Member) {
		if lately {
			all = n.meter.Hottest(n.clock(), maxBusy)
		} else {
			all = n.meter.Busiest(maxBusy)
		}
		l.items = len(all)
	})
	for _, b := range all {
		if len(names) < most && strings.HasPrefix(b.Name, l.q.Prefix) && l.may([]byte(b.Name)) {
			names = append(names, b.Name)
		}
	}
	return names, err
}

// longest returns the names of locks for which something has lasted longest.
func (l *listing) longest(most int, since func(q *member.Queue) member.Instant) ([]string, error) {
	var all []found
	cut := func() { // a kept lock may be there several times: its first request counts
		slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
		seen := map[string]bool{}
		all = slices.DeleteFunc(all, func(f found) bool {
			again := seen[f.name] || len(seen) == most
			seen[f.name] = seen[f.name] || !again
			return again
		})
	}
	err := l.scan(func(q *member.Queue) (member.Instant, bool) {
		at := since(q)
		return at, at != member.Never
	}, func(f found) {
		if all = append(all, f); len(all) >= 4*most+maxScan {
			cut()
		}
	})
	cut()
	names := make([]string, 0, len(all))
	for _, x := range all {
		names = append(names, x.name)
	}
	return names, err
}

// waitsSince returns since when a lock is waited for; Never if it is not.
func waitsSince(q *member.Queue) member.Instant { return q.Since }

// heldSince returns since when a lock is held; Never if it is not.
func heldSince(q *member.Queue) member.Instant { return q.Entered }
