package node

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
)

// maxTop is the maximum of LockQuery.Top, so that the answer is not too long.
const maxTop = 100

// top returns the busiest locks, and those whose requests have waited longest, of those
// that may be listed.
func (n *Node) top(m *member.Member, most int, may func(name []byte) bool) LockPage[LockInfo] {
	most = min(most, maxTop)
	page := LockPage[LockInfo]{Locks: []LockInfo{}}
	at := map[string]int{}
	add := func(name string) *LockInfo {
		i, listed := at[name]
		if !listed {
			i = len(page.Locks)
			at[name] = i
			w, _ := m.Explain(name)
			w.Name = name // also of one that is not known since the view began
			listed := w.Waiters[:min(len(w.Waiters), maxTopWaiters)]
			more := len(w.Waiters) - len(listed)
			w.Waiters = listed
			l := n.describe(m, &w)
			l.Unlisted = more
			page.Locks = append(page.Locks, l)
		}
		return &page.Locks[i]
	}
	if n.meter != nil {
		left := most
		for _, b := range n.meter.Busiest(maxBusy) {
			if left > 0 && may([]byte(b.Name)) {
				left--
				add(b.Name).Acquired = b.Count
			}
		}
	}
	for _, name := range longest(m, most, may) {
		add(name)
	}
	return page
}

const (
	maxBusy       = 10_000 // more than are known
	maxTopWaiters = 10     // waiters of a lock that are listed
)

// longest returns the names of locks whose first requests have waited longest.
func longest(m *member.Member, most int, may func(name []byte) bool) []string {
	type wait struct {
		name  string
		since member.Instant
	}
	var all []wait
	cut := func() {
		slices.SortFunc(all, func(a, b wait) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.name, b.name)) })
		all = all[:min(len(all), most)]
	}
	for q := range m.Queues {
		if q.Since != member.Never && may(q.Name) {
			if all = append(all, wait{string(q.Name), q.Since}); len(all) >= 4*most {
				cut()
			}
		}
	}
	cut()
	names := make([]string, 0, len(all))
	for _, w := range all {
		names = append(names, w.name)
	}
	return names
}
