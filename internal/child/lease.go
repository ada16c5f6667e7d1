package child

import (
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/node/clock"
)

// A Moment is a point in time on a clock that cannot be set and keeps running while the
// machine sleeps, counted from an unknown start that all processes of the machine share.
// The zero Moment is never.
type Moment int64

// Now returns the present moment.
func Now() Moment { return Moment(clock.Now()) }

// Add returns the moment that is d later.
func (m Moment) Add(d time.Duration) Moment { return m + Moment(d) }

// Sub returns the time from the other moment to this one.
func (m Moment) Sub(other Moment) time.Duration { return time.Duration(m - other) }

// earlier returns the earlier of two moments.
func earlier(a, b Moment) Moment {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// A Lease is how long the command may run. Several goroutines may call its methods at a
// time, before and during a Run.
type Lease struct {
	mu      sync.Mutex
	until   Moment
	changed chan struct{}
}

// NewLease returns a lease that ends at this moment.
func NewLease(until Moment) *Lease {
	return &Lease{until: until, changed: make(chan struct{}, 1)}
}

// Extend moves the end of the lease. Its holder calls it at every renewal, with a moment
// counted from Now as it was before the renewal was requested. A lease never gets shorter:
// an earlier moment changes nothing.
func (l *Lease) Extend(until Moment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until <= l.until {
		return
	}
	l.until = until
	select {
	case l.changed <- struct{}{}:
	default: // the listener has not seen the last change yet
	}
}

// Until returns the end of the lease.
func (l *Lease) Until() Moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// longestMargin is the maximum time reserved at the end of a lease for killed processes to
// be gone.
const longestMargin = 200 * time.Millisecond

// plan returns when a command must get TERM, and when it must be killed, if its lease is
// not extended after now. The time reserved for its grace is never more than a third of
// what is left, so a lease that is renewed within its first two thirds is never mistaken
// for a lost one.
func plan(now, until Moment, grace time.Duration) (end, kill Moment) {
	if until == 0 {
		return 0, 0
	}
	left := max(until.Sub(now), 0)
	kill = until.Add(-min(left/10, longestMargin))
	return kill.Add(-min(grace, left/3)), kill
}
