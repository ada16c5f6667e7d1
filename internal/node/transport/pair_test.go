package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

// safety is how long a test waits for what must happen.
const safety = 20 * time.Second

// A node is a pool with its mux, and an owner that notes all.
type node struct {
	pool *Pool
	mux  *Mux
	addr string
	log  *log

	check func(p *Peer) error
	on    func(p *Peer, b []byte) error
	ups   chan *Peer
	downs chan error
	got   chan string
}

func (n *node) Check(p *Peer) error {
	if n.check != nil {
		return n.check(p)
	}
	return nil
}

func (n *node) Up(_ string, p *Peer)     { n.ups <- p }
func (n *node) Down(_ string, err error) { n.downs <- err }
func (n *node) say(addr, text string) error {
	defer n.pool.Flush()
	return n.pool.Send(addr, []byte(text), false)
}

func (n *node) Message(p *Peer, b []byte, follows bool) error {
	if n.on != nil {
		return n.on(p, b)
	}
	n.got <- p.Name + ": " + string(b)
	return nil
}

// A log keeps what is logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *log) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// A plan is how a node of a test differs from others.
type plan struct {
	config Config
	mux    MuxConfig
	keys   *cert.Keys
	owner  node
	client func(net.Conn) // nil: clients are not served
}

// newNode starts a node, which ends with the test.
func newNode(t testing.TB, name string, changes ...func(p *plan)) *node {
	t.Helper()
	p := &plan{config: Config{Name: name}}
	for _, change := range changes {
		change(p)
	}
	n := &p.owner
	n.log, n.ups, n.downs, n.got = new(log), make(chan *Peer, 100), make(chan error, 1000), make(chan string, 10_000)
	p.config.Log, p.mux.Log = n.log.logger(), n.log.logger()
	if p.keys != nil {
		p.mux.TLS, p.config.TLS = p.keys.Server(), p.keys.Client
		p.config.Fits = func(p *Peer) error { return cert.Fits(p.Cert, p.Name) }
	}
	var err error
	if n.mux, err = Listen("127.0.0.1:0", p.mux); err != nil {
		t.Fatal(err)
	}
	if p.config.Addr == "" {
		p.config.Addr = n.mux.Addr().String()
	}
	n.addr = p.config.Addr
	if n.pool, err = NewPool(p.config, n); err != nil {
		t.Fatal(err)
	}
	n.mux.Handle(PeerProto, n.pool.Serve)
	if p.client != nil {
		n.mux.Handle(ClientProto, p.client)
	}
	n.mux.Start()
	t.Cleanup(func() { n.pool.Close(); n.mux.Close() })
	return n
}

// authority makes certificates for a test.
type authority struct{ dir string }

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t.TempDir()}
	if _, err := cert.CA(cert.Order{Dir: a.dir, Days: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return a
}

// node makes the certificate of a node; change may be nil.
func (a *authority) node(t testing.TB, name string, change func(o *cert.Order)) cert.Config {
	t.Helper()
	o := cert.Order{Dir: a.dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()}
	if change != nil {
		change(&o)
	}
	m, err := cert.Node(o)
	if err != nil {
		t.Fatal(err)
	}
	return cert.Config{CA: filepath.Join(a.dir, "ca.crt"), Cert: m.Cert, Key: m.Key}
}

func (a *authority) load(t testing.TB, name string) *cert.Keys {
	t.Helper()
	k, err := cert.Load(a.node(t, name, nil), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// keyed gives a node its certificate.
func (a *authority) keyed(t testing.TB, name string) func(p *plan) {
	k := a.load(t, name)
	return func(p *plan) { p.keys = k }
}

// take waits for something on a channel.
func take[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case x := <-c:
		return x
	case <-time.After(safety):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(safety); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// link links two nodes.
func link(t testing.TB, a, b *node) {
	t.Helper()
	a.pool.Dial(b.addr)
	take(t, "link", a.ups)
	take(t, "link back", b.ups)
}

// both runs a test over TCP and over TLS, with two nodes.
func both(t *testing.T, test func(t *testing.T, a, b *node)) {
	t.Helper()
	t.Run("tcp", func(t *testing.T) { test(t, newNode(t, "a"), newNode(t, "b")) })
	t.Run("tls", func(t *testing.T) {
		ca := newAuthority(t)
		test(t, newNode(t, "a", ca.keyed(t, "a")), newNode(t, "b", ca.keyed(t, "b")))
	})
}

func says(t *testing.T, err error, what string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), what) {
		t.Errorf("the error is %v, want it to say %q", err, what)
	}
}

// rawTLS is a pair of connections without anything of this package.
func rawTLS(t testing.TB) (client, server *tls.Conn) {
	t.Helper()
	ca := newAuthority(t)
	k := ca.load(t, "raw")
	l, err := tls.Listen("tcp", "127.0.0.1:0", k.Server())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			server = c.(*tls.Conn)
			err = server.Handshake()
		}
		done <- err
	}()
	client, err = tls.Dial("tcp", l.Addr().String(), k.Client("127.0.0.1"))
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}
