package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/session"
)

// A Config says which nodes a client knows. Zero values select the defaults.
type Config struct {
	Name     string   // what the client calls itself, shown to people
	Nodes    []string // addresses
	Session  time.Duration
	Patience time.Duration // time without a node after which waiting requests fail; 0: never
	Cluster  uint64        // to which the nodes belong; 0: that of the first one
	TLS      cert.Config   // certificate files; empty: plain TCP
	Keys     *cert.Keys    // certificates that are loaded already, with what is revoked; nil: those of TLS
	Insecure bool          // allow plain TCP where others can listen in

	// Once makes Dial fail when a node refuses the client. By default it tries on, because
	// another node may not, or this one later. A node that is not ready is always waited for.
	Once bool

	// Connect connects to a node; nil: over TCP, with these certificates.
	Connect func(ctx context.Context, address string) (transport.Conn, error)
}

// A Client has a session with a node, and possibly older ones with others, through which
// it still holds locks. Several goroutines may call its methods at a time.
type Client struct {
	c    Config
	dial transport.ClientConfig
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	session *session.Client
	lines   map[uint64]*line // connections and attempts, by number
	timer   *time.Timer
	armed   member.Instant
	holds   map[uint64]*Hold
	asks    map[uint64]*question
	asked   uint64
	woken   []chan struct{} // to be closed when the mutex is released: the woken goroutines need it
	closing []closing       // the same: the node may answer before Close returns
	opened  chan struct{}   // closed when there is a session
	refused chan struct{}   // closed if Config.Once is set and a node has refused the client
	welcome bool
	gaveUp  bool
	lately  map[string]error // by address: why the last attempt to connect or to open a session failed
	idle    chan struct{}    // closed when no lock is held or awaited; nil unless Idle was called
	closed  bool

	attempts atomic.Uint64 // of transactions; needs no mutex
}

// A line is a connection, or an attempt at one.
type line struct {
	link   transport.Conn // nil: not connected yet
	cancel func()
}

// A closing is a connection to be closed, and why.
type closing struct {
	link transport.Conn
	why  error
}

var errAnother = errors.New("connecting to a node")

// ErrClosed is the error of every call on a closed client.
var ErrClosed = errors.New("the client is closed")

// Refused is the error of a node that answers but opens no session.
type Refused struct {
	Node   string // address of the node
	Why    session.Why
	Reason string // the same as text
}

func (r *Refused) Error() string { return fmt.Sprintf("%s says: %s", r.Node, r.Reason) }

// Is reports whether a quota is the reason, or the rights of the client.
func (r *Refused) Is(err error) bool {
	return err == lock.ErrQuota && r.Why == session.Crowded || err == lock.ErrDenied && r.Why == session.Denied
}

// TurnedAway reports whether an error is that of a node that refused the connection and
// gave a reason, such as too many clients.
func TurnedAway(err error) bool {
	var r *transport.Refused
	return errors.As(err, &r)
}

// NeedsTLS reports whether an error stays until the client is configured for TLS, or to be
// insecure.
func NeedsTLS(err error) bool { return errors.Is(err, transport.ErrPlain) }

// Dial creates a client and waits until it has a session with a node. Its error lists the
// nodes that it tried, each with the reason.
func Dial(ctx context.Context, c Config) (*Client, error) {
	x := &Client{c: c, holds: map[uint64]*Hold{}, asks: map[uint64]*question{}, lines: map[uint64]*line{}, opened: make(chan struct{}), refused: make(chan struct{}), lately: map[string]error{}, armed: member.Never}
	var err error
	if x.dial, err = c.wire(); err != nil {
		return nil, err
	}
	x.session, err = session.NewClient(clock.Now(), session.ClientConfig{
		Name: c.Name, Nodes: c.Nodes, Length: member.Span(c.Session), Patience: member.Span(c.Patience), Cluster: c.Cluster, Newest: c.newest(), Seed: rand.Uint64(),
	})
	if err != nil {
		return nil, err
	}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.mu.Lock()
	x.timer = time.AfterFunc(time.Hour, x.wake)
	x.leave()
	select {
	case <-x.opened:
		return x, nil
	case <-x.refused:
		err = x.reasons()
		x.Close()
		return nil, fmt.Errorf("no session: %w", err)
	case <-ctx.Done():
	}
	err = x.reasons()
	x.Close()
	return nil, fmt.Errorf("no node opens a session: %w: %w", err, lock.Done(ctx))
}

// reasons returns why no node opens a session, for each node.
func (x *Client) reasons() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	nodes := slices.AppendSeq(slices.Clone(x.c.Nodes), maps.Keys(x.lately)) // nodes may have named others
	slices.Sort(nodes)
	var all error
	for _, node := range slices.Compact(nodes) {
		why := x.lately[node]
		if why == nil {
			why = fmt.Errorf("%s was not tried", node)
		}
		if all == nil {
			all = why
		} else {
			all = fmt.Errorf("%w; %w", all, why)
		}
	}
	return all
}

// clockMargin is how far the epochs of a cluster may be ahead of the clock, in milliseconds: a
// recovery moves them ahead by less than this, and clocks differ.
const clockMargin = 1 << 33

// newest returns the highest epoch that any cluster can have at present: they begin with 1, or
// with the time in milliseconds, and no cluster makes a view every millisecond. With TLS, the
// clock is right, or certificates would not be valid.
func (c *Config) newest() uint64 {
	if given, err := c.TLS.Given(); c.Keys == nil && (err != nil || !given) {
		return 0
	}
	return uint64(time.Now().UnixMilli()) + clockMargin
}

// wire returns how nodes are dialled.
func (c *Config) wire() (transport.ClientConfig, error) {
	w := transport.ClientConfig{Insecure: c.Insecure}
	if c.Keys != nil {
		w.TLS = c.Keys.Client
		return w, nil
	}
	given, err := c.TLS.Given()
	if err != nil || !given {
		return w, err
	}
	keys, err := cert.Load(c.TLS, func(error) {}) // on an error the previous certificates stay in use
	if err != nil {
		return w, err
	}
	w.TLS = keys.Client
	return w, nil
}

// use runs f, which may use the session, and then carries out the effects.
func (x *Client) use(f func(now member.Instant)) {
	x.mu.Lock()
	f(clock.Now())
	x.leave()
}

// leave carries out what the session wants, releases the mutex, and sends.
func (x *Client) leave() {
	out := &x.session.Out
	for i := range out.Events {
		x.told(&out.Events[i])
	}
	for i := range out.Answers {
		x.answered(&out.Answers[i])
	}
	for _, d := range out.Dials {
		x.connect(d)
	}
	var few [4]transport.Conn
	flushes := few[:0]
	for _, f := range out.Frames {
		if l := x.lines[f.Conn]; l != nil && l.link != nil {
			_ = l.link.Send(f.Bytes, false) // its reader sees the error
			if !slices.Contains(flushes, l.link) {
				flushes = append(flushes, l.link)
			}
		}
	}
	for _, conn := range out.HangUps {
		x.hangUp(conn)
	}
	wake := out.Wake
	out.Reset()
	if session, _, up := x.session.Session(); session != 0 && up && !x.welcome {
		x.welcome = true
		close(x.opened)
	}
	if wake < x.armed && !x.closed {
		x.armed = wake
		// A timer does not count the time during which the machine is suspended, so it
		// fires now and then to check.
		x.timer.Reset(min(max(time.Duration(wake-clock.Now()), 0), time.Second))
	}
	if x.idle != nil && len(x.holds) == 0 {
		x.woken = append(x.woken, x.idle)
		x.idle = nil
	}
	var some [4]chan struct{}
	woken := append(some[:0], x.woken...)
	clear(x.woken)
	x.woken = x.woken[:0]
	closings := x.closing
	x.closing = nil
	x.mu.Unlock()
	for _, c := range woken {
		close(c)
	}
	for _, l := range flushes {
		l.Flush()
	}
	for _, c := range closings {
		c.link.Close(c.why)
	}
}

func (x *Client) wake() {
	x.use(func(now member.Instant) {
		x.armed = member.Never
		x.session.Wake(now)
	})
}

// connect starts a connection.
func (x *Client) connect(d session.Dial) {
	ctx, cancel := context.WithCancel(x.ctx)
	x.lines[d.Conn] = &line{cancel: cancel}
	if x.lately[d.Address] == nil {
		x.lately[d.Address] = fmt.Errorf("%s does not answer", d.Address) // for all that is known
	}
	x.wg.Go(func() { x.run(ctx, d) })
}

// hangUp closes a connection when everything is sent, or gives up an attempt. The mutex must
// be held.
func (x *Client) hangUp(conn uint64) {
	l := x.lines[conn]
	if l == nil {
		return
	}
	why := errAnother
	if x.closed {
		why = ErrClosed
	}
	delete(x.lines, conn)
	x.failAsks(conn, why)
	if l.link == nil {
		l.cancel()
		return
	}
	x.closing = append(x.closing, closing{l.link, why})
	time.AfterFunc(time.Second, l.cancel) // a node that reads nothing does not keep it open
}

// reach connects to a node.
func (x *Client) reach(ctx context.Context, address string) (transport.Conn, error) {
	if x.c.Connect != nil {
		return x.c.Connect(ctx, address)
	}
	l, err := transport.DialClient(ctx, address, x.dial, &x.wg)
	if err != nil {
		return nil, err // and not a Conn without a Link
	}
	return l, nil
}

// run runs a connection from start to end.
func (x *Client) run(ctx context.Context, d session.Dial) {
	refused := false
	link, err := x.reach(ctx, d.Address)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { link.Fail(ErrClosed) })
		x.use(func(now member.Instant) {
			if l := x.lines[d.Conn]; l != nil {
				l.link = link
				x.session.Connected(now, d.Conn)
			}
		})
		err = link.Run(func(b []byte) (err error) {
			x.use(func(now member.Instant) {
				refused = x.listen(d, b) || refused
				err = x.session.Receive(now, d.Conn, b)
			})
			return err
		})
		stop()
		err = fmt.Errorf("%s: %w", d.Address, err)
	}
	x.use(func(now member.Instant) {
		l := x.lines[d.Conn]
		if l != nil || link == nil { // not one that the session has given up
			if !refused { // the node's own reason says more
				x.lately[d.Address] = err
				x.giveUp()
			}
		}
		if l == nil {
			return
		}
		delete(x.lines, d.Conn)
		l.cancel()
		x.failAsks(d.Conn, err)
		x.session.Disconnected(now, d.Conn)
	})
}

// listen notes why nodes refuse a session, for callers that wait for the first one.
func (x *Client) listen(d session.Dial, b []byte) (refused bool) {
	if x.welcome || x.lines[d.Conn] == nil {
		return false
	}
	f, err := session.Parse(b)
	if err != nil || f.Kind != session.Bye {
		return false
	}
	x.lately[d.Address] = &Refused{d.Address, f.Why, f.Reason()}
	switch f.Why {
	case session.NoLease, session.Evicted: // it may be ready soon
	case session.Denied: // all nodes have the same rules
		x.fail()
	default:
		x.giveUp()
	}
	return true
}

// giveUp makes Dial fail, if that is wanted. The mutex must be held.
func (x *Client) giveUp() {
	if x.c.Once {
		x.fail()
	}
}

// fail makes Dial fail. The mutex must be held.
func (x *Client) fail() {
	if !x.welcome && !x.closed && !x.gaveUp {
		x.gaveUp = true
		x.woken = append(x.woken, x.refused)
	}
}

// Attempt returns a number for an attempt of a transaction, which no other of this client has.
func (x *Client) Attempt() uint64 { return x.attempts.Add(1) }

// Busy returns how many locks are held or awaited.
func (x *Client) Busy() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.holds)
}

// Idle returns a channel that is closed when no lock is held or awaited.
func (x *Client) Idle() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.idle
	if c == nil {
		c = make(chan struct{})
		if len(x.holds) == 0 {
			close(c)
			return c
		}
		x.idle = c
	}
	return c
}

// Session returns the number by which the current node knows the session; 0 if there is
// none.
func (x *Client) Session() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	number, _, _ := x.session.Session()
	return number
}

// Node returns the address of the node that the client has, or tries to open, a session
// with.
func (x *Client) Node() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, node, _ := x.session.Session()
	return node
}

// Trouble returns why the session is not renewed at present, or nil if it is, as far as is
// known.
func (x *Client) Trouble() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, node, up := x.session.Session()
	parts := x.session.Parting()
	switch {
	case parts != "":
		return fmt.Errorf("%s is stopping or leaving the cluster", parts)
	case !up:
		return x.lately[node]
	}
	return nil
}

// strangers returns an error if there is no session with a node at present, and nodes of another
// cluster answer at all addresses that the client was given.
func (x *Client) strangers() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, _, up := x.session.Session(); up {
		return nil
	}
	for _, node := range x.c.Nodes {
		if err = x.lately[node]; !errors.As(err, new(*session.OtherCluster)) {
			return nil
		}
	}
	return err
}

// Close ends the session and releases all locks held in it, which others can acquire at
// once: the caller asserts that nothing acts under them any longer.
func (x *Client) Close() error {
	x.end(true)
	return nil
}

// Kill ends the client as if its process had crashed: others can acquire its locks when the
// session expires.
func (x *Client) Kill() { x.end(false) }

// end ends the client. Nodes are notified if that is wanted, and if they can be reached
// soon.
func (x *Client) end(notify bool) {
	x.mu.Lock()
	if !x.closed {
		x.closed = true
		x.session.Close(clock.Now())
		x.timer.Stop()
		if !notify {
			x.stop()
			x.session.Out.Frames = nil
		}
	}
	x.leave()
	late := time.AfterFunc(time.Second, x.stop)
	defer late.Stop()
	x.wg.Wait()
	x.stop()
}
