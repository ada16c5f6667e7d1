package transport

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// A Refrain logs events that others can cause as often as they like: a few times in each
// period, and then how many were left out.
type Refrain struct {
	Lines  int           // lines per period; 0: refrainLines
	Period time.Duration // 0: RefrainPeriod

	mu    sync.Mutex
	since time.Time
	told  int // lines logged in this period
	left  int // lines left out since the last one logged
}

// RefrainPeriod is how long a Refrain counts before it begins again.
const RefrainPeriod = 10 * time.Second

// refrainLines is the default of Refrain.Lines.
const refrainLines = 10

// Log logs an event, unless it was logged too often.
func (r *Refrain) Log(to *slog.Logger, level slog.Level, text string, args ...any) {
	ok, left, last := r.Take()
	if !ok {
		return
	}
	if left > 0 {
		args = append(args, "suppressed", left)
	}
	if last {
		args = append(args, "more", fmt.Sprintf("suppressed for %v", RefrainPeriod))
	}
	to.Log(context.Background(), level, text, args...)
}

// Take reports whether an event may be logged now; if so, how many were left out before, and
// whether it is the last one of the period.
func (r *Refrain) Take() (ok bool, left int, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.since) >= cmp.Or(r.Period, RefrainPeriod) {
		r.since, r.told = now, 0
	}
	lines := cmp.Or(r.Lines, refrainLines)
	if r.told >= lines {
		r.left++
		return false, 0, false
	}
	left, r.left = r.left, 0
	r.told++
	return true, left, r.told == lines
}

// Leave counts events that are left out for another reason.
func (r *Refrain) Leave(events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += events
}

// Left returns how many events were left out since the last one that was logged.
func (r *Refrain) Left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}
