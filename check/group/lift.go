package group

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
)

// The lift test: what makes canonical states sound is that a machine does the
// same when all logical times are moved up together, and when gaps between
// them are widened; and with counters that are ranked, when those are. Every
// different step of every machine is tried so.

// LiftError says that an algorithm does more with logical times than compare,
// copy and count up by one, so that its states cannot be renumbered.
type LiftError struct{ what string }

func (e LiftError) Error() string {
	return "its behaviour changes when logical times are shifted: " + e.what
}

// A lifter moves times and counters up and apart. What a step counts up by one
// stays next to what it was.
type lifter struct {
	form  Form
	times [maxTime + 8]uint64
	moved map[counter]uint64
	odd   bool // there was a counter that is neither one of those before the step, nor one more
}

// newLifter returns a lifter for the times and counters that there are.
func newLifter(f Form, times uint64, counters []counter) *lifter {
	l := &lifter{form: f, moved: map[counter]uint64{}}
	for _, c := range counters {
		l.moved[c] = 3*c.value + 2
	}
	next := uint64(3)
	if times&1 == 1 {
		next = 0 // 0 is a value of its own: it stays
	}
	last := -1
	for t := range l.times {
		if t < 64 && times>>t&1 == 1 {
			if last >= 0 {
				next += uint64(t - last)
				if t-last >= 2 {
					next += 2
				}
			}
			last = t
			l.times[t] = next
			continue
		}
		if t > 0 {
			l.times[t] = l.times[t-1] + 1 // counted up in this step
		}
	}
	return l
}

// Time implements core.TimeVisitor.
func (l *lifter) Time(t *uint64) {
	if *t != 0 {
		l.Ticket(t)
	}
}

// Ticket implements core.TimeVisitor.
func (l *lifter) Ticket(t *uint64) {
	switch {
	case l.form.Times == Kept:
	case *t >= uint64(len(l.times)):
		l.odd = true
	default:
		*t = l.times[*t]
	}
}

// Seq implements core.TimeVisitor.
func (l *lifter) Seq(column core.ID, v *uint64) {
	if l.form.Counters != Ranked || *v == 0 {
		return
	}
	if to, ok := l.moved[counter{column, *v}]; ok {
		*v = to
	} else if to, ok := l.moved[counter{column, *v - 1}]; ok || *v == 1 {
		*v = to + 1
	} else {
		l.odd = true
	}
}

// Anchor implements core.TimeVisitor.
func (l *lifter) Anchor(column core.ID, v *uint64) { l.Seq(column, v) }

// before returns the times and counters that there are before a step.
func before(state *blob, in core.Input, msg *blob) (times uint64, counters []counter) {
	times, counters = state.times, slices.Clone(state.counters)
	if msg != nil {
		times |= msg.times
		counters = append(counters, msg.counters...)
	}
	if in.Kind == core.Hear && in.Time <= maxTime {
		times |= 1 << in.Time
	}
	return times, counters
}

// counted returns the times that there may be after a step: those before it,
// and each counted up by one. Where gaps are not told apart by how wide they
// are, a step must not jump over one.
func (w *worker) counted(state *blob, in core.Input, msg *blob) uint64 {
	if w.Form.Times != Spread {
		return ^uint64(0)
	}
	times, _ := before(state, in, msg)
	times |= 1
	return times | times<<1
}

// lift tries the step that w has just taken with its times and counters moved.
// w.state and w.out hold what came of it.
func (w *worker) lift(state *blob, in core.Input, msg *blob) error {
	times, counters := before(state, in, msg)
	if w.Form == (Form{}) || times == 0 && len(counters) == 0 {
		return nil
	}
	v := newLifter(w.Form, times, counters)
	lifted, err := w.rewrite(state, v)
	if err != nil {
		return err
	}
	if msg != nil {
		if in.Bytes, err = w.rewrite(msg, v); err != nil {
			return err
		}
	}
	if in.Kind == core.Hear {
		v.Time(&in.Time)
	}
	m := w.other[state.seat]
	if err := m.LoadState(lifted); err != nil {
		return err
	}
	var out core.Output
	if err := m.Step(in, &out); err != nil {
		return err
	}
	return w.compare(state, in, m.AppendState(nil), &out, v)
}

// compare compares what a machine did with its times moved with w.state and
// w.out, which it did without.
func (w *worker) compare(state *blob, in core.Input, got []byte, out *core.Output, v *lifter) error {
	want, err := w.rewrite(&blob{seat: state.seat, bytes: w.state}, v)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%v in state %x, given input %d", w.name(state.seat), state.bytes, in.Kind)
	same := slices.EqualFunc(out.Notices, w.out.Notices, func(a, b core.Notice) bool { return sameNotice(a, b, v) })
	if !same || !bytes.Equal(got, want) || out.Entered != w.out.Entered || len(out.Sends) != len(w.out.Sends) {
		return LiftError{where}
	}
	for i, s := range out.Sends {
		want, err := w.rewrite(&blob{seat: core.None, bytes: w.out.Bytes(i)}, v)
		if err != nil {
			return err
		}
		if t := w.out.Sends[i]; s.To != t.To || s.Group != t.Group || !bytes.Equal(out.Bytes(i), want) {
			return LiftError{"a message of " + where}
		}
	}
	if v.odd {
		return LiftError{fmt.Sprintf("%v counts up by more than one in one step", w.name(state.seat))}
	}
	return nil
}

func sameNotice(a, b core.Notice, v *lifter) bool {
	v.Seq(b.Who, &b.Attempt)
	return a.Kind == b.Kind && a.Who == b.Who && slices.Equal(a.Cycle, b.Cycle) && a.Timer == b.Timer && a.After == b.After && a.Attempt == b.Attempt
}
