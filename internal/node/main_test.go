package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stile-lock/stile/internal/lock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lease is that of tests: short, and long enough for a busy machine.
const lease = time.Second

// start starts so many nodes, the first of which founds the cluster.
func start(t testing.TB, count int, change func(i int, c *Config)) []*Node {
	t.Helper()
	var all []*Node
	for i := range count {
		c := Config{Name: string(rune('a' + i)), Listen: "127.0.0.1:0", Lease: 2 * time.Second}
		if i > 0 {
			c.Join = []string{all[0].Address()}
		}
		if os.Getenv("STILE_LOG") != "" {
			c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", c.Name)
		}
		if change != nil {
			change(i, &c)
		}
		all = append(all, run(t, c))
	}
	for _, n := range all {
		ready(t, n)
	}
	return all
}

// run starts a node that ends with the test.
func run(t testing.TB, c Config) *Node {
	t.Helper()
	n, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	return n
}

func ready(t testing.TB, n *Node) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(n.Name(), err)
	}
}

// soon is a context that lasts longer than anything that works.
func soon(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), time.Minute)
}

// stop stops a node cleanly.
func stop(t testing.TB, n *Node) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(n.Name(), err)
	}
}

func acquire(t testing.TB, n *Node, name string) lock.Handle {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	l, err := n.Lock(ctx, name, lock.Options{})
	if err != nil {
		t.Fatal(n.Name(), err)
	}
	return l
}

func release(t testing.TB, l lock.Handle) {
	t.Helper()
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

// becomes waits until something is so of a node.
func becomes(t testing.TB, n *Node, what string, so func(s Status) bool) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for !so(n.Status()) {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never %s: %+v", n.Name(), what, n.Status())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A network is what nodes on 127.0.0.2 and so on dial each other by. It can be cut.
type network struct {
	mu    sync.Mutex
	cuts  [][2]string // of hosts
	conns map[net.Conn][2]string
}

// host is that of a node by its place.
func host4(i int) string { return fmt.Sprintf("127.0.0.%d", i+2) }

func newNetwork() *network { return &network{conns: map[net.Conn][2]string{}} }

// use makes a node one of this network.
func (w *network) use(i int, c *Config) {
	from := host4(i)
	c.Listen = net.JoinHostPort(from, "0")
	c.dial = func(ctx context.Context, address string) (net.Conn, error) {
		to, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		pair := [2]string{min(from, to), max(from, to)}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil && slices.Contains(w.cuts, pair) {
			conn.Close()
			return nil, errors.New("the network is cut")
		}
		if err == nil {
			w.conns[conn] = pair
		}
		return conn, err
	}
}

// cut cuts the network between two nodes.
func (w *network) cut(i, j int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, b := host4(i), host4(j)
	pair := [2]string{min(a, b), max(a, b)}
	w.cuts = append(w.cuts, pair)
	for conn, p := range w.conns {
		if p == pair {
			conn.Close()
			delete(w.conns, conn)
		}
	}
}

// heal ends all cuts.
func (w *network) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts = nil
}

// A journal keeps what a node logs.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// says waits until the journal has a text.
func (j *journal) says(t *testing.T, text string) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for {
		j.mu.Lock()
		all := j.b.String()
		j.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the log does not say %q:\n%s", text, all)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (j *journal) jsonLogger() *slog.Logger { return slog.New(slog.NewJSONHandler(j, nil)) }
