package stile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/node"
)

// Errors that can be told apart with errors.Is. If a context ends, its error is
// wrapped too.
var (
	// ErrBusy means that somebody holds the lock, or waits for it. Of TryLock.
	ErrBusy = lock.ErrBusy
	// ErrRecovering means that it is not known yet whether somebody holds the lock,
	// since a node has died or joined a moment ago. Of TryLock.
	ErrRecovering = lock.ErrRecovering
	// ErrLost means that the lock was held, and is no more.
	ErrLost = lock.ErrLost
	// ErrReleased means that the lock was let go before.
	ErrReleased = lock.ErrReleased
	// ErrClosed means that the node or the client was closed.
	ErrClosed = errors.New("closed")
)

// A Locker takes locks by name: a Node or a Client. Its methods may be called by
// several goroutines at a time.
type Locker interface {
	// Lock waits for a lock. The error is nil if and only if the lock is held. A
	// request that waits when the process loses the cluster is made again when it
	// is back, and has then lost its place.
	Lock(ctx context.Context, name string) (*Lock, error)
	// TryLock does not wait behind anybody: the error is ErrBusy if somebody holds
	// the lock or waits for it, and ErrRecovering if nobody knows yet.
	TryLock(ctx context.Context, name string) (*Lock, error)
	// LockAll takes several locks, all or none, in an order that is the same for all
	// who do so: they do not wait for each other in a circle.
	LockAll(ctx context.Context, names ...string) (*Locks, error)
	// Do calls f with the lock held, and a context that ends when it is lost. The
	// error is that of f, joined with ErrLost if the lock was lost before f returned.
	Do(ctx context.Context, name string, f func(ctx context.Context, t Token) error) error
	// Close gives back all that there is.
	Close() error
}

var (
	_ Locker = (*Node)(nil)
	_ Locker = (*Client)(nil)
)

// A locker is what all Lockers have in common: all but how a lock is asked for.
type locker struct {
	ask func(ctx context.Context, name string, a lock.Options) (*Lock, error)
}

// Lock waits for a lock. The error is nil if and only if it is held.
func (l locker) Lock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{})
}

// TryLock does not wait behind anybody.
func (l locker) TryLock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{Try: true})
}

func (l locker) lock(ctx context.Context, name string, a lock.Options) (*Lock, error) {
	x, err := l.ask(ctx, name, a)
	if err != nil {
		return nil, worded(err)
	}
	return x, nil
}

// worded gives errors of packages that nobody can import their public names.
func worded(err error) error {
	if errors.Is(err, node.ErrEnded) || errors.Is(err, client.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}

// LockAll takes several locks, all or none.
func (l locker) LockAll(ctx context.Context, names ...string) (*Locks, error) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	all := &Locks{}
	for _, name := range names {
		x, err := l.Lock(ctx, name)
		if err == nil {
			all.list = append(all.list, x)
			err = all.Err() // one of the others may be lost by now
		}
		if err != nil {
			return nil, errors.Join(err, all.undo())
		}
	}
	return all, nil
}

// Do calls f with the lock held.
func (l locker) Do(ctx context.Context, name string, f func(ctx context.Context, t Token) error) (err error) {
	x, err := l.Lock(ctx, name)
	if err != nil {
		return err
	}
	inner, cancel := merged(ctx, x)
	defer cancel()
	defer func() { err = errors.Join(err, x.Unlock()) }()
	return f(inner, x.Token())
}

// merged returns a context that ends with the caller's and with the lock.
func merged(ctx context.Context, x *Lock) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	lost := x.Context()
	stop := context.AfterFunc(lost, func() { cancel(context.Cause(lost)) })
	return inner, func() {
		stop()
		cancel(nil)
	}
}

// A Lock is one that is held, until Unlock or until it is lost.
type Lock struct{ h lock.Handle }

// Name returns its name.
func (l *Lock) Name() string { return l.h.Name() }

// Token returns the fencing token: it is higher than those of all entries before.
func (l *Lock) Token() Token { return Token(l.h.Token()) }

// Context returns a context that ends when the lock is lost or let go; its cause
// says why.
func (l *Lock) Context() context.Context { return l.h.Context() }

// Deadline returns until when the lock is held if the process hears of nobody from
// now on. It moves on as long as it does.
func (l *Lock) Deadline() time.Time { return l.h.Deadline() }

// Err returns nil while the lock is held, and ErrLost or ErrReleased after that. It
// looks at the clock: whoever was stopped and goes on learns it here first.
func (l *Lock) Err() error { return l.h.Err() }

// Unlock lets go of the lock. The error is ErrLost if it was lost before: then
// somebody else may have been inside since.
func (l *Lock) Unlock() error { return l.h.Unlock() }

// Locks are several that are held together.
type Locks struct{ list []*Lock }

// Get returns one of them by its name, or nil.
func (l *Locks) Get(name string) *Lock {
	for _, x := range l.list {
		if x.Name() == name {
			return x
		}
	}
	return nil
}

// Err returns nil while all are held.
func (l *Locks) Err() error {
	for _, x := range l.list {
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Unlock lets go of all. The error is ErrLost if one of them was lost before.
func (l *Locks) Unlock() error {
	var all []error
	for _, x := range slices.Backward(l.list) {
		all = append(all, x.Unlock())
	}
	return errors.Join(all...)
}

// undo lets go of all that was taken, of which some may be lost.
func (l *Locks) undo() error {
	var all []error
	for _, x := range l.list {
		if err := x.Unlock(); err != nil && !errors.Is(err, ErrLost) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
