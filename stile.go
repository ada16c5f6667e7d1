package stile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// Errors to compare with errors.Is. If a context ends, its error is wrapped as well.
var (
	// ErrBusy is returned by TryLock if the lock is held or waited for, and by TryRLock and
	// Semaphore.TryAcquire if it would have to wait.
	ErrBusy = lock.ErrBusy
	// ErrRecovering is returned by TryLock and the like if it is not yet known whether the
	// lock is held, because a node crashed or joined a moment ago.
	ErrRecovering = lock.ErrRecovering
	// ErrLost means that the lock was held and has been lost.
	ErrLost = lock.ErrLost
	// ErrReentrant means that the context is that of a Do of the same lock, or that the
	// transaction holds the lock: to wait for it would be to wait for its own holder, forever.
	ErrReentrant = lock.ErrReentrant
	// ErrReleased means that the lock has already been released.
	ErrReleased = lock.ErrReleased
	// ErrDenied means that the cluster does not allow this client to do it: see the
	// rights file of the nodes.
	ErrDenied = lock.ErrDenied
	// ErrQuota means that this client's identity has as many locks or sessions at the node
	// as the rights file allows.
	ErrQuota = lock.ErrQuota
	// ErrDeadlock means that a transaction must abort, because it was in a deadlock, or to
	// prevent one. The text of the error has the cycle, with the names of locks.
	ErrDeadlock = lock.ErrDeadlock
	// ErrClosed means that the node or the client was closed.
	ErrClosed = errors.New("closed")
)

// A Locker acquires locks by name. Node and Client implement it. Its methods are safe
// for concurrent use.
type Locker interface {
	// Lock waits until the lock is held. The error is nil if and only if it is. If the
	// process loses contact with the cluster while it waits, the request is repeated
	// after it has reconnected, at the end of the queue.
	//
	// A lock is not reentrant. Goroutines of one process exclude each other as processes do,
	// so a goroutine that locks what it already holds waits for itself, until the context
	// ends. Within Do that is noticed if the context is the one of Do, or derived from it:
	// the error is ErrReentrant.
	Lock(ctx context.Context, name string) (*Lock, error)
	// TryLock does not wait. The error is ErrBusy if the lock is held or waited for, and
	// ErrRecovering if that is not yet known.
	TryLock(ctx context.Context, name string) (*Lock, error)
	// RLock waits until the lock is held in shared mode: others may hold it in shared mode
	// too, but none exclusively. Only a kept lock can be shared: by default, one whose name
	// begins with "kept/".
	RLock(ctx context.Context, name string) (*Lock, error)
	// TryRLock is RLock that does not wait. The error is ErrBusy if the lock is held
	// exclusively or waited for, and ErrRecovering if that is not yet known.
	TryRLock(ctx context.Context, name string) (*Lock, error)
	// Semaphore returns the semaphore of this name and number of units.
	Semaphore(name string, units int) *Semaphore
	// Begin begins a transaction, which acquires several kept locks one after the other.
	Begin(ctx context.Context) (*Tx, error)
	// Transact calls f with a transaction, commits it if f returns nil, and calls f again if
	// the transaction must abort because of ErrDeadlock.
	Transact(ctx context.Context, f func(ctx context.Context, tx *Tx) error) error
	// LockAll acquires several locks, all or none. It acquires them in the same order in
	// every process, so that calls of LockAll cannot deadlock with each other.
	LockAll(ctx context.Context, names ...string) (*Locks, error)
	// Do calls f while the lock is held, with a context that ends if the lock is lost.
	// The error is that of f, joined with ErrLost if the lock was lost before f returned.
	Do(ctx context.Context, name string, f func(ctx context.Context, t Token) error) error
	// Close releases all locks and shuts down.
	Close() error
}

var (
	_ Locker = (*Node)(nil)
	_ Locker = (*Client)(nil)
)

// A locker is what all Lockers have in common: everything but how a lock is requested.
type locker struct {
	of      any // the node or the client, to tell one Locker from another
	ask     func(ctx context.Context, name string, a lock.Options) (*Lock, error)
	attempt func() uint64 // returns a number for an attempt of a transaction
}

// Lock waits until the lock is held. The error is nil if and only if it is.
func (l locker) Lock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{})
}

// TryLock does not wait. The error is ErrBusy if the lock is held or waited for, and
// ErrRecovering if that is not yet known.
func (l locker) TryLock(ctx context.Context, name string) (*Lock, error) {
	return l.lock(ctx, name, lock.Options{Try: true})
}

func (l locker) lock(ctx context.Context, name string, a lock.Options) (*Lock, error) {
	if !a.Try && l.holds(ctx, name) {
		return nil, fmt.Errorf("lock %q: %w: do not lock it again within Do, or use a context from outside", name, ErrReentrant)
	}
	x, err := l.ask(ctx, name, a)
	if err != nil {
		return nil, worded(err)
	}
	return x, nil
}

// worded gives errors of internal packages their public names.
func worded(err error) error {
	if errors.Is(err, node.ErrEnded) || errors.Is(err, client.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}

// LockAll acquires several locks, all or none, in an order that is the same in every
// process.
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

// Do calls f while the lock is held, with a context that ends if the lock is lost.
func (l locker) Do(ctx context.Context, name string, f func(ctx context.Context, t Token) error) (err error) {
	x, err := l.Lock(ctx, name)
	if err != nil {
		return err
	}
	inner, cancel := lock.Either(ctx, x.Context())
	defer cancel()
	inner = context.WithValue(inner, heldKey{}, &held{l.of, x, ctx})
	defer func() { err = errors.Join(err, x.Unlock()) }()
	return f(inner, x.Token())
}

// A held is a lock that a context of Do holds.
type held struct {
	of    any // of the locker
	lock  *Lock
	outer context.Context // around Do
}

type heldKey struct{}

// holds reports whether the context is that of a Do which still holds the lock.
func (l locker) holds(ctx context.Context, name string) bool {
	for {
		h, _ := ctx.Value(heldKey{}).(*held)
		switch {
		case h == nil:
			return false
		case h.of == l.of && h.lock.Name() == name && h.lock.Err() == nil:
			return true
		}
		ctx = h.outer
	}
}

// A Lock is a lock that is held, until Unlock or until it is lost.
type Lock struct {
	h  lock.Handle
	tx bool // it belongs to a transaction
}

// Name returns the name of the lock.
func (l *Lock) Name() string { return l.h.Name() }

// Token returns the fencing token of this hold. It is greater than the tokens of all
// earlier holds. See docs/kept.md for how to check the tokens of shared holds.
func (l *Lock) Token() Token { return Token(l.h.Token()) }

// Context returns a context that ends when the lock is lost or released. Its cause is
// ErrLost or ErrReleased. The context of a kept lock also ends, with ErrDeadlock, when an
// older transaction waits for the lock and the method against deadlock is wound-wait: the
// lock is still held, and should be released soon.
func (l *Lock) Context() context.Context { return l.h.Context() }

// Deadline returns when the lock is lost if no lease is renewed from now on. It moves
// forward with every renewal. It is a wall-clock time without a monotonic reading, which
// would stop while the machine is suspended.
func (l *Lock) Deadline() time.Time { return l.h.Deadline() }

// Err returns nil while the lock is held, and ErrLost or ErrReleased after that. It
// reads the clock, so that a process that was paused learns of the loss here first.
func (l *Lock) Err() error { return l.h.Err() }

// Unlock releases the lock. The error is ErrLost if the lock was lost before: another
// process may have held it since. A lock that belongs to a transaction cannot be released
// alone.
func (l *Lock) Unlock() error {
	if l.tx {
		return fmt.Errorf("unlock %q: %w", l.Name(), errTxLock)
	}
	return l.h.Unlock()
}

// SetValue attaches a small value to the lock, up to 256 bytes of UTF-8, in place of the one
// before. Lists of locks show it, for people and programs that wait for the lock. SetValue
// does not wait until they do. A client that moves to another node takes the value with it.
// It is gone when the lock is released or lost; the error is then that of Err.
func (l *Lock) SetValue(value string) error { return l.h.SetValue(value) }

// Locks are several locks that are held together.
type Locks struct {
	list   []*Lock
	once   sync.Once // before Context was called
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Get returns the lock with this name, or nil.
func (l *Locks) Get(name string) *Lock {
	for _, x := range l.list {
		if x.Name() == name {
			return x
		}
	}
	return nil
}

// Context returns a context that ends when one of the locks is lost or released. Its cause
// is ErrLost or ErrReleased.
func (l *Locks) Context() context.Context {
	l.once.Do(func() {
		l.ctx, l.cancel = context.WithCancelCause(context.Background())
		for _, x := range l.list {
			one := x.Context()
			context.AfterFunc(one, func() { l.cancel(context.Cause(one)) })
		}
	})
	return l.ctx
}

// Err returns nil while all locks are held.
func (l *Locks) Err() error {
	for _, x := range l.list {
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Unlock releases all locks. The error is ErrLost if one of them was lost before.
func (l *Locks) Unlock() error {
	var all []error
	for _, x := range slices.Backward(l.list) {
		all = append(all, x.Unlock())
	}
	return errors.Join(all...)
}

// undo releases what has been acquired so far, some of which may be lost.
func (l *Locks) undo() error {
	var all []error
	for _, x := range l.list {
		if err := x.Unlock(); err != nil && !errors.Is(err, ErrLost) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
