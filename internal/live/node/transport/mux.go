package transport

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

// MuxConfig is what a Mux is told. Zero values mean what is usual.
type MuxConfig struct {
	Listen    func(addr string) (net.Listener, error) // nil: TCP
	TLS       *tls.Config                             // nil: plain TCP
	Insecure  bool                                    // plain TCP is fine where others can listen
	Handshake time.Duration                           // how long a connection may take to say what it speaks; 5 s
	Pending   int                                     // how many may take it at once; 128
	Clients   int                                     // how many clients there may be at once; 0: any number
	Log       *slog.Logger
}

// DefaultPending is how many connections may be told apart at once.
const DefaultPending = 128

// A Mux accepts connections on one address, and gives each to who handles what it
// speaks: told by ALPN with TLS, by its first bytes without.
type Mux struct {
	c        MuxConfig
	listener net.Listener
	pending  pending
	handlers map[string]func(net.Conn)
	protos   []string

	refused refrain
	stuck   refrain
	crowded refrain

	mu      sync.Mutex
	conns   map[*socket]struct{}
	clients int
	closed  bool
	wg      sync.WaitGroup
}

// Listen opens the address. Nothing is accepted before Start.
func Listen(addr string, c MuxConfig) (*Mux, error) {
	c.Handshake = cmp.Or(c.Handshake, 5*time.Second)
	c.Pending = cmp.Or(c.Pending, DefaultPending)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	listen := c.Listen
	if listen == nil {
		listen = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	l, err := listen(addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	if c.TLS == nil && !c.Insecure && !local(l.Addr()) {
		l.Close()
		return nil, fmt.Errorf("cannot listen on %s without certificates, where others could listen in: give certificates ('stile cert' makes them), an address such as 127.0.0.1:7420, or --insecure", addr)
	}
	return &Mux{c: c, listener: l, pending: pending{most: c.Pending}, crowded: refrain{lines: 1}, handlers: map[string]func(net.Conn){}, conns: map[*socket]struct{}{}}, nil
}

// Addr is where it listens.
func (m *Mux) Addr() net.Addr { return m.listener.Addr() }

// Handle says who gets the connections of a protocol; it is called before Start.
// The connection is closed when serve returns. Without TLS, HTTPProto gets all that
// does not begin as peers and clients do.
func (m *Mux) Handle(proto string, serve func(net.Conn)) {
	m.handlers[proto] = serve
	m.protos = append(m.protos, proto)
}

// Start accepts.
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
			if m.pending.enter(s) {
				m.wg.Go(func() { m.serve(s) })
			} else {
				m.refuse(s, errCrowd)
				s.Close()
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		m.stuck.log(m.c.Log, slog.LevelError, "cannot accept connections", "on", m.Addr(), "why", err, "again in", wait)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			m.pending.dismiss()
		}
		time.Sleep(wait)
		wait = min(2*wait, longest)
	}
}

// serve finds out what a connection speaks, and has it served.
func (m *Mux) serve(s *socket) {
	defer s.Close()
	if !m.add(s) {
		m.pending.leave(s)
		return
	}
	defer m.remove(s)
	s.SetDeadline(time.Now().Add(m.c.Handshake))
	c, proto, err := m.open(s)
	client := err == nil && proto == ClientProto
	if client && !m.admit() {
		client = false
		m.turnAway(c)
		err = errFull
	}
	if client {
		defer m.discharge()
	}
	if !m.pending.leave(s) && err != errFull {
		err = errEvicted
	}
	if err != nil {
		m.refuse(s, err)
		return
	}
	s.SetDeadline(time.Time{})
	m.handlers[proto](c)
	c.Close()
}

var (
	errCrowd   = errors.New("too many connections have not said yet who they are")
	errEvicted = errors.New("too many connections say nothing, or too slowly, and this was the oldest of them")
	errFull    = errors.New("as many clients are connected as may be")
)

// refuse tells that a connection is none any more.
func (m *Mux) refuse(s *socket, why error) {
	switch {
	case errors.Is(why, io.EOF): // somebody has looked whether anybody listens
		m.c.Log.Debug("refused a connection", "from", remote(s), "why", why)
	case why == errFull: // which is of interest whatever else is refused
		m.crowded.log(m.c.Log, slog.LevelWarn, "refused a client", "from", remote(s), "why", why, "clients", m.c.Clients)
	default:
		m.refused.log(m.c.Log, slog.LevelWarn, "refused a connection", "from", remote(s), "why", why)
	}
}

// admit counts a client, if there may be one more, and discharge counts it no more.
func (m *Mux) admit() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c.Clients > 0 && m.clients >= m.c.Clients {
		return false
	}
	m.clients++
	return true
}

func (m *Mux) discharge() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients--
}

// turnAway tells a client that there are too many. The connection is pending
// meanwhile, and has the deadline of those.
func (m *Mux) turnAway(c net.Conn) {
	text := fmt.Sprintf("%d clients are connected to the node, as many as may be: go to another node, or start this one with a higher --max-clients", m.c.Clients)
	if _, err := c.Write(appendFrame([]byte(clientMagic), kindRefuse, []byte(text))); err == nil {
		linger(c)
	}
}

// open returns the connection as its handler gets it, and the handler's protocol.
func (m *Mux) open(s *socket) (net.Conn, string, error) {
	if m.c.TLS == nil {
		proto, err := m.peek(s)
		return s, proto, err
	}
	t := tls.Server(s, m.c.TLS)
	if err := t.Handshake(); err != nil {
		return nil, "", fmt.Errorf("the TLS handshake failed: %w", err)
	}
	proto := cmp.Or(t.ConnectionState().NegotiatedProtocol, HTTPProto)
	if m.handlers[proto] == nil {
		return nil, "", fmt.Errorf("nothing here speaks %s", proto)
	}
	return t, proto, nil
}

// peek tells by the first bytes what is spoken, and leaves them to be read again.
func (m *Mux) peek(s *socket) (string, error) {
	first := make([]byte, len(peerMagic))
	if n, err := io.ReadFull(s, first); err != nil {
		return "", fmt.Errorf("the first bytes did not come, only %q: %w", first[:n], err)
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
		return "", errors.New("it speaks TLS, which is not spoken here without certificates")
	}
	io.WriteString(s, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nThis is a node of stile, and what you speak is not spoken here.\n")
	linger(s)
	return "", fmt.Errorf("the first bytes are %q, which nothing here speaks", first)
}

// add notes a connection, unless the Mux is closed.
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

// Close ends all connections, and waits until all handlers have returned.
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
