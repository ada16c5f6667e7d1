package client_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node"
)

// A crowd is many requests that wait for one lock, each in a goroutine.
type crowd struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	got  int
	errs []error
}

// gather makes so many requests wait behind a holder; each releases the lock at once.
func gather(t testing.TB, n *node.Node, x *client.Client, count int) *crowd {
	t.Helper()
	c := &crowd{}
	ctx := soon(t)
	for range count {
		c.wg.Go(func() {
			l, err := x.Lock(ctx, "x", lock.Options{})
			if err == nil {
				err = l.Unlock()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if err == nil {
				c.got++
			} else {
				c.errs = append(c.errs, err)
			}
		})
	}
	becomes(t, "waiting", func() bool { return n.Status().Waiting == count })
	return c
}

// Ten thousand wait at one node, and none hangs: neither when they come in one after
// the other, nor when the client is closed.
func TestCrowd(t *testing.T) {
	count := 10_000
	if !nightly.On() {
		count = 1000
	}
	n := start(t, 1, time.Minute)[0]
	x := dial(t, client.Config{Nodes: []string{n.Address()}})
	h := acquire(t, n, "x")
	c := gather(t, n, x, count)
	release(t, h)
	c.wg.Wait()
	if c.got != count {
		t.Errorf("%d of %d came in: %v", c.got, count, c.errs[:min(len(c.errs), 3)])
	}
	h = acquire(t, n, "x")
	c = gather(t, n, x, count)
	x.Close()
	c.wg.Wait()
	for _, err := range c.errs {
		if !errors.Is(err, client.ErrClosed) {
			t.Fatal(err)
		}
	}
	if len(c.errs) != count {
		t.Errorf("%d of %d heard of it", len(c.errs), count)
	}
	becomes(t, "without waiters", func() bool { return n.Status().Waiting == 0 })
	release(t, h)
}

// The cost of one waiter: node and client are in this process, with a goroutine for each
// waiter.
func BenchmarkWaiter(b *testing.B) {
	const count = 10_000
	n := start(b, 1, time.Minute)[0]
	h := acquire(b, n, "x")
	for b.Loop() {
		x := dial(b, client.Config{Nodes: []string{n.Address()}})
		before := inUse()
		c := gather(b, n, x, count)
		b.ReportMetric(float64(inUse()-before)/count, "bytes/waiter")
		x.Close()
		c.wg.Wait()
	}
	release(b, h)
}

// inUse returns the bytes of the heap and of stacks.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
