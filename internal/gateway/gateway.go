package gateway

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/console"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
)

// DefaultListen is the default address.
const DefaultListen = "127.0.0.1:7421"

// Bounds of what clients may cost, beside the shares of calls. Bodies are short: a name and a
// key.
const (
	maxSessions = 16_384
	maxListings = 4 // calls that list locks at a time
	maxBody     = 8 << 10
	maxHeader   = 16 << 10

	headerTimeout = 10 * time.Second
	bodyTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 10 * time.Minute
)

// A Config describes a gateway.
type Config struct {
	Listen   string     // HOST:PORT
	TLS      *cert.Keys // nil: plain HTTP
	Insecure bool       // allow plain HTTP where others can listen in
	Log      *slog.Logger
	Profiles bool         // serve profiles of the process
	Page     http.Handler // page of the console; nil: none. The context of its requests ends when the gateway is closed
}

// A Gateway serves the API of a node.
type Gateway struct {
	node     *node.Node
	log      *slog.Logger
	listener *listener
	server   *http.Server
	secure   bool // with TLS; the server changes its own configuration
	door     *door

	console  *console.Console
	sessions table
	places   places
	listing  *turns
	life     context.Context // until the gateway is closed
	end      context.CancelFunc
	closing  <-chan struct{} // closed with it
	served   chan struct{}   // closed when no connection is accepted any more
	crowded  atomic.Int64    // when too many connections were last reported
}

// New starts to serve the API of a node.
func New(n *node.Node, c Config) (*Gateway, error) {
	l, err := transport.Open(c.Listen, nil, c.TLS != nil || c.Insecure)
	if err != nil {
		return nil, err
	}
	g := newGateway(n, c)
	g.secure, g.door.local = c.TLS != nil, transport.Local(l.Addr())
	g.door.origin.AnyName = g.secure // its certificate has its names
	g.listener = &listener{Listener: l, budget: n.Budget(), timeout: n.Lease, full: g.full}
	ping := min(max(n.Lease()/2, time.Second), 10*time.Second) // detects a client that is paused
	g.server = &http.Server{
		Handler: g.door, ConnContext: withConn, ConnState: g.door.connState, ErrorLog: log.New(serverLog{g}, "", 0),
		DisableGeneralOptionsHandler: true, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 1000, MaxReceiveBufferPerConnection: 64 << 10, MaxReceiveBufferPerStream: 64 << 10,
			SendPingTimeout: ping, PingTimeout: ping, WriteByteTimeout: writeTimeout,
		},
	}
	g.server.Protocols.SetHTTP1(true)
	if c.TLS != nil {
		g.server.Protocols.SetHTTP2(true)
		g.server.TLSConfig = g.door.secured(c.TLS.HTTP())
	} else {
		g.server.Protocols.SetUnencryptedHTTP2(true)
	}
	n.SetHTTP(g.reach())
	n.OnRecheck(g.door.recheck)
	go g.serve(c.TLS != nil)
	return g, nil
}

// A serverLog gets the lines that the HTTP server logs.
type serverLog struct{ *Gateway }

// Write implements io.Writer. Connections that fail in the TLS handshake are audited, apart
// from those that merely end.
func (g serverLog) Write(b []byte) (int, error) {
	line := strings.TrimSpace(string(b))
	rest, failed := strings.CutPrefix(line, "http: TLS handshake error from ")
	from, why, ok := strings.Cut(rest, ": ")
	closedHere := strings.HasSuffix(why, net.ErrClosed.Error()) // to make room for others
	if failed && ok && why != io.EOF.Error() && !closedHere {
		g.node.DeniedHandshake(from, "the TLS handshake failed: "+why)
	} else {
		g.log.Debug(line)
	}
	return len(b), nil
}

// newGateway returns a Gateway that does not listen.
func newGateway(n *node.Node, c Config) *Gateway {
	g := &Gateway{node: n, log: c.Log, door: newDoor(n, ownNames(n.Address(), c.Listen)...), listing: newTurns(maxListings), served: make(chan struct{})}
	g.life, g.end = context.WithCancel(context.Background())
	g.closing = g.life.Done()
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.console = console.New(forConsole{cluster{g}}, func(r *http.Request) node.Caller { return callOf(r.Context()).who })
	g.sessions.all, g.sessions.places.most = map[string]*session{}, maxSessions
	g.serveRoutes(&g.door.mux, &c)
	return g
}

// ownNames returns the names of the machine: its own, and those in addresses.
func ownNames(addresses ...string) (all []string) {
	if own, err := os.Hostname(); err == nil {
		all = append(all, strings.ToLower(own))
	}
	for _, a := range addresses {
		if host, _, err := net.SplitHostPort(a); err == nil && host != "" {
			all = append(all, strings.ToLower(host))
		}
	}
	return all
}

// serve accepts connections until the gateway is closed.
func (g *Gateway) serve(secure bool) {
	defer close(g.served)
	var err error
	if secure {
		err = g.server.ServeTLS(g.listener, "", "")
	} else {
		err = g.server.Serve(g.listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		g.log.Error("HTTP no longer served", "err", err)
	}
}

// uncompressed turns off compression: messages are short.
var uncompressed = connect.WithCompression("gzip", nil, nil)

// serveRoutes serves the declared routes.
func (g *Gateway) serveRoutes(m *mux, c *Config) {
	options := connect.WithHandlerOptions(codecs, connect.WithReadMaxBytes(maxBody), uncompressed)
	path, h := pb.NewLocksHandler(locks{g}, options)
	m.serve("POST "+path, h)
	path, h = pb.NewClusterHandler(cluster{g}, options)
	m.serve("POST "+path, h)
	m.serve("GET /metrics", Metrics(g.node))
	m.serve("GET /healthz", Health(g.node))
	m.serve("GET /readyz", Ready(g.node))
	for _, method := range []string{"GET ", ""} {
		m.serve(method+console.Path, g.living(g.console))
	}
	if c.Profiles {
		m.serve("GET "+profilesPath, g.living(Profiles()))
	}
	if c.Page != nil {
		m.serve(ConsolePath, g.living(c.Page))
		m.serve("GET /{$}", http.RedirectHandler(ConsolePath, http.StatusFound))
	}
}

// Address returns the address that the gateway listens on.
func (g *Gateway) Address() net.Addr { return g.listener.Addr() }

// URL returns the address as clients on this machine write it.
func (g *Gateway) URL() string { return g.scheme() + g.Address().String() }

// reach returns the address as other machines write it, if they can connect: the host of the
// node if the gateway listens on all addresses.
func (g *Gateway) reach() string {
	host, port, err := net.SplitHostPort(g.Address().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host, _, _ = net.SplitHostPort(g.node.Address())
	}
	return g.scheme() + net.JoinHostPort(host, port)
}

func (g *Gateway) scheme() string {
	if g.secure {
		return "https://"
	}
	return "http://"
}

// full reports that there are too many connections, once in a while.
func (g *Gateway) full() {
	now := time.Now().Unix()
	if last := g.crowded.Load(); now-last >= 10 && g.crowded.CompareAndSwap(last, now) {
		g.log.Warn("HTTP connections refused: too many have not identified themselves yet")
	}
}

// Close ends all calls and sessions. Their locks are free when they expire. If the context
// ends before all answers are sent, connections are closed without them.
func (g *Gateway) Close(ctx context.Context) error {
	g.end()
	g.console.Close()
	g.node.SetHTTP("")
	g.node.OnRecheck(nil)
	err := g.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, g.server.Close())
	}
	<-g.served
	g.sessions.kill()
	return err
}
