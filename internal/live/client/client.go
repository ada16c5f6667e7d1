package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node/cert"
	"github.com/stile-lock/stile/internal/live/node/clock"
	"github.com/stile-lock/stile/internal/live/node/transport"
	"github.com/stile-lock/stile/internal/live/session"
)

// A Config says which nodes a client knows. Zero values mean what is usual.
type Config struct {
	Name     string   // what the client calls itself, for people
	Nodes    []string // addresses
	Session  time.Duration
	Patience time.Duration // after how long without a node those who wait are told so; 0 is never
	TLS      cert.Config   // files; none: plain TCP
	Insecure bool          // plain TCP where others can listen in
}

// A Client has a session with a node. Its methods may be called by several
// goroutines at a time.
type Client struct {
	c    Config
	dial transport.ClientConfig
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	guest   *session.Client
	link    *transport.Link // nil if there is none
	conn    uint64          // its number
	cancel  func()          // ends the attempt at one
	timer   *time.Timer
	armed   member.Instant
	holds   map[uint64]*Hold
	asks    map[uint64]*question
	asked   uint64
	woken   []chan struct{} // to be closed when the mutex is given back: who waits needs it
	opened  chan struct{}   // closed when there is a session
	welcome bool
	lately  error         // why the last attempt at a connection, or at a session, failed
	refusal error         // what a node has said of that, which is worth more
	idle    chan struct{} // closed when nothing is held or waited for; nil unless Idle was called
	closed  bool
}

var errAnother = errors.New("another connection is made")

// ErrClosed is the error of whatever is asked of a client that was closed.
var ErrClosed = errors.New("the client was closed")

// Refused is the error if a node has answered, and opens no session.
type Refused struct {
	Node string // its address
	Why  session.Why
}

func (r *Refused) Error() string { return fmt.Sprintf("%s says: %s", r.Node, r.Why) }

// TurnedAway reports whether an error is that of a node which has refused the
// connection and said why, such as that it has too many.
func TurnedAway(err error) bool {
	var r *transport.Refused
	return errors.As(err, &r)
}

// Dial makes a client, and waits until it has a session with a node.
func Dial(ctx context.Context, c Config) (*Client, error) {
	x := &Client{c: c, holds: map[uint64]*Hold{}, asks: map[uint64]*question{}, opened: make(chan struct{}), armed: member.Never}
	var err error
	if x.dial, err = c.wire(); err != nil {
		return nil, err
	}
	x.guest, err = session.NewClient(clock.Now(), session.ClientConfig{
		Name: c.Name, Nodes: c.Nodes, Length: member.Span(c.Session), Patience: member.Span(c.Patience), Seed: rand.Uint64(),
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
	case <-ctx.Done():
	}
	x.mu.Lock()
	lately := x.lately
	x.mu.Unlock()
	x.Close()
	if lately == nil {
		return nil, fmt.Errorf("no node answers: %w", lock.Done(ctx))
	}
	return nil, fmt.Errorf("no node answers: %w: %w", lately, lock.Done(ctx))
}

// wire returns how nodes are dialled.
func (c *Config) wire() (transport.ClientConfig, error) {
	w := transport.ClientConfig{Insecure: c.Insecure}
	given, err := c.TLS.Given()
	if err != nil || !given {
		return w, err
	}
	keys, err := cert.Load(c.TLS, func(error) {}) // those of before stay in use
	if err != nil {
		return w, err
	}
	w.TLS = keys.Client
	return w, nil
}

// use lets somebody use the guest, and then does what it wants done.
func (x *Client) use(f func(now member.Instant)) {
	x.mu.Lock()
	f(clock.Now())
	x.leave()
}

// leave does what the guest wants done, gives back the mutex and sends.
func (x *Client) leave() {
	out := &x.guest.Out
	for i := range out.Events {
		x.told(&out.Events[i])
	}
	for i := range out.Answers {
		x.answered(&out.Answers[i])
	}
	if out.Dial.Conn != 0 {
		x.connect(out.Dial)
	}
	link := x.link
	for _, b := range out.Frames {
		if link != nil {
			_ = link.Send(b, false) // its reader hears of an error
		}
	}
	flush := link != nil && len(out.Frames) > 0
	wake := out.Wake
	out.Reset()
	if session, _, up := x.guest.Session(); session != 0 && up && !x.welcome {
		x.welcome, x.refusal = true, nil
		close(x.opened)
	}
	if wake < x.armed && !x.closed {
		x.armed = wake
		// A timer does not know how long the machine was suspended: it looks now and then.
		x.timer.Reset(min(max(time.Duration(wake-clock.Now()), 0), time.Second))
	}
	if x.idle != nil && len(x.holds) == 0 {
		x.woken = append(x.woken, x.idle)
		x.idle = nil
	}
	var few [4]chan struct{}
	woken := append(few[:0], x.woken...)
	clear(x.woken)
	x.woken = x.woken[:0]
	x.mu.Unlock()
	for _, c := range woken {
		close(c)
	}
	if flush {
		link.Flush()
	}
}

func (x *Client) wake() {
	x.use(func(now member.Instant) {
		x.armed = member.Never
		x.guest.Wake(now)
	})
}

// connect begins a connection, instead of the one that there is.
func (x *Client) connect(d session.Dial) {
	if x.link != nil {
		x.link.Fail(errAnother)
		x.link = nil
	}
	x.failAsks(errAnother) // they were asked on the one before
	if x.cancel != nil {
		x.cancel()
	}
	ctx, cancel := context.WithCancel(x.ctx)
	x.conn, x.cancel = d.Conn, cancel
	x.wg.Go(func() { x.run(ctx, d) })
}

// run has a connection, from its making to its end.
func (x *Client) run(ctx context.Context, d session.Dial) {
	link, err := transport.DialClient(ctx, d.Address, x.dial, &x.wg)
	if err == nil {
		x.use(func(now member.Instant) {
			if x.conn == d.Conn && !x.closed {
				x.link = link
				x.guest.Connected(now, d.Conn)
			}
		})
		stop := context.AfterFunc(ctx, func() { link.Fail(ErrClosed) })
		err = link.Run(func(b []byte) (err error) {
			x.use(func(now member.Instant) {
				x.listen(d, b)
				err = x.guest.Receive(now, d.Conn, b)
			})
			return err
		})
		stop()
	}
	x.use(func(now member.Instant) {
		if x.conn != d.Conn {
			return
		}
		if x.link == link {
			x.link = nil
		}
		x.lately = cmp.Or(x.refusal, err)
		x.failAsks(err)
		x.guest.Disconnected(now, d.Conn)
	})
}

// listen notes why nodes refuse a session, for who waits for the first one.
func (x *Client) listen(d session.Dial, b []byte) {
	if x.welcome || x.conn != d.Conn {
		return
	}
	if f, err := session.Parse(b); err == nil && f.Kind == session.Bye {
		x.refusal = &Refused{d.Address, f.Why}
	}
}

// Busy returns how much is held and waited for.
func (x *Client) Busy() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.holds)
}

// Idle returns a channel that is closed when nothing is held or waited for.
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

// Node returns the address of the node that it has a session with, or tries.
func (x *Client) Node() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, node, _ := x.guest.Session()
	return node
}

// Close ends the session, with all that is held in it, which others may have at
// once: whoever calls it says that nobody acts by it any more.
func (x *Client) Close() error {
	x.end(func(l *transport.Link) { l.Close(ErrClosed) })
	return nil
}

// Kill ends the client as if its process had crashed: what was held is had by others
// when the session is over.
func (x *Client) Kill() {
	x.end(func(l *transport.Link) { l.Fail(ErrClosed) })
}

// end ends the client, and its connection in this way.
func (x *Client) end(how func(*transport.Link)) {
	x.mu.Lock()
	link, first := x.link, !x.closed
	if first {
		x.closed = true
		x.guest.Close(clock.Now())
		x.failAsks(ErrClosed)
		x.timer.Stop()
		if link != nil {
			x.part(link, how)
		}
	}
	x.leave()
	late := time.AfterFunc(time.Second, x.stop)
	defer late.Stop()
	if first && link == nil {
		x.stop()
	}
	x.wg.Wait()
	x.stop()
}

// part says what there is to say on the last connection, if it may, and ends it.
func (x *Client) part(l *transport.Link, how func(*transport.Link)) {
	x.link = nil
	for _, b := range x.guest.Out.Frames {
		_ = l.Send(b, false)
	}
	how(l)
}
