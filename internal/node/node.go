package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/held"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/disk"
	"github.com/stile-lock/stile/internal/node/wire"
	"github.com/stile-lock/stile/internal/peer"
	"github.com/stile-lock/stile/internal/station"
)

// A Node is one process of a cluster.
type Node struct {
	c       Config
	address string
	nonce   uint64 // of the process
	keys    *cert.Keys
	mux     *wire.Mux
	pool    *wire.Pool
	folder  *folder         // nil without one
	tape    *recorder       // nil without one
	drained context.Context // ends when nothing new is taken any more
	drain   context.CancelFunc

	gate   sync.Mutex   // of applications that must wait for mu: only one of them is in the way of the network
	gated  bool         // who has mu has the gate, too
	queued atomic.Int32 // others who wait for mu

	mu       sync.Mutex
	cluster  uint64 // of which it is, or was; 0 if it does not know
	core     *station.Station
	state    State
	visits   sync.WaitGroup // goroutines of clients' connections
	visitors map[uint64]*visitor
	dirty    []*visitor // on which something is to be sent
	sent     bool       // something waits in the pool to be flushed
	conn     uint64     // the number of the last one
	leased   bool       // it has had a lease since it is a member
	away     bool       // the membership has ended, and it is to join again
	aid      aid        // by which locks are had while the node is no member
	slots    []*Held    // by the lower half of their tickets
	woken    *Held      // the first of those who are to be woken
	holders  int        // applications of this process that hold something
	timer    *time.Timer
	armed    member.Instant // when it fires; Never if it does not
	changed  chan struct{}  // closed when the state changes, or the last holder has let go
	lately   string         // what was last said about joining
	lastView []engine.Member
	failed   error         // why the node has ended by itself
	ended    chan struct{} // closed when it has ended
	over     bool
}

// A State is how far a node is.
type State uint8

// The states.
const (
	Joining  State = iota // it is no member of the cluster yet, or no more
	Taking                // part
	Draining              // it takes nothing new, and leaves when nobody holds anything
	Leaving               // it has promised never to enter again
	Ended
)

// String names a state.
func (s State) String() string {
	return [...]string{"joining", "member", "draining", "leaving", "ended"}[s]
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
	n := &Node{c: c, nonce: random(), visitors: map[uint64]*visitor{}, changed: make(chan struct{}), ended: make(chan struct{}), armed: member.Never}
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
		report := func(err error) { n.c.Log.Error("the certificates cannot be read again", "err", err) }
		if n.keys, err = cert.Load(n.c.TLS, report); err != nil {
			return err
		}
	}
	store, founds, err := n.store()
	if err != nil {
		return err
	}
	if err := n.listen(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.begin(store, founds); err != nil {
		return err
	}
	n.timer = time.AfterFunc(time.Hour, n.wake)
	n.mux.Start()
	n.seek()
	n.settle(clock())
	return n.failed
}

// listen opens the address, and makes the pool of connections to other nodes.
func (n *Node) listen() (err error) {
	m := wire.MuxConfig{Insecure: n.c.Insecure, Clients: n.c.room(files()), Log: n.c.Log}
	p := wire.Config{Name: n.c.Name, Nonce: n.nonce, Extra: greeting(n.cluster), Insecure: n.c.Insecure, Dial: n.c.dial, Log: n.c.Log}
	if n.keys != nil {
		m.TLS, p.TLS, p.Fits = n.keys.Server(), n.keys.Client, cert.Fits
	}
	renew := time.Duration(n.c.Settings.Renew)
	p.Heartbeat, p.MaxBackoff = min(renew/2, time.Second), min(renew, 2*time.Second)
	if n.mux, err = wire.Listen(n.c.Listen, m); err != nil {
		return err
	}
	if n.address, err = n.advertised(); err != nil {
		return err
	}
	p.Addr = n.address
	if n.pool, err = wire.NewPool(p, owner{n}); err != nil {
		return err
	}
	n.mux.Handle(wire.PeerProto, n.pool.Serve)
	n.mux.Handle(wire.ClientProto, n.serve)
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
		return "", fmt.Errorf("listen on %s, which is no address that others can dial: say with --advertise where they find this node", n.c.Listen)
	}
	return net.JoinHostPort(host, port), nil
}

// store opens what the voter of this node keeps, and reports whether there was
// nothing, so that the node founds a cluster unless it is to join one.
func (n *Node) store() (*raft.Keeper, bool, error) {
	k := &raft.Keeper{Election: peer.Election, Heartbeat: peer.Heartbeat, MaxLog: maxLog}
	if n.c.Data == "" {
		k.Storage = &raft.Memory{}
		return k, len(n.c.Join) == 0, nil
	}
	s, err := disk.Open(n.c.Data)
	if err != nil {
		return nil, false, err
	}
	n.folder = &folder{dir: n.c.Data, store: s}
	k.Storage = s
	known, err := n.folder.contacts()
	if err != nil {
		return nil, false, err
	}
	n.cluster = n.folder.cluster
	founds := len(n.c.Join)+len(known) == 0
	n.c.Join = append(slices.Clone(n.c.Join), known...)
	return k, founds, nil
}

// begin makes the core, founds a cluster if there is none, and asks to join.
func (n *Node) begin(store *raft.Keeper, founds bool) error {
	nonce := random()
	_, voter, err := store.Identity()
	if err != nil {
		return err
	}
	c := station.Config{
		Begin: station.Begin{
			At: clock(), Name: n.c.Name, Address: n.address, Contacts: n.others(n.c.Join), Cluster: n.cluster, Seed: random(),
			Settings: *n.c.Settings, Limits: member.Limits{Waiters: maxWaiters},
		},
		Store: store, Spec: n.c.Spec, Host: host{n}, Draw: draw,
	}
	if err := n.record(&c, store.Storage); err != nil {
		return err
	}
	if n.core, err = station.New(c); err != nil {
		return err
	}
	if voter == 0 && !founds && len(c.Contacts) == 0 {
		return fmt.Errorf("join a cluster at %s: only this node itself is named: name another one, or none to found a cluster", strings.Join(n.c.Join, ", "))
	}
	if founds && voter == 0 {
		if err := n.found(c.At, nonce); err != nil {
			return err
		}
	}
	return n.core.Join(c.At, nonce)
}

// found begins a cluster.
func (n *Node) found(now member.Instant, nonce uint64) error {
	choice, err := n.c.choice()
	if err != nil {
		return err
	}
	s := engine.Start{Cluster: random(), Epoch: 1, Settings: *n.c.Settings}
	if n.c.Data == "" {
		s.Epoch = uint64(time.Now().UnixMilli()) // above all that an earlier one without a disk has reached
	}
	me := engine.Joiner{Name: n.c.Name, Address: n.address, Nonce: nonce}
	if err := n.core.Found(now, engine.Birth(s, n.c.Voters, []member.Choice{choice}, me)); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	n.c.Log.Info("founds a cluster", "name", n.c.Name, "address", n.address, "cluster", fmt.Sprintf("%016x", s.Cluster))
	return nil
}

// others returns addresses without the own one.
func (n *Node) others(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return a == n.address })
}

// wake is called by the timer.
func (n *Node) wake() {
	n.use(func(now member.Instant) {
		n.armed = member.Never
		n.core.Wake(now)
	})
}

// use lets somebody use the core, and then sends what it wants sent.
func (n *Node) use(f func(now member.Instant)) {
	n.enter()
	if n.over {
		n.mu.Unlock()
		return
	}
	now := clock()
	f(now)
	n.leave(now)
}

// enter takes the mutex for the network or the timer. Applications that lock and
// unlock all the time would make it wait: they see that it does, and let it pass.
func (n *Node) enter() {
	if !n.mu.TryLock() {
		n.queued.Add(1)
		n.mu.Lock()
		n.queued.Add(-1)
	}
}

// enterHere takes the mutex for an application. If it is not to be had at once they
// queue at the gate.
func (n *Node) enterHere() {
	if n.queued.Load() == 0 && n.mu.TryLock() {
		return
	}
	n.gate.Lock()
	if n.queued.Load() > 0 {
		runtime.Gosched()
	}
	n.mu.Lock()
	n.gated = true
}

// leaveHere is leave for an application.
func (n *Node) leaveHere(now member.Instant) {
	gated := n.gated
	n.gated = false
	dirty, sent := n.end(now)
	if gated {
		n.gate.Unlock()
	}
	n.flush(dirty, sent)
}

// turnBack gives the mutex back for an application that has done nothing.
func (n *Node) turnBack() {
	gated := n.gated
	n.gated = false
	n.mu.Unlock()
	if gated {
		n.gate.Unlock()
	}
}

// leave ends a use of the core: it sets the timer, gives back the mutex, and sends
// what is to be sent.
func (n *Node) leave(now member.Instant) {
	n.flush(n.end(now))
}

// end sets the timer, gives back the mutex, and returns what is to be sent.
func (n *Node) end(now member.Instant) (dirty []*visitor, sent bool) {
	if !n.over {
		n.settle(now)
	}
	dirty, sent = n.dirtied(), n.sent
	n.sent = false
	n.unlock()
	return dirty, sent
}

// flush sends what waits to be sent.
func (n *Node) flush(dirty []*visitor, sent bool) {
	if sent {
		n.pool.Flush()
	}
	for _, v := range dirty {
		v.flush()
	}
}

// settle is called after each use of the core, with the mutex: it ends the node if
// its store has failed, joins again if it is to, and sets the timer.
func (n *Node) settle(now member.Instant) {
	for n.away && !n.over && n.core.Err() == nil {
		n.away = false
		if err := n.core.Join(now, random()); err != nil {
			n.c.Log.Error("cannot join again", "err", err)
		}
	}
	if n.over {
		return
	}
	if err := n.core.Err(); err != nil {
		n.fail(err)
		return
	}
	if !n.leased && n.state == Taking && n.usable() {
		n.leased = true
		n.tell()
	}
	n.unaid()
	if n.state == Draining && n.idle() {
		n.tell()
	}
	due := n.core.Due()
	if due >= n.armed {
		return
	}
	n.armed = due
	// A timer does not know how long the machine was suspended: it looks now and then.
	n.timer.Reset(min(max(until(now, due), 0), time.Duration(n.c.Settings.Renew)/2))
}

// fail ends the node: nothing more is sent, and others find all connections closed.
func (n *Node) fail(err error) {
	n.failed = err
	n.c.Log.Error("the node ends", "err", err)
	n.loseAll(member.NoCause)
	n.stop()
	go n.close()
}

// stop ends the node, with the mutex.
func (n *Node) stop() {
	if n.over {
		return
	}
	n.over = true
	n.drain()
	n.cease()
	if n.timer != nil {
		n.timer.Stop()
	}
	n.become(Ended)
	close(n.ended)
}

// become sets the state, and tells those who wait for that.
func (n *Node) become(s State) {
	if n.state != s {
		n.state = s
		n.tell()
	}
}

// tell lets those look again who wait for something.
func (n *Node) tell() {
	close(n.changed)
	n.changed = make(chan struct{})
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
			return held.Ended(ctx)
		}
	}
}

// Ready waits until locks can be had: the node is a member with a lease, or the
// client of one meanwhile, which Status tells apart.
func (n *Node) Ready(ctx context.Context) error {
	err := n.wait(ctx, func() bool { return n.state == Taking && n.leased || n.aid.client != nil })
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

// Stop ends the node in good order: it takes nothing new, waits until nobody holds
// a lock through it, leaves the cluster, and then ends. When the context is done
// first it ends at once, as if it had crashed: others then wait for its lease.
func (n *Node) Stop(ctx context.Context) error {
	n.use(func(now member.Instant) {
		if n.state < Draining {
			n.become(Draining)
			n.drain()
			n.cease()
			n.turnAway(now)
		}
	})
	var err error
	for left := false; err == nil && !left; {
		if err = n.wait(ctx, n.idle); err == nil {
			n.use(func(now member.Instant) {
				if left = n.idle(); left { // nothing was granted meanwhile
					n.become(Leaving)
					n.core.Leave(now)
				}
			})
			left = left || n.Err() != nil
		}
	}
	if err == nil {
		err = n.wait(ctx, func() bool { return n.over })
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

// idle reports whether nobody holds anything through the node that is to leave.
func (n *Node) idle() bool {
	return n.state != Draining || n.holders+n.core.Holds() == 0 && n.aid.busy() == 0
}

// turnAway tells all who wait that the node is about to leave.
func (n *Node) turnAway(now member.Instant) {
	var all []*Held
	var waiting []member.Ticket
	for _, h := range n.slots {
		if h != nil && h.state == asking {
			all, waiting = append(all, h), append(waiting, h.ticket)
		}
	}
	if !n.core.Drain(now, waiting) {
		return
	}
	for _, h := range all {
		if h.state == asking { // it was not granted in this very step
			h.event, h.cause = member.Stopped, member.Leaving
			n.unseat(h, refused)
		}
	}
}

// Kill ends the node at once, as if it had crashed. Applications are told that
// their locks are lost.
func (n *Node) Kill() {
	n.mu.Lock()
	if !n.over {
		n.loseAll(member.Leaving)
		n.stop()
	}
	n.unlock()
	n.close()
}

// stopSoon stops the node as an operator has asked by the network.
func (n *Node) stopSoon() {
	n.mu.Lock()
	lease := cmp.Or(n.core.Record().Settings.Lease, n.c.Settings.Lease)
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Duration(lease))
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		n.c.Log.Error("could not leave in good order", "err", err)
	}
}

// close frees what the node has.
func (n *Node) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n.aid.close() // first: applications are to hear of it
	n.dismiss(ctx)
	if n.pool != nil {
		n.pool.Close()
	}
	if n.mux != nil {
		n.mux.Close()
	}
	if n.folder != nil {
		n.folder.close()
	}
	if n.tape != nil {
		n.tape.close()
	}
}
