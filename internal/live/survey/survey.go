// Package survey asks all nodes of a cluster about their locks and merges the answers. Each
// node knows only the holders and waiters that are connected to it.
package survey

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/stile-lock/stile/internal/live/node"
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
	Name      string   `json:"name"`
	Algorithm string   `json:"algorithm"`
	Home      string   `json:"home"`
	Holder    *Holder  `json:"holder"` // null if no node reports one
	Waiters   []Waiter `json:"waiters"`
	Unlisted  int      `json:"unlisted,omitempty"` // number of other waiters
	Acquired  uint64   `json:"acquired,omitempty"` // by requests at all nodes, as far as they are counted
	Through   []string `json:"-"`                  // addresses of the nodes that report a holder: several if a client has moved
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
	Why string `json:"why"`
}

// A Silent is a node that did not answer.
type Silent struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	Why     string `json:"why"`
}

// Take asks the members of a cluster about locks.
func Take(ctx context.Context, members []node.MemberInfo, q node.LockQuery, ask Ask) *Locks {
	answers := make([][]node.LockInfo, len(members))
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { answers[i], errs[i] = pages(ctx, m.Address, q, ask) })
	}
	wg.Wait()
	all := &Locks{Locks: []Lock{}, Unasked: []Silent{}}
	found := map[string]*Lock{}
	for i, m := range members {
		if errs[i] != nil {
			all.Unasked = append(all.Unasked, Silent{m.Name, m.Address, errs[i].Error()})
		}
		for _, l := range answers[i] {
			merge(found, &l, m.Address)
		}
	}
	for _, l := range found {
		slices.SortStableFunc(l.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
		all.Locks = append(all.Locks, *l)
	}
	slices.SortFunc(all.Locks, func(a, b Lock) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// pages asks one node, page by page. If it fails between two pages, the locks so far are
// returned with the error.
func pages(ctx context.Context, address string, q node.LockQuery, ask Ask) (all []node.LockInfo, err error) {
	for {
		about, err := json.Marshal(&q)
		if err != nil {
			return all, err
		}
		var page node.LockPage[node.LockInfo]
		if err := ask(ctx, address, node.AskLocks, about, &page); err != nil {
			return all, err
		}
		all = append(all, page.Locks...)
		switch {
		case page.Next == "":
			return all, nil
		case page.Next <= q.After:
			return all, fmt.Errorf("the node at %s repeats its answer: use the same version of stile on both sides", address)
		}
		q.After = page.Next
	}
}

// merge adds what one node reports about a lock to what others reported.
func merge(found map[string]*Lock, l *node.LockInfo, address string) {
	x := found[l.Name]
	if x == nil {
		x = &Lock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Waiters: []Waiter{}}
		found[l.Name] = x
	}
	if l.Holder != nil {
		x.Through = append(x.Through, address)
		if x.Holder == nil || l.Holder.Held < x.Holder.Held { // it has moved there
			x.Holder = &Holder{l.Node, *l.Holder}
		}
	}
	x.Unlisted += l.Unlisted
	x.Acquired += l.Acquired
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, Waiter{l.Node, w, l.Why})
	}
}
