package transport

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// MuxConfig configures a Mux. Zero values select the defaults.
type MuxConfig struct {
	Listen    func(addr string) (net.Listener, error) // nil: TCP
	TLS       *tls.Config                             // nil: plain TCP
	Insecure  bool                                    // allow plain TCP where others can listen in
	Handshake time.Duration                           // time for a connection to identify its protocol (default 5 s)
	Budget    *Budget                                 // how many connections there may be (default one without a maximum of clients)
	Log       *slog.Logger

	// Owner names the owner of a certificate, which has a share of the budget; nil: none is known.
	Owner func(c *x509.Certificate) string

	// Denied is called for each connection that fails in the TLS handshake, with its address
	// and the reason; nil: it is logged. A connection that merely ends, or does not use TLS, is no failure.
	Denied func(from, why string)
}

// DefaultPending is the default number of connections that may identify themselves at a
// time.
const DefaultPending = 128

// A Mux accepts connections on one address and hands each to the handler of its protocol,
// which ALPN determines with TLS, and the first bytes without.
type Mux struct {
	c        MuxConfig
	listener net.Listener
	handlers map[string]func(net.Conn)
	protos   []string

	refused Refrain
	stuck   Refrain
	crowded Refrain

	mu     sync.Mutex
	conns  map[*socket]struct{}
	closed bool
	wg     sync.WaitGroup
}

// Listen opens the address. Nothing is accepted before Start.
func Listen(addr string, c MuxConfig) (*Mux, error) {
	c.Handshake = cmp.Or(c.Handshake, 5*time.Second)
	if c.Budget == nil {
		c.Budget = NewBudget(BudgetConfig{})
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	l, err := Open(addr, c.Listen, c.TLS != nil || c.Insecure)
	if err != nil {
		return nil, err
	}
	return &Mux{c: c, listener: l, crowded: Refrain{Lines: 1}, handlers: map[string]func(net.Conn){}, conns: map[*socket]struct{}{}}, nil
}

// Open opens an address to listen on; listen is nil for TCP. Unless others may connect,
// it must be one of this machine only.
func Open(addr string, listen func(addr string) (net.Listener, error), others bool) (net.Listener, error) {
	if listen == nil {
		listen = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	l, err := listen(addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	if !others && !Local(l.Addr()) {
		l.Close()
		return nil, fmt.Errorf("cannot listen on %s without TLS, because other machines can reach it: give certificates ('stile cert' creates them), an address such as 127.0.0.1:7420, or --insecure", addr)
	}
	return l, nil
}

// Addr returns the address that the Mux listens on.
func (m *Mux) Addr() net.Addr { return m.listener.Addr() }

// Handle sets the handler of a protocol; it must be called before Start. The connection is
// closed when serve returns. Without TLS, HTTPProto gets every connection that does not
// begin as nodes and clients do.
func (m *Mux) Handle(proto string, serve func(net.Conn)) {
	m.handlers[proto] = serve
	m.protos = append(m.protos, proto)
}

// Start starts to accept connections.
func (m *Mux) Start() {
	if m.c.TLS != nil {
		m.c.TLS = withProtos(m.c.TLS, m.protos)
	}
	m.wg.Go(m.accept)
}

// withProtos offers protocols, also where a configuration is chosen for each client.
func withProtos(c *tls.Config, protos []string) *tls.Config {
	c = c.Clone()
	c.NextProtos = protos
	if choose := c.GetConfigForClient; choose != nil {
		c.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := choose(h)
			if chosen != nil {
				chosen = chosen.Clone()
				chosen.NextProtos = protos
			}
			return chosen, err
		}
	}
	return c
}

func (m *Mux) accept() {
	const longest = time.Second
	wait := 5 * time.Millisecond
	for {
		c, err := m.listener.Accept()
		if err == nil {
			wait = 5 * time.Millisecond
			s := newSocket(c)
			if seat := m.c.Budget.Enter(c, &s.heard); seat != nil {
				m.wg.Go(func() { m.serve(s, seat) })
			} else {
				m.refuse(s, errCrowd)
				s.Close()
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		m.stuck.Log(m.c.Log, slog.LevelError, "connections not accepted", "listen", m.Addr(), "err", err, "retry_in", wait)
		m.c.Budget.Failed(err)
		time.Sleep(wait)
		wait = min(2*wait, longest)
	}
}

// serve determines the protocol of a connection and runs its handler.
func (m *Mux) serve(s *socket, seat *Seat) {
	defer seat.Leave()
	defer s.Close()
	if !m.add(s) {
		return
	}
	defer m.remove(s)
	s.SetDeadline(time.Now().Add(m.c.Handshake))
	c, proto, err := m.open(s)
	switch {
	case err == nil && proto == ClientProto:
		err = seat.Settle(m.owner(c))
	case !seat.Link(): // whatever err is: it was closed
		err = errEvicted
	}
	if err != nil {
		if errors.Is(err, ErrCrowded) {
			turnAway(c, err)
		}
		m.refuse(s, err)
		return
	}
	s.SetDeadline(time.Time{})
	m.handlers[proto](c)
	c.Close()
}

// owner names the owner of a connection.
func (m *Mux) owner(c net.Conn) string {
	if x := certOf(c); x != nil && m.c.Owner != nil {
		return m.c.Owner(x)
	}
	return ""
}

var errHandshake = errors.New("the TLS handshake failed")

// refuse logs that a connection was refused.
func (m *Mux) refuse(s *socket, why error) {
	switch {
	case errors.Is(why, io.EOF): // a probe for an open port
		m.c.Log.Debug("incoming connection refused", "from", remote(s), "err", why)
	case m.c.Denied != nil && errors.Is(why, errHandshake):
		m.c.Denied(remote(s), why.Error())
	case errors.Is(why, ErrCrowded): // worth logging, whatever else is refused
		m.crowded.Log(m.c.Log, slog.LevelWarn, "client refused", "from", remote(s), "err", why)
	default:
		m.refused.Log(m.c.Log, slog.LevelWarn, "incoming connection refused", "from", remote(s), "err", why)
	}
}

// turnAway says to a client why there is no place for it. It remains a stranger meanwhile, with
// the deadline of strangers.
func turnAway(c net.Conn, why error) {
	if _, err := c.Write(appendFrame([]byte(clientMagic), kindRefuse, []byte(why.Error()))); err == nil {
		linger(c)
	}
}

// open returns the connection as its handler gets it, and its protocol.
func (m *Mux) open(s *socket) (net.Conn, string, error) {
	if m.c.TLS == nil {
		proto, err := m.peek(s)
		return s, proto, err
	}
	t := tls.Server(s, m.c.TLS)
	var other tls.RecordHeaderError
	if err := t.Handshake(); errors.As(err, &other) {
		return nil, "", fmt.Errorf("the other side does not use TLS: %w", err)
	} else if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errHandshake, err)
	}
	proto := cmp.Or(t.ConnectionState().NegotiatedProtocol, HTTPProto)
	if m.handlers[proto] == nil {
		return nil, "", fmt.Errorf("unsupported protocol %s", proto)
	}
	return t, proto, nil
}

// peek determines the protocol from the first bytes, and leaves them to be read again.
func (m *Mux) peek(s *socket) (string, error) {
	first := make([]byte, len(peerMagic))
	if n, err := io.ReadFull(s, first); err != nil {
		return "", fmt.Errorf("connection ended after its first bytes, %q: %w", first[:n], err)
	}
	s.first = first
	proto := HTTPProto
	switch string(first) {
	case peerMagic:
		proto = PeerProto
	case clientMagic:
		proto = ClientProto
	}
	if m.handlers[proto] != nil {
		return proto, nil
	}
	if first[0] == 0x16 && first[1] == 3 {
		return "", errors.New("the other side uses TLS, but this node has no certificates")
	}
	io.WriteString(s, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nThis address of a stile node is for nodes and clients, not for HTTP. The console and the HTTP API are at the address given with --http, by default 127.0.0.1:7421.\n")
	linger(s)
	return "", fmt.Errorf("unknown protocol: the first bytes are %q", first)
}

// add registers a connection, unless the Mux is closed.
func (m *Mux) add(s *socket) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.conns[s] = struct{}{}
	}
	return !m.closed
}

func (m *Mux) remove(s *socket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, s)
}

// Close closes all connections, and waits until all handlers have returned.
func (m *Mux) Close() error {
	err := m.listener.Close()
	m.mu.Lock()
	m.closed = true
	for s := range m.conns {
		s.Close()
	}
	m.mu.Unlock()
	m.wg.Wait()
	return err
}
