package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/words"
)

// looking is what commands can be told that ask a node and print the answer.
type looking struct {
	target Target
	json   bool
}

func (l *looking) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	l.target.Define(fs)
	JSON(fs, &l.json)
}

// status asks the node how it is, and returns where it was reached, from which the
// address that it tells others may differ.
func (l *looking) status(c *cobra.Command) (s node.Status, at string, err error) {
	if err := l.target.Settle(c); err != nil {
		return s, "", err
	}
	at, err = l.target.Query(c.Context(), node.AskStatus, "", &s)
	return s, at, err
}

// NewStatus returns the command status.
func NewStatus() *cobra.Command {
	l := &looking{}
	c := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show how a node and its cluster are",
		Long: `Asks a node how it is. The exit code is 0 if it takes part in its cluster, and 1 if
it does not at present: nobody can then have a lock through it.`,
		Example: `  stile status --addr 127.0.0.1:7430`,
		Args:    Nothing,
		RunE: func(c *cobra.Command, _ []string) error {
			s, _, err := l.status(c)
			if err != nil {
				return err
			}
			if err := (Report{JSON: s, Text: func(p *Page) { clusterShow(p, &s) }}).Print(c.OutOrStdout(), l.json); err != nil {
				return err
			}
			switch {
			case s.State != node.Member.String():
				return Found{Lines: []string{fmt.Sprintf("node %s takes no part at present: it is %s", s.Node, s.State)}}
			case s.Why != "":
				return Found{Lines: []string{fmt.Sprintf("node %s takes no part at present: %s", s.Node, s.Why)}}
			}
			return nil
		},
	}
	l.define(c.Flags())
	return c
}

// clusterShow tells people how a node is.
func clusterShow(p *Page, s *node.Status) {
	p.Row("node", "%s at %s, %s", s.Node, s.Address, s.State)
	if s.Why != "" {
		p.Row("why", "%s", s.Why)
	}
	p.Row("cluster", "%s, epoch %d, %s", s.Cluster, s.Epoch, words.Plural(len(s.Members), "member"))
	leader := "not known here"
	if s.Leader != "" {
		leader = fmt.Sprintf("%s, term %d", s.Leader, s.Term)
	}
	p.Row("leader", "%s", leader)
	if s.Ghosts > 0 {
		p.Row("ghosts", "%d evicted, whose leases may still run", s.Ghosts)
	}
	p.Row("lease", "%g s, of which it has %.1f s left", s.Lease, s.Left)
	p.Row("algorithm", "%s", s.Algorithm)
	p.Row("locks", "%d held through it, %s, %d known", s.Held, clusterWaits(s.Waiting), s.Known)
	p.Row("clients", "%d", s.Clients)
	p.Gap()
	list(p, s.Members, true)
}

func clusterWaits(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

// list prints members; linked says which of them the node has a connection to.
func list(p *Page, all []node.MemberInfo, linked bool) {
	if len(all) == 0 {
		p.Line("no members are known here")
		return
	}
	name, address := len("NAME"), len("ADDRESS")
	for _, m := range all {
		name, address = max(name, len(m.Name)), max(address, len(m.Address))
	}
	row := func(n, a, v, inc, l string) {
		p.Line("%s", Cut(fmt.Sprintf("%-*s  %-*s  %-6s  %11s  %s", name, n, address, a, v, inc, l), Width))
	}
	row("NAME", "ADDRESS", "VOTER", "INCARNATION", "")
	for _, m := range all {
		note := ""
		if linked && !m.Linked {
			note = "no connection"
		}
		row(m.Name, m.Address, map[bool]string{true: "yes", false: "no"}[m.Voter], fmt.Sprint(m.Incarnation), note)
	}
}

// A clusterMember is what programs are told of one.
type clusterMember struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	Voter       bool   `json:"voter"`
	Incarnation uint64 `json:"incarnation"`
}

// NewMembers returns the command members.
func NewMembers() *cobra.Command {
	l := &looking{}
	c := &cobra.Command{
		Use:     "members [flags]",
		Short:   "List the members of the cluster",
		Example: `  stile members --addr 127.0.0.1:7430`,
		Args:    Nothing,
		RunE: func(c *cobra.Command, _ []string) error {
			s, _, err := l.status(c)
			if err != nil {
				return err
			}
			all := []clusterMember{}
			for _, m := range s.Members {
				all = append(all, clusterMember{m.Name, m.Address, m.Voter, m.Incarnation})
			}
			return Report{JSON: all, Text: func(p *Page) { list(p, s.Members, false) }}.Print(c.OutOrStdout(), l.json)
		},
	}
	l.define(c.Flags())
	return c
}
