package stile

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// A Config says what a node is. The zero value is one node for itself, in memory, on
// a port that nobody else uses.
type Config struct {
	Name      string        // of the node, which no other one of the cluster has; the host's name
	Listen    string        // host:port for other nodes and clients; 127.0.0.1 and any port
	Advertise string        // where others find it, if that is not Listen
	Join      []string      // addresses of nodes of a cluster to join; none: found one, or take up that of Data
	Data      string        // folder that outlives the process; empty: memory
	Voters    int           // of who founds a cluster: how many keep the view log, 1, 3 or 5; 3
	Lease     time.Duration // of who founds a cluster: how long a silent process may still hold locks; 10 s
	Algorithm string        // of who founds a cluster: which one passes locks on; naimi-trehel
	TLS       Certificates  // none: plain TCP, on this machine alone
	Insecure  bool          // plain TCP with other machines, too
	Record    string        // new file for all that comes to the node, up to 1 GiB, for 'stile replay'; empty: none
	Log       *slog.Logger  // nil: nothing is logged
	Drain     time.Duration // how long Close waits for those who hold locks; 10 s
}

// Certificates are the files by which nodes and clients know each other. 'stile cert'
// makes them.
type Certificates struct {
	CA   string // certificate of the authority
	Cert string // certificate of this process
	Key  string // its key
}

// A Node is a member of a cluster.
type Node struct {
	locker
	node  *node.Node
	drain time.Duration
}

// Open starts a node, and waits until it is a member of its cluster. Only who reaches
// all members can be one: a node that reaches some of them alone is their client
// meanwhile, logs that, and goes on trying.
func Open(ctx context.Context, c Config) (*Node, error) {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	n, err := node.Start(node.Config{
		Name: c.Name, Listen: c.Listen, Advertise: c.Advertise, Join: c.Join, Data: c.Data, Voters: c.Voters, Lease: c.Lease,
		Algorithm: c.Algorithm, TLS: cert.Config(c.TLS), Insecure: c.Insecure, Log: c.Log,
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
	return &Node{locker{func(ctx context.Context, name string, a lock.Options) (*Lock, error) {
		x := &struct { // in one piece: it is made for every entry
			Lock
			hold node.Hold
		}{}
		var err error
		x.h, err = n.LockIn(ctx, &x.hold, name, a)
		return &x.Lock, err
	}}, n, c.Drain}, nil
}

// Address returns where other nodes and clients find it.
func (n *Node) Address() string { return n.node.Address() }

// Done is closed when the node has ended: by Close, or because it cannot go on. Err
// then says why.
func (n *Node) Done() <-chan struct{} { return n.node.Done() }

// Err returns nil while the node runs, and then ErrClosed, with the reason if the node
// has ended by itself.
func (n *Node) Err() error { return worded(n.node.Err()) }

// Close leaves the cluster in good order: it takes nothing new, waits until nobody
// holds a lock through the node, for Config.Drain at most, and then leaves. If
// somebody still does, or the others do not answer, it ends as if it had crashed,
// and others wait for its lease. The error then says so, and also if the node has
// ended by itself before.
func (n *Node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), n.drain)
	defer cancel()
	return worded(n.node.Stop(ctx))
}

// A DialConfig says how a client finds the cluster.
type DialConfig struct {
	Nodes    []string      // addresses of some nodes; they tell of others
	Name     string        // what the client is called in lists, for people
	Session  time.Duration // how long it may be out of reach before its locks are lost; as long as leases are
	Patience time.Duration // after how long without a node those who wait get an error; 0 is never
	TLS      Certificates  // none: plain TCP, on this machine alone
	Insecure bool          // plain TCP with other machines, too
}

// A Client takes locks through a node. It holds them no longer than it hears of the
// node, and goes to another one if that is out of reach.
type Client struct {
	locker
	remote *client.Client
}

// Dial connects to one of these nodes, at the addresses host:port.
func Dial(ctx context.Context, addresses ...string) (*Client, error) {
	return DialConfig{Nodes: addresses}.Dial(ctx)
}

// Dial connects to a node.
func (c DialConfig) Dial(ctx context.Context) (*Client, error) {
	if len(c.Nodes) == 0 {
		c.Nodes = []string{node.DefaultListen}
	}
	r, err := client.Dial(ctx, client.Config{
		Name: c.Name, Nodes: c.Nodes, Session: c.Session, Patience: c.Patience, TLS: cert.Config(c.TLS), Insecure: c.Insecure,
	})
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &Client{locker{func(ctx context.Context, name string, a lock.Options) (*Lock, error) {
		h, err := r.Lock(ctx, name, a)
		return &Lock{h}, err
	}}, r}, nil
}

// Node returns the address of the node that it is connected to.
func (c *Client) Node() string { return c.remote.Node() }

// Close ends the session. What is held by then is let go: whoever calls it has seen
// to it that nobody acts by a lock any more.
func (c *Client) Close() error { return c.remote.Close() }
