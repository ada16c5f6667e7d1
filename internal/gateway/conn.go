package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/transport"
)

// A listener accepts connections as far as the budget of the node has places for them. It closes
// others at once.
type listener struct {
	net.Listener
	budget  *transport.Budget
	timeout func() time.Duration // after which a connection that acknowledges nothing is dead
	full    func()               // reports that there are too many
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			l.budget.Failed(err)
			return nil, err
		}
		c := &conn{Conn: raw}
		if c.seat = l.budget.Enter(raw, &c.heard); c.seat != nil {
			_ = transport.Tune(raw, l.timeout()) // without it, a dead connection is only detected later
			return c, nil
		}
		raw.Close()
		l.full()
	}
}

// A conn is a connection that has a place in the budget, and remembers how it ended.
type conn struct {
	net.Conn
	seat  *transport.Seat
	heard atomic.Bool // something has arrived

	mu  sync.Mutex
	end error // nil: it has not ended
}

// connOf returns what is below TLS.
func connOf(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

// settled gives the connection of a call the place of a client, once it is known whose call it
// is. Until then it has that of a stranger, whatever it has sent.
func settled(ctx context.Context, who node.Caller) error {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil || c.seat == nil { // in tests
		return nil
	}
	return c.seat.Settle(who.Path())
}

// noteState notes whether a connection makes a call at present.
func noteState(c net.Conn, s http.ConnState) {
	if own := connOf(c); own != nil && (s == http.StateIdle || s == http.StateActive) {
		own.seat.Idle(s == http.StateIdle)
	}
}

var errClosedHere = errors.New("this node closed the connection")

// ended notes how the connection ended. A deadline of the server is no end.
func (c *conn) ended(err error) {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		c.end = err
	}
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	if err != nil {
		c.ended(err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		c.ended(err)
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.ended(errClosedHere)
	c.seat.Leave()
	return c.Conn.Close()
}

// CloseWrite closes the side that is written, so that the last answer is read before the
// connection ends.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// byPeer reports whether the other side ended a call: it closed or reset the connection, or
// the connection lives and it was only the call that ended. It is false if the connection
// broke, or if this side gave it up: the other side may then not know.
func (c *conn) byPeer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end == nil || errors.Is(c.end, io.EOF) || errors.Is(c.end, syscall.ECONNRESET) || errors.Is(c.end, syscall.EPIPE)
}

// connKey is the key of the connection in the context of a call.
type connKey struct{}

// withConn adds the connection to the context of its calls.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connOf(c))
}

// byPeer reports whether the client ended the call of a context that is done.
func byPeer(ctx context.Context) bool {
	c, ok := ctx.Value(connKey{}).(*conn)
	return ok && c != nil && c.byPeer()
}
