package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node"
)

// A leaveReport is what came of 'stile leave'.
type leaveReport struct {
	Node    string `json:"node"`
	Address string `json:"address"`
}

// newLeave returns the command leave.
func newLeave() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:   "leave [flags]",
		Short: "Let a node leave the cluster in good order",
		Long: `Asks a node to leave: it takes nothing new, gives nobody more time who holds a lock
through it, which ends within a lease, leaves the cluster, and ends. The command
waits until it is gone.`,
		Example: `  stile leave --addr 127.0.0.1:7430`,
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return l.leave(c) },
	}
	l.define(c.Flags())
	return c
}

func (l *queryFlags) leave(c *cobra.Command) error {
	s, at, err := l.status(c)
	if err != nil {
		return err
	}
	if _, err := l.target.at(at).query(c.Context(), node.AskLeave, "", nil); err != nil {
		return err
	}
	patience := max(time.Duration(3*s.Lease*float64(time.Second)), 30*time.Second) + answerTimeout
	if !waitUntilGone(c.Context(), at, patience) {
		return unfinished{why: fmt.Sprintf("node %s was told to leave, but is still there after %v: see what it logs, and 'stile status'", s.Node, patience)}
	}
	text := func(p *printer) { p.line("%s at %s is gone", s.Node, s.Address) }
	return outcome{json: leaveReport{s.Node, s.Address}, text: text}.print(c.OutOrStdout(), l.json)
}

// waitUntilGone waits until nobody listens at an address any more.
func waitUntilGone(ctx context.Context, address string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			return true
		}
		// Whoever listens closes the connection when it ends, or does not like it.
		stop := context.AfterFunc(ctx, func() { c.Close() })
		_, _ = c.Read(make([]byte, 1))
		stop()
		c.Close()
	}
}
