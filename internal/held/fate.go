package held

import (
	"context"
	"sync/atomic"

	"github.com/stile-lock/stile/internal/member"
)

// A Fate is how the holding of a lock ends: it is lost, or let go. Its methods need
// the mutex of whoever keeps the locks, but for Lost.
type Fate struct {
	lost  atomic.Pointer[error]
	ctx   *ending // nil before somebody has asked for it
	freed bool
}

// An ending is a context that ends with the holding. Most who hold a lock ask for
// none, and need not make room for it.
type ending struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Lost returns why the lock is lost, or nil.
func (f *Fate) Lost() error {
	if e := f.lost.Load(); e != nil {
		return *e
	}
	return nil
}

// Over returns why the lock is held no more, or nil.
func (f *Fate) Over() error {
	if err := f.Lost(); err != nil {
		return err
	}
	if f.freed {
		return ErrReleased
	}
	return nil
}

// Lose tells the holder that it has lost.
func (f *Fate) Lose(name string, why member.Cause) {
	err := Lost(name, why)
	f.lost.CompareAndSwap(nil, &err)
	f.end()
}

// Free tells that the lock is let go.
func (f *Fate) Free() {
	f.freed = true
	f.end()
}

func (f *Fate) end() {
	if f.ctx != nil {
		f.ctx.cancel(f.Over())
	}
}

// Context returns a context that ends with the holding.
func (f *Fate) Context() context.Context {
	if f.ctx == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		f.ctx = &ending{ctx, cancel}
		if f.Over() != nil {
			f.end()
		}
	}
	return f.ctx.Context
}
