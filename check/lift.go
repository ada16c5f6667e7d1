package check

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/stile-lock/stile/core"
)

// The lift test: what makes canonical states sound is that a machine does the
// same when all logical times are moved up together, when gaps between them are
// widened, and when the counters of a column are moved up together. Every
// different step of every machine is taken again in several such ways.

// liftError says that an algorithm does more with logical times or counters
// than compare, copy and count up by one, so that its states cannot be
// renumbered.
type liftError struct {
	what     string
	counters bool // it is about counters
}

func (e liftError) Error() string {
	moved := "logical times"
	if e.counters {
		moved = "counters"
	}
	return "its behaviour changes when " + moved + " are shifted: " + e.what
}

// A shift is one way to move numbers: all times up by so much, gaps between them
// that are 2 or more wider by so much, and the counters of each column up, no
// two columns alike.
type shift struct{ up, wide, seqs uint64 }

// far is further than any time or counter of a canonical state.
const far = 1 << 20

// timeShifts and seqShifts are the ways that are tried. What looks at a remainder
// sees one of the small ones, what looks at a size sees a large one.
var (
	timeShifts = [...]shift{{up: 1}, {up: 2, wide: 2}, {up: 7, wide: 1}, {up: far}, {up: far + 1, wide: far}}
	seqShifts  = [...]shift{{seqs: 1}, {seqs: 2}, {seqs: 7}, {seqs: far}}
)

// A lifter moves the times and counters of what it visits. A time that is not
// among those that it knows is taken to have been counted up from the one
// before it.
type lifter struct {
	shift
	from, to []uint64
}

// newLifter returns a lifter for these times, and whether it moves any. If 0 is
// one of them it is a value of its own, and stays.
func newLifter(times uint64, m shift) (l *lifter, moves bool) {
	l = &lifter{shift: m}
	moves = m.seqs != 0
	for ; times != 0; times &= times - 1 {
		t := uint64(bits.TrailingZeros64(times))
		to := t + m.up
		if n := len(l.from); n > 0 {
			gap := t - l.from[n-1]
			if gap >= 2 {
				gap += m.wide
			}
			to = l.to[n-1] + gap
		} else if t == 0 {
			to = 0
		}
		l.from, l.to = append(l.from, t), append(l.to, to)
		moves = moves || to != t
	}
	return l, moves
}

func (l *lifter) at(t uint64) uint64 {
	for i := len(l.from) - 1; i >= 0; i-- {
		if l.from[i] <= t {
			return l.to[i] + t - l.from[i]
		}
	}
	return t
}

// Time implements core.TimeVisitor.
func (l *lifter) Time(v *uint64) {
	if *v != 0 {
		*v = l.at(*v)
	}
}

// Ticket implements core.TimeVisitor.
func (l *lifter) Ticket(v *uint64) { *v = l.at(*v) }

// Seq implements core.TimeVisitor.
func (l *lifter) Seq(column core.ID, v *uint64) {
	if l.seqs != 0 {
		*v += l.seqs + uint64(column)
	}
}

// Anchor implements core.TimeVisitor.
func (l *lifter) Anchor(column core.ID, v *uint64) { l.Seq(column, v) }

// counted returns the times that there may be after a step: those before it,
// and each counted up by one. Where gaps are not told apart by how wide they
// are, a step must not jump over one.
func (w *worker) counted(state *blob, in core.Input, msg *blob) uint64 {
	if !w.omega {
		return ^uint64(0)
	}
	times := timesBefore(state, in, msg) | 1
	return times | times<<1
}

// timesBefore returns the times that a step starts from.
func timesBefore(state *blob, in core.Input, msg *blob) uint64 {
	times := state.times
	if msg != nil {
		times |= msg.times
	}
	if in.Kind == core.Hear {
		times |= 1 << in.Time
	}
	return times
}

// lift tries the step that w has just taken with its numbers moved. w.state and
// w.out hold what came of it.
func (w *worker) lift(state *blob, in core.Input, msg *blob) error {
	if w.err != nil {
		return nil
	}
	if times := timesBefore(state, in, msg); times != 0 {
		for _, m := range timeShifts {
			if l, moves := newLifter(times, m); moves {
				if err := w.again(state, in, msg, l); err != nil {
					return err
				}
			}
		}
	}
	if state.seqs || msg != nil && msg.seqs {
		for _, m := range seqShifts {
			if err := w.again(state, in, msg, &lifter{shift: m}); err != nil {
				return err
			}
		}
	}
	return nil
}

// again takes the step with its numbers moved, and compares.
func (w *worker) again(state *blob, in core.Input, msg *blob, l *lifter) error {
	lifted, err := w.rewrite(w.other, state, l)
	if err != nil {
		return err
	}
	if msg != nil {
		if in.Bytes, err = w.rewrite(w.other, msg, l); err != nil {
			return err
		}
	}
	if in.Kind == core.Hear && in.Time != 0 {
		in.Time = l.at(in.Time)
	}
	m := w.other[state.seat]
	if err := m.LoadState(lifted); err != nil {
		return err
	}
	if err := m.Step(in, &w.lifted); err != nil {
		return err
	}
	got := m.AppendState(nil)
	want, err := w.rewrite(w.other, &blob{seat: state.seat, bytes: w.state}, l)
	if err != nil {
		return err
	}
	alike := w.lifted.Equal(&w.out, func(moved, sent []byte) bool {
		var want []byte
		if want, err = w.rewrite(w.other, &blob{seat: core.None, bytes: sent}, l); err != nil {
			return false
		}
		return bytes.Equal(moved, want)
	})
	if err == nil && (!alike || !bytes.Equal(got, want)) {
		err = liftError{fmt.Sprintf("%v in state %x", state.seat, state.bytes), l.seqs != 0}
	}
	return err
}
