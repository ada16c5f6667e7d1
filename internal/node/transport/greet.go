package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/stile-lock/stile/internal/words"
)

// The protocols, which ALPN distinguishes.
const (
	PeerProto   = "stile-peer/1"
	ClientProto = "stile-client/1"
	HTTPProto   = "http/1.1"
)

// The first bytes of a connection: without TLS they distinguish the protocols.
const (
	peerMagic   = "STILEP\r\n"
	clientMagic = "STILEC\r\n"
)

// A Peer is the process at the other end of a link.
type Peer struct {
	Hello
	Version uint16            // the version that both sides speak
	Remote  string            // the address of its socket
	Dialled string            // the address that was dialled; empty if the peer dialled
	Cert    *x509.Certificate // nil without TLS
}

// Refused is the error of a connection that the other side refused.
type Refused struct{ By, Why string }

func (r *Refused) Error() string { return fmt.Sprintf("refused by %s: %s", r.By, r.Why) }

// A greeter introduces this process and judges others.
type greeter struct {
	self    Hello
	dialled string // the dialled address; empty if the other side dialled
	check   func(p *Peer) error
}

// dial is the greeting of the dialler; the Welcome is left to the caller.
func (g *greeter) dial(c net.Conn, r *reader) (*Peer, error) {
	if _, err := c.Write(g.hello()); err != nil {
		return nil, err
	}
	p, err := g.listen(c, r)
	if err != nil {
		g.refuse(c, nil, err)
		return nil, err
	}
	return p, g.welcome(p, r)
}

// accept is the greeting of the acceptor.
func (g *greeter) accept(c net.Conn, r *reader) (*Peer, error) {
	p, err := g.listen(c, r)
	if err != nil {
		g.refuse(c, g.hello(), err)
		return nil, err
	}
	if _, err := c.Write(appendFrame(g.hello(), kindWelcome, nil)); err != nil {
		return nil, err
	}
	return p, g.welcome(p, r)
}

func (g *greeter) hello() []byte {
	return appendFrame([]byte(peerMagic), kindHello, g.self.append(nil))
}

// listen reads the other side's Hello and judges it.
func (g *greeter) listen(c net.Conn, r *reader) (*Peer, error) {
	if err := r.magic(peerMagic); err != nil {
		return nil, unanswered(err)
	}
	k, b, err := r.next()
	switch {
	case err != nil:
		return nil, unanswered(err)
	case k == kindRefuse:
		return nil, &Refused{remote(c), reason(b)}
	case k != kindHello:
		return nil, malformed("frame of kind %d: want a Hello", k)
	}
	h, version, err := decodeHello(b, &g.self)
	if err != nil {
		return nil, err
	}
	p := &Peer{Hello: *h, Version: version, Remote: remote(c), Dialled: g.dialled, Cert: certOf(c)}
	if p.Nonce == g.self.Nonce {
		return nil, fmt.Errorf("%s is the address of this node itself: give that of another node", p.Addr)
	}
	return p, g.check(p)
}

// certOf returns the certificate of the other side, or nil.
func certOf(c net.Conn) *x509.Certificate {
	if s, ok := c.(*socket); ok {
		c = s.Conn
	}
	t, ok := c.(*tls.Conn)
	if !ok || len(t.ConnectionState().PeerCertificates) == 0 {
		return nil
	}
	return t.ConnectionState().PeerCertificates[0]
}

// welcome waits until the other side has judged this process.
func (g *greeter) welcome(p *Peer, r *reader) error {
	k, b, err := r.next()
	switch {
	case err != nil:
		return unanswered(err)
	case k == kindRefuse:
		return &Refused{fmt.Sprintf("%s (%s)", p.Name, p.Remote), reason(b)}
	case k != kindWelcome:
		return malformed("frame of kind %d: want a Welcome", k)
	}
	return nil
}

// refuse sends the reason, after the bytes in before. If the other side has refused, it
// knows already.
func (g *greeter) refuse(c net.Conn, before []byte, err error) {
	var r *Refused
	if errors.As(err, &r) {
		return
	}
	text := err.Error()
	if _, err := c.Write(appendFrame(before, kindRefuse, []byte(text[:min(len(text), maxReason)]))); err == nil {
		linger(c)
	}
}

// unanswered describes the end of a connection that never became a link.
func unanswered(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("connection closed during the greeting")
	}
	return err
}

// reason returns the text of a refusal, made safe to show.
func reason(b []byte) string {
	return words.Printable(string(b[:min(len(b), maxReason)]))
}

func remote(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return a.String()
	}
	return "unknown"
}

// linger lets the other side read what was sent last: closing a connection with unread
// bytes would discard it. It waits no longer than the connection's deadline.
func linger(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		io.Copy(io.Discard, io.LimitReader(c, largeBuf))
	}
}
