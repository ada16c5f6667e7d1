package node

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node/cert"
)

// These are figures of the module bench, in one process: for profiles, and to see
// whether a change has made something slower.

// secured starts three nodes that talk over TLS, and returns certificates for clients.
func secured(b *testing.B, change func(c *Config)) ([]*Node, cert.Config) {
	dir := b.TempDir()
	ca, err := cert.CA(cert.Order{Dir: dir, Days: 1, Now: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	var files cert.Config
	all := start(b, 3, func(i int, c *Config) {
		m, err := cert.Node(cert.Order{Dir: dir, Name: c.Name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
		if err != nil {
			b.Fatal(err)
		}
		files = cert.Config{CA: ca.Cert, Cert: m.Cert, Key: m.Key}
		c.TLS, c.Lease = files, 0
		if change != nil {
			change(c)
		}
	})
	return all, files
}

type locker interface {
	Lock(ctx context.Context, name string, a lock.Options) (lock.Handle, error)
}

func once(b *testing.B, n locker, name string) lock.Handle {
	h, err := n.Lock(context.Background(), name, lock.Options{})
	if err != nil {
		b.Error(err)
		return nil
	}
	if err := h.Unlock(); err != nil {
		b.Error(err)
	}
	return h
}

// BenchmarkLocal is a lock without competition.
func BenchmarkLocal(b *testing.B) {
	all, _ := secured(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		once(b, all[0], "x")
	}
}

// BenchmarkMeasured is BenchmarkLocal of a node that is measured.
func BenchmarkMeasured(b *testing.B) {
	all, _ := secured(b, func(c *Config) { c.Metrics = true })
	b.ReportAllocs()
	for b.Loop() {
		once(b, all[0], "x")
	}
}

// shared has goroutines at each node enter a lock b.N times in all, and returns how
// often it went from one node to another.
func shared(b *testing.B, all []*Node, each int) (handoffs int) {
	var wg sync.WaitGroup
	left := b.N
	var last *Node
	b.ResetTimer()
	for i := range each * len(all) {
		n := all[i%len(all)]
		wg.Go(func() {
			for {
				h, err := n.Lock(context.Background(), "x", lock.Options{})
				if err != nil {
					b.Error(err)
					return
				}
				if last != n {
					last = n
					handoffs++
				}
				left--
				done := left < 0
				if err := h.Unlock(); err != nil {
					b.Error(err)
				}
				if done {
					return
				}
			}
		})
	}
	wg.Wait()
	return handoffs
}

// BenchmarkHandoff is one lock that two nodes request all the time: each has another
// request waiting when it releases, and none enters twice in a row.
func BenchmarkHandoff(b *testing.B) {
	all, _ := secured(b, func(c *Config) {
		s := member.Usual()
		s.Handover = 1
		c.Settings = &s
	})
	n := shared(b, all[:2], 4)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/handoff")
}

// BenchmarkShared is one lock that many want at all nodes.
func BenchmarkShared(b *testing.B) {
	all, _ := secured(b, nil)
	n := shared(b, all, 11)
	b.ReportMetric(float64(b.N)/float64(n), "entries/handoff")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkClient is a lock without competition, acquired by a client of a node.
func BenchmarkClient(b *testing.B) { ofClient(b, nil) }

// BenchmarkMeasuredClient is BenchmarkClient of a node that is measured.
func BenchmarkMeasuredClient(b *testing.B) { ofClient(b, func(c *Config) { c.Metrics = true }) }

func ofClient(b *testing.B, change func(c *Config)) {
	all, files := secured(b, change)
	c, err := client.Dial(b.Context(), client.Config{Nodes: []string{all[0].Address()}, TLS: files})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		once(b, c, "x")
	}
}

// BenchmarkMany is many locks that are used at random.
func BenchmarkMany(b *testing.B) {
	const locks, users = 10_000, 256
	all, _ := secured(b, nil)
	names := make([]string, locks)
	for i := range names {
		names[i] = "many/" + strconv.Itoa(i)
	}
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range users * len(all) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for left.Add(-1) >= 0 {
				once(b, all[i%len(all)], names[r.IntN(locks)])
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkRecorded is BenchmarkLocal of a node that is recorded.
func BenchmarkRecorded(b *testing.B) {
	dir := b.TempDir()
	all, _ := secured(b, func(c *Config) { c.Record.File = filepath.Join(dir, c.Name+".rec") })
	b.ReportAllocs()
	for b.Loop() {
		once(b, all[0], "x")
	}
	all[0].Kill()
	if info, err := os.Stat(filepath.Join(dir, "a.rec")); err == nil {
		b.ReportMetric(float64(info.Size())/float64(b.N), "bytes/entry")
	}
}

// threadTime returns the processor time that this thread has used. On a machine that is busy
// with other things, more time passes.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// BenchmarkListing lists all locks of a node: 100,000 that one client holds in one session. All
// else waits at the node while the mutex is held.
func BenchmarkListing(b *testing.B) {
	nightly.Only(b)
	const locks, workers = 100_000, 50
	n := start(b, 1, func(_ int, c *Config) { c.Lease = time.Hour })[0]
	x, err := client.Dial(b.Context(), client.Config{Nodes: []string{n.Address()}})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Kill()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < locks; i += workers {
				if _, err := x.Lock(b.Context(), "lock/"+strconv.Itoa(i), lock.Options{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var took []time.Duration
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		listed := 0
		for q := (LockQuery{}); ; {
			l := listing{n: n, q: &q, now: threadTime, held: func(d time.Duration, _ int) { took = append(took, d) }}
			page, err := l.page(&Caller{})
			if err != nil {
				b.Fatal(err)
			}
			if listed += len(page.Locks); page.Next == "" {
				break
			}
			q.After = page.Next
		}
		if listed != locks {
			b.Fatalf("%d locks are listed", listed)
		}
	}
	b.ReportMetric(float64(len(took))/float64(b.N), "holds/op")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)-1])/1e6, "ms/longest-hold")
	b.ReportMetric(float64(took[len(took)*999/1000])/1e6, "ms/99.9%-hold")
}
