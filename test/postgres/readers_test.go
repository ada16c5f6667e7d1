package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// readers is how many share a lock.
const readers = 32

// BenchmarkReaders is one lock that many acquire in shared mode all the time: a kept lock
// of three nodes, through the nodes and through clients, and beside it an advisory lock of
// PostgreSQL, each reader with a connection of its own.
func BenchmarkReaders(b *testing.B) {
	b.Run("nodes", func(b *testing.B) {
		all := nodes(b)
		read(b, func(i int) func(ctx context.Context) error { return reader(all[i%len(all)]) })
	})
	b.Run("clients", func(b *testing.B) {
		all := nodes(b)
		read(b, func(i int) func(ctx context.Context) error {
			x, err := stile.Dial(b.Context(), stile.DialConfig{Nodes: []string{all[i%len(all)].Address()}})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { x.Close() })
			return reader(x)
		})
	})
	b.Run("postgres", func(b *testing.B) {
		db := open(b)
		read(b, func(int) func(ctx context.Context) error {
			c, err := db.Conn(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { c.Close() })
			return func(ctx context.Context) error {
				if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock_shared(1)"); err != nil {
					return err
				}
				_, err := c.ExecContext(ctx, "SELECT pg_advisory_unlock_shared(1)")
				return err
			}
		})
	})
}

// nodes starts three nodes.
func nodes(b *testing.B) (all []*stile.Node) {
	for i := range 3 {
		c := stile.Config{Name: fmt.Sprint("node", i)}
		if i == 0 {
			c.Lease = 2 * time.Second // nodes that close wait for it
		} else {
			c.Join = []string{all[0].Address()}
		}
		n, err := stile.Open(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close() })
		all = append(all, n)
	}
	return all
}

// reader returns what acquires and releases a kept lock.
func reader(x stile.Locker) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		l, err := x.RLock(ctx, "kept/x")
		if err != nil {
			return err
		}
		return l.Unlock()
	}
}

// read has readers acquire a lock b.N times in all.
func read(b *testing.B, connect func(i int) func(ctx context.Context) error) {
	var all []func(ctx context.Context) error
	for i := range readers {
		all = append(all, connect(i))
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, once := range all {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := once(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
