package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node/cert"
	"github.com/stile-lock/stile/internal/live/node/disk"
	"github.com/stile-lock/stile/internal/live/node/transport"
	"github.com/stile-lock/stile/internal/live/process"
	"github.com/stile-lock/stile/internal/live/session"
	"github.com/stile-lock/stile/internal/live/views"
	"github.com/stile-lock/stile/internal/live/views/raft"
)

// A Node is one process of a cluster.
type Node struct {
	c       Config
	address string
	nonce   uint64 // of the process
	keys    *cert.Keys
	mux     *transport.Mux
	pool    *transport.Pool
	folder  *folder // nil without one
	disk    keeper
	print   printer
	tape    *recorder       // nil without one
	drained context.Context // ends when nothing new is taken any more
	drain   context.CancelFunc
	visits  sync.WaitGroup // goroutines of clients' connections

	deadline atomic.Int64 // until when locks may be held, by the process's clock; 0 if none may

	gate   sync.Mutex   // of applications that must wait for mu: only one of them is in the way of the network
	gated  bool         // the owner of mu has the gate, too
	queued atomic.Int32 // others that wait for mu

	mu       sync.Mutex
	p        *process.Process
	in       process.Input   // the one that was handed in last
	stepped  bool            // its effects are not carried out yet
	acks     []process.Input // saves that are durable at once
	asks     []session.Question
	hung     error          // what a node has sent that no correct one does
	cut      error          // the same of a client
	known    member.Instant // what deadline is
	phase    process.Phase  // as was last told
	leased   bool           // it has had a lease since it is a member
	stopping bool           // it takes nothing new
	left     bool           // it is no longer a member, and does not join again
	cluster  uint64         // of which it is, or was; 0 if it does not know
	visitors map[uint64]*clientConn
	dirty    []*clientConn // on which something is to be sent
	sent     bool          // something waits in the pool to be flushed
	conn     uint64        // the number of the last one
	aid      fallback      // by which locks are held while the node is not a member
	slots    []*Hold       // by the lower half of their tickets
	woken    *Hold         // the first of those whose callers are to be woken
	timer    *time.Timer
	armed    member.Instant // when it fires; Never if it does not
	changed  chan struct{}  // closed when something has changed that is waited for
	lately   string         // what was last said about joining
	lastView []views.Member
	failed   error         // why the node has ended by itself
	ended    chan struct{} // closed when it has ended
	over     bool
}

// A State is how far a node is.
type State uint8

// The states.
const (
	Joining  State = iota // it is not a member of the cluster yet, or no longer
	Member                // it is one
	Draining              // it takes nothing new, and leaves when no lock is held
	Leaving               // it has promised never to enter again
	Ended
)

// String names a state.
func (s State) String() string {
	return [...]string{"joining", "member", "draining", "leaving", "ended"}[s]
}

// state returns how far the node is, with the mutex.
func (n *Node) state() State {
	switch phase := n.p.Phase(); {
	case n.over || phase == process.Over:
		return Ended
	case phase <= process.Joining:
		return Joining
	case phase == process.Member:
		return Member
	case phase == process.Draining:
		return Draining
	}
	return Leaving
}

// ErrEnded is the error of whatever is asked of a node that has ended.
var ErrEnded = errors.New("the node has ended")

// maxLog is how long a voter's log grows, in entries.
const maxLog = 256

// maxWaiters is how many may wait for one lock at a node: as many as one client may.
const maxWaiters = 100_000

// Start starts a node. It is a member some time later: see Ready.
func Start(c Config) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{c: c, nonce: random(), visitors: map[uint64]*clientConn{}, changed: make(chan struct{}), ended: make(chan struct{}), armed: member.Never}
	n.disk.n = n
	n.c.Log = n.print.logger(c.Log)
	n.drained, n.drain = context.WithCancel(context.Background())
	if err := n.start(); err != nil {
		if n.tape != nil {
			n.tape.discard()
		}
		n.Kill()
		return nil, err
	}
	return n, nil
}

func (n *Node) start() error {
	if given, err := n.c.TLS.Given(); err != nil {
		return err
	} else if given {
		report := func(err error) { n.c.Log.Error("certificates not reloaded", "err", err) }
		if n.keys, err = cert.Load(n.c.TLS, report); err != nil {
			return err
		}
	}
	founds, err := n.store()
	if err != nil {
		return err
	}
	if err := n.listen(); err != nil {
		return err
	}
	n.mu.Lock()
	if err := n.begin(founds); err != nil {
		n.mu.Unlock()
		return err
	}
	n.disk.run()
	n.timer = time.AfterFunc(time.Hour, n.wake)
	n.mux.Start()
	n.seek()
	n.step(process.Input{Kind: process.Start})
	n.leave()
	return n.Err()
}

// listen opens the address, and makes the pool of connections to other nodes.
func (n *Node) listen() (err error) {
	m := transport.MuxConfig{Listen: n.c.listen, Insecure: n.c.Insecure, Clients: n.c.room(files()), Log: n.c.Log}
	p := transport.Config{Name: n.c.Name, Nonce: n.nonce, Extra: greeting(n.cluster), Insecure: n.c.Insecure, Dial: n.c.dial, Log: n.c.Log}
	if n.keys != nil {
		m.TLS, p.TLS, p.Fits = n.keys.Server(), n.keys.Client, cert.Fits
	}
	renew := time.Duration(n.c.Settings.Renew)
	p.Heartbeat, p.MaxBackoff = min(renew/2, time.Second), min(renew, 2*time.Second)
	if n.mux, err = transport.Listen(n.c.Listen, m); err != nil {
		return err
	}
	if n.address, err = n.advertised(); err != nil {
		return err
	}
	p.Addr = n.address
	if n.pool, err = transport.NewPool(p, owner{n}); err != nil {
		return err
	}
	n.mux.Handle(transport.PeerProto, n.pool.Serve)
	n.mux.Handle(transport.ClientProto, n.serve)
	return nil
}

// advertised is where others find the node.
func (n *Node) advertised() (string, error) {
	if n.c.Advertise != "" {
		return n.c.Advertise, nil
	}
	host, _, err := net.SplitHostPort(n.c.Listen)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(n.mux.Addr().String())
	if err != nil {
		return "", err
	}
	if unspecified(host) {
		return "", fmt.Errorf("listen on %s: other nodes cannot dial that address: give one that they can with --advertise", n.c.Listen)
	}
	return net.JoinHostPort(host, port), nil
}

// store opens what the node keeps, and reports whether there was nothing, so that the
// node founds a cluster unless it is told to join one.
func (n *Node) store() (founds bool, err error) {
	if n.c.Data == "" {
		n.disk.storage = &raft.Memory{}
		if n.c.storage != nil {
			n.disk.storage = n.c.storage(n.disk.storage)
		}
		return len(n.c.Join) == 0, nil
	}
	s, err := disk.Open(n.c.Data)
	if err != nil {
		return false, err
	}
	n.folder = &folder{dir: n.c.Data, store: s}
	n.disk.storage = s
	if n.c.storage != nil {
		n.disk.storage = n.c.storage(s)
	}
	known, err := n.folder.contacts()
	if err != nil {
		return false, err
	}
	n.cluster = n.folder.cluster
	founds = len(n.c.Join)+len(known) == 0
	n.c.Join = append(slices.Clone(n.c.Join), known...)
	return founds, nil
}

// begin makes the process.
func (n *Node) begin(founds bool) error {
	state, err := raft.Read(n.disk.storage)
	if err != nil {
		return err
	}
	c := process.Config{
		Begin: process.Begin{
			Name: n.c.Name, Address: n.address, Contacts: n.others(n.c.Join), Cluster: n.cluster, State: state,
			Settings: *n.c.Settings, Limits: member.Limits{Waiters: maxWaiters},
		},
		Logs: raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: maxLog},
		Spec: n.c.Spec,
	}
	_, _ = rand.Read(c.Seed[:]) // which never fails
	switch {
	case len(state) > 0:
	case founds:
		if c.Found, err = n.founding(); err != nil {
			return err
		}
	case len(c.Contacts) == 0:
		return fmt.Errorf("join a cluster at %s: only this node itself is named: name another one, or none to found a cluster", strings.Join(n.c.Join, ", "))
	}
	if err := n.record(&c); err != nil {
		return err
	}
	n.p, err = process.New(c)
	return err
}

// founding says how the cluster begins that this node founds.
func (n *Node) founding() (*process.Founding, error) {
	choice, err := n.c.choice()
	if err != nil {
		return nil, err
	}
	f := &process.Founding{Cluster: random(), Epoch: 1, Settings: *n.c.Settings, Voters: n.c.Voters, Choices: []member.Choice{choice}}
	if n.c.Data == "" {
		f.Epoch = uint64(time.Now().UnixMilli()) // above all that an earlier one without a disk has reached
	}
	n.c.Log.Info("cluster founded", "name", n.c.Name, "address", n.address, "cluster", fmt.Sprintf("%016x", f.Cluster))
	return f, nil
}

// others returns addresses without the own one.
func (n *Node) others(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return a == n.address })
}

// fail ends the node, with the mutex: nothing more is sent, and others find all
// connections closed.
func (n *Node) fail(err error) {
	n.failed = err
	n.c.Log.Error("node ended", "err", err)
	n.loseAll(member.NoCause)
	n.stop()
	go n.close()
}

// stop ends the node, with the mutex.
func (n *Node) stop() {
	if n.over {
		return
	}
	n.over, n.stopping = true, true
	n.deadline.Store(0)
	n.drain()
	n.cease()
	if n.timer != nil {
		n.timer.Stop()
	}
	n.tell()
	close(n.ended)
}

// wait waits until something is so, which is asked with the mutex.
func (n *Node) wait(ctx context.Context, so func() bool) error {
	for {
		n.mu.Lock()
		done, changed, over := so(), n.changed, n.over
		n.mu.Unlock()
		switch {
		case done:
			return nil
		case over:
			return n.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return lock.Done(ctx)
		}
	}
}

// Ready waits until locks can be acquired: the node is a member with a lease, or the
// client of one meanwhile; Status tells which.
func (n *Node) Ready(ctx context.Context) error {
	err := n.wait(ctx, func() bool { return n.leased || n.aid.client != nil })
	if err != nil && ctx.Err() != nil {
		n.mu.Lock()
		why := n.lately
		n.mu.Unlock()
		if why == "" {
			why = "nobody has said why"
		}
		return fmt.Errorf("the node has not joined a cluster: %s: %w", why, err)
	}
	return err
}

// Err returns why the node has ended; ErrEnded if it was told to.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.failed != nil:
		return fmt.Errorf("%w: %w", ErrEnded, n.failed)
	case n.over:
		return ErrEnded
	}
	return nil
}

// Done is closed when the node has ended.
func (n *Node) Done() <-chan struct{} { return n.ended }

// Address returns where others find the node.
func (n *Node) Address() string { return n.address }

// Name returns its name.
func (n *Node) Name() string { return n.c.Name }

// Stop ends the node in good order: it takes nothing new, waits until no lock is held
// through it, leaves the cluster, and then ends. When the context is done first it
// ends at once, as if it had crashed: others then wait for its lease.
func (n *Node) Stop(ctx context.Context) error {
	n.enter()
	if n.over {
		n.mu.Unlock()
	} else {
		if !n.stopping {
			n.stopping = true
			n.drain()
			n.cease()
			n.step(process.Input{Kind: process.Leave})
		}
		n.leave()
	}
	err := n.wait(ctx, func() bool { return n.left })
	if err == nil {
		err = n.aidIdle(ctx)
	}
	n.Kill()
	if end := n.Err(); end != ErrEnded { // it has failed meanwhile
		return end
	}
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// Kill ends the node at once, as if it had crashed. Applications learn that their
// locks are lost.
func (n *Node) Kill() {
	n.mu.Lock()
	if !n.over {
		n.loseAll(member.Leaving)
		n.stop()
	}
	t := tail{woken: n.woken}
	n.woken = nil
	n.mu.Unlock()
	n.finish(&t)
	n.close()
}

// stopSoon stops the node as an operator has asked by the network.
func (n *Node) stopSoon() {
	n.mu.Lock()
	lease := cmp.Or(n.p.Record().Settings.Lease, n.c.Settings.Lease)
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Duration(lease))
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		n.c.Log.Error("node stopped without leaving in good order", "err", err)
	}
}

// close frees what the node has.
func (n *Node) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n.aid.close() // first: applications must learn of it
	n.dismiss(ctx)
	if n.pool != nil {
		n.pool.Close()
	}
	if n.mux != nil {
		n.mux.Close()
	}
	n.disk.close()
	if n.folder != nil {
		n.folder.close()
	}
	if n.tape != nil {
		n.tape.close()
	}
	n.print.flush(time.Second)
}
