package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
)

// A leaveReport is the JSON form of the result.
type leaveReport struct {
	Node    string `json:"node"`
	Address string `json:"address"`
}

func newLeave() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:   "leave [flags]",
		Short: "Make a node leave the cluster cleanly",
		Long: `Asks a node to leave: it accepts no new requests, stops renewing locks held
through it (they expire within one lease), leaves the cluster, and exits. The
command waits until the node has exited.

The node gives up its place. If it was a voter, another node votes instead, or
the cluster has fewer voters. To restart a node, stop it with TERM instead: it
then keeps its place.`,
		Example: `  stile leave --addr 127.0.0.1:7430`,
		Args:    terminal.NoArgs,
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
	patience := max(time.Duration(3*s.Lease*float64(time.Second)), 30*time.Second) + answerTimeout
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	var d node.Departed
	b, answered, err := client.Query(ctx, l.target.at(at).config(""), node.AskLeave, []byte(node.LeaveReport))
	if answered != "" {
		if err := decodeAnswer(at, b, err, &d); err != nil {
			return err
		}
	}
	if d.Why != "" {
		return terminal.Findings{Lines: []string{fmt.Sprintf("node %s has stopped without leaving the cluster: %s: see 'stile members'", s.Node, d.Why)}}
	}
	if !waitUntilGone(ctx, at) {
		return terminal.Unfinished{Why: fmt.Sprintf("node %s is still running %v after it was asked to leave: see its log and 'stile status'", s.Node, patience)}
	}
	if !d.Left {
		return terminal.Findings{Lines: []string{fmt.Sprintf("node %s has ended and did not report that it has left: it may have been killed: see 'stile members'", s.Node)}}
	}
	text := func(p *terminal.Printer) { p.Line("node %s at %s has left", s.Node, s.Address) }
	return terminal.Outcome{JSON: leaveReport{s.Node, s.Address}, Text: text}.Print(c.OutOrStdout(), l.json)
}

// waitUntilGone waits until no process listens at an address, and reports false if the
// context ends before.
func waitUntilGone(ctx context.Context, address string) bool {
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			return true
		}
		// The node closes the connection when it exits, or refuses it.
		stop := context.AfterFunc(ctx, func() { c.Close() })
		_, _ = c.Read(make([]byte, 1))
		stop()
		c.Close()
	}
}
