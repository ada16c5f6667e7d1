package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

func newEvict() *cobra.Command {
	l := &orderFlags{}
	c := &cobra.Command{
		Use:   "evict NODE [flags]",
		Short: "Exclude a node from the cluster",
		Long: `Makes the cluster continue without a node, whether the node runs or not. The
locks that were held through it are lost, and can be acquired again when its
lease has expired. If the node runs, it joins again. Nodes that do not answer
are evicted without this command; to stop a node, use 'stile leave'.`,
		Example: `  stile evict b --yes`,
		Args:    terminal.OneArg("the name of a node: 'stile members' lists them", "node", "evict them one at a time"),
		RunE:    func(c *cobra.Command, args []string) error { return l.evict(c, args[0]) },
	}
	l.define(c.Flags())
	return c
}

func newChoose() *cobra.Command {
	l := &orderFlags{}
	c := &cobra.Command{
		Use:   "choose [PREFIX=]ALGORITHM[,...] [flags]",
		Short: "Change which algorithm runs which locks",
		Long: `Changes the algorithms of a running cluster, in the form that the flag
--algorithm of 'stile serve' takes: for the locks whose names begin with the
prefix, or without a prefix for all that have no other choice. Choices that are
not named stay. 'stile status' shows all of them.

Holders keep their locks and requests keep waiting, with one exception: a hold
that only kept locks can have, shared or of a semaphore, is lost if its lock is
no longer kept. 'stile-lab algorithms' says which algorithms run live, and
docs/kept.md explains kept locks.`,
		Example: `  stile choose raymond
  stile choose orders/=suzuki-kasami,accounts/=kept:wound-wait --yes`,
		Args: terminal.OneArg("algorithms: see 'stile-lab algorithms'", "list of algorithms", "separate them by commas"),
		RunE: func(c *cobra.Command, args []string) error { return l.choose(c, args[0]) },
	}
	l.define(c.Flags())
	return c
}

// orderFlags holds the flags of commands that give an order to the view service.
type orderFlags struct{ consentFlags }

func (l *orderFlags) evict(c *cobra.Command, name string) error {
	s, _, err := l.status(c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Members, func(m node.MemberInfo) bool { return m.Name == name })
	if i < 0 {
		return fmt.Errorf("cannot evict %q: it is not a member of the cluster: 'stile members' lists them", name)
	}
	inc := s.Members[i].Incarnation
	if err := l.consent(c, fmt.Sprintf("all locks that are held through %s will be lost", words.Quoted(name)), "Evict it?"); err != nil {
		return err
	}
	done := func(s *node.Status) string {
		return fmt.Sprintf("from epoch %d on the cluster continues without %s", s.Epoch, words.Quoted(name))
	}
	return l.give(c, &s, node.AskEvict, name, done, func(s *node.Status) bool {
		return !slices.ContainsFunc(s.Members, func(m node.MemberInfo) bool { return m.Incarnation == inc })
	})
}

func (l *orderFlags) choose(c *cobra.Command, text string) error {
	if err := node.CheckAlgorithm(text); err != nil {
		return err
	}
	s, _, err := l.status(c)
	if err != nil {
		return err
	}
	if err := l.consent(c, fmt.Sprintf("the cluster uses %s, and will use %s", s.Algorithm, text), "Change it?"); err != nil {
		return err
	}
	epoch := s.Epoch
	done := func(s *node.Status) string {
		return fmt.Sprintf("from epoch %d on the cluster uses %s", s.Epoch, s.Algorithm)
	}
	return l.give(c, &s, node.AskChoose, text, done, func(s *node.Status) bool { return s.Epoch > epoch })
}

// give gives an order to the leader of the view service, and waits until a view of the
// leader carries it out.
func (l *orderFlags) give(c *cobra.Command, s *node.Status, what uint64, about string, done func(s *node.Status) string, over func(s *node.Status) bool) error {
	leader, err := l.leader(c, s)
	if err != nil {
		return err
	}
	var given node.Ordered
	if _, err := leader.query(c.Context(), what, about, &given); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), answerTimeout)
	defer cancel()
	for !over(s) {
		select {
		case <-ctx.Done():
			return terminal.Unfinished{Why: fmt.Sprintf("%s has taken the order, but there is no new view %v later: see 'stile status'", leader.addr[0], answerTimeout)}
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := leader.query(c.Context(), node.AskStatus, "", s); err != nil {
			return err
		}
	}
	text := func(p *terminal.Printer) { p.Text(0, done(s)) }
	return terminal.Outcome{JSON: s, Text: text}.Print(c.OutOrStdout(), l.json)
}

// leader returns the leader of the view service, which voters know.
func (l *orderFlags) leader(c *cobra.Command, s *node.Status) (*target, error) {
	for _, m := range s.Members {
		if !m.Voter {
			continue
		}
		if _, err := l.target.at(m.Address).query(c.Context(), node.AskStatus, "", s); err != nil {
			continue // another voter may answer
		}
		if i := slices.IndexFunc(s.Members, func(m node.MemberInfo) bool { return m.Name == s.Leader }); i >= 0 {
			return l.target.at(s.Members[i].Address), nil
		}
	}
	return nil, errors.New("no voter knows a leader of the view service: see 'stile status', and try again")
}
