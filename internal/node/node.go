package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A Node is one process of a cluster.
type Node struct {
	c         Config
	address   string
	nonce     uint64 // of this process
	keys      *cert.Keys
	budget    *transport.Budget
	mux       *transport.Mux
	pool      *transport.Pool
	folder    *folder // nil without a data directory
	past      []byte  // what the folder says of an earlier process
	disk      keeper
	print     printer
	audit     audit
	files     []*accessFile
	due       time.Time                     // when a list of revoked certificates should be replaced; zero: never, or it was logged
	tokens    atomic.Pointer[rights.Tokens] // nil: none are accepted
	jwks      atomic.Pointer[rights.Keys]   // nil: no JWTs are accepted
	rechecked atomic.Pointer[func()]        // of OnRecheck
	tape      *recorder                     // nil without a recording
	meter     *meter.Meter                  // nil if nothing is measured; needs the mutex
	drained   context.Context               // ends when nothing new is accepted any longer
	drain     context.CancelFunc
	visits    sync.WaitGroup // goroutines of clients' connections
	listings  listings

	attempts atomic.Uint64 // of transactions
	deadline atomic.Int64  // end of the time that locks may be held, by the process's clock; 0 if none may

	gate   sync.Mutex   // for applications that must wait for mu: only one of them competes with the network
	gated  bool         // the goroutine that holds mu also holds the gate
	queued atomic.Int32 // other goroutines that wait for mu

	mu       sync.Mutex
	p        *process.Process
	in       process.Input   // the last input handed in
	stepped  bool            // its effects are not carried out yet
	acks     []process.Input // saves that are durable, and other inputs for steps of their own
	asks     []session.Question
	hung     error              // why to close a connection to a node: it sent what no correct node sends
	cut      error              // the same for a client
	known    member.Instant     // the published deadline
	phase    process.Phase      // as last reported
	leased   bool               // it has had a lease since it became a member
	stopping bool               // it accepts nothing new
	left     bool               // it is no longer a member, and does not join again
	how      views.Ending       // then: how it has ended
	leavers  []session.Question // they await the end of the node
	cluster  uint64             // its current or last cluster; 0 if unknown
	contacts []string           // addresses where members may be: those to join, and those that the folder knows
	rules    *rights.Rules
	ruled    bool // they are new
	conns    map[uint64]*clientConn
	dirty    []*clientConn            // with something to send
	sent     bool                     // something is queued in the pool
	follows  bool                     // the next message of a node follows at once, and sends it
	conn     uint64                   // number of the last connection
	fallback fallback                 // holds locks while the node is not a member
	slots    []*Hold                  // by the lower half of their tickets
	values   map[member.Ticket]string // attached to locks by their holders here; nil if none ever was
	tails    map[string]*followed     // of locks that are followed; nil if none ever was
	leaders  leaders                  // of elections
	woken    *Hold                    // the first of the holds whose callers must be woken
	timer    *time.Timer
	armed    member.Instant // when the timer fires; Never if it does not
	changed  chan struct{}  // closed when something changes that goroutines wait for
	lately   string         // the last connection error, given as the reason for not joining
	lastView []views.Member
	history  []ViewChange  // the last views, oldest first
	choices  string        // algorithms of the last view
	victims  []victim      // the last ones, oldest first
	started  int64         // Unix time in milliseconds
	http     string        // URL of its HTTP interface; empty if there is none
	failed   error         // why the node ended by itself, or could not leave or stop cleanly
	ended    chan struct{} // closed when the node has ended
	over     bool
}

// A State is a stage in the life of a node.
type State uint8

// The states.
const (
	Joining  State = iota // not, or no longer, a member of the cluster
	Member                // a member
	Draining              // accepts nothing new, and leaves or stops when no lock is held
	Leaving               // has promised never to enter again
	Ended
)

// String names a state.
func (s State) String() string {
	return [...]string{"joining", "member", "draining", "leaving", "ended"}[s]
}

// state returns the state of the node. The mutex must be held.
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

// ErrEnded is the error of every call on a node that has ended.
var ErrEnded = errors.New("the node has stopped")

// logKind starts the logs of voters. They have up to 256 entries.
var logKind = raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: 256}

// maxWaiters is the maximum number of requests that wait for one lock at a node: as many as
// one client may make.
const maxWaiters = 100_000

// Start starts a node. It becomes a member some time later: see Ready.
func Start(c Config) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{c: c, nonce: random(), conns: map[uint64]*clientConn{}, changed: make(chan struct{}), ended: make(chan struct{}), armed: member.Never, started: time.Now().UnixMilli()}
	if c.Metrics {
		n.meter = meter.New()
	}
	n.disk.n = n
	n.c.Log = n.print.logger(c.Log).With("node", c.Name)
	if err := n.audit.open(c.Audit, n.c.Log, n.c.Name); err != nil {
		return nil, err
	}
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
		if err := n.keys.Fits(n.c.Name); err != nil {
			return err
		}
	}
	if err := n.readAccess(); err != nil {
		return err
	}
	n.warn()
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
	n.timer = time.NewTimer(time.Hour)
	n.visits.Go(n.ticks)
	n.mux.Start()
	n.visits.Go(n.checkAccess)
	n.seek()
	n.step(process.Input{Kind: process.Start})
	n.leave()
	return n.Err()
}

// early is the heartbeat of a node that does not know the lease of its cluster yet. Members
// with a short lease do not tolerate a long silence, not even of a node that wants to join.
const early = 50 * time.Millisecond

// listen opens the address and creates the pool of connections to other nodes.
func (n *Node) listen() (err error) {
	n.budget = transport.NewBudget(n.c.budget(files()))
	m := transport.MuxConfig{Listen: n.c.listen, Insecure: n.c.Insecure, Budget: n.budget, Owner: ownerOf, Log: n.c.Log}
	p := transport.Config{Name: n.c.Name, Nonce: n.nonce, Extra: greeting(n.cluster, n.lastRecord()), Insecure: n.c.Insecure, Dial: n.c.dial, Log: n.c.Log}
	if n.keys != nil {
		m.TLS, m.Denied, p.TLS, p.Fits = n.keys.Server(), n.DeniedHandshake, n.keys.Client, n.fits
	}
	renew := time.Duration(n.c.Settings.Renew)
	p.Heartbeat, p.Timeout, p.MaxBackoff = early, 5*time.Second, min(renew, 2*time.Second)
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

// ownerOf names the owner of a certificate.
func ownerOf(c *x509.Certificate) string {
	who, _ := cert.Of(c) // what it does not say is refused later
	return who.Path()
}

// Budget returns how many connections the node may have, over HTTP too.
func (n *Node) Budget() *transport.Budget { return n.budget }

// advertised returns the address where others reach the node.
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
		return "", fmt.Errorf("other nodes cannot dial the listen address %s: give one that they can with --advertise", n.c.Listen)
	}
	return net.JoinHostPort(host, port), nil
}

// store opens the data of the node and reports whether there was none. In that case the
// node founds a cluster, unless it is configured to join one.
func (n *Node) store() (founds bool, err error) {
	if n.c.Data == "" {
		n.disk.storage = &raft.Memory{}
		if n.c.storage != nil {
			n.disk.storage = n.c.storage(n.disk.storage)
		}
		n.contacts = n.c.Join
		return len(n.c.Join) == 0, nil
	}
	if n.folder, err = openFolder(n.c.Data); err != nil {
		return false, err
	}
	n.disk.storage = n.folder.store
	if n.c.storage != nil {
		n.disk.storage = n.c.storage(n.folder.store)
	}
	n.cluster = n.folder.cluster()
	known := n.folder.known()
	if err := n.survey(known); err != nil {
		return false, err
	}
	n.past = n.folder.past
	founds = len(n.c.Join)+len(known) == 0
	n.contacts = append(slices.Clone(n.c.Join), known...)
	return founds, nil
}

// lastRecord returns the record of the last view that the node knows from its folder.
func (n *Node) lastRecord() *views.Record {
	if n.folder == nil || n.folder.last == nil {
		return &views.Record{}
	}
	return &n.folder.last.Record
}

// begin creates the process.
func (n *Node) begin(founds bool) error {
	state, err := raft.Read(n.disk.storage)
	if err != nil {
		return err
	}
	c := process.Config{
		Begin: process.Begin{
			Name: n.c.Name, Address: n.address, Contacts: n.others(n.contacts), Join: n.others(n.c.Join), Cluster: n.cluster, State: state, Past: n.past,
			Settings: *n.c.Settings, Limits: member.Limits{Waiters: maxWaiters},
		},
		Logs:   logKind,
		Spec:   n.c.Spec,
		Follow: n.c.Metrics,
	}
	_, _ = rand.Read(c.Seed[:]) // never fails
	switch {
	case len(state) > 0:
	case n.folder != nil && n.folder.recovers != nil:
		if err := n.recover(&c); err != nil {
			return err
		}
	case founds:
		if c.Found, err = n.founding(); err != nil {
			return err
		}
	case len(c.Contacts) == 0:
		return fmt.Errorf("cannot join a cluster at %s: this is the node's own address: give that of another node, or none to found a cluster", strings.Join(n.c.Join, ", "))
	}
	if err := n.record(&c); err != nil {
		return err
	}
	n.p, err = process.New(c)
	return err
}

// Attempt returns a number for an attempt of a transaction, which no other has at this node.
func (n *Node) Attempt() uint64 { return n.attempts.Add(1) }

// founding returns the initial state of the cluster that this node founds.
func (n *Node) founding() (*process.Founding, error) {
	choices, err := n.c.choices()
	if err != nil {
		return nil, err
	}
	f := &process.Founding{Cluster: random(), Epoch: 1, Settings: *n.c.Settings, Voters: n.c.Voters, Choices: choices}
	if n.c.Data == "" || n.c.Later {
		f.Epoch = uint64(time.Now().UnixMilli()) // above every epoch that an earlier cluster of this kind has reached
	}
	n.c.Log.Info("cluster founded", "address", n.address, "cluster", fmt.Sprintf("%016x", f.Cluster))
	return f, nil
}

// recover begins the cluster that 'stile recover' has prepared.
func (n *Node) recover(c *process.Config) (err error) {
	x := n.folder.recovers
	n.c.Log.Info("cluster recovered", "address", n.address, "cluster", fmt.Sprintf("%016x", x.Cluster), "epoch", x.First(x.record()))
	n.audit.done(Caller{From: n.c.Data}, "recover", nil, "cluster", clusterID(x.Cluster), "lost_cluster", clusterID(x.record().Cluster))
	if x.backup != nil {
		c.Restore = &process.Restoring{Cluster: x.Cluster, Backup: x.backup.Record.AppendTo(nil), Seen: x.Seen, Clock: x.Clock}
		return nil
	}
	if c.Found, err = n.founding(); err == nil {
		c.Found.Cluster, c.Found.Epoch = x.Cluster, x.First(x.record())
	}
	return err
}

// others returns the addresses without the node's own.
func (n *Node) others(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return a == n.address })
}

// fail ends the node. Nothing more is sent, and others find all connections closed. The
// mutex must be held.
func (n *Node) fail(err error) {
	n.failed = err
	n.c.Log.Error("node failed", "err", err)
	n.loseAll(member.NoCause)
	n.stop()
	go n.close()
}

// stop ends the node. The mutex must be held.
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
	n.tellEnd()
	close(n.ended)
}

// wait waits until a condition holds, which is evaluated with the mutex held.
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

// Ready waits until locks can be acquired: the node is a member with a lease, or in the
// meantime the client of one. Status reports which.
func (n *Node) Ready(ctx context.Context) error {
	err := n.wait(ctx, func() bool { return n.leased || n.fallback.client != nil })
	if err != nil && ctx.Err() != nil {
		n.mu.Lock()
		why := n.waits()
		n.mu.Unlock()
		if why == "" {
			why = "no node has answered yet"
		}
		return fmt.Errorf("the node has not joined the cluster: %s: %w", why, err)
	}
	return err
}

// Err returns why the node has ended; ErrEnded if it was stopped.
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

// Draining is closed when the node accepts nothing new any longer.
func (n *Node) Draining() <-chan struct{} { return n.drained.Done() }

// Address returns the address where others reach the node.
func (n *Node) Address() string { return n.address }

// Keys returns the certificates of the node; nil without TLS.
func (n *Node) Keys() *cert.Keys { return n.keys }

// Lease returns the lease of the cluster, or the configured one before the node has joined.
func (n *Node) Lease() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.span()
}

func (n *Node) span() time.Duration {
	return time.Duration(cmp.Or(n.p.Record().Settings.Lease, n.c.Settings.Lease))
}

// Name returns the name of the node.
func (n *Node) Name() string { return n.c.Name }

// Stop shuts the node down gracefully: it accepts nothing new, waits until no lock is held
// through it, and then ends. It keeps its seat in the cluster, and returns to it when it
// starts again with its data directory. An ephemeral node, and one without a directory,
// leaves the cluster instead. If the context is done first, the node ends at once, as if it
// had crashed: other members then wait for its lease.
func (n *Node) Stop(ctx context.Context) error {
	if n.folder == nil || n.c.Ephemeral {
		return n.Leave(ctx)
	}
	return n.part(ctx, process.Stop)
}

// Leave is like Stop, but the node leaves the cluster: it gives up its seat, and if it was a
// voter, another member votes in its place, or there are fewer voters.
func (n *Node) Leave(ctx context.Context) error { return n.part(ctx, process.Leave) }

// part stops the node, or makes it leave.
func (n *Node) part(ctx context.Context, how process.Kind) error {
	n.enter()
	if n.over {
		n.mu.Unlock()
	} else {
		if !n.stopping {
			n.stopping = true
			n.drain()
			n.cease()
		}
		n.step(process.Input{Kind: how})
		n.leave()
	}
	err := n.wait(ctx, func() bool { return n.left })
	if err == nil {
		err = n.aidIdle(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s: %w", n.undrained(), err)
		n.mu.Lock()
		if !n.over {
			n.failed = err
		}
		n.mu.Unlock()
		n.Kill()
		return err
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

// Kill ends the node at once, as if it had crashed. Applications are notified that their
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

// leaveSoon makes the node leave at the request of an operator over the network.
func (n *Node) leaveSoon() {
	n.mu.Lock()
	lease := n.span()
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 3*lease)
	defer cancel()
	if err := n.Leave(ctx); err != nil {
		n.c.Log.Error("node stopped without leaving the cluster", "err", err)
	}
}

// close frees the resources of the node.
func (n *Node) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n.fallback.close() // first: applications must be notified
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
	n.audit.file.close()
	n.print.flush(time.Second)
}
