package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stile-lock/stile/internal/node/transport"
)

// A listener accepts a limited number of connections at a time. It closes others at once.
type listener struct {
	net.Listener
	most    atomic.Int64
	timeout func() time.Duration // after which a connection that acknowledges nothing is dead
	full    func()               // reports that there are too many
	count   atomic.Int64
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.count.Add(1) > l.most.Load() {
			l.count.Add(-1)
			c.Close()
			l.full()
			continue
		}
		_ = transport.Tune(c, l.timeout()) // without it, a dead connection is only detected later
		return &conn{Conn: c, of: l}, nil
	}
}

// A conn is a connection that remembers how it ended.
type conn struct {
	net.Conn
	of *listener

	mu     sync.Mutex
	end    error // nil: it has not ended
	closed bool
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
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		c.of.count.Add(-1)
	}
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
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// byPeer reports whether the client ended the call of a context that is done.
func byPeer(ctx context.Context) bool {
	c, ok := ctx.Value(connKey{}).(*conn)
	return ok && c.byPeer()
}
