package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// ClientConfig configures how a client dials a node. Zero values select the defaults.
type ClientConfig struct {
	TLS      func(host string) *tls.Config // nil: plain TCP
	Insecure bool                          // allow plain TCP where others can listen in
	Limits                                 // default 1 MiB for a frame, 8 MiB for a queue
	Timeout  time.Duration                 // time after which unacknowledged packets end the connection (default 5 s)
}

func (l Limits) usual() Limits {
	return Limits{cmp.Or(l.Frame, 1<<20), cmp.Or(l.Queue, 8<<20)}
}

// DialClient connects to a node as a client. Its goroutines are counted in wg.
func DialClient(ctx context.Context, addr string, c ClientConfig, wg *sync.WaitGroup) (*Link, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err // the rest repeats the address
		}
		return nil, fmt.Errorf("cannot connect to %s: %w", addr, err)
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	l, err := c.greet(ctx, raw, addr, wg)
	if err == nil && stop() {
		return l, nil
	}
	raw.Close()
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("%s did not answer in time: check that it is a stile node, and that both sides use TLS or neither does", addr)
	}
	return nil, hinted(addr, err)
}

func (c *ClientConfig) greet(ctx context.Context, raw net.Conn, addr string, wg *sync.WaitGroup) (*Link, error) {
	if err := Tune(raw, cmp.Or(c.Timeout, 5*time.Second)); err != nil {
		return nil, err
	}
	conn, err := secure(ctx, raw, addr, ClientProto, c.TLS, c.Insecure)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte(clientMagic)); err != nil {
		return nil, err
	}
	return newClientLink(conn, c.Limits, wg)
}

// AcceptClient makes a link from a connection that a Mux has accepted for ClientProto. A
// client that sends nothing before the deadline is refused.
func AcceptClient(c net.Conn, limits Limits, deadline, timeout time.Duration, wg *sync.WaitGroup) (*Link, error) {
	s, c := socketOf(c)
	Tune(s.Conn, timeout) // without it, a dead connection is only detected later
	s.SetDeadline(time.Now().Add(deadline))
	defer s.SetDeadline(time.Time{})
	if _, err := c.Write([]byte(clientMagic)); err != nil {
		return nil, err
	}
	return newClientLink(c, limits, wg)
}

// newClientLink makes a link once the other side has sent its magic.
func newClientLink(c net.Conn, limits Limits, wg *sync.WaitGroup) (*Link, error) {
	s, c := socketOf(c)
	r := newReader(c, limits.usual().Frame)
	if err := r.magic(clientMagic); err != nil {
		return nil, err
	}
	return newLink(c, s, r, limits.usual(), wg), nil
}

// Remote returns the address of the other side's socket.
func (l *Link) Remote() string { return remote(l.conn) }
