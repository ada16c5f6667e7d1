package stile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// cluster returns two nodes and a client of the second one, of a cluster with an algorithm.
func cluster(t *testing.T, algorithm string) (context.Context, []stile.Locker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	a, err := stile.Open(ctx, stile.Config{Name: "a", Lease: 2 * time.Second, Algorithm: algorithm})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	b, err := stile.Open(ctx, stile.Config{Name: "b", Join: []string{a.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{b.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return ctx, []stile.Locker{a, b, c}
}

// Readers share a lock, a writer excludes them, and tokens rise.
func TestModes(t *testing.T) {
	ctx, all := cluster(t, "")
	var last stile.Token
	var readers []*stile.Lock
	for _, x := range all {
		l, err := x.RLock(ctx, "kept/x")
		if err != nil {
			t.Fatal(err)
		}
		if !last.Less(l.Token()) {
			t.Errorf("token %v after %v", l.Token(), last)
		}
		last = l.Token()
		readers = append(readers, l)
	}
	for i, l := range readers {
		if _, err := all[i].TryLock(ctx, "kept/x"); !errors.Is(err, stile.ErrBusy) {
			t.Errorf("a writer beside readers: %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	w, err := all[2].Lock(ctx, "kept/x")
	if err != nil || !last.Less(w.Token()) {
		t.Fatal(w, err)
	}
	if err := w.Unlock(); err != nil {
		t.Error(err)
	}
	for _, x := range all {
		if l, err := x.RLock(ctx, "ordinary"); err == nil {
			t.Error("a lock that is not kept is shared", l)
		}
	}
}

// A semaphore grants as many units as it has.
func TestSemaphore(t *testing.T) {
	ctx, all := cluster(t, "")
	var held []*stile.Lock
	for i, x := range all {
		l, err := x.Semaphore("kept/s", 4).Acquire(ctx, []int{2, 1, 1}[i])
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	for _, x := range all {
		if _, err := x.Semaphore("kept/s", 4).Acquire(short, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a fifth of four units: %v", err)
		}
		for _, bad := range [][2]int{{4, 0}, {4, 5}, {0, 1}, {5, 1}, {-1, -1}, {1 << 40, 1}} {
			if _, err := x.Semaphore("kept/s", bad[0]).Acquire(ctx, bad[1]); err == nil {
				t.Errorf("%d of %d units are acquired", bad[1], bad[0])
			}
		}
	}
	for _, l := range held {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// Two transactions that acquire two locks in opposite orders deadlock, whatever the method,
// unless it is prevented; both succeed at last, and the one that must abort hears why.
func TestTransact(t *testing.T) {
	for _, method := range []string{"detect-central", "wound-wait", "wait-die", "timeout"} {
		t.Run(method, func(t *testing.T) {
			ctx, all := cluster(t, "central,k/=kept:"+method)
			both := make(chan struct{}, 2)
			done := make(chan error, 2)
			for i, x := range []stile.Locker{all[0], all[2]} {
				go func() {
					tries := 0
					done <- x.Transact(ctx, func(ctx context.Context, tx *stile.Tx) error {
						names := []string{"k/x", "k/y"}
						if _, err := tx.Lock(ctx, names[i]); err != nil {
							return err
						}
						if tries++; tries == 1 {
							both <- struct{}{}
							for len(both) < 2 && ctx.Err() == nil {
								time.Sleep(time.Millisecond)
							}
						}
						_, err := tx.Lock(ctx, names[1-i])
						return err
					})
				}()
			}
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

var _ = fmt.Sprint
