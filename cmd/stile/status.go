package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// queryFlags holds the flags of commands that ask a node and print the answer.
type queryFlags struct {
	target target
	json   bool
}

func (l *queryFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	l.target.define(fs)
	terminal.JSONFlag(fs, &l.json)
}

// status asks a node for its status. It also returns the address at which the node
// answered, which may differ from the one that it advertises.
func (l *queryFlags) status(c *cobra.Command) (s node.Status, at string, err error) {
	if err := l.target.resolve(c); err != nil {
		return s, "", err
	}
	at, err = l.target.query(c.Context(), node.AskStatus, "", &s)
	return s, at, err
}

func newStatus() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show node and cluster status",
		Long: `Shows the status of a node and of its cluster as the node knows it. The exit
code is 1 if the node is not an active member at present: no lock can then be
held through it.`,
		Example: `  stile status --addr 127.0.0.1:7430`,
		Args:    terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, _, err := l.status(c)
			if err != nil {
				return err
			}
			if err := (terminal.Outcome{JSON: s, Text: func(p *terminal.Printer) { printStatus(p, &s) }}).Print(c.OutOrStdout(), l.json); err != nil {
				return err
			}
			switch {
			case s.State != node.Member.String():
				return terminal.Findings{Lines: []string{fmt.Sprintf("node %s is not an active member: it is %s", s.Node, s.State)}}
			case s.Why != "":
				return terminal.Findings{Lines: []string{fmt.Sprintf("node %s is not an active member: %s", s.Node, s.Why)}}
			}
			return nil
		},
	}
	l.define(c.Flags())
	return c
}

// printStatus prints the status of a node.
func printStatus(p *terminal.Printer, s *node.Status) {
	p.Row("node", "%s at %s, %s", s.Node, s.Address, s.State)
	if s.Why != "" {
		p.Row("why", "%s", s.Why)
	}
	p.Row("cluster", "%s, epoch %d, %s", s.Cluster, s.Epoch, words.Plural(len(s.Members), "member"))
	if len(s.Recovered) > 0 {
		p.Row("recovered", "from %s", s.Recovered[len(s.Recovered)-1])
	}
	leader := "unknown"
	if s.Leader != "" {
		leader = fmt.Sprintf("%s, term %d", s.Leader, s.Term)
	}
	p.Row("leader", "%s", leader)
	if s.Ghosts > 0 {
		p.Row("ghosts", "%d evicted, with leases that may still run", s.Ghosts)
	}
	p.Row("lease", "%g s, expires in %.1f s", s.Lease, s.Left)
	p.Row("algorithm", "%s", strings.ReplaceAll(s.Algorithm, ",", ", "))
	p.Row("locks", "%d held through this node, %d waiting, %d known", s.Held, s.Waiting, s.Known)
	p.Row("clients", "%d", s.Clients)
	p.Gap()
	printMembers(p, s.Members, true)
}

// printMembers prints members and, if linked, which of them are not connected.
func printMembers(p *terminal.Printer, all []node.MemberInfo, linked bool) {
	if len(all) == 0 {
		p.Line("no members known")
		return
	}
	name, address := len("NAME"), len("ADDRESS")
	for _, m := range all {
		name, address = max(name, len(m.Name)), max(address, len(m.Address))
	}
	row := func(n, a, v, inc, l string) {
		p.Line("%s", terminal.Truncate(fmt.Sprintf("%-*s  %-*s  %-6s  %11s  %s", name, n, address, a, v, inc, l), terminal.ScreenWidth))
	}
	row("NAME", "ADDRESS", "VOTER", "INCARNATION", "")
	for _, m := range all {
		note := ""
		if linked && !m.Linked {
			note = "not connected"
		}
		row(m.Name, m.Address, map[bool]string{true: "yes", false: "no"}[m.Voter], fmt.Sprint(m.Incarnation), note)
	}
}

// A memberReport is the JSON form of a member.
type memberReport struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	Voter       bool   `json:"voter"`
	Incarnation uint64 `json:"incarnation"`
}

func newMembers() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:     "members [flags]",
		Short:   "List the members of the cluster",
		Example: `  stile members --addr 127.0.0.1:7430`,
		Args:    terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, _, err := l.status(c)
			if err != nil {
				return err
			}
			all := []memberReport{}
			for _, m := range s.Members {
				all = append(all, memberReport{m.Name, m.Address, m.Voter, m.Incarnation})
			}
			return terminal.Outcome{JSON: all, Text: func(p *terminal.Printer) { printMembers(p, s.Members, false) }}.Print(c.OutOrStdout(), l.json)
		},
	}
	l.define(c.Flags())
	return c
}
