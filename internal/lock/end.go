package lock

import (
	"context"
	"sync/atomic"

	"github.com/stile-lock/stile/internal/member"
)

// An End is how a hold ends: the lock is lost, or released; whichever is first. Its
// methods may be called by several goroutines at a time, and never wait: an
// application can ask whether it still holds a lock, whatever its node is doing.
type End struct {
	why atomic.Pointer[error]  // nil while it is held
	ctx atomic.Pointer[ending] // nil before it is asked for
}

// An ending is a context that ends with a hold. Most holders ask for none, and need
// not make room for it.
type ending struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Err returns why the lock is no longer held, or nil.
func (e *End) Err() error {
	if why := e.why.Load(); why != nil {
		return *why
	}
	return nil
}

// Lose notes that the lock is lost.
func (e *End) Lose(name string, why member.Cause) {
	err := Lost(name, why)
	e.set(&err)
}

// Release notes that the lock is released.
func (e *End) Release() { e.set(&ErrReleased) }

func (e *End) set(err *error) {
	if !e.why.CompareAndSwap(nil, err) {
		return
	}
	if c := e.ctx.Load(); c != nil {
		c.cancel(*err)
	}
}

// Context returns a context that ends with the hold.
func (e *End) Context() context.Context {
	c := e.ctx.Load()
	if c == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		c = &ending{ctx, cancel}
		if !e.ctx.CompareAndSwap(nil, c) {
			cancel(nil)
			c = e.ctx.Load()
		}
	}
	if err := e.Err(); err != nil {
		c.cancel(err)
	}
	return c.Context
}
