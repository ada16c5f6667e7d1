package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/live/node"
)

// A Survey is what all nodes of a cluster say about locks.
type Survey struct {
	Locks   []reachLock `json:"locks"`
	Unasked []Silent    `json:"unasked"` // nodes that did not answer: who holds through them is not in the list
}

// A reachLock is one in use.
type reachLock struct {
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

// Survey asks all nodes that one of the target's knows about the locks whose names
// begin so. None of them needs a session for that, so it does not wait for one.
func (t *Target) Survey(ctx context.Context, prefix string) (*Survey, error) {
	s, at, err := t.member(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Address == s.Address {
			m.Address = at // others may find it where this process does not
		}
	}
	answers := make([][]node.LockInfo, len(s.Members))
	errs := make([]error, len(s.Members))
	var wg sync.WaitGroup
	for i, m := range s.Members {
		wg.Go(func() { _, errs[i] = t.At(m.Address).Query(ctx, node.AskLocks, prefix, &answers[i]) })
	}
	wg.Wait()
	all := &Survey{Locks: []reachLock{}, Unasked: []Silent{}}
	found := map[string]*reachLock{}
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
	slices.SortFunc(all.Locks, func(a, b reachLock) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// member returns the status of the first node that is a member, and where it was
// reached. The nodes are asked in turn, each for its share of the time.
func (t *Target) member(ctx context.Context) (s node.Status, at string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errLate)
	defer cancel()
	end, _ := ctx.Deadline()
	var outside error
	for i, a := range t.Addr {
		share, cancel := context.WithTimeoutCause(ctx, time.Until(end)/time.Duration(len(t.Addr)-i), errLate)
		at, err = t.At(a).Query(share, node.AskStatus, "", &s)
		cancel()
		if err == nil && s.Member() {
			return s, at, nil
		}
		if err == nil && outside == nil {
			outside = stranger(&s, a)
		}
	}
	return s, "", cmp.Or(outside, err)
}

// stranger is the error of a node that is asked about its cluster, and has none.
func stranger(s *node.Status, at string) error {
	why := s.State
	if s.Why != "" {
		why += ": " + s.Why
	}
	return fmt.Errorf("node %s at %s is no member at present, but %s: ask another one with --addr, or wait until 'stile status' says that it is one", s.Node, at, why)
}

// merge adds what one node says about a lock to what others said.
func merge(found map[string]*reachLock, l *node.LockInfo, address string) {
	if l.Holder == nil && len(l.Waiters) == 0 {
		return // nobody uses it there
	}
	x := found[l.Name]
	if x == nil {
		x = &reachLock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Waiters: []Waiter{}}
		found[l.Name] = x
	}
	if l.Holder != nil {
		x.Holder = &Holder{l.Node, *l.Holder, address}
	}
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, Waiter{l.Node, w, l.Why})
	}
}
