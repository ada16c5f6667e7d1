package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node"
)

// impatience is after how long somebody is told why a node is no member yet.
const impatience = 3 * time.Second

// A serveProcess is the nodes that run in this one.
type serveProcess struct {
	nodes []*node.Node
	log   *slog.Logger
	drain time.Duration
}

func (f *serveFlags) run(c *cobra.Command) error {
	if err := f.settle(c); err != nil {
		return err
	}
	log := newLog(c.ErrOrStderr(), f.log, f.level)
	configs, err := f.configs(log)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	p := &serveProcess{log: log, drain: f.drain}
	defer p.kill()
	for _, one := range configs {
		if err := p.start(ctx, one); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return p.stop(release)
		}
	}
	if err := p.greet(c, configs); err != nil {
		return err
	}
	for _, n := range p.nodes {
		select {
		case <-n.Done():
		case <-ctx.Done():
			return p.stop(release)
		}
	}
	return p.over()
}

// start starts a node, and waits until it is a member, or the context ends. The
// others join the first one.
func (p *serveProcess) start(ctx context.Context, c node.Config) error {
	if len(p.nodes) > 0 {
		c.Join = []string{p.nodes[0].Address()}
	}
	n, err := node.Start(c)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: a node may run there already ('stile status' asks it); say with --listen where else to listen, such as 127.0.0.1:7430", c.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot start node %s: %w", c.Name, err)
	}
	p.nodes = append(p.nodes, n)
	hint := time.AfterFunc(impatience, func() {
		p.log.Warn("is no member yet, and goes on trying", "name", c.Name, "join", c.Join, "why", serveWaits(n))
	})
	defer hint.Stop()
	if err := n.Ready(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s: %w", c.Name, err)
	}
	return nil
}

// serveWaits says why a node is no member yet.
func serveWaits(n *node.Node) string {
	s := n.Status()
	switch {
	case s.Why != "":
		return s.Why
	case len(s.Members) > 0:
		return "it does not hear of most voters: start the other nodes"
	}
	return "nobody has let it in yet"
}

// greet says where the nodes are, and what can be done with them.
func (p *serveProcess) greet(c *cobra.Command, configs []node.Config) error {
	w := c.OutOrStdout()
	for i, n := range p.nodes {
		fmt.Fprintf(w, "node %s serves at %s, data in %s\n", n.Name(), n.Address(), describe(configs[i].Data))
	}
	where := ""
	if a := p.nodes[0].Address(); a != node.DefaultListen {
		where = "--addr " + a + " "
	}
	fmt.Fprintf(w, "try it: stile exec %sdemo -- sh -c 'echo $STILE_TOKEN'\n", where)
	if err := Flush(w); err != nil {
		return fmt.Errorf("cannot say where the node is: %w", err)
	}
	return nil
}

// stop ends all nodes in good order, the last one first. A signal during that ends
// the process at once.
func (p *serveProcess) stop(release func()) error {
	release()
	drain := p.drain
	if drain < 0 { // sessions end within a lease when they are prolonged no more
		drain = time.Duration(p.nodes[0].Status().Lease*float64(time.Second)) + 2*time.Second
	}
	p.log.Info("stops: it takes nothing new, and leaves when nobody holds a lock through it", "drain", drain)
	ctx, cancel := context.WithTimeoutCause(context.Background(), drain, fmt.Errorf("somebody still holds a lock through it after %v, or the others do not answer", drain))
	defer cancel()
	var f Found
	for i := len(p.nodes) - 1; i >= 0; i-- {
		if err := p.nodes[i].Stop(ctx); err != nil {
			f.Lines = append(f.Lines, fmt.Sprintf("node %s could not leave in good order: %v; what it held is free when its lease is over", p.nodes[i].Name(), err))
		}
	}
	if len(f.Lines) > 0 {
		return f
	}
	return nil
}

// over says how nodes have ended that nobody has stopped here.
func (p *serveProcess) over() error {
	var f Found
	for _, n := range p.nodes {
		if err := n.Err(); err != node.ErrEnded { // which is part of all others
			f.Lines = append(f.Lines, fmt.Sprintf("node %s: %v", n.Name(), err))
		}
	}
	if len(f.Lines) > 0 {
		return f
	}
	return nil
}

// kill frees what nodes have that were not stopped.
func (p *serveProcess) kill() {
	for _, n := range p.nodes {
		n.Kill()
	}
}
