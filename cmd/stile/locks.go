package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/words"
)

// locksFlags holds the flags of 'stile locks'.
type locksFlags struct {
	queryFlags
	watch  bool
	prefix string
}

func newLocks() *cobra.Command {
	l := &locksFlags{}
	c := &cobra.Command{
		Use:   "locks [PREFIX] [flags]",
		Short: "Show who holds each lock and who is waiting for it",
		Long: `Asks all nodes of the cluster about the locks in use, or about those whose names
begin with PREFIX. Waiting clients are listed in the order of their requests,
each with the reason that its node gives. The exit code is 1 if a node did not
answer: locks held through it are then missing.`,
		Example: `  stile locks orders/
  stile locks --watch
  stile locks --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			l.prefix = args[0]
			return oneArg("", "prefix", "give their common prefix")(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.target.resolve(c); err != nil {
				return err
			}
			if l.watch {
				return l.repeat(c)
			}
			s, err := l.target.survey(c.Context(), l.prefix)
			if err != nil {
				return err
			}
			if err := l.report(s).print(c.OutOrStdout(), l.json); err != nil {
				return err
			}
			return findingsOf(s.Unasked, "node", " without an answer", func(u silentNode) string {
				return fmt.Sprintf("node %s did not answer: locks held through it are missing", words.Quoted(u.Node))
			})
		},
	}
	c.Flags().BoolVar(&l.watch, "watch", false, "refresh every second, until q or Ctrl-C")
	l.define(c.Flags())
	return c
}

func (l *locksFlags) report(s *lockSurvey) outcome {
	return outcome{json: s, text: func(p *printer) { printLocks(p, s) }}
}

// printLocks prints the locks in use.
func printLocks(p *printer, s *lockSurvey) {
	switch {
	case len(s.Locks) > 0:
	case len(s.Unasked) > 0:
		p.line("no node that answered reports a lock")
	default:
		p.line("no lock is held or requested")
	}
	for _, l := range s.Locks {
		printLock(p, &l)
	}
	for _, u := range s.Unasked {
		p.text(0, fmt.Sprintf("node %s did not answer: %s", words.Quoted(u.Node), u.Why))
	}
}

func printLock(p *printer, l *surveyedLock) {
	line := func(format string, args ...any) { p.line("%s", truncate(fmt.Sprintf(format, args...), screenWidth)) }
	line("%s", words.Quoted(l.Name))
	if h := l.Holder; h != nil {
		line("  held by %s", h.Who)
		line("     token %s, held for %.1f s, lease expires in %.1f s", h.Token, h.Held, h.Left)
	} else {
		line("  no node reports a holder")
	}
	for i, w := range l.Waiters {
		line("%3d. %s, waiting for %.1f s", i+1, w.Who, w.Waited)
		line("     %s", w.Why)
	}
	if l.Unlisted > 0 {
		line("     and %s", words.Plural(l.Unlisted, "more waiting client"))
	}
}

// A lockSurvey is what all nodes of a cluster report about locks.
type lockSurvey struct {
	Locks   []surveyedLock `json:"locks"`
	Unasked []silentNode   `json:"unasked"` // nodes that did not answer: holders connected to them are missing
}

// A surveyedLock is a lock in use.
type surveyedLock struct {
	Name      string       `json:"name"`
	Algorithm string       `json:"algorithm"`
	Home      string       `json:"home"`
	Holder    *lockHolder  `json:"holder"` // null if no node reports one
	Waiters   []lockWaiter `json:"waiters"`
	Unlisted  int          `json:"unlisted,omitempty"` // number of other waiters
	through   []string     // addresses of the nodes that report a holder: several if a client has moved
}

// A lockHolder holds a lock.
type lockHolder struct {
	Node string `json:"node"` // through which it is held
	node.HolderInfo
}

// A lockWaiter waits for a lock.
type lockWaiter struct {
	Node string `json:"node"`
	node.WaiterInfo
	Why string `json:"why"`
}

// A silentNode is a node that did not answer.
type silentNode struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	Why     string `json:"why"`
}

// survey asks all nodes of the cluster about the locks whose names begin with
// prefix. It needs no session, so it does not wait for one.
func (t *target) survey(ctx context.Context, prefix string) (*lockSurvey, error) {
	s, at, err := t.member(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Address == s.Address {
			m.Address = at // other nodes may use an address that this process cannot
		}
	}
	answers := make([][]node.LockInfo, len(s.Members))
	errs := make([]error, len(s.Members))
	var wg sync.WaitGroup
	for i, m := range s.Members {
		wg.Go(func() { answers[i], errs[i] = t.at(m.Address).locks(ctx, prefix) })
	}
	wg.Wait()
	all := &lockSurvey{Locks: []surveyedLock{}, Unasked: []silentNode{}}
	found := map[string]*surveyedLock{}
	for i, m := range s.Members {
		if errs[i] != nil {
			all.Unasked = append(all.Unasked, silentNode{m.Name, m.Address, errs[i].Error()})
		}
		for _, l := range answers[i] {
			mergeLock(found, &l, m.Address)
		}
	}
	for _, l := range found {
		slices.SortStableFunc(l.Waiters, func(a, b lockWaiter) int { return cmp.Compare(b.Waited, a.Waited) })
		all.Locks = append(all.Locks, *l)
	}
	slices.SortFunc(all.Locks, func(a, b surveyedLock) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// locks asks one node about the locks whose names begin with prefix. If it fails between
// two pages, the locks so far are returned with the error.
func (t *target) locks(ctx context.Context, prefix string) (all []node.LockInfo, err error) {
	for q := (node.LockQuery{Prefix: prefix}); ; {
		about, err := json.Marshal(&q)
		if err != nil {
			return all, err
		}
		var page node.LockPage[node.LockInfo]
		if _, err := t.query(ctx, node.AskLocks, string(about), &page); err != nil {
			return all, err
		}
		all = append(all, page.Locks...)
		switch {
		case page.Next == "":
			return all, nil
		case page.Next <= q.After:
			return all, fmt.Errorf("the node at %s repeats its answer: use the same version of stile on both sides", strings.Join(t.addr, ", "))
		}
		q.After = page.Next
	}
}

// member returns the status of the first node that is a member, and the address at
// which it answered. The nodes are asked in turn, each for its share of the time.
func (t *target) member(ctx context.Context) (s node.Status, at string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	end, _ := ctx.Deadline()
	var outside error
	for i, a := range t.addr {
		share, cancel := context.WithTimeoutCause(ctx, time.Until(end)/time.Duration(len(t.addr)-i), errNoAnswer)
		at, err = t.at(a).query(share, node.AskStatus, "", &s)
		cancel()
		if err == nil && s.Member() {
			return s, at, nil
		}
		if err == nil && outside == nil {
			outside = notMember(&s, a)
		}
	}
	return s, "", cmp.Or(outside, err)
}

// notMember is the error if a node is asked about its cluster and has none.
func notMember(s *node.Status, at string) error {
	why := s.State
	if s.Why != "" {
		why += ": " + s.Why
	}
	return fmt.Errorf("node %s at %s is not a member at present (%s): name another node with --addr, or wait until 'stile status' shows it as a member", s.Node, at, why)
}

// mergeLock adds what one node reports about a lock to what others reported.
func mergeLock(found map[string]*surveyedLock, l *node.LockInfo, address string) {
	x := found[l.Name]
	if x == nil {
		x = &surveyedLock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Waiters: []lockWaiter{}}
		found[l.Name] = x
	}
	if l.Holder != nil {
		x.through = append(x.through, address)
		if x.Holder == nil || l.Holder.Held < x.Holder.Held { // it has moved there
			x.Holder = &lockHolder{l.Node, *l.Holder}
		}
	}
	x.Unlisted += l.Unlisted
	for _, w := range l.Waiters {
		x.Waiters = append(x.Waiters, lockWaiter{l.Node, w, l.Why})
	}
}
