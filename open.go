package stile

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// A Config describes a node. The zero value is a cluster of one node, in memory, on a
// free port of the loopback interface.
type Config struct {
	Name      string        // node name, unique in the cluster; default the host name
	Listen    string        // host:port for nodes and clients; default a free port of 127.0.0.1
	Advertise string        // host:port that others connect to; default Listen
	Join      []string      // addresses of nodes to join, which must be of the cluster of Data, if any; default none: found a cluster, or resume that of Data
	Data      string        // folder for what must survive a restart; default memory only
	Voters    int           // number of nodes that store the view log, 1, 3 or 5, set by the first node; default 3
	Lease     time.Duration // how long an unreachable process keeps its locks, set by the first node; default 10 s
	Algorithm string        // algorithm that passes locks on, set by the first node, or PREFIX=ALGORITHM, or several with commas; default naimi-trehel,kept/=kept, see docs/kept.md
	TLS       Certificates  // default none: plain TCP, only on this machine
	Insecure  bool          // allow plain TCP to other machines
	Rights    string        // file that says which clients may do what; default all clients may use all locks, and only administrators administer
	Revoked   string        // file with the serial numbers of revoked certificates; default none are
	Record    string        // new file for a recording of all inputs, up to 1 GiB, for 'stile-lab replay'; default none
	Log       *slog.Logger  // default no logging
	Drain     time.Duration // maximum wait of Close for holders; default 10 s
}

// Certificates are the files with which nodes and clients authenticate each other.
// 'stile cert' creates them.
type Certificates struct {
	CA   string // certificate of the authority
	Cert string // certificate of this process
	Key  string // private key of this process
}

// A Node is a member of a cluster, in this process.
type Node struct {
	electorate
	node  *node.Node
	drain time.Duration
}

// Open starts a node, and waits until it is a member of its cluster. A member must reach
// all other members. A node that reaches only some of them acts as their client in the
// meantime, logs that, and keeps trying.
func Open(ctx context.Context, c Config) (*Node, error) {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	n, err := node.Start(node.Config{
		Name: c.Name, Listen: c.Listen, Advertise: c.Advertise, Join: c.Join, Data: c.Data, Voters: c.Voters, Lease: c.Lease,
		Algorithm: c.Algorithm, TLS: cert.Config(c.TLS), Insecure: c.Insecure, Rights: c.Rights, Revoked: c.Revoked, Log: c.Log,
		Record: node.Record{File: c.Record, By: "package stile"},
	})
	if err != nil {
		return nil, fmt.Errorf("open a node: %w", err)
	}
	if err := n.Ready(ctx); err != nil {
		n.Kill()
		return nil, fmt.Errorf("open a node: %w", err)
	}
	if c.Drain == 0 {
		c.Drain = 10 * time.Second
	}
	return &Node{electorate{locker{n, func(ctx context.Context, name string, a lock.Options) (*Lock, error) {
		x := &struct { // in one piece: it is made for every entry
			Lock
			hold node.Hold
		}{}
		var err error
		x.h, err = n.LockIn(ctx, &x.hold, name, a)
		return &x.Lock, err
	}, n.Attempt}, cluster{n.Address, n.AskAt}}, n, c.Drain}, nil
}

// Address returns the address that other nodes and clients connect to.
func (n *Node) Address() string { return n.node.Address() }

// Done returns a channel that is closed when the node has ended, by Close or because it
// cannot go on. Err then returns the reason.
func (n *Node) Done() <-chan struct{} { return n.node.Done() }

// Err returns nil while the node runs, and ErrClosed after that, together with the reason
// if the node ended by itself.
func (n *Node) Err() error { return worded(n.node.Err()) }

// Close stops the node: it refuses new requests, waits up to Config.Drain until no lock is
// held through the node, and then ends. A node with Config.Data keeps its place in the
// cluster, and returns to it when it is opened again; one without leaves the cluster. If a
// lock is still held after Config.Drain, the node ends as if it had crashed, and others
// wait for its lease. Close returns an error in that case, which names the locks, and if
// the node had already ended by itself.
func (n *Node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), n.drain)
	defer cancel()
	return worded(n.node.Stop(ctx))
}

// A DialConfig describes a client.
type DialConfig struct {
	Nodes    []string      // addresses of one or more nodes, from which the client learns the others; default 127.0.0.1:7420
	Name     string        // label of the client in listings; default none
	Session  time.Duration // how long an unreachable client keeps its locks; default the lease of the cluster
	Patience time.Duration // how long requests wait while no node is reachable; default forever
	Timeout  time.Duration // how long Dial waits for a node if its context has no deadline; default 10 s
	TLS      Certificates  // default none: plain TCP, only on this machine
	Insecure bool          // allow plain TCP to other machines
}

// A Client acquires locks through a node, and moves to another node if that one becomes
// unreachable.
type Client struct {
	electorate
	remote *client.Client
}

// Dial connects to a node of a cluster. If no node opens a session before the deadline of
// the context, or within DialConfig.Timeout if it has none, the error names every address
// that was tried, with the reason.
func Dial(ctx context.Context, c DialConfig) (*Client, error) {
	if len(c.Nodes) == 0 {
		c.Nodes = []string{node.DefaultListen}
	}
	if _, ok := ctx.Deadline(); !ok {
		timeout := cmp.Or(c.Timeout, 10*time.Second)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, fmt.Errorf("waited for %v", timeout))
		defer cancel()
	}
	r, err := client.Dial(ctx, client.Config{
		Name: c.Name, Nodes: c.Nodes, Session: c.Session, Patience: c.Patience, TLS: cert.Config(c.TLS), Insecure: c.Insecure,
	})
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &Client{electorate{locker{r, func(ctx context.Context, name string, a lock.Options) (*Lock, error) {
		h, err := r.Lock(ctx, name, a)
		return &Lock{h: h}, err
	}, r.Attempt}, cluster{r.Node, r.AskAt}}, r}, nil
}

// Node returns the address of the node that the client is connected to.
func (c *Client) Node() string { return c.remote.Node() }

// Close releases all locks of the client and ends its session. The caller must make sure
// that nothing in the program still relies on one of these locks.
func (c *Client) Close() error { return c.remote.Close() }
