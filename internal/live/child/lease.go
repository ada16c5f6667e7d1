package child

import (
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/live/node/clock"
)

// A Moment is a point in time on a clock that no one sets and that goes on while
// the machine sleeps, counted from an unknown start that all processes of the
// machine share. The zero Moment is never.
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

// A Lease says until when the command may run. Its methods may be called by
// several goroutines at once, before a Run and during it.
type Lease struct {
	mu      sync.Mutex
	until   Moment
	changed chan struct{}
}

// NewLease returns a lease that is over at this moment.
func NewLease(until Moment) *Lease {
	return &Lease{until: until, changed: make(chan struct{}, 1)}
}

// Extend moves the end of the lease. Its holder calls it at every renewal, with a
// moment counted from Now as it was before the renewal was asked for. A lease
// never gets shorter: an earlier moment changes nothing.
func (l *Lease) Extend(until Moment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until <= l.until {
		return
	}
	l.until = until
	select {
	case l.changed <- struct{}{}:
	default: // whoever listens has not looked at the last change yet
	}
}

// Until returns the end of the lease.
func (l *Lease) Until() Moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// longestMargin is what is kept at the end of a lease for processes to be gone
// after they were killed.
const longestMargin = 200 * time.Millisecond

// plan says when a command must be told to end, and when it must be killed, if
// nobody extends its lease after now. What is kept for its grace is never more
// than a third of what is left: a lease that is renewed in its first two thirds is
// never taken for a lost one.
func plan(now, until Moment, grace time.Duration) (end, kill Moment) {
	if until == 0 {
		return 0, 0
	}
	left := max(until.Sub(now), 0)
	kill = until.Add(-min(left/10, longestMargin))
	return kill.Add(-min(grace, left/3)), kill
}
