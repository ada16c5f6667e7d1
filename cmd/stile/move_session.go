package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

func newMoveSession() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:   "move-session SESSION [flags]",
		Short: "Ask a client to use another node",
		Long: `Asks one client of a node to use another node, as all do when their node stops.
It takes its locks along. Its requests that wait lose their places. If it
reaches no other node, it stays, and loses nothing.

'stile locks --json' shows the sessions of holders and waiters, and the nodes at
which they are.`,
		Example: `  stile move-session 5044731094186303205 --addr 10.0.0.6:7420`,
		Args:    terminal.OneArg("the number of a session: 'stile locks --json' shows those of holders and waiters", "session", "move them one at a time"),
		RunE:    func(c *cobra.Command, args []string) error { return l.moveSession(c, args[0]) },
	}
	l.define(c.Flags())
	return c
}

func (l *queryFlags) moveSession(c *cobra.Command, session string) error {
	if err := l.target.resolve(c); err != nil {
		return err
	}
	var m node.Moving
	if _, err := l.target.query(c.Context(), node.AskMove, session, &m); err != nil {
		return err
	}
	text := func(p *terminal.Printer) {
		p.Text(0, fmt.Sprintf("asked %s to use another node: it holds %s and waits for %d", m.Who, words.Plural(m.Holds, "lock"), m.Waits))
	}
	return terminal.Outcome{JSON: m, Text: text}.Print(c.OutOrStdout(), l.json)
}
