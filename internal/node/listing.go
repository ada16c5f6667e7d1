package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/share"
)

// A listing answers a LockQuery. Everything else that the node does waits while its mutex is
// held, so a listing copies a little at a time, and judges, sorts and encodes without the mutex.
// Locks may come and go in between: a lock that is in use all the time is listed.
type listing struct {
	n     *Node
	q     *LockQuery
	may   func(name []byte) bool // whether the caller may read a lock, by the rules at the beginning
	items int                    // locks looked at, and locks, holders and waiters copied, since the mutex was acquired

	// For tests: a clock, and what is called whenever the mutex is about to be released, with for
	// how long it was held.
	now  func() time.Duration
	held func(took time.Duration, items int)
}

// Bounds of what is done before the mutex is released: well below a millisecond.
const (
	maxScan     = 256 // places of the member's lists
	maxDescribe = 64  // locks, holders and waiters, unless one lock has more
)

// maxListings is the maximum number of listings that are in progress or wait for their turn.
const maxListings = 64

// listings are the listings in progress. One at a time has its turn, so that the others compete
// neither for the mutex of the node nor for its processors.
type listings struct {
	turn sync.Mutex

	mu  sync.Mutex
	all int
	of  map[string]int // by the identity or the address of the caller
}

var errListings = errors.New("too many listings of locks are in progress at the node: try again soon")

// begin waits for the turn of a listing for a user of the node. It reports false if there are
// too many.
func (x *listings) begin(user string) bool {
	x.mu.Lock()
	if !share.Allows(maxListings, x.all, x.of[user], 1) {
		x.mu.Unlock()
		return false
	}
	if x.of == nil {
		x.of = map[string]int{}
	}
	x.all++
	x.of[user]++
	x.mu.Unlock()
	x.turn.Lock()
	return true
}

func (x *listings) end(user string) {
	x.turn.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	if x.of[user]--; x.of[user] == 0 {
		delete(x.of, user)
	}
}

// lists returns for whom a listing is counted: the identity, the one for which another node
// asks, or the address of a caller that has none.
func (q *LockQuery) lists(who *Caller) string {
	if who.Kind == cert.IsNode && q.For != "" {
		return q.For
	}
	host, _, err := net.SplitHostPort(who.From)
	if err != nil {
		host = who.From
	}
	return cmp.Or(who.Path(), host)
}

// list answers a query for locks in use at this node. It lists only those that the caller
// may read. It must be called without the mutex.
func (n *Node) list(about []byte, who *Caller) ([]byte, error) {
	q, err := parseQuery[LockQuery](about)
	if err != nil {
		return nil, err
	}
	user := q.lists(who)
	if !n.listings.begin(user) {
		return nil, errListings
	}
	defer n.listings.end(user)
	l := listing{n: n, q: &q}
	page, err := l.page(who)
	if err != nil {
		return nil, err
	}
	return json.Marshal(page)
}

// hold runs f with the mutex, if the node is a member. An empty page of a node that is none
// would say that nothing is held or waits there.
func (l *listing) hold(f func(m *member.Member)) error {
	n := l.n
	n.enter()
	defer n.mu.Unlock()
	if n.over {
		return ErrEnded
	}
	m := n.p.Member()
	if m == nil {
		return errors.New("the node is not a member at present")
	}
	l.items = 0
	if l.held == nil {
		f(m)
		return nil
	}
	begun := l.now()
	f(m)
	l.held(l.now()-begun, l.items)
	return nil
}

// page makes the answer.
func (l *listing) page(who *Caller) (page LockPage[json.RawMessage], err error) {
	page.Locks = []json.RawMessage{}
	var wrong error
	err = l.hold(func(*member.Member) { l.may, wrong = l.n.mayRead(who, l.q.For) })
	if err = errors.Join(err, wrong); err != nil {
		return page, err
	}
	names, err := l.names()
	if err != nil {
		return page, err
	}
	size, last := 0, ""
	err = l.describe(names, func(name string, info *LockInfo) (more bool, err error) {
		if info != nil {
			b, err := json.Marshal(info)
			if err != nil {
				return false, err
			}
			if size += len(b) + 1; size > maxAnswer/2 && len(page.Locks) > 0 {
				page.Next = last
				return false, nil
			}
			page.Locks = append(page.Locks, b)
		}
		last = name
		return true, nil
	})
	switch {
	case l.q.Top > 0:
		page.Next = ""
	case page.Next == "" && len(l.q.Names) == 0 && len(names) == l.q.most():
		page.Next = last
	}
	return page, err
}

// A found is a lock in use, and a moment that matters.
type found struct {
	name string
	at   member.Instant
}

// scan passes on the locks in use that are chosen and may be read, in no particular order, and
// some of them several times.
func (l *listing) scan(choose func(q *member.Queue) (at member.Instant, ok bool), take func(f found)) error {
	var c member.Cursor
	piece, prefix := make([]found, 0, maxScan), []byte(l.q.Prefix)
	for more := true; more; {
		piece = piece[:0]
		err := l.hold(func(m *member.Member) {
			more = m.Scan(&c, maxScan, func(q member.Queue) {
				l.items++
				if at, ok := choose(&q); ok && bytes.HasPrefix(q.Name, prefix) {
					piece = append(piece, found{string(q.Name), at})
				}
			})
		})
		if err != nil {
			return err
		}
		for _, f := range piece {
			if l.may([]byte(f.name)) {
				take(f)
			}
		}
	}
	return nil
}

// names returns the names of locks to list, sorted unless the query is for the first ones by a
// criterion: those that it asks for, or the first ones in use, up to the number of locks in a
// page.
func (l *listing) names() ([]string, error) {
	q := l.q
	switch {
	case q.Top > 0:
		return l.first()
	case len(q.Names) > 0:
		names := slices.DeleteFunc(slices.Sorted(slices.Values(q.Names)), func(name string) bool { return name <= q.After || !l.may([]byte(name)) })
		return slices.Compact(names), nil
	}
	most := q.most()
	var names []string
	last := "" // no name after the last one is among the first
	cut := func() {
		slices.Sort(names)
		if names = slices.Compact(names); len(names) >= most {
			names = names[:most]
			last = names[most-1]
		}
	}
	err := l.scan(func(x *member.Queue) (member.Instant, bool) {
		return 0, string(x.Name) > q.After && (last == "" || string(x.Name) < last) && l.n.among(q, x)
	}, func(f found) {
		if names = append(names, f.name); len(names) >= 2*most+maxScan {
			cut()
		}
	})
	cut()
	return names, err
}

// describe describes locks, a few at a time. Each is passed on, nil if it is no longer in use,
// until take reports that no more are wanted.
func (l *listing) describe(names []string, take func(name string, info *LockInfo) (more bool, err error)) error {
	infos := make([]*LockInfo, 0, maxDescribe)
	for len(names) > 0 {
		infos = infos[:0]
		err := l.hold(func(m *member.Member) {
			for _, name := range names {
				infos = append(infos, l.describeOne(m, name))
				if l.items >= maxDescribe {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		for i, info := range infos {
			if more, err := take(names[i], info); err != nil || !more {
				return err
			}
		}
		names = names[len(infos):]
	}
	return nil
}

// describeOne describes a lock, or returns nil if it is not one to be listed.
func (l *listing) describeOne(m *member.Member, name string) *LockInfo {
	n, q := l.n, l.q
	waiters := maxListed
	if q.Most > 0 || q.Top > 0 {
		waiters = maxTopWaiters
	}
	w, _ := m.InspectFirst(name, waiters, maxShared)
	var edges []member.Edge
	if q.Graph {
		edges = m.Edges(name)
	}
	l.items += 1 + len(w.Waiters) + len(w.Shared) + len(edges)
	if w.Holder == nil && len(w.Waiters) == 0 && len(edges) == 0 && len(q.Names) == 0 && q.Top == 0 {
		return nil
	}
	info := n.describe(m, &w)
	info.graph(edges)
	if n.meter != nil {
		info.Acquired = n.meter.Count(name)
	}
	if w.Name == "" {
		n.unused(&info, name)
	}
	return &info
}
