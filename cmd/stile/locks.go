package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// locksFlags holds the flags of 'stile locks'.
type locksFlags struct {
	queryFlags
	watch  bool
	graph  bool
	svg    string
	home   string
	prefix string
}

func newLocks() *cobra.Command {
	l := &locksFlags{}
	c := &cobra.Command{
		Use:   "locks [PREFIX] [flags]",
		Short: "Show who holds each lock and who is waiting for it",
		Long: `Asks all nodes of the cluster about the locks in use, or about those whose names
begin with PREFIX. Waiting clients are listed in the order of their requests,
each with the reason that its node gives, and with the decisions of the lock's
algorithm by which it waits, such as "b defers a, because (34,b) comes before
(41,a)". The exit code is 1 if a node did not answer: locks held through it are
then missing.

With --graph, shows the wait-for graph instead: who waits for whom, and at which
lock. A transaction is one process in it, with all its locks; so is each request
outside of transactions. A deadlock is a ring. It is only a possible deadlock if
the ring goes through several requests of one client, which may be independent.
The home of a kept lock knows who waits there: --home shows the local graph of
one node. Nodes answer at different times, so a deadlock that is shown may just
have been resolved.`,
		Example: `  stile locks orders/
  stile locks --graph --svg graph.svg
  stile locks --watch
  stile locks --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			l.prefix = args[0]
			return terminal.OneArg("", "prefix", "give their common prefix")(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.target.resolve(c); err != nil {
				return err
			}
			if l.svg != "" && !l.graph {
				return errors.New("--svg draws the wait-for graph: give --graph too")
			}
			if l.watch && l.svg != "" {
				return errors.New("--watch writes no files: leave out --svg")
			}
			if l.watch {
				return (&watcher{"locks", l.json, func(ctx context.Context) (terminal.Outcome, error) {
					s, err := l.take(ctx)
					if err != nil {
						return terminal.Outcome{}, err
					}
					return l.report(s), nil
				}}).run(c)
			}
			var s *survey.Locks
			files := terminal.PictureFile("svg", l.svg, func() string { return drawGraph(s.Graph()) })
			return terminal.RunAndReport(c.OutOrStdout(), l.json, files, func() (r terminal.Outcome, err error) {
				if s, err = l.take(c.Context()); err != nil {
					return r, err
				}
				r = l.report(s)
				r.Wrong = terminal.FindingsOf(s.Unasked, "node", " without an answer", func(u survey.Silent) string {
					return fmt.Sprintf("node %s did not answer: locks held through it are missing", words.Quoted(u.Node))
				})
				return r, nil
			})
		},
	}
	c.Flags().BoolVar(&l.watch, "watch", false, "refresh every second, until q or Ctrl-C")
	c.Flags().BoolVar(&l.graph, "graph", false, "show the wait-for graph")
	c.Flags().Var(terminal.OutputFileFlag(&l.svg, ".svg"), "svg", "SVG `FILE` for the wait-for graph, with --graph")
	c.Flags().Var(nodeNameFlag(&l.home), "home", "`NAME` of a node: only locks whose home it is")
	l.define(c.Flags())
	return c
}

// take asks all nodes.
func (l *locksFlags) take(ctx context.Context) (*survey.Locks, error) {
	members, err := l.target.members(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.checkHome(members); err != nil {
		return nil, err
	}
	s := survey.Take(ctx, members, node.LockQuery{Prefix: l.prefix, Graph: l.graph}, l.target.ask)
	if l.home != "" {
		s.Locks = slices.DeleteFunc(s.Locks, func(x survey.Lock) bool { return x.Home != l.home })
	}
	return s, nil
}

// checkHome refuses a home that is not a member: no lock would be listed.
func (l *locksFlags) checkHome(members []node.MemberInfo) error {
	var names []string
	for _, m := range members {
		if m.Name == l.home {
			return nil
		}
		names = append(names, m.Name)
	}
	if l.home == "" {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("--home: node %q is not a member of the cluster: its members are %s", l.home, listNames(names, strconv.Quote))
}

func (l *locksFlags) report(s *survey.Locks) terminal.Outcome {
	if l.graph {
		g := s.Graph()
		return terminal.Outcome{JSON: graphReport{g, s.Unasked}, Text: func(p *terminal.Printer) { printGraph(p, g, s.Unasked) }}
	}
	return terminal.Outcome{JSON: s, Text: func(p *terminal.Printer) { printLocks(p, s) }}
}

// printLocks prints the locks in use.
func printLocks(p *terminal.Printer, s *survey.Locks) {
	switch {
	case len(s.Locks) > 0:
	case len(s.Unasked) > 0:
		p.Line("no node that answered reports a lock")
	default:
		p.Line("no lock is held or requested")
	}
	for _, l := range s.Locks {
		printLock(p, &l)
	}
	printUnasked(p, s.Unasked)
}

// printUnasked prints which nodes did not answer.
func printUnasked(p *terminal.Printer, all []survey.Silent) {
	for _, u := range all {
		p.Text(0, fmt.Sprintf("node %s did not answer: %s", words.Quoted(u.Node), u.Why))
	}
}

func printLock(p *terminal.Printer, l *survey.Lock) {
	line := func(format string, args ...any) {
		p.Line("%s", terminal.Truncate(fmt.Sprintf(format, args...), terminal.ScreenWidth))
	}
	line("%s", words.Quoted(l.Name))
	if l.Holder == nil {
		line("  no node reports a holder")
	} else {
		for _, h := range append([]survey.Holder{*l.Holder}, l.Shared...) {
			how := demandOf(h.Demand)
			if h.Delegated {
				how = ", delegated"
			}
			line("  held by %s%s", h.Who, how)
			line("     token %s, held for %.1f s, lease expires in %.1f s", h.Token, h.Held, h.Left)
			if h.Value != "" {
				line("     value %s", words.Quoted(h.Value))
			}
		}
	}
	for i, w := range l.Waiters {
		line("%3d. %s%s, waiting for %.1f s", i+1, w.Who, demandOf(w.Demand), w.Waited)
		line("     %s", w.Why)
		for _, b := range w.Because {
			line("     %s", b)
		}
	}
	if l.Unlisted > 0 {
		line("     and %s", words.Plural(l.Unlisted, "more request"))
	}
}

// demandOf describes the mode and the transaction of a request for a kept lock.
func demandOf(d node.Demand) string {
	if d.Tx == 0 {
		return ""
	}
	return fmt.Sprintf(", %s, transaction %d", d.Mode, d.Tx)
}

// survey asks all nodes of the cluster about locks. It needs no session, so it does
// not wait for one.
func (t *target) survey(ctx context.Context, q node.LockQuery) (*survey.Locks, error) {
	members, err := t.members(ctx)
	if err != nil {
		return nil, err
	}
	return survey.Take(ctx, members, q, t.ask), nil
}

// ask asks the node at an address.
func (t *target) ask(ctx context.Context, address string, what uint64, about []byte, to any) error {
	_, err := t.at(address).query(ctx, what, string(about), to)
	return err
}

// members returns the members of the cluster, with addresses that this process can use.
func (t *target) members(ctx context.Context) ([]node.MemberInfo, error) {
	s, at, err := t.member(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Address == s.Address {
			m.Address = at // other nodes may use an address that this process cannot
		}
	}
	return s.Members, nil
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
