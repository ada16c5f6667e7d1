package stile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// A cluster is what a Node and a Client can tell about their cluster.
type cluster struct {
	address func() string // of the node that knows the members
	ask     survey.Ask
}

// A Member is a node that is a member of the cluster.
type Member struct {
	Name    string
	Address string // that nodes and clients connect to
	Voter   bool   // it stores the view log
}

// A LockInfo describes a lock that is held or waited for.
type LockInfo struct {
	Name    string
	Holder  string        // holder, for people: the name of a node, or of a client and its node; empty if no node reports one
	Node    string        // name of the node that it is held through
	Token   Token         // of the hold
	Held    time.Duration // time since it was acquired
	Value   string        // attached with SetValue
	Mode    string        // of a kept lock: exclusive, shared, or a number of units
	Tx      uint64        // of a kept lock: number of the transaction, unique at the node
	Shared  []Holder      // of a kept lock: the other holders, in the order of their tokens; up to 100 for each node
	Waiters []Waiter      // those that have waited longest first; up to 1,000 for each node
}

// A Holder is another holder of a lock that several hold. Its fields are those of LockInfo.
type Holder struct {
	Name  string
	Node  string
	Token Token
	Held  time.Duration
	Value string
	Mode  string
	Tx    uint64
}

// A Waiter is a request that waits for a lock.
type Waiter struct {
	Name   string // of the node or the client, for people
	Node   string // name of the node at which it waits
	Waited time.Duration
	Mode   string // of a kept lock, as that of LockInfo
	Tx     uint64 // the same
}

// answers is how long nodes have to answer.
const answers = 5 * time.Second

// Members returns the members of the cluster, as the node knows them: this one, or that of
// the client.
func (c cluster) Members(ctx context.Context) ([]Member, error) {
	all, err := c.members(ctx)
	if err != nil {
		return nil, err
	}
	var list []Member
	for _, m := range all {
		list = append(list, Member{m.Name, m.Address, m.Voter})
	}
	return list, nil
}

func (c cluster) members(ctx context.Context) ([]node.MemberInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	at := c.address()
	var s node.Status
	if err := c.ask(ctx, at, node.AskStatus, nil, &s); err != nil {
		return nil, fmt.Errorf("ask for the members: %w", worded(err))
	}
	if !s.Member() {
		return nil, fmt.Errorf("ask for the members: node %s at %s is not a member at present: try again soon", s.Node, at)
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Address == s.Address {
			m.Address = at // other nodes may use an address that this process cannot
		}
	}
	return s.Members, nil
}

// Locks returns the locks in use whose names begin with the prefix, in the order of their
// names. It asks all members. If some do not answer, the error names them, and the locks
// held through them are missing in the list.
func (c cluster) Locks(ctx context.Context, prefix string) ([]LockInfo, error) {
	members, err := c.members(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	s := survey.Take(ctx, members, node.LockQuery{Prefix: prefix}, c.ask)
	var list []LockInfo
	for i := range s.Locks {
		list = append(list, info(&s.Locks[i]))
	}
	var errs []error
	for _, u := range s.Unasked {
		errs = append(errs, fmt.Errorf("node %s did not answer, and locks held through it are not listed: %s", u.Node, u.Why))
	}
	return list, errors.Join(errs...)
}

// info describes a lock.
func info(l *survey.Lock) LockInfo {
	x := LockInfo{Name: l.Name}
	if l.Holder != nil {
		h := holder(l.Holder)
		x.Holder, x.Node, x.Token, x.Held, x.Value, x.Mode, x.Tx = h.Name, h.Node, h.Token, h.Held, h.Value, h.Mode, h.Tx
	}
	for i := range l.Shared {
		x.Shared = append(x.Shared, holder(&l.Shared[i]))
	}
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, Waiter{w.Who, w.Node, seconds(w.Waited), w.Mode, w.Tx})
	}
	return x
}

// holder describes a holder.
func holder(h *survey.Holder) Holder {
	t, _ := ParseToken(h.Token) // a node writes only tokens
	return Holder{h.Who, h.Node, t, seconds(h.Held), h.Value, h.Mode, h.Tx}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// watchEvery is how often Watch asks.
const watchEvery = time.Second

// Watch yields each lock whose name begins with the prefix when it changes: when another
// process holds or waits for it, or its value is another. It yields the locks in use
// first. A lock that is no longer in use is yielded once without holder and waiters.
//
// Watch calls Locks every second and compares. What lasts for less than that may not be
// seen, but the token shows that there were other holds in between. If Locks returns an
// error, Watch yields it, and goes on. A lock that is missing because a node did not answer
// counts as unchanged. Watch ends when the context does, or after an error that is
// ErrClosed.
func (c cluster) Watch(ctx context.Context, prefix string) iter.Seq2[LockInfo, error] {
	return func(yield func(LockInfo, error) bool) {
		known := map[string]LockInfo{}
		for {
			list, err := c.Locks(ctx, prefix)
			if ctx.Err() != nil {
				return
			}
			for _, l := range changed(known, list, err == nil) {
				if !yield(l, nil) {
					return
				}
			}
			if err != nil && (!yield(LockInfo{}, err) || errors.Is(err, ErrClosed)) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchEvery):
			}
		}
	}
}

// changed returns the locks that differ from those that are known, and notes them. A lock
// that is not listed is no longer in use if the list is complete.
func changed(known map[string]LockInfo, list []LockInfo, complete bool) (all []LockInfo) {
	listed := map[string]bool{}
	for _, l := range list {
		listed[l.Name] = true
		if old, ok := known[l.Name]; !ok || !same(&old, &l) {
			known[l.Name] = l
			all = append(all, l)
		}
	}
	if complete {
		for _, name := range slices.Collect(maps.Keys(known)) {
			if !listed[name] {
				delete(known, name)
				all = append(all, LockInfo{Name: name})
			}
		}
	}
	slices.SortFunc(all, func(a, b LockInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// same reports whether two descriptions differ only in durations.
func same(a, b *LockInfo) bool {
	return a.Holder == b.Holder && a.Node == b.Node && a.Token == b.Token && a.Value == b.Value &&
		slices.EqualFunc(a.Shared, b.Shared, func(g, h Holder) bool { return g.Token == h.Token && g.Value == h.Value }) &&
		slices.EqualFunc(a.Waiters, b.Waiters, func(v, w Waiter) bool { return v.Name == w.Name && v.Node == w.Node })
}
