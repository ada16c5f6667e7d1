package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stile-lock/stile/internal/member"
)

// A Deadlock is why a transaction must abort. It is an ErrDeadlock.
type Deadlock struct {
	Why    string         // the cycle, or which older transaction was in the way, in words
	Victim *member.Victim // the same as data; nil if it is not known
	Born   uint64         // stamp of the transaction, which it keeps when it begins again; 0 if not known
}

// NewDeadlock returns the Deadlock of a victim, which may be nil.
func NewDeadlock(v *member.Victim, born uint64) *Deadlock {
	d := &Deadlock{Victim: v, Born: born}
	if v != nil {
		d.Why = v.String()
	}
	return d
}

func (d *Deadlock) Error() string { return ErrDeadlock.Error() + ": " + d.Why }

// Is reports whether err is ErrDeadlock.
func (d *Deadlock) Is(err error) bool { return err == ErrDeadlock }

// Again reports whether to make a request again that has failed with err, because it must
// abort: outside of transactions it holds nothing, so there is nothing to abort. Again waits
// before, longer after more tries, and sees to it that the request keeps its age.
func (o *Options) Again(ctx context.Context, err error, tries int) bool {
	if err == nil {
		return false
	}
	var d *Deadlock
	if o.Tx != 0 || !errors.As(err, &d) || errors.Is(context.Cause(ctx), ErrDeadlock) {
		return false // in the last case err may be that of the context, whose transaction must abort
	}
	o.Born = d.Born
	Pause(ctx, tries)
	return true
}

// The pause before a transaction begins again.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// Pause waits before a transaction begins again, or until the context ends: longer after
// more tries, and not equally long everywhere.
func Pause(ctx context.Context, tries int) {
	longest := min(shortestPause<<min(tries, 20), longestPause)
	t := time.NewTimer(longest/2 + rand.N(longest/2))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
