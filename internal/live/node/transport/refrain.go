package transport

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// A refrain logs what others can make happen as often as they like: a few times in
// each period, and then how often it was left out.
type refrain struct {
	lines int // in a period; 0: refrainLines

	mu    sync.Mutex
	since time.Time
	told  int // in this period
	left  int // out, since it was told last
}

const (
	refrainPeriod = 10 * time.Second
	refrainLines  = 10
)

// log logs something, unless it was logged too often.
func (r *refrain) log(to *slog.Logger, level slog.Level, text string, args ...any) {
	r.mu.Lock()
	if now := time.Now(); now.Sub(r.since) >= refrainPeriod {
		r.since, r.told = now, 0
	}
	lines := cmp.Or(r.lines, refrainLines)
	if r.told >= lines {
		r.left++
		r.mu.Unlock()
		return
	}
	r.told++
	if r.left > 0 {
		args = append(args, "untold", r.left)
		r.left = 0
	}
	last := r.told == lines
	r.mu.Unlock()
	if last {
		args = append(args, "others", fmt.Sprintf("are counted for %v", refrainPeriod))
	}
	to.Log(context.Background(), level, text, args...)
}
