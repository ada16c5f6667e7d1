// Package survey asks all nodes of a cluster about their locks and merges the answers, and
// observes the leaders of elections. Each node knows only the holders and waiters that are
// connected to it.
package survey

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stile-lock/stile/internal/node"
)

// An Ask asks the node at an address a question, as JSON, and decodes its answer.
type Ask func(ctx context.Context, address string, what uint64, about []byte, to any) error

// Locks are what all nodes of a cluster report about locks.
type Locks struct {
	Locks   []Lock   `json:"locks"`
	Unasked []Silent `json:"unasked"` // nodes that did not answer: holders connected to them are missing
}

// A Lock is a lock in use.
type Lock struct {
	Name      string            `json:"name"`
	Algorithm string            `json:"algorithm"`
	Home      string            `json:"home"`
	Holder    *Holder           `json:"holder"`           // null if no node reports one
	Shared    []Holder          `json:"shared,omitempty"` // of a kept lock: the other holders, in the order of their tokens
	Waiters   []Waiter          `json:"waiters"`
	Unlisted  int               `json:"unlisted,omitempty"` // number of other holders and waiters
	Acquired  uint64            `json:"acquired,omitempty"` // by requests at all nodes, as far as they are counted
	Edges     []node.EdgeInfo   `json:"edges,omitempty"`    // if the query asks for the graph, of a kept lock
	Cut       bool              `json:"cut,omitempty"`      // there are more edges
	because   []node.Decision   // of all nodes
	Counts    map[string]uint64 `json:"-"` // of Acquired, by the node that counts; nodes that do not list the lock are missing
	Through   []string          `json:"-"` // addresses of the nodes that report a holder: several if a client has moved
}

// A Holder holds a lock.
type Holder struct {
	Node string `json:"node"` // through which it is held
	node.HolderInfo
}

// A Waiter waits for a lock.
type Waiter struct {
	Node string `json:"node"`
	node.WaiterInfo
	Why     string   `json:"why"`
	Because []string `json:"because,omitempty"` // by which decisions of the algorithm it waits, at any node
}

// A Silent is a node that did not answer.
type Silent struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	Why     string `json:"why"`
}

// Take asks the members of a cluster about locks. A node that fails between two pages is
// named, and the locks that it has listed so far stay in the list.
func Take(ctx context.Context, members []node.MemberInfo, q node.LockQuery, ask Ask) *Locks {
	all := &Locks{Locks: []Lock{}, Unasked: []Silent{}}
	members = slices.Clone(members)
	for {
		page, next := Page(ctx, members, q, ask)
		all.Locks = append(all.Locks, page.Locks...)
		all.Unasked = append(all.Unasked, page.Unasked...)
		if next == "" {
			return all
		}
		members = slices.DeleteFunc(members, func(m node.MemberInfo) bool {
			return slices.ContainsFunc(page.Unasked, func(s Silent) bool { return s.Address == m.Address })
		})
		q.After = next
	}
}

// Page asks the members for one page each and merges these. It lists all locks up to the
// first name at which the page of a member ends, and returns that name: After of the next
// page; empty if this is the last one.
func Page(ctx context.Context, members []node.MemberInfo, q node.LockQuery, ask Ask) (all *Locks, next string) {
	pages := make([]node.LockPage[node.LockInfo], len(members))
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { pages[i], errs[i] = one(ctx, m.Address, q, ask) })
	}
	wg.Wait()
	all = &Locks{Locks: []Lock{}, Unasked: []Silent{}}
	for i, m := range members {
		end := pages[i].Next
		switch {
		case errs[i] != nil:
			all.Unasked = append(all.Unasked, Silent{m.Name, m.Address, errs[i].Error()})
		case end != "" && (next == "" || end < next):
			next = end
		}
	}
	found := map[string]*Lock{}
	for i, m := range members {
		for _, l := range pages[i].Locks {
			if next == "" || l.Name <= next {
				merge(found, &l, m.Address)
			}
		}
	}
	for _, l := range found {
		l.rank()
		l.explain()
		slices.SortStableFunc(l.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
		all.Locks = append(all.Locks, *l)
	}
	slices.SortFunc(all.Locks, func(a, b Lock) int { return cmp.Compare(a.Name, b.Name) })
	return all, next
}

// one asks one node for a page.
func one(ctx context.Context, address string, q node.LockQuery, ask Ask) (page node.LockPage[node.LockInfo], err error) {
	about, err := json.Marshal(&q)
	if err != nil {
		return page, err
	}
	if err := ask(ctx, address, node.AskLocks, about, &page); err != nil {
		return node.LockPage[node.LockInfo]{}, err
	}
	if page.Next != "" && page.Next <= q.After {
		return node.LockPage[node.LockInfo]{}, fmt.Errorf("the node at %s repeats its answer: use the same version of stile on both sides", address)
	}
	return page, nil
}

// rank makes the one that was the first to acquire a lock its holder.
func (l *Lock) rank() {
	if len(l.Shared) == 0 {
		return
	}
	all := append([]Holder{*l.Holder}, l.Shared...)
	slices.SortStableFunc(all, byToken)
	l.Holder, l.Shared = &all[0], all[1:]
}

// explain gives each waiter the decisions by which it waits, which may come from another node
// than the waiter.
func (l *Lock) explain() {
	for i := range l.Waiters {
		w := &l.Waiters[i]
		for _, d := range l.because {
			if d.Node == w.Node && len(w.Because) < mostBecause {
				w.Because = append(w.Because, d.Text)
			}
		}
	}
}

// mostBecause is the maximum number of decisions for a waiter.
const mostBecause = 5

// byToken compares tokens, which are two numbers and a dot.
func byToken(a, b Holder) int {
	epoch, count, _ := strings.Cut(a.Token, ".")
	otherEpoch, otherCount, _ := strings.Cut(b.Token, ".")
	return cmp.Or(byNumber(epoch, otherEpoch), byNumber(count, otherCount))
}

func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// merge adds what one node reports about a lock to what others reported.
func merge(found map[string]*Lock, l *node.LockInfo, address string) {
	x := found[l.Name]
	if x == nil {
		x = &Lock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Waiters: []Waiter{}, Counts: map[string]uint64{}}
		found[l.Name] = x
	}
	if l.Holder != nil {
		x.Through = append(x.Through, address)
		h := Holder{l.Node, *l.Holder}
		switch {
		case x.Holder == nil:
			x.Holder = &h
		case h.Tx != 0 && x.Holder.Tx != 0: // a kept lock, which does not move
			x.Shared = append(x.Shared, h)
		case h.Held < x.Holder.Held: // it has moved there
			x.Holder = &h
		}
		for _, h := range l.Shared {
			x.Shared = append(x.Shared, Holder{l.Node, h})
		}
	}
	x.Unlisted += l.Unlisted
	x.because = append(x.because, l.Because...)
	x.Edges, x.Cut = append(x.Edges, l.Edges...), x.Cut || l.Cut
	x.Acquired += l.Acquired
	x.Counts[l.Node] = l.Acquired
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, Waiter{Node: l.Node, WaiterInfo: w, Why: l.Why})
	}
}
