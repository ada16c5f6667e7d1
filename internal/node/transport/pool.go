package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// An Owner is notified of what happens in a Pool. Its methods are called from goroutines of
// the pool, several at a time, but Up and Down of one address one after the other. They
// must not block, nor close the pool; they may send.
type Owner interface {
	// Check decides whether a peer may have a link. The error is also sent to the other
	// side.
	Check(p *Peer) error
	// Up reports that messages to the address go to this process.
	Up(addr string, p *Peer)
	// Down reports that the address can no longer, or still not, be reached, and why. All
	// messages of the process that was there have been delivered before.
	Down(addr string, err error)
	// Message delivers a message, which is valid until it returns. An error means that the
	// message is malformed, and ends the link. If another message follows at once, the Owner
	// may leave the Flush after this one to that one.
	Message(p *Peer, b []byte, follows bool) error
}

// Config configures a Pool. Zero values select the defaults.
type Config struct {
	Name  string // node name
	Addr  string // address where others reach the node
	Nonce uint64 // number of this process; random if 0
	Extra []byte // bytes for the Owners of other nodes

	TLS      func(host string) *tls.Config // configuration for dialling a host; nil: plain TCP
	Fits     func(p *Peer) error           // whether a peer with its certificate may be a node of its name; nil: any may
	Insecure bool                          // allow plain TCP where others can listen in
	Dial     func(ctx context.Context, addr string) (net.Conn, error)

	Limits                   // default 1 MiB for a frame, 8 MiB for a queue
	Handshake  time.Duration // maximum duration of a greeting (default 5 s)
	Pending    int           // maximum number of greetings at a time (default 64)
	Peers      int           // maximum number of links made by others, besides those of wanted addresses (default 256)
	Heartbeat  time.Duration // maximum silence of a live link (default 1 s), until SetHeartbeat
	Timeout    time.Duration // silence after which a link is dead (default 5 s)
	Backoff    time.Duration // wait after the first failure to dial, then doubled (default 50 ms)
	MaxBackoff time.Duration // default 2 s
	Seed       uint64        // seed of the jitter; random if 0
	Log        *slog.Logger

	min, max uint16 // range of versions
}

// tolerated is how many heartbeats may be missing, unless Timeout says otherwise.
const tolerated = 5

// DefaultPeers is the default number of links that other nodes may make, several times the
// members of a cluster.
const DefaultPeers = 256

// withDefaults fills in the defaults.
func (c Config) withDefaults() Config {
	c.Nonce = cmp.Or(c.Nonce, rand.Uint64())
	c.Limits = c.Limits.usual()
	c.Handshake = cmp.Or(c.Handshake, 5*time.Second)
	c.Pending = cmp.Or(c.Pending, 64)
	c.Peers = cmp.Or(c.Peers, DefaultPeers)
	c.Heartbeat = cmp.Or(c.Heartbeat, time.Second)
	c.Timeout = cmp.Or(c.Timeout, tolerated*c.Heartbeat)
	c.Backoff = cmp.Or(c.Backoff, 50*time.Millisecond)
	c.MaxBackoff = max(cmp.Or(c.MaxBackoff, 2*time.Second), c.Backoff)
	c.Seed = cmp.Or(c.Seed, rand.Uint64())
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.min, c.max = cmp.Or(c.min, MinVersion), cmp.Or(c.max, MaxVersion)
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	}
	return c
}

func (c *Config) hello() *Hello {
	return &Hello{c.min, c.max, c.Name, c.Addr, c.Nonce, c.Extra}
}

// A Pool keeps a link to each address that messages are sent to.
type Pool struct {
	c       Config
	owner   Owner
	pending pending
	refused Refrain
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	pace    chan time.Duration // the heartbeat that was set last, if beats has not seen it

	mu     sync.Mutex
	extra  []byte
	beat   time.Duration // that was set last; 0 if none was
	peers  map[string]*peer
	told   map[string]string // last logged reason, by address that cannot be reached
	dirty  []*tie            // links to be flushed
	spare  []*tie
	random *rand.Rand
	closed bool
}

// ErrDown is the error of a message to an address without a link. The pool dials, and Up
// reports when there is one.
var ErrDown = errors.New("no link to this address")

var (
	errClosed  = errors.New("the connection pool is closed")
	errDropped = errors.New("the link is no longer needed")
)

// grace is how long Close waits for others to accept what is queued.
const grace = time.Second

// NewPool creates a pool, which notifies owner of what happens.
func NewPool(c Config, owner Owner) (*Pool, error) {
	c = c.withDefaults()
	switch err := c.hello().check(); {
	case err != nil:
		return nil, fmt.Errorf("cannot introduce this node to others: %w", err)
	case c.Frame < 1 || int64(c.Frame) >= 1<<31 || c.Queue < 2*(c.Frame+headerSize):
		return nil, fmt.Errorf("frames of %d bytes in a queue of %d: want room for at least two frames", c.Frame, c.Queue)
	case c.Timeout < c.Heartbeat:
		return nil, fmt.Errorf("timeout of %v with a heartbeat every %v: want a timeout of several heartbeats", c.Timeout, c.Heartbeat)
	}
	p := &Pool{c: c, owner: owner, pending: pending{most: c.Pending}, extra: c.Extra, pace: make(chan time.Duration, 1), peers: map[string]*peer{}, told: map[string]string{}, random: rand.New(rand.NewPCG(c.Seed, 0))}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.beats)
	return p, nil
}

// SetExtra changes the bytes for the Owners of others in greetings from now on.
func (p *Pool) SetExtra(b []byte) error {
	if len(b) > MaxExtra {
		return fmt.Errorf("%d extra bytes: at most %d are allowed", len(b), MaxExtra)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.extra = append([]byte(nil), b...)
	return nil
}

// SetHeartbeat changes the maximum silence of a live link. The timeout is that of several
// heartbeats.
func (p *Pool) SetHeartbeat(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == p.beat {
		return
	}
	p.beat = d
	select {
	case <-p.pace: // a later one replaces it
	default:
	}
	p.pace <- d
}

// Send queues a message; Flush sends it. A lossy message may be dropped if many wait. Send
// never blocks.
func (p *Pool) Send(addr string, b []byte, lossy bool) error {
	p.mu.Lock()
	pr := p.peers[addr]
	if pr == nil || pr.best == nil {
		defer p.mu.Unlock()
		return p.want(addr)
	}
	t := pr.best
	full, err := t.send(b, lossy)
	if err == nil && !t.dirty {
		t.dirty = true
		p.dirty = append(p.dirty, t)
	}
	p.mu.Unlock()
	if full {
		t.Flush()
	}
	return err
}

// Flush sends what is queued for all addresses. It never blocks.
func (p *Pool) Flush() {
	p.mu.Lock()
	list := p.dirty
	p.dirty, p.spare = p.spare[:0], nil
	for _, t := range list {
		t.dirty = false
	}
	p.mu.Unlock()
	for _, t := range list {
		t.Flush()
	}
	if cap(list) > 0 {
		clear(list)
		p.mu.Lock()
		p.spare = list[:0]
		p.mu.Unlock()
	}
}

// Dial makes a link to the address if there is none. It does not wait.
func (p *Pool) Dial(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pr := p.peers[addr]; pr == nil || pr.best == nil {
		p.want(addr)
	}
}

// Drop ends the links to an address, after what is queued for it, and stops dialling it. It
// does not wait.
func (p *Pool) Drop(addr string) {
	p.mu.Lock()
	var links []*tie
	if pr := p.peers[addr]; pr != nil {
		links = append(links, pr.links...)
		for _, t := range links {
			t.bye = true
		}
		pr.choose(p.c.Nonce)
		pr.wanted = false
		if pr.cancel != nil {
			pr.cancel()
		}
	}
	p.mu.Unlock()
	for _, t := range links {
		t.Close(errDropped)
	}
}

// Recheck ends the links whose certificates are no longer accepted. Fits and the TLS
// configuration decide whether there can be new ones.
func (p *Pool) Recheck(accepts func(c *x509.Certificate) error) {
	p.mu.Lock()
	var links []*tie
	for _, pr := range p.peers {
		links = append(links, pr.links...)
	}
	p.mu.Unlock()
	for _, t := range links {
		if t.peer.Cert == nil {
			continue
		}
		if err := accepts(t.peer.Cert); err != nil {
			t.Fail(err)
		}
	}
}

// Close ends all links and waits for all goroutines of the pool. What is queued is sent
// first, if others accept it within a second and the Mux was not closed before.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var links []*tie
	for _, pr := range p.peers {
		links = append(links, pr.links...)
	}
	p.mu.Unlock()
	for _, t := range links {
		t.Close(errClosed)
	}
	late := time.AfterFunc(grace, func() {
		for _, t := range links {
			t.Fail(errClosed)
		}
	})
	defer late.Stop()
	p.cancel()
	p.wg.Wait()
}

// beats keeps all links alive and detects dead ones.
func (p *Pool) beats() {
	often := int((p.c.Timeout + p.c.Heartbeat - 1) / p.c.Heartbeat)
	tick := time.NewTicker(p.c.Heartbeat)
	defer tick.Stop()
	var links []*tie
	for {
		changed := false
		select {
		case <-p.ctx.Done():
			return
		case beat := <-p.pace:
			changed, often = true, tolerated
			tick.Reset(beat)
		case <-tick.C:
		}
		p.mu.Lock()
		for _, pr := range p.peers {
			links = append(links, pr.links...)
		}
		p.mu.Unlock()
		for _, t := range links {
			if changed {
				t.silent = 0 // it has counted other heartbeats
			} else {
				t.beat(often)
			}
		}
		clear(links)
		links = links[:0]
	}
}
