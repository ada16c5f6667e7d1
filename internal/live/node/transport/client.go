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

// ClientConfig is what a client is told to dial a node with. Zero values mean what
// is usual.
type ClientConfig struct {
	TLS      func(host string) *tls.Config // nil: plain TCP
	Insecure bool                          // plain TCP is fine where others can listen
	Limits                                 // 1 MiB for a frame, 8 MiB for a queue
	Timeout  time.Duration                 // after how long unanswered packets end the connection; 5 s
}

func (l Limits) usual() Limits {
	return Limits{cmp.Or(l.Frame, 1<<20), cmp.Or(l.Queue, 8<<20)}
}

// DialClient connects to a node as a client. Goroutines are counted in wg.
func DialClient(ctx context.Context, addr string, c ClientConfig, wg *sync.WaitGroup) (*Link, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
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
		return nil, fmt.Errorf("%s did not answer in time: is it a node, and does it speak TLS as this client does?", addr)
	}
	return nil, hinted(addr, err)
}

func (c *ClientConfig) greet(ctx context.Context, raw net.Conn, addr string, wg *sync.WaitGroup) (*Link, error) {
	if err := tune(raw, cmp.Or(c.Timeout, 5*time.Second)); err != nil {
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

// AcceptClient makes a link of a connection that a Mux has for ClientProto. A
// client that says nothing for so long as the deadline is refused.
func AcceptClient(c net.Conn, limits Limits, deadline, timeout time.Duration, wg *sync.WaitGroup) (*Link, error) {
	s, c := socketOf(c)
	tune(s.Conn, timeout) // without, it is only found dead later
	s.SetDeadline(time.Now().Add(deadline))
	defer s.SetDeadline(time.Time{})
	if _, err := c.Write([]byte(clientMagic)); err != nil {
		return nil, err
	}
	return newClientLink(c, limits, wg)
}

// newClientLink makes a link when the other side has said what it speaks.
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
