package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/node/transport"
)

// prefix is what the names of all accounts begin with. An account and its lock have the same
// name.
const prefix = "account/"

// serveNode is the main function of a node.
func serveNode(in *json.Decoder, out *json.Encoder) error {
	var c stile.Config
	if err := in.Decode(&c); err != nil {
		return err
	}
	n, err := stile.Open(context.Background(), c)
	if err != nil {
		return err
	}
	if err := out.Encode(true); err != nil {
		return err
	}
	<-n.Done()
	return n.Err()
}

// A node is a node of the cluster, over all its starts. It listens behind a proxy, whose
// address it advertises.
type node struct {
	stile.Config
	*process
}

// newNode starts the next node of the cluster.
func (r *run) newNode(name string) (*node, error) {
	listen, advertise, err := r.network.proxy(name)
	if err != nil {
		return nil, err
	}
	n := &node{Config: stile.Config{Name: name, Listen: listen, Advertise: advertise, Data: filepath.Join(r.dir, name), Join: r.addresses(nil)}}
	if len(r.nodes) == 0 {
		n.Lease, n.Voters = lease, 3
		switch {
		case strings.HasPrefix(r.Lock, "kept"):
			n.Algorithm = "naimi-trehel," + prefix + "=" + r.Lock
		case r.Lock != noLock:
			n.Algorithm = r.Lock
		}
	}
	n.process, err = start(r.ctx, nodeRole, n.Config)
	return n, err
}

// A network is the proxies in front of the nodes. They can cut a node off without root: the
// first bytes of a connection name the node that has dialled. During a partition proxies keep
// what arrives, new connections too, as a network would that delivers it later.
type network struct {
	ctx context.Context // ends with the run

	mu     sync.Mutex
	apart  string        // the node that is cut off from the others; empty if none is
	healed chan struct{} // closed when it no longer is
}

// proxy starts a proxy, and returns the address at which its node must listen, and its own.
func (w *network) proxy(node string) (listen, advertise string, err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer free.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	context.AfterFunc(w.ctx, func() { l.Close() })
	listen = free.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c, node, listen)
		}
	}()
	return listen, l.Addr().String(), nil
}

// carry connects a process that has dialled with a node, until either closes.
func (w *network) carry(from net.Conn, node, address string) {
	defer from.Close()
	name, first, err := transport.Caller(from)
	if err != nil {
		return
	}
	w.wait(name, node)
	to, err := net.Dial("tcp", address)
	if err != nil {
		return // the node does not run: the caller tries again
	}
	defer to.Close()
	defer context.AfterFunc(w.ctx, func() { from.Close(); to.Close() })()
	if _, err := to.Write(first); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { w.pump(from, to, name, node) })
	both.Go(func() { w.pump(to, from, name, node) })
	both.Wait()
}

// pump carries one direction of a connection between two processes. While these are cut off
// from each other nothing arrives, not even the end of the connection.
func (w *network) pump(from, to net.Conn, a, b string) {
	defer from.Close()
	defer to.Close()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		w.wait(a, b)
		if _, failed := to.Write(chunk[:n]); failed != nil || err != nil {
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

// account returns the name of an account; the first is 1.
func account(i int) string { return fmt.Sprintf("%s%03d", prefix, i) }
