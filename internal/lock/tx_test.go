package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A fakeLock is a lock that is held.
type fakeLock struct {
	Handle
	name string
	born uint64
	end  End
}

func (f *fakeLock) Name() string             { return f.name }
func (f *fakeLock) Born() uint64             { return f.born }
func (f *fakeLock) Err() error               { return f.end.Err() }
func (f *fakeLock) Context() context.Context { return f.end.Context() }
func (f *fakeLock) Unlock() error {
	err := f.end.Err()
	f.end.Release()
	return err
}

// A fakeHome grants every request, and remembers the last.
type fakeHome struct {
	attempts uint64
	asked    Options
	granted  *fakeLock
	refuse   error
	granting func() // called before a request is granted
}

func (h *fakeHome) begin(ctx context.Context) *Tx {
	return Begin(ctx, func(ctx context.Context, name string, o Options) (Handle, error) {
		h.asked = o
		if h.refuse != nil {
			return nil, fmt.Errorf("lock %q: %w", name, h.refuse)
		}
		if h.granting != nil {
			h.granting()
		}
		h.granted = &fakeLock{name: name, born: 5}
		return h.granted, nil
	}, func() uint64 {
		h.attempts++
		return h.attempts
	})
}

// A transaction that begins again has another number and the same age, whether it was
// granted a lock or not.
func TestTxAge(t *testing.T) {
	for _, granted := range []bool{true, false} {
		var h fakeHome
		tx := h.begin(t.Context())
		dead := &Deadlock{Why: "a cycle", Born: 5}
		if granted {
			dead.Born = 0 // it is known from the grant
			if _, err := tx.Acquire(t.Context(), "x", member.Terms{}); err != nil || h.asked.Born != 0 || h.asked.Tx != 1 {
				t.Fatalf("%+v, %v", h.asked, err)
			}
		}
		h.refuse = dead
		if _, err := tx.Acquire(t.Context(), "y", member.Terms{}); !errors.Is(err, ErrDeadlock) || (h.asked.With != nil) != granted || !tx.MustRetry(err) {
			t.Errorf("%+v, %v", h.asked, err)
		}
		h.refuse = nil
		if _, err := tx.Acquire(t.Context(), "z", member.Terms{}); !errors.Is(err, ErrDeadlock) {
			t.Errorf("it goes on: %v", err)
		}
		if err := tx.Commit(); !errors.Is(err, ErrDeadlock) {
			t.Errorf("committed: %v", err)
		}
		if err := tx.Retry(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Acquire(t.Context(), "y", member.Terms{}); err != nil || h.asked.Born != 5 || h.asked.Tx != 2 || h.asked.With != nil {
			t.Errorf("%+v, %v", h.asked, err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// A lock that is granted after the transaction has ended is released.
func TestTxGrantedLate(t *testing.T) {
	var h fakeHome
	tx := h.begin(t.Context())
	h.granting = func() { _ = tx.Abort() }
	if _, err := tx.Acquire(t.Context(), "x", member.Terms{}); !errors.Is(err, ErrTxEnded) || h.granted.end.Err() == nil {
		t.Errorf("%v, and the lock: %v", err, h.granted.end.Err())
	}
	if err := tx.Commit(); !errors.Is(err, ErrReleased) {
		t.Errorf("committed: %v", err)
	}
}

// The context ends if the transaction must abort, but its commit still succeeds; not so if a
// lock is lost.
func TestTxContext(t *testing.T) {
	for _, lost := range []bool{true, false} {
		var h fakeHome
		tx := h.begin(t.Context())
		if _, err := tx.Acquire(t.Context(), "x", member.Terms{}); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Acquire(t.Context(), "x", member.Terms{}); !errors.Is(err, ErrReentrant) {
			t.Errorf("twice: %v", err)
		}
		want := ErrDeadlock
		if lost {
			want = ErrLost
			h.granted.end.Lose("x", member.Lease)
		} else {
			h.granted.end.Doom(&Deadlock{Why: "an older one waits"})
		}
		<-tx.Context().Done()
		if cause := context.Cause(tx.Context()); !errors.Is(cause, want) {
			t.Errorf("%v: want %v", cause, want)
		}
		if _, err := tx.Acquire(t.Context(), "y", member.Terms{}); !errors.Is(err, want) {
			t.Errorf("it goes on: %v", err)
		}
		if err := tx.Commit(); errors.Is(err, ErrLost) != lost || !lost && err != nil {
			t.Errorf("committed: %v", err)
		}
	}
}
