package trace

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// maxClocks is the largest group whose vector clocks are legible in a picture.
const maxClocks = 12

// A Clock is the reading of a process's logical clocks after it has done something. What
// it does at one moment, with all that it sends, is one event for them, as it is one row
// of the diagram.
type Clock struct {
	Time   int32   `json:"time"`   // Lamport's clock: one more than all that is in its past
	Vector []int32 `json:"vector"` // number of events of each process in its past, this one included
}

// String formats a clock as 3 [2 1 0].
func (c *Clock) String() string { return fmt.Sprintf("%d %d", c.Time, c.Vector) }

// CheckClocks returns an error if a group is too large for its clocks to be shown.
func CheckClocks(n int) error {
	if n > maxClocks {
		return fmt.Errorf("a vector clock of %d processes cannot be read: want at most %d", n, maxClocks)
	}
	return nil
}

// clocks returns the clock of each row. It is nil where nothing happened to a process: a
// message was lost, the network was cut, or a note was made.
func (t *Trace) clocks(rows []row) []*Clock {
	clocks := make([]*Clock, len(rows))
	now := make([]*Clock, t.N)   // clock of each process
	sent := make(map[int]*Clock) // clock that a message carries
	for k, r := range rows {
		e := &t.Events[r.lo]
		if t.owner(e) == algorithm.None || e.Kind == Violation || e.Kind == Note {
			continue
		}
		var message *Clock
		if e.Kind == Receive {
			message = sent[e.Msg]
		}
		c := now[e.Proc].next(t.N, message)
		c.Vector[e.Proc]++
		for i := r.lo; i < r.hi; i++ {
			if s := &t.Events[i]; s.Kind == Send || s.Kind == Duplicate {
				sent[s.Msg] = c
			}
		}
		clocks[k], now[e.Proc] = c, c
	}
	return clocks
}

// next returns a clock that knows all that c and the message know, either of which may be
// nil, and is later than both in Lamport's time.
func (c *Clock) next(n int, message *Clock) *Clock {
	next := &Clock{Vector: make([]int32, n)}
	for _, known := range []*Clock{c, message} {
		if known == nil {
			continue
		}
		next.Time = max(next.Time, known.Time)
		for p, v := range known.Vector {
			next.Vector[p] = max(next.Vector[p], v)
		}
	}
	next.Time++
	return next
}

// clockColumn makes the column of clocks, and drops the lanes where there is no room for
// both.
func (w *textWriter) clockColumn(rows []row) {
	w.clocks = make([]*Clock, len(rows))
	if !w.o.Clocks || CheckClocks(w.t.N) != nil {
		return
	}
	w.clocks = w.t.clocks(rows)
	wide := len("clock")
	for _, c := range w.clocks {
		if c != nil {
			wide = max(wide, len(c.String()))
		}
	}
	w.wide = wide + 2
	const words = 16 // minimum number of columns for words
	w.drawn = w.drawn && w.time+w.pitch*w.t.N+w.wide+words <= w.o.Width
}

// clock writes the clock of a row, or leaves its column empty.
func (w *textWriter) clock(c *Clock) string {
	text := ""
	if c != nil {
		text = c.String()
	}
	return text + strings.Repeat(" ", w.wide-len(text))
}
