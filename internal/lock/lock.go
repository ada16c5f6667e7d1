// Package lock is what an application sees of a lock, whether it is held through a node in
// its own process or through a client: a handle, options and errors.
package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// A Handle is a lock that is, or was, held.
type Handle interface {
	Name() string
	Token() member.Token
	Born() uint64                // of a kept lock: stamp of the transaction; 0 of others
	Err() error                  // nil while it is held
	Deadline() time.Time         // end of the hold if the lease is not renewed; wall clock
	Context() context.Context    // ends when it is lost or released, or its transaction must abort
	SetValue(value string) error // attach a value that lists show
	Unlock() error
}

// Options are the options of a request.
type Options struct {
	Try  bool          // do not wait
	Wait time.Duration // maximum wait; 0: forever
	member.Terms
	With Handle // a lock that the transaction holds; nil if it holds none
}

// Errors of locks.
var (
	// ErrBusy means that the lock is held or awaited.
	ErrBusy = errors.New("the lock is held or waited for")
	// ErrRecovering means that it is not known yet whether the lock is held.
	ErrRecovering = errors.New("the cluster does not know yet whether the lock is held: try again soon")
	// ErrLost means that the lock was held and no longer is.
	ErrLost = errors.New("the lock was lost")
	// ErrReentrant means that the caller already holds the lock.
	ErrReentrant = errors.New("the caller already holds the lock")
	// ErrReleased means that the lock was already released.
	ErrReleased = errors.New("the lock was already released")
	// ErrDenied means that the caller has not the right to do it.
	ErrDenied = errors.New("permission denied")
	// ErrQuota means that the caller has as many locks or sessions at the node as it may.
	ErrQuota = errors.New("quota exceeded")
	// ErrDeadlock means that the transaction must abort. The error is a Deadlock.
	ErrDeadlock = errors.New("the transaction must abort, because of a deadlock or to prevent one")
	// ErrMoved means that a transaction cannot go on, because all its locks must be held through
	// one node: the client has lost its node, and another one cannot take over one of the locks.
	ErrMoved = errors.New("the client has lost its node, and another one cannot take over the transaction's locks: abort it, and begin again")
)

// Done returns the error of a context that is done, together with its cause if that
// differs: errors.Is finds both.
func Done(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Lost returns the error of a lock that was lost.
func Lost(name string, why member.Cause) error {
	return fmt.Errorf("%w: %s: %s", ErrLost, words.Quoted(name), Why(why))
}

// Why says in words why a lock was lost.
func Why(c member.Cause) string {
	if int(c) >= len(causes) {
		c = member.NoCause
	}
	return causes[c]
}

// causes explains why locks are lost.
var causes = [...]string{
	member.NoCause:  "the node has stopped, or no longer knows the lock",
	member.Lease:    "the node's lease was not renewed in time",
	member.Session:  "the client's session was not renewed in time",
	member.Closed:   "the client closed its session",
	member.Leaving:  "the node was told to stop or to leave the cluster",
	member.Evicted:  "the cluster evicted the node",
	member.Released: "an operator released it by force",
	member.Changed:  "another kind of lock was chosen for its name",
}

// Deadline returns the wall-clock time after left. It has no reading of Go's monotonic
// clock, which stops while the machine is suspended: a deadline would then seem to be still
// ahead.
func Deadline(left time.Duration) time.Time { return time.Now().Round(0).Add(left) }
