package stile

import (
	"context"
	"fmt"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// RLock waits until the lock is held in shared mode: others may hold it in shared mode too,
// but none exclusively. Only a kept lock can be shared: by default, one whose name begins
// with "kept/". The error is nil if and only if the lock is held.
func (l locker) RLock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{Terms: member.Terms{Mode: deadlock.Shared}})
}

// TryRLock is RLock that does not wait. The error is ErrBusy if the lock is held exclusively
// or waited for, and ErrRecovering if that is not yet known.
func (l locker) TryRLock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{Try: true, Terms: member.Terms{Mode: deadlock.Shared}})
}

// A Semaphore is a kept lock with several units, of which each holder has some.
type Semaphore struct {
	l     locker
	name  string
	units int
}

// Semaphore returns the semaphore of this name and number of units, which must be the same
// in all processes that use it at a time. It does not contact the cluster.
func (l locker) Semaphore(name string, units int) *Semaphore { return &Semaphore{l, name, units} }

// Acquire waits until k units are held, all at once. They are released together, with
// Unlock.
func (s *Semaphore) Acquire(ctx context.Context, k int) (*Lock, error) {
	return s.acquire(ctx, k, false)
}

// TryAcquire is Acquire that does not wait. The error is ErrBusy if fewer than k units are
// free or other requests wait, and ErrRecovering if that is not yet known.
func (s *Semaphore) TryAcquire(ctx context.Context, k int) (*Lock, error) {
	return s.acquire(ctx, k, true)
}

func (s *Semaphore) acquire(ctx context.Context, k int, try bool) (*Lock, error) {
	t, err := s.terms(k)
	if err != nil {
		return nil, err
	}
	return s.l.lock(ctx, s.name, lock.Options{Try: try, Terms: t})
}

// terms returns the terms of a request for units.
func (s *Semaphore) terms(k int) (member.Terms, error) {
	t, err := member.UnitsOf(k, s.units)
	if err != nil {
		return t, fmt.Errorf("semaphore %q: %w", s.name, err)
	}
	return t, nil
}
