package client_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts so many nodes, the first of which founds the cluster.
func start(t testing.TB, count int, lease time.Duration) []*node.Node {
	t.Helper()
	var all []*node.Node
	for i := range count {
		c := node.Config{Name: string(rune('a' + i)), Listen: "127.0.0.1:0", Lease: lease}
		if i > 0 {
			c.Join = []string{all[0].Address()}
		}
		n, err := node.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
		all = append(all, n)
	}
	for _, n := range all {
		if err := n.Ready(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// soon is a context that lasts longer than anything that works.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// dial makes a client that ends with the test.
func dial(t testing.TB, c client.Config) *client.Client {
	t.Helper()
	x, err := client.Dial(soon(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

type locker interface {
	Lock(ctx context.Context, name string, a lock.Options) (lock.Handle, error)
}

func acquire(t testing.TB, x locker, name string) lock.Handle {
	t.Helper()
	l, err := x.Lock(soon(t), name, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t testing.TB, l lock.Handle) {
	t.Helper()
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

// becomes waits until something is so.
func becomes(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %s", what)
		}
	}
}

// A relay is between a client and a node, and can break connections.
type relay struct {
	listener net.Listener
	to       string
	wg       sync.WaitGroup
	mu       sync.Mutex
	shut     bool
	conns    []net.Conn
	made     int
}

func newRelay(t testing.TB, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, to: to}
	r.wg.Go(r.accept)
	t.Cleanup(func() {
		l.Close()
		r.set(true)
		r.wg.Wait()
	})
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		to := r.to
		r.mu.Unlock()
		out, err := net.Dial("tcp", to)
		r.mu.Lock()
		if err != nil || r.shut {
			in.Close()
			if err == nil {
				out.Close()
			}
			r.mu.Unlock()
			continue
		}
		r.made++
		r.conns = append(r.conns, in, out)
		r.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			r.wg.Go(func() {
				io.Copy(pair[0], pair[1])
				pair[0].Close()
				pair[1].Close()
			})
		}
	}
}

// set breaks all connections, and lets others be made or not.
func (r *relay) set(shut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = shut
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// lead breaks all connections, and makes the others lead to another node.
func (r *relay) lead(to string) {
	r.mu.Lock()
	r.to = to
	r.mu.Unlock()
	r.set(false)
}

// count returns how many connections were made.
func (r *relay) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}
