package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
)

// Only a process that reaches all members can become one. A node that fails to do so for
// long becomes a client of a member in the meantime, so that its applications can still
// acquire locks, and keeps trying to join. Once it is a member, new requests are made
// there; what is held or awaited as a client ends as a client's.

// A fallback is the client that a node uses while it is not a member.
type fallback struct {
	timer  *time.Timer // fires when the node has not been a member for long
	cancel context.CancelFunc
	client *client.Client // nil if there is none
}

// seek starts the timer for the fallback when the node is not, or is no longer, a member.
// The mutex must be held.
func (n *Node) seek() {
	if n.stopping || n.fallback.client != nil {
		return
	}
	n.cease()
	n.fallback.timer = time.AfterFunc(n.c.Patience, n.assist)
}

// cease stops the search for a member to be a client of. The mutex must be held.
func (n *Node) cease() {
	if n.fallback.timer != nil {
		n.fallback.timer.Stop()
	}
	if n.fallback.cancel != nil {
		n.fallback.cancel()
	}
	n.fallback.timer, n.fallback.cancel = nil, nil
}

// assist finds a member and makes the node a client of it.
func (n *Node) assist() {
	n.mu.Lock()
	if n.stopping || n.state() != Joining || n.fallback.client != nil || n.fallback.cancel != nil {
		n.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.fallback.cancel = cancel
	nodes, cluster := n.members(), cmp.Or(n.p.Record().Cluster, n.cluster)
	n.visits.Add(1)
	n.mu.Unlock()
	defer n.visits.Done()
	defer cancel()
	c, err := client.Dial(ctx, client.Config{Name: n.c.Name, Nodes: nodes, Cluster: cluster, Keys: n.keys, Insecure: n.c.Insecure})
	if err != nil {
		if ctx.Err() == nil {
			n.c.Log.Warn("node is neither a member nor a client of one", "err", err)
		}
		return
	}
	n.mu.Lock()
	late, why := n.stopping || n.state() != Joining, n.lately
	if !late {
		n.fallback.client = c
		n.tell()
	}
	n.mu.Unlock()
	if late {
		c.Close()
		return
	}
	n.c.Log.Warn("node became a client of a member, because it cannot join", "address", c.Node(), "why", why)
}

// members returns addresses where members may be, as far as the node knows.
func (n *Node) members() []string {
	var all []string
	for _, m := range n.lastView {
		all = append(all, m.Address)
	}
	for _, m := range n.p.Record().Members {
		all = append(all, m.Address)
	}
	all = n.others(append(all, n.contacts...))
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), session.MaxNodes)]
}

// unaid closes the client if the node is a member and the client is no longer needed. The
// mutex must be held.
func (n *Node) endFallback() {
	if c := n.fallback.client; c != nil && n.phase == process.Member && n.fallback.busy() == 0 {
		n.fallback.client = nil
		n.visits.Go(func() { c.Close() })
	}
}

// busy returns how many locks are held or awaited as a client.
func (a *fallback) busy() int {
	if a.client == nil {
		return 0
	}
	return a.client.Busy()
}

// aidIdle waits until no lock is held or awaited as a client.
func (n *Node) aidIdle(ctx context.Context) error {
	n.mu.Lock()
	c := n.fallback.client
	n.mu.Unlock()
	if c == nil {
		return nil
	}
	select {
	case <-c.Idle():
		return nil
	case <-ctx.Done():
		return lock.Done(ctx)
	}
}

// close ends the client of a node that has ended. Applications may still act under the
// locks it holds, so these stay with it until the session expires.
func (a *fallback) close() {
	if a.client != nil {
		a.client.Kill()
	}
}

// elsewhere waits until the node is a member or the client of one; if it is a client, it
// makes the request as one. It reports whether to make the request as a member.
func (n *Node) elsewhere(ctx context.Context, name string, o lock.Options) (l lock.Handle, again bool, err error) {
	var c *client.Client
	err = n.wait(ctx, func() bool {
		joining := n.state() == Joining && !n.stopping
		if c = nil; joining {
			c = n.fallback.client
		}
		return c != nil || !joining
	})
	if err != nil {
		return nil, false, fmt.Errorf("lock %q: %w", name, err)
	}
	if c == nil {
		return nil, true, nil
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.drained, cancel)()
	l, err = c.Lock(inner, name, o)
	switch {
	case err == nil:
		return l, false, nil
	case ctx.Err() == nil && (inner.Err() != nil || errors.Is(err, client.ErrClosed)):
		return nil, true, nil // the node is about to leave, or has become a member
	}
	return nil, false, err
}
