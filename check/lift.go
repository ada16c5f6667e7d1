package check

import (
	"bytes"
	"fmt"

	"github.com/stile-lock/stile/core"
)

// The lift test: what makes canonical states sound is that a machine does the
// same when all logical times are moved up together, and when gaps between
// them are widened. Every different step of every machine is tried both ways.

// liftError says that an algorithm does more with logical times than compare,
// copy and count up by one, so that its states cannot be renumbered.
type liftError struct{ what string }

func (e liftError) Error() string {
	return "its behaviour changes when logical times are shifted: " + e.what
}

// widen returns a mapping that moves all times up and widens the gaps.
func widen(times uint64) *mapper {
	m := &mapper{}
	next := uint64(3)
	if times&1 == 1 {
		next = 0 // 0 is a value of its own: it stays
	}
	last := -1
	for t := range m.times {
		if t < 64 && times>>t&1 == 1 {
			if last >= 0 {
				next += uint64(t - last)
				if t-last >= 2 {
					next += 2
				}
			}
			last = t
			m.times[t] = next
			continue
		}
		if t > 0 {
			m.times[t] = m.times[t-1] + 1 // counted up in this step
		}
	}
	return m
}

// counted returns the times that there may be after a step: those before it,
// and each counted up by one. Where gaps are not told apart by how wide they
// are, a step must not jump over one.
func (w *worker) counted(state *blob, in core.Input, msg *blob) uint64 {
	if !w.omega {
		return ^uint64(0)
	}
	times := state.times | 1
	if msg != nil {
		times |= msg.times
	}
	if in.Kind == core.Hear {
		times |= 1 << in.Time
	}
	return times | times<<1
}

// lift tries the step that w has just taken with its times moved. w.state and
// w.out hold what came of it.
func (w *worker) lift(state *blob, in core.Input, msg *blob) error {
	times := state.times
	if msg != nil {
		times |= msg.times
	}
	if in.Kind == core.Hear {
		times |= 1 << in.Time
	}
	if times == 0 || w.err != nil {
		return nil
	}
	v := widen(times)
	lifted, err := w.rewrite(w.other, state, v)
	if err != nil {
		return err
	}
	m := w.other[state.seat]
	if err := m.LoadState(lifted); err != nil {
		return err
	}
	if msg != nil {
		if in.Bytes, err = w.rewrite(w.other, msg, v); err != nil {
			return err
		}
		if err := m.LoadState(lifted); err != nil {
			return err
		}
	}
	if in.Kind == core.Hear && in.Time != 0 {
		in.Time = v.times[in.Time]
	}
	var out core.Output
	if err := m.Step(in, &out); err != nil {
		return err
	}
	got := m.AppendState(nil)
	after := &blob{seat: state.seat, bytes: w.state}
	want, err := w.rewrite(w.other, after, v)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) || out.Entered != w.out.Entered || len(out.Sends) != len(w.out.Sends) {
		return liftError{fmt.Sprintf("%v in state %x", state.seat, state.bytes)}
	}
	for i := range out.Sends {
		sent := &blob{seat: core.None, bytes: w.out.Bytes(i)}
		want, err := w.rewrite(w.other, sent, v)
		if err != nil {
			return err
		}
		if !bytes.Equal(out.Bytes(i), want) {
			return liftError{fmt.Sprintf("a message of %v", state.seat)}
		}
	}
	return nil
}
