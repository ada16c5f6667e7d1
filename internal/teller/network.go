package teller

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/stile-lock/stile/internal/node/transport"
)

// A network is what connects the nodes of a run with each other and with the workers, if it
// must be possible to cut it: each node advertises the address of a proxy. All nodes have
// the same addresses of the others, so a proxy learns from the first bytes of a connection
// which node has dialled.
type network struct {
	ctx context.Context // ends with the run

	mu     sync.Mutex
	apart  string        // the node that is cut off from the others; empty if none is
	healed chan struct{} // closed when it no longer is
}

// A proxy is the way to a node.
type proxy struct {
	network  *network
	node     string // its name
	target   string // where it listens
	listener net.Listener
}

// proxy returns a new proxy for a node, and the address at which that must listen. It ends
// with the run.
func (w *network) proxy(node string) (*proxy, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("choose a port for node %s: %w", node, err)
	}
	p := &proxy{network: w, node: node, target: free.Addr().String()}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		free.Close()
		return nil, fmt.Errorf("listen for node %s, to partition the network: %w", node, err)
	}
	free.Close()
	context.AfterFunc(w.ctx, func() { p.listener.Close() })
	go func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.carry(c)
		}
	}()
	return p, nil
}

// carry connects a process that has dialled with the node, until either closes.
func (p *proxy) carry(from net.Conn) {
	defer from.Close()
	defer context.AfterFunc(p.network.ctx, func() { from.Close() })()
	name, first, err := transport.Caller(from)
	if err != nil {
		return
	}
	p.network.wait(name, p.node)
	to, err := net.Dial("tcp", p.target)
	if err != nil {
		return // the node does not run: the caller tries again
	}
	defer to.Close()
	defer context.AfterFunc(p.network.ctx, func() { to.Close() })()
	if _, err := to.Write(first); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.network.pump(from, to, name, p.node) })
	both.Go(func() { p.network.pump(to, from, name, p.node) })
	both.Wait()
}

// pump carries one direction of a connection between two processes. While these are cut off
// from each other nothing arrives, not even that the other side has closed; later everything
// does, as on a network that sends again what was lost.
func (w *network) pump(from, to net.Conn, a, b string) {
	defer from.Close()
	defer to.Close()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		w.wait(a, b)
		if n > 0 {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits while two processes are cut off from each other, or until the run ends. Workers
// have no name, and reach all nodes.
func (w *network) wait(a, b string) {
	for {
		w.mu.Lock()
		healed := w.healed
		cut := a != "" && w.apart != "" && (a == w.apart) != (b == w.apart)
		w.mu.Unlock()
		if !cut {
			return
		}
		select {
		case <-healed:
		case <-w.ctx.Done():
			return
		}
	}
}

// isolate cuts a node off from the others, until heal is called.
func (w *network) isolate(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apart, w.healed = node, make(chan struct{})
}

func (w *network) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apart = ""
	close(w.healed)
}
