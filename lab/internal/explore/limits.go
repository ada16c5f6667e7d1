package explore

import (
	"context"
	"math"
	"time"
)

// Limits end an exploration that would take too much. They apply to the whole of one
// call, and to questions about a Graph after it was built.
type Limits struct {
	Workers  int             // goroutines; 0 means one for each core
	Memory   int64           // bytes, for states and for what the model keeps (see Sized); 0 means no limit
	Time     time.Duration   // 0 means no limit
	Pass     string          // current activity, for Progress
	Progress func(Progress)  // called now and then; may be nil
	Stop     Broken          // end at the end of the level in which one of these is violated
	Context  context.Context // ends the exploration when done; may be nil
}

// Progress is the progress of an exploration.
type Progress struct {
	Pass                string // current activity
	States, Transitions int64
	Queue, Depth        int // blocks of states to explore, and levels of the search; 0 if there are none
	Memory              int64
	Elapsed             time.Duration // duration of the pass so far
}

// Why something ends early.
const (
	OutOfTime   = "out of time"
	OutOfMemory = "out of memory"
	Interrupted = "interrupted"
)

// A watch enforces limits.
type watch struct {
	Limits
	start time.Time
	away  time.Duration // spent on something else
}

func (l Limits) watch() watch { return watch{Limits: l, start: time.Now()} }

// Ends returns a function that returns why to end now, or nothing. Time counts from the
// call of Ends; memory is not looked at.
func (l Limits) Ends() func() string {
	w := l.watch()
	return func() string { return w.over(0) }
}

// over returns why to end now, or nothing.
func (w *watch) over(memory int64) string {
	switch {
	case w.Context != nil && w.Context.Err() != nil:
		return Interrupted
	case w.Time > 0 && time.Since(w.start) > w.Time:
		return OutOfTime
	case w.Memory > 0 && memory > w.Memory:
		return OutOfMemory
	}
	return ""
}

// tell reports progress.
func (w *watch) tell(p Progress) {
	if w.Progress != nil {
		p.Pass, p.Elapsed = w.Pass, time.Since(w.start)-w.away
		w.Progress(p)
	}
}

// Collision returns an upper bound on the probability that two of this many different
// states share a fingerprint: a pair does with probability 2^-64.
func Collision(states int64) float64 {
	return math.Min(1, float64(states)*float64(states)/math.Exp2(65))
}
