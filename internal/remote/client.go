package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/boot"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/wire"
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
	dial wire.ClientConfig
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	guest   *client.Guest
	link    *wire.Link // nil if there is none
	conn    uint64     // its number
	cancel  func()     // ends the attempt at one
	timer   *time.Timer
	armed   member.Instant
	holds   map[uint64]*Held
	asks    map[uint64]*question
	asked   uint64
	woken   []chan struct{} // to be closed when the mutex is given back: who waits needs it
	opened  chan struct{}   // closed when there is a session
	welcome bool
	lately  error // why the last attempt at a connection failed
	closed  bool
}

// ErrClosed is the error of whatever is asked of a client that was closed.
var ErrClosed = errors.New("the client was closed")

// Dial makes a client, and waits until it has a session with a node.
func Dial(ctx context.Context, c Config) (*Client, error) {
	x := &Client{c: c, holds: map[uint64]*Held{}, asks: map[uint64]*question{}, opened: make(chan struct{}), armed: member.Never}
	x.dial = wire.ClientConfig{Insecure: c.Insecure}
	if c.TLS.CA != "" {
		keys, err := cert.Load(c.TLS, func(error) {})
		if err != nil {
			return nil, err
		}
		x.dial.TLS = keys.Client
	}
	var err error
	x.guest, err = client.NewGuest(boot.Now(), client.GuestConfig{
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
		lately = context.Cause(ctx)
	}
	return nil, fmt.Errorf("no node answers: %w", lately)
}

// use lets somebody use the guest, and then does what it wants done.
func (x *Client) use(f func(now member.Instant)) {
	x.mu.Lock()
	f(boot.Now())
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
		x.welcome = true
		close(x.opened)
	}
	if wake < x.armed && !x.closed {
		x.armed = wake
		// A timer does not know how long the machine was suspended: it looks now and then.
		x.timer.Reset(min(max(time.Duration(wake-boot.Now()), 0), time.Second))
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
func (x *Client) connect(d client.Dial) {
	if x.link != nil {
		x.link.Fail(errors.New("another connection is made"))
		x.link = nil
	}
	if x.cancel != nil {
		x.cancel()
	}
	ctx, cancel := context.WithCancel(x.ctx)
	x.conn, x.cancel = d.Conn, cancel
	x.wg.Go(func() { x.run(ctx, d) })
}

// run has a connection, from its making to its end.
func (x *Client) run(ctx context.Context, d client.Dial) {
	link, err := wire.DialClient(ctx, d.Address, x.dial, &x.wg)
	if err == nil {
		x.use(func(now member.Instant) {
			if x.conn == d.Conn && !x.closed {
				x.link = link
				x.guest.Connected(now, d.Conn)
			}
		})
		stop := context.AfterFunc(ctx, func() { link.Fail(ErrClosed) })
		err = link.Run(func(b []byte) (err error) {
			x.use(func(now member.Instant) { err = x.guest.Receive(now, d.Conn, b) })
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
		x.lately = err
		x.failAsks(err)
		x.guest.Disconnected(now, d.Conn)
	})
}

// Node returns the address of the node that it has a session with, or tries.
func (x *Client) Node() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, node, _ := x.guest.Session()
	return node
}

// Close ends the session, with all that is held in it.
func (x *Client) Close() error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil
	}
	x.closed = true
	x.guest.Close(boot.Now())
	x.failAsks(ErrClosed)
	x.timer.Stop()
	link := x.link
	x.leave()
	if link != nil {
		link.Close(ErrClosed)
	}
	late := time.AfterFunc(time.Second, x.stop)
	defer late.Stop()
	if link == nil {
		x.stop()
	}
	x.wg.Wait()
	x.stop()
	return nil
}
