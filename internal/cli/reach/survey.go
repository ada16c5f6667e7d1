package reach

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/remote"
)

// A Survey is what all nodes of a cluster say about locks.
type Survey struct {
	Locks   []Lock   `json:"locks"`
	Unasked []Silent `json:"unasked"` // nodes that did not answer: who holds through them is not in the list
}

// A Lock is one in use.
type Lock struct {
	Name      string   `json:"name"`
	Algorithm string   `json:"algorithm"`
	Home      string   `json:"home"`
	Holder    *Holder  `json:"holder"` // null if no node says that somebody holds it
	Waiters   []Waiter `json:"waiters"`
}

// A Holder is who holds a lock.
type Holder struct {
	Node string `json:"node"` // through which
	node.HolderInfo
	address string
}

// Address returns where the holder's node is.
func (h *Holder) Address() string { return h.address }

// A Waiter is who waits for a lock.
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

// Survey asks all nodes that the client's node knows about the locks whose names begin
// so.
func (t *Target) Survey(ctx context.Context, c *remote.Client, prefix string) (*Survey, error) {
	var s node.Status
	if err := Ask(ctx, c, node.AskStatus, "", &s); err != nil {
		return nil, err
	}
	answers := make([][]node.LockInfo, len(s.Members))
	errs := make([]error, len(s.Members))
	var wg sync.WaitGroup
	for i, m := range s.Members {
		wg.Go(func() {
			if m.Address == s.Address {
				errs[i] = Ask(ctx, c, node.AskLocks, prefix, &answers[i])
				return
			}
			errs[i] = t.At(m.Address).ask(ctx, node.AskLocks, prefix, &answers[i])
		})
	}
	wg.Wait()
	all := &Survey{Locks: []Lock{}, Unasked: []Silent{}}
	found := map[string]*Lock{}
	for i, m := range s.Members {
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
	return all, nil
}

// ask asks one node.
func (t *Target) ask(ctx context.Context, what uint64, about string, to any) error {
	c, err := t.Dial(ctx, Self("stile"))
	if err != nil {
		return err
	}
	defer c.Close()
	return Ask(ctx, c, what, about, to)
}

// merge adds what one node says about a lock to what others said.
func merge(found map[string]*Lock, l *node.LockInfo, address string) {
	if l.Holder == nil && len(l.Waiters) == 0 {
		return // nobody uses it there
	}
	x := found[l.Name]
	if x == nil {
		x = &Lock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Waiters: []Waiter{}}
		found[l.Name] = x
	}
	if l.Holder != nil {
		x.Holder = &Holder{l.Node, *l.Holder, address}
	}
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, Waiter{l.Node, w, l.Why})
	}
}
