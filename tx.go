package stile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/member"
)

// A Tx is a transaction: it acquires kept locks one after the other, and releases them
// together. Other transactions may want the same locks in another order. The method that was
// chosen for the prefix of their names then sees to it that they do not wait for each other
// forever: one of them gets ErrDeadlock, and must abort. See docs/kept.md.
//
// A Tx has one request at a time. Its other methods are safe for concurrent use.
type Tx struct {
	l locker

	mu     sync.Mutex
	number uint64 // of this attempt
	born   uint64 // stamp; 0 before the first request is answered
	tries  int    // number of attempts before this one
	list   []*Lock
	dead   error // the ErrDeadlock with which a request has ended; nil if none has
	ended  bool
	ctx    context.Context
	cancel context.CancelCauseFunc
}

var (
	errTxEnded = fmt.Errorf("%w: the transaction has ended: begin another one", ErrReleased)
	errTxLock  = errors.New("the lock belongs to a transaction, whose locks end together: use Commit or Abort")
)

// Begin begins a transaction, which ends with Commit or Abort. It does not contact the
// cluster. If ctx ends, the locks are still held, but Context ends, and no more locks can be
// acquired.
func (l locker) Begin(ctx context.Context) (*Tx, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("begin a transaction: %w", lock.Done(ctx))
	}
	t := &Tx{l: l}
	t.begin(ctx)
	return t, nil
}

// begin begins an attempt.
func (t *Tx) begin(ctx context.Context) {
	t.number, t.list, t.dead, t.ended = t.l.attempt(), nil, nil, false
	t.ctx, t.cancel = context.WithCancelCause(ctx)
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
		if !tx.mustRetry(err) {
			return errors.Join(err, tx.Abort())
		}
		if err := tx.Retry(ctx); err != nil {
			return err
		}
	}
}

// mustRetry reports whether an attempt that has ended with err is to be made again. What
// uses the transaction's context may return another error when that ends.
func (t *Tx) mustRetry(err error) bool {
	return errors.Is(err, ErrDeadlock) || errors.Is(err, lock.ErrMoved) ||
		err != nil && !errors.Is(err, ErrLost) && errors.Is(context.Cause(t.Context()), ErrDeadlock)
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
	t.mu.Lock()
	err, outer, number := t.unusable(name), t.ctx, t.number
	o := lock.Options{Terms: terms}
	o.Tx, o.Born = number, t.born
	if len(t.list) > 0 {
		o.With = t.list[0].h
	}
	t.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	inner, cancel := either(ctx, outer)
	x, err := t.l.lock(inner, name, o)
	cancel()

	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && (t.number != number || t.ended):
		_ = x.h.Unlock() // granted after the others were released
		return nil, fmt.Errorf("lock %q: %w", name, errTxEnded)
	case err == nil:
		t.add(x)
		return x, nil
	case t.number != number:
		return nil, err
	case ctx.Err() == nil && outer.Err() != nil && !errors.Is(err, ErrDeadlock):
		err = fmt.Errorf("lock %q: %w", name, context.Cause(outer)) // which has ended the request
	}
	if d := (*lock.Deadlock)(nil); errors.As(err, &d) {
		t.dead = err
		if t.born == 0 {
			t.born = d.Born
		}
	}
	return nil, err
}

// add adds a lock that was acquired.
func (t *Tx) add(x *Lock) {
	x.tx = true
	t.list = append(t.list, x)
	t.born = x.h.Born()
	held, cancel := x.Context(), t.cancel
	context.AfterFunc(held, func() { cancel(context.Cause(held)) })
}

// unusable returns why the transaction cannot acquire a lock. The mutex must be held.
func (t *Tx) unusable(name string) error {
	switch {
	case t.ended:
		return errTxEnded
	case t.dead != nil:
		return t.dead
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	case slices.ContainsFunc(t.list, func(x *Lock) bool { return x.Name() == name }):
		return fmt.Errorf("%w: a transaction acquires each lock once", ErrReentrant)
	}
	return nil
}

// Context returns a context that ends when the transaction ends, when one of its locks is
// lost, or when the transaction must abort, because another one needs its locks. The cause
// is ErrReleased, ErrLost or ErrDeadlock. A transaction that must abort still holds its
// locks, and keeps others waiting. Retry begins another context.
func (t *Tx) Context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ctx
}

// Commit releases all locks, and so ends the transaction. The error is ErrLost if one of
// them was lost before. It is ErrDeadlock if a request of the transaction has ended with
// that, so that it never held all its locks. A transaction that must abort, as its context
// says, but has all its locks, has held them all the time: its commit succeeds.
func (t *Tx) Commit() error {
	dead, err := t.end()
	if dead != nil {
		return dead
	}
	return err
}

// Abort releases all locks, and so ends the transaction. It does nothing if the transaction
// has already ended. Locks that were lost before are no error.
func (t *Tx) Abort() error {
	_, err := t.end()
	if errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) {
		return nil
	}
	return err
}

// end releases all locks.
func (t *Tx) end() (dead, err error) {
	t.mu.Lock()
	list, dead := t.list, t.dead
	if t.ended {
		t.mu.Unlock()
		return dead, errTxEnded
	}
	t.ended, t.list = true, nil
	t.cancel(errTxEnded)
	t.mu.Unlock()
	var all []error
	for _, x := range slices.Backward(list) {
		all = append(all, x.h.Unlock())
	}
	return dead, errors.Join(all...)
}

// Retry aborts the transaction, waits a moment, longer after more tries, and begins again.
// The transaction keeps its age: it becomes the oldest at last, which is never the one that
// must abort.
func (t *Tx) Retry(ctx context.Context) error {
	if err := t.Abort(); err != nil {
		return err
	}
	t.mu.Lock()
	tries := t.tries
	t.tries++
	t.mu.Unlock()
	if lock.Pause(ctx, tries); ctx.Err() != nil {
		return fmt.Errorf("begin a transaction again: %w", lock.Done(ctx))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(ctx)
	return nil
}
