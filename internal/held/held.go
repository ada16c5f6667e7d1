// Package held is what the locks of a node's own process and those of a client have
// in common: how they are asked for, what can be done with them, and their errors.
package held

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/member"
)

// A Lock is one that is held, or was.
type Lock interface {
	Name() string
	Token() member.Token
	Err() error               // nil while it is held
	Deadline() time.Time      // until when, if nothing is heard of others
	Context() context.Context // ends when it is lost or let go
	Unlock() error
}

// An Ask says how a lock is asked for.
type Ask struct {
	Try  bool          // do not wait behind anybody
	Wait time.Duration // at most; 0 is for ever
}

// Errors of locks.
var (
	// ErrBusy means that somebody holds the lock, or waits for it.
	ErrBusy = errors.New("the lock is busy")
	// ErrRecovering means that nobody knows yet whether somebody holds the lock.
	ErrRecovering = errors.New("it is not known yet whether somebody holds the lock: try again soon")
	// ErrLost means that the lock was held, and is no more.
	ErrLost = errors.New("the lock is lost")
	// ErrReleased means that the lock was let go before.
	ErrReleased = errors.New("the lock was let go before")
)

// Ended returns the error of a context that is done, and its cause if that is another
// one: whoever asks for either finds it.
func Ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Lost returns the error of a lock that was lost.
func Lost(name string, why member.Cause) error {
	return fmt.Errorf("%w: %s: %s", ErrLost, name, causes[why])
}

// causes says why locks are lost.
var causes = [...]string{
	member.NoCause:  "the node has ended, or knows nothing of it any more",
	member.Lease:    "the node has not heard of the others for the length of its lease",
	member.Session:  "the node was not heard for the length of the session",
	member.Closed:   "the client was closed",
	member.Leaving:  "the node leaves the cluster",
	member.Evicted:  "the cluster goes on without the node",
	member.Released: "an operator has taken it away",
}
