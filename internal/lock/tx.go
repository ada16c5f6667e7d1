package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stile-lock/stile/internal/member"
)

// A Tx is a transaction: it acquires kept locks one after the other, and releases them
// together. It has one request at a time. Its other methods are safe for concurrent use.
type Tx struct {
	ask     func(ctx context.Context, name string, o Options) (Handle, error)
	attempt func() uint64

	mu     sync.Mutex
	number uint64 // of this attempt
	born   uint64 // stamp; 0 before the first request is answered
	tries  int    // number of attempts before this one
	list   []Handle
	dead   error // the ErrDeadlock with which a request has ended; nil if none has
	ended  bool
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// ErrTxEnded means that the transaction has ended.
var ErrTxEnded = fmt.Errorf("%w: the transaction has ended: begin another one", ErrReleased)

// Begin begins a transaction, which ends with Commit or Abort. It requests locks with ask, and
// gets a number for each attempt from attempt.
func Begin(ctx context.Context, ask func(ctx context.Context, name string, o Options) (Handle, error), attempt func() uint64) *Tx {
	t := &Tx{ask: ask, attempt: attempt}
	t.begin(ctx)
	return t
}

// begin begins an attempt.
func (t *Tx) begin(ctx context.Context) {
	t.number, t.list, t.dead, t.ended = t.attempt(), nil, nil, false
	t.ctx, t.cancel = context.WithCancelCause(ctx)
}

// MustRetry reports whether an attempt that has ended with err should be made again. What
// uses the transaction's context may return another error when that ends.
func (t *Tx) MustRetry(err error) bool {
	return errors.Is(err, ErrDeadlock) || errors.Is(err, ErrMoved) ||
		err != nil && !errors.Is(err, ErrLost) && errors.Is(context.Cause(t.Context()), ErrDeadlock)
}

// Acquire waits until the transaction holds a lock.
func (t *Tx) Acquire(ctx context.Context, name string, terms member.Terms) (Handle, error) {
	t.mu.Lock()
	err, outer, number := t.unusable(name), t.ctx, t.number
	o := Options{Terms: terms}
	o.Tx, o.Born = number, t.born
	if len(t.list) > 0 {
		o.With = t.list[0]
	}
	t.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	inner, cancel := Either(ctx, outer)
	h, err := t.ask(inner, name, o)
	cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && (t.number != number || t.ended):
		_ = h.Unlock() // granted after the others were released
		return nil, fmt.Errorf("lock %q: %w", name, ErrTxEnded)
	case err == nil:
		t.add(h)
		return h, nil
	case t.number != number:
		return nil, err
	case ctx.Err() == nil && outer.Err() != nil && (!errors.Is(err, ErrDeadlock) || errors.Is(err, context.Canceled)):
		err = fmt.Errorf("lock %q: %w", name, context.Cause(outer)) // which has ended the request
	}
	if d := (*Deadlock)(nil); errors.As(err, &d) {
		t.dead = err
		if t.born == 0 {
			t.born = d.Born
		}
	}
	return nil, err
}

// add adds a lock that was acquired.
func (t *Tx) add(h Handle) {
	t.list = append(t.list, h)
	t.born = h.Born()
	held, cancel := h.Context(), t.cancel
	context.AfterFunc(held, func() { cancel(context.Cause(held)) })
}

// unusable returns why the transaction cannot acquire a lock. The mutex must be held.
func (t *Tx) unusable(name string) error {
	switch {
	case t.ended:
		return ErrTxEnded
	case t.dead != nil:
		return t.dead
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	}
	for _, h := range t.list {
		if err := h.Err(); err != nil {
			return err // the context is about to end
		}
		if h.Name() == name {
			return fmt.Errorf("%w: a transaction acquires each lock once", ErrReentrant)
		}
	}
	return nil
}

// Context returns a context that ends when the transaction ends, when one of its locks is
// lost, or when the transaction must abort, because another one needs its locks. Retry begins
// another context.
func (t *Tx) Context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ctx
}

// Doomed returns why the transaction must abort; nil if it need not, as far as is known.
func (t *Tx) Doomed() (d *Deadlock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !errors.As(t.dead, &d) {
		errors.As(context.Cause(t.ctx), &d)
	}
	return d
}

// Commit releases all locks, and so ends the transaction. The error is ErrLost if one of them
// was lost before, and ErrDeadlock if a request has ended with that.
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
		return dead, ErrTxEnded
	}
	t.ended, t.list = true, nil
	t.cancel(ErrTxEnded)
	t.mu.Unlock()
	var all []error
	for _, h := range slices.Backward(list) {
		all = append(all, h.Unlock())
	}
	return dead, errors.Join(all...)
}

// Retry aborts the transaction, waits a moment, longer after more tries, and begins again,
// with the same age.
func (t *Tx) Retry(ctx context.Context) error {
	if err := t.Abort(); err != nil {
		return err
	}
	t.mu.Lock()
	tries := t.tries
	t.tries++
	t.mu.Unlock()
	if Pause(ctx, tries); ctx.Err() != nil {
		return fmt.Errorf("begin a transaction again: %w", Done(ctx))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(ctx)
	return nil
}

// Either returns a context that ends with the first of two. Its values are those of ctx.
func Either(ctx, other context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return inner, func() {
		stop()
		cancel(nil)
	}
}
