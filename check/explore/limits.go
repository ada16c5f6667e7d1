package explore

import (
	"context"
	"time"
)

// Limits end an exploration that would take too much.
type Limits struct {
	Workers  int             // goroutines; 0 means one for each core
	Memory   int64           // bytes for states; 0 means no limit
	Time     time.Duration   // 0 means no limit
	Progress func(Progress)  // told now and then; may be nil
	Stop     Broken          // end at the end of the level in which one of these is broken
	Context  context.Context // ends the exploration when done; may be nil
}

// Progress is how far an exploration is.
type Progress struct {
	States, Transitions int64
	Queue, Depth        int
	Memory              int64
	Elapsed             time.Duration
}

// Why something ends early.
const (
	outOfTime   = "out of time"
	outOfMemory = "out of memory"
	interrupted = "interrupted"
)

// A watch sees to it that limits are kept.
type watch struct {
	Limits
	start time.Time
}

func (l Limits) watch() watch { return watch{l, time.Now()} }

// over returns why to end now, or nothing.
func (w *watch) over(memory int64) string {
	switch {
	case w.Context != nil && w.Context.Err() != nil:
		return interrupted
	case w.Time > 0 && time.Since(w.start) > w.Time:
		return outOfTime
	case w.Memory > 0 && memory > w.Memory:
		return outOfMemory
	}
	return ""
}
