package stile

import (
	"context"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// A Tx is a transaction: it acquires kept locks one after the other, and releases them
// together. Other transactions may want the same locks in another order. The method that was
// chosen for the prefix of their names then sees to it that they do not wait for each other
// forever: one of them gets ErrDeadlock, and must abort. See docs/kept.md.
//
// A Tx has one request at a time. Its other methods are safe for concurrent use.
type Tx struct{ tx *lock.Tx }

var errTxLock = errors.New("the lock belongs to a transaction, whose locks end together: use Commit or Abort")

// Begin begins a transaction, which ends with Commit or Abort. It does not contact the
// cluster. If ctx ends, the locks are still held, but Context ends, and no more locks can be
// acquired.
func (l locker) Begin(ctx context.Context) (*Tx, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("begin a transaction: %w", lock.Done(ctx))
	}
	return &Tx{lock.Begin(ctx, func(ctx context.Context, name string, o lock.Options) (lock.Handle, error) {
		x, err := l.lock(ctx, name, o)
		if err != nil {
			return nil, err
		}
		return x.h, nil
	}, l.attempt)}, nil
}

// Transact calls f with a transaction, and commits it if f returns nil. If the transaction
// must abort because of ErrDeadlock, Transact aborts it and calls f again, with the same
// age, until the outcome is another one. It also does so if a client loses its node before f
// has acquired all locks, and another node cannot take over those that it has. The context
// that f gets is Tx.Context. If f returns an error, the transaction is aborted.
func (l locker) Transact(ctx context.Context, f func(ctx context.Context, tx *Tx) error) error {
	tx, err := l.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Abort() // if f panics
	for {
		if err = f(tx.Context(), tx); err == nil {
			err = tx.Commit()
		}
		if !tx.tx.MustRetry(err) {
			return errors.Join(err, tx.Abort())
		}
		if err := tx.Retry(ctx); err != nil {
			return err
		}
	}
}

// Lock waits until the transaction holds the lock. The error is ErrDeadlock if the
// transaction must abort: use Retry to begin again, or Abort.
func (t *Tx) Lock(ctx context.Context, name string) (*Lock, error) {
	return t.acquire(ctx, name, member.Terms{})
}

// RLock waits until the transaction holds the lock in shared mode. A lock that the
// transaction holds in one mode cannot be acquired in another.
func (t *Tx) RLock(ctx context.Context, name string) (*Lock, error) {
	return t.acquire(ctx, name, member.Terms{Mode: deadlock.Shared})
}

// Acquire waits until the transaction holds k units of a semaphore.
func (t *Tx) Acquire(ctx context.Context, s *Semaphore, k int) (*Lock, error) {
	terms, err := s.terms(k)
	if err != nil {
		return nil, err
	}
	return t.acquire(ctx, s.name, terms)
}

// acquire requests a lock.
func (t *Tx) acquire(ctx context.Context, name string, terms member.Terms) (*Lock, error) {
	h, err := t.tx.Acquire(ctx, name, terms)
	if err != nil {
		return nil, err
	}
	return &Lock{h: h, tx: true}, nil
}

// Context returns a context that ends when the transaction ends, when one of its locks is
// lost, or when the transaction must abort, because another one needs its locks. The cause
// is ErrReleased, ErrLost or ErrDeadlock. A transaction that must abort still holds its
// locks, and keeps others waiting. Retry begins another context.
func (t *Tx) Context() context.Context { return t.tx.Context() }

// Commit releases all locks, and so ends the transaction. The error is ErrLost if one of
// them was lost before. It is ErrDeadlock if a request of the transaction has ended with
// that, so that it never held all its locks. A transaction that must abort, as its context
// says, but has all its locks, has held them all the time: its commit succeeds.
func (t *Tx) Commit() error { return t.tx.Commit() }

// Abort releases all locks, and so ends the transaction. It does nothing if the transaction
// has already ended. Locks that were lost before are no error.
func (t *Tx) Abort() error { return t.tx.Abort() }

// Retry aborts the transaction, waits a moment, longer after more tries, and begins again.
// The transaction keeps its age: it becomes the oldest at last, which is never the one that
// must abort.
func (t *Tx) Retry(ctx context.Context) error { return t.tx.Retry(ctx) }
