package lock

import (
	"context"
	"sync/atomic"

	"github.com/stile-lock/stile/internal/member"
)

// An End is how a hold ends: the lock is lost or released, whichever comes first. Several
// goroutines may call its methods at a time, and they never block: an application can check
// whether it still holds a lock, whatever its node is doing.
type End struct {
	why  atomic.Pointer[error]    // nil while it is held
	ctx  atomic.Pointer[ending]   // nil before it is requested
	doom atomic.Pointer[Deadlock] // why the lock's transaction must abort; nil if it need not
}

// An ending is a context that ends with a hold. Most holders request none and need no
// memory for it.
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

// Lose records that the lock is lost.
func (e *End) Lose(name string, why member.Cause) {
	err := Lost(name, why)
	e.set(&err)
}

// Release records that the lock is released.
func (e *End) Release() { e.set(&ErrReleased) }

// Doom records that the lock's transaction must abort. The lock is still held.
func (e *End) Doom(d *Deadlock) {
	if e.doom.CompareAndSwap(nil, d) {
		if c := e.ctx.Load(); c != nil {
			c.cancel(d)
		}
	}
}

// Doomed returns why the lock's transaction must abort; nil if it need not.
func (e *End) Doomed() *Deadlock { return e.doom.Load() }

func (e *End) set(err *error) {
	if !e.why.CompareAndSwap(nil, err) {
		return
	}
	if c := e.ctx.Load(); c != nil {
		c.cancel(*err)
	}
}

// Context returns a context that ends with the hold, or before if its transaction must
// abort.
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
	if d := e.doom.Load(); d != nil {
		c.cancel(d)
	}
	if err := e.Err(); err != nil {
		c.cancel(err)
	}
	return c.Context
}
