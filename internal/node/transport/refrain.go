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
	Lines int // lines per period; 0: refrainLines

	mu    sync.Mutex
	since time.Time
	told  int // lines logged in this period
	left  int // lines left out since the last one logged
}

const (
	refrainPeriod = 10 * time.Second
	refrainLines  = 10
)

// Log logs an event, unless it was logged too often.
func (r *Refrain) Log(to *slog.Logger, level slog.Level, text string, args ...any) {
	r.mu.Lock()
	if now := time.Now(); now.Sub(r.since) >= refrainPeriod {
		r.since, r.told = now, 0
	}
	lines := cmp.Or(r.Lines, refrainLines)
	if r.told >= lines {
		r.left++
		r.mu.Unlock()
		return
	}
	r.told++
	if r.left > 0 {
		args = append(args, "suppressed", r.left)
		r.left = 0
	}
	last := r.told == lines
	r.mu.Unlock()
	if last {
		args = append(args, "more", fmt.Sprintf("suppressed for %v", refrainPeriod))
	}
	to.Log(context.Background(), level, text, args...)
}
