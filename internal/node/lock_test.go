package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// How a request ends, and what its error says.
func TestLockErrors(t *testing.T) {
	n := start(t, 1, nil)[0]
	h := acquire(t, n, "x")
	if _, err := n.Lock(t.Context(), "x", lock.Options{Try: true}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a try: %v", err)
	}
	if _, err := n.Lock(t.Context(), "x", lock.Options{Wait: time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait: %v", err)
	}
	for _, name := range []string{"", strings.Repeat("x", 513), "\xff"} {
		if _, err := n.Lock(t.Context(), name, lock.Options{}); !errors.Is(err, member.ErrName) {
			t.Errorf("the name %.5q: %v", name, err)
		}
	}
	why := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		becomes(t, n, "waiting", func(s Status) bool { return s.Waiting == 1 })
		cancel(why)
	}()
	for range 2 { // while it waits, and before it is asked
		if _, err := n.Lock(ctx, "x", lock.Options{}); !errors.Is(err, why) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("cancelled: %v", err)
		}
	}
	late, cancel2 := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel2()
	if _, err := n.Lock(late, "x", lock.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline: %v", err)
	}
	if s := n.Status(); s.Waiting != 0 {
		t.Errorf("%d still wait", s.Waiting)
	}
	release(t, h)
	release(t, acquire(t, n, "x"))
}

// What a lock says of itself while it is held, and after.
func TestHeld(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = lease })[0]
	h := acquire(t, n, "x")
	ctx := h.Context()
	if h.Name() != "x" || h.Err() != nil || ctx.Err() != nil || !h.Deadline().After(time.Now()) {
		t.Error(h.Name(), h.Err(), ctx.Err(), h.Deadline())
	}
	first := h.Deadline()
	for end := time.Now().Add(time.Minute); !h.Deadline().After(first.Add(lease / 10)); time.Sleep(time.Millisecond) { // which renewals move
		if time.Now().After(end) {
			t.Fatal("the deadline never moves")
		}
	}
	release(t, h)
	<-ctx.Done()
	if err := h.Unlock(); !errors.Is(err, lock.ErrReleased) || !errors.Is(h.Err(), lock.ErrReleased) || !errors.Is(context.Cause(ctx), lock.ErrReleased) {
		t.Error(err, h.Err(), context.Cause(ctx))
	}
	if !h.Deadline().IsZero() {
		t.Error(h.Deadline())
	}
	h = acquire(t, n, "x")
	release(t, h)
	if !errors.Is(context.Cause(h.Context()), lock.ErrReleased) {
		t.Error("a context that was asked for late goes on")
	}
	h = acquire(t, n, "x")
	n.Kill()
	if err := h.Err(); !errors.Is(err, lock.ErrLost) || !errors.Is(context.Cause(h.Context()), lock.ErrLost) {
		t.Error(err)
	}
}

// An error is nil if and only if the lock is held: contexts end at all moments of a
// request, and no request is left inside, nor counted.
func TestCancelOrGrant(t *testing.T) {
	all := start(t, 2, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, entries, cancelled := 0, 0, 0
	for i := range 8 {
		wg.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(i), 1))
			for try := range 300 {
				ctx, cancel := context.WithCancel(t.Context())
				after := time.Duration(chance.IntN(400)) * time.Microsecond
				switch try % 30 {
				case 0: // some are granted, however slow this is
					after = time.Hour
				case 1: // and some are not
					cancel()
				}
				gone := time.AfterFunc(after, cancel)
				h, err := all[i%2].Lock(ctx, "x", lock.Options{})
				mu.Lock()
				switch {
				case err == nil:
					if entries++; inside > 0 {
						t.Error("two are inside")
					}
					inside++
				case errors.Is(err, context.Canceled):
					cancelled++
				default:
					t.Error(err)
				}
				mu.Unlock()
				if err == nil {
					mu.Lock()
					inside--
					mu.Unlock()
					release(t, h)
				}
				gone.Stop()
				cancel()
			}
		})
	}
	wg.Wait()
	if entries == 0 || cancelled == 0 {
		t.Errorf("%d entries and %d cancelled: this tests nothing", entries, cancelled)
	}
	for _, n := range all {
		if s := n.Status(); s.Held != 0 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
		release(t, acquire(t, n, "x"))
	}
}

// After a pause of more than its lease, Err reports the loss, also if no timer has run yet.
func TestErrByTheClock(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = lease / 4 })[0]
	h := acquire(t, n, "x")
	n.mu.Lock()
	n.timer.Stop()
	n.armed = 0 // so that it is never set again
	n.mu.Unlock()
	for end := time.Now().Add(time.Minute); h.Err() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is held for ever")
		}
	}
	if err := h.Unlock(); !errors.Is(err, lock.ErrLost) || !errors.Is(context.Cause(h.Context()), lock.ErrLost) {
		t.Error(err, context.Cause(h.Context()))
	}
}
