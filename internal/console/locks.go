package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// maxRows is the number of locks in a page.
const maxRows = 100

// A locksDoc shows a page of locks.
type locksDoc struct {
	At     int64              `json:"at_ms"`
	Prefix string             `json:"prefix"`
	Sort   string             `json:"sort"`
	Next   string             `json:"next"` // after of the next page; empty if this is the last one
	Rows   map[string]lockRow `json:"rows"`
	Order  []string           `json:"order"`
	Silent silence            `json:"silent"`
}

// A lockRow is a lock in a list.
type lockRow struct {
	Name      string   `json:"name"`
	Algorithm string   `json:"algorithm"`
	Home      string   `json:"home"`
	Holder    *holder  `json:"holder,omitempty"`
	Holders   int      `json:"holders"`
	Waiters   int      `json:"waiters"`
	Since     int64    `json:"waiting_since_ms,omitempty"`
	Why       string   `json:"why,omitempty"`
	Rate      *float64 `json:"rate,omitempty"` // acquisitions per second, as far as they are counted
	Acquired  uint64   `json:"acquired,omitempty"`
}

const sortByName = "name"

// checkLocks checks the parameters of the view.
func checkLocks(q url.Values) error {
	all := []string{sortByName, node.ByWait, node.ByHold, node.ByRate}
	sort := cmp.Or(q.Get("sort"), sortByName)
	switch {
	case !slices.Contains(all, sort):
		return badParameter("sort %.50q: want one of %v", sort, all)
	case q.Get("after") != "" && sort != sortByName:
		return badParameter("after with sort %s: only locks in the order of their names have pages", sort)
	case len(q.Get("prefix")) > member.MaxName, len(q.Get("after")) > member.MaxName:
		return badParameter("prefix or after is longer than names, which have up to %d bytes", member.MaxName)
	}
	return nil
}

// A lockList makes pages of locks.
type lockList struct {
	cluster             Cluster
	who                 node.Caller
	prefix, sort, after string

	moments moments
	counter counter
}

func beginLocks(c *Console, who node.Caller, q url.Values) look {
	v := &lockList{cluster: c.cluster, who: who, prefix: q.Get("prefix"), sort: cmp.Or(q.Get("sort"), sortByName), after: q.Get("after")}
	return v.look
}

func (v *lockList) look(ctx context.Context) (any, bool, error) {
	d := &locksDoc{Prefix: v.prefix, Sort: v.sort, Rows: map[string]lockRow{}, Order: []string{}, Silent: silence{}}
	q := node.LockQuery{Prefix: v.prefix, After: v.after, Most: maxRows}
	if v.sort != sortByName {
		q.Most, q.Top, q.By = 0, maxRows, v.sort
	}
	if _, err := membersOf(v.cluster); err != nil {
		return nil, false, err
	}
	page, next, err := v.cluster.Locks(ctx, v.who, q)
	if err != nil {
		return nil, false, err
	}
	d.Silent.add(page.Unasked...)
	all := page.Locks
	switch v.sort {
	case sortByName:
		if d.Next = next; len(all) > maxRows {
			all, d.Next = all[:maxRows], all[maxRows-1].Name
		}
		v.counter.count(all)
	case node.ByRate:
		v.counter.count(all)
		all, err = v.complete(ctx, all, d)
	default:
		all, err = v.complete(ctx, all, d)
		v.counter.count(all)
	}
	if err != nil {
		return nil, false, err
	}
	v.moments.begin()
	d.At = v.moments.now.UnixMilli()
	since := map[string]int64{}
	for i := range all {
		l := &all[i]
		d.Rows[l.Name], since[l.Name] = v.row(l), v.since(l)
		d.Order = append(d.Order, l.Name)
	}
	slices.SortStableFunc(d.Order, func(a, b string) int { return cmp.Compare(since[a], since[b]) })
	return d, false, nil
}

// since returns the moment by which locks are sorted, which is the same at each look. Durations
// are not: locks that have waited equally long would change places.
func (v *lockList) since(l *survey.Lock) int64 {
	x := -1.0
	switch v.sort {
	case node.ByWait:
		for i := range l.Waiters {
			x = max(x, l.Waiters[i].Waited)
		}
	case node.ByHold:
		for _, h := range holdersOf(l) {
			x = max(x, h.Held)
		}
	}
	if x < 0 {
		return 0
	}
	return v.moments.ago(l.Name+"\x00sort", x)
}

// complete returns the first of these locks, with what all members know of them. A member has
// listed only those that it knows most about: the holder of a lock that is waited for elsewhere
// may be missing.
func (v *lockList) complete(ctx context.Context, all []survey.Lock, d *locksDoc) ([]survey.Lock, error) {
	v.rank(&all)
	var names []string
	for i := range all[:min(len(all), maxRows)] {
		names = append(names, all[i].Name)
	}
	slices.Sort(names)
	all, err := named(ctx, v.cluster, v.who, names, node.LockQuery{Most: maxRows}, &d.Silent)
	v.rank(&all)
	return all, err
}

// rank sorts locks, and removes those that have none of what they are sorted by.
func (v *lockList) rank(all *[]survey.Lock) {
	type key struct{ first, second float64 }
	of := map[string]key{}
	*all = slices.DeleteFunc(*all, func(l survey.Lock) bool {
		var k key
		switch v.sort {
		case node.ByWait:
			for i := range l.Waiters {
				k.first, k.second = max(k.first, l.Waiters[i].Waited), 1
			}
		case node.ByHold:
			for _, h := range holdersOf(&l) {
				k.first, k.second = max(k.first, h.Held), 1
			}
		case node.ByRate:
			k.second = float64(l.Acquired)
			if r := v.counter.rate(l.Name); r != nil {
				k.first = *r
			}
		}
		of[l.Name] = k
		return k == key{}
	})
	slices.SortFunc(*all, func(a, b survey.Lock) int {
		x, y := of[a.Name], of[b.Name]
		return cmp.Or(cmp.Compare(y.first, x.first), cmp.Compare(y.second, x.second), cmp.Compare(a.Name, b.Name))
	})
}

// row describes a lock in a list.
func (v *lockList) row(l *survey.Lock) lockRow {
	r := lockRow{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Acquired: l.Acquired, Waiters: len(l.Waiters) + l.Unlisted, Rate: v.counter.rate(l.Name)}
	for i, h := range holdersOf(l) {
		if r.Holders++; i == 0 {
			first := v.moments.holder(l.Name, &h)
			r.Holder = &first
		}
	}
	if len(l.Waiters) > 0 { // the one that has waited longest comes first
		r.Since, r.Why = v.moments.ago(l.Name+"\x00waits", l.Waiters[0].Waited), l.Waiters[0].Why
	}
	return r
}
