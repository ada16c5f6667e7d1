package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// The lift test for sites: see lift.go. Every different step of a site is taken
// again with attempts, and with any number of transactions also stamps and
// clocks, moved up and apart: it must do the same, or numbering states anew
// would not be sound.

// A spreader moves numbers up and apart. What a step counts up stays next to
// what it was.
type spreader struct {
	times *lifter // nil: times stay as they are
	moved map[mention]uint64
	odd   bool // there was a number that is neither one of those, nor one more
}

// newSpreader returns a spreader for the numbers in a list.
func newSpreader(list []mention, endless bool, m shift) *spreader {
	s := &spreader{moved: map[mention]uint64{}}
	times := uint64(0)
	for _, n := range list {
		if n.column == timeColumn {
			times |= 1 << n.v
		}
		s.moved[n] = 3*n.v + m.up
	}
	if endless {
		s.times, _ = newLifter(times, m)
	}
	return s
}

// Seq implements core.TimeVisitor.
func (s *spreader) Seq(column core.ID, v *uint64) {
	if *v == 0 {
		return
	}
	if to, ok := s.moved[mention{column, *v}]; ok {
		*v = to
	} else if to, ok := s.moved[mention{column, *v - 1}]; ok || *v == 1 {
		*v = to + 1
	} else {
		s.odd = true
	}
}

// Anchor implements core.TimeVisitor.
func (s *spreader) Anchor(column core.ID, v *uint64) { s.Seq(column, v) }

// Time implements core.TimeVisitor.
func (s *spreader) Time(t *uint64) {
	switch {
	case *t == 0 || s.times == nil:
	case slices.Contains(s.times.from, *t) || slices.Contains(s.times.from, *t-1):
		*t = s.times.at(*t)
	default:
		s.odd = true
	}
}

// Ticket implements core.TimeVisitor.
func (s *spreader) Ticket(t *uint64) { s.Time(t) }

// isNew reports whether a step of a site has not been taken here before.
func (w *sitesWorker) isNew(at core.ID, in core.Input) bool {
	w.key = binary.AppendVarint(append(w.key[:0], byte(at), byte(in.Kind), byte(in.From+1), byte(in.Arg)), int64(in.Timer))
	w.key = append(append(w.key, w.to.sites[at]...), in.Bytes...)
	print := explore.Fingerprint(w.key)
	before := w.lifted[print]
	w.lifted[print] = true
	return !before
}

// lift tries the step that has just been taken from a state of a site. w.out
// holds what came of it, after the state that follows.
func (w *sitesWorker) lift(at core.ID, before []byte, in core.Input, after []byte) error {
	list := append([]mention{}, w.mentions(int(at), before)...)
	if in.Kind == core.Receive {
		list = append(list, w.mentions(-1, in.Bytes)...)
	}
	if w.err != nil || len(list) == 0 {
		return w.err
	}
	for _, m := range siteShifts {
		if err := w.again(at, before, in, after, newSpreader(list, w.Rounds == 0, m)); err != nil {
			return err
		}
	}
	return nil
}

// siteShifts are the ways to move numbers that are tried at sites.
var siteShifts = [...]shift{{up: 2, wide: 2}, {up: far + 1, wide: far}}

// again takes a step of a site with its numbers moved, and compares.
func (w *sitesWorker) again(at core.ID, before []byte, in core.Input, after []byte, v *spreader) error {
	lifted, err := w.rewrite(at, before, v)
	if err == nil && in.Kind == core.Receive {
		in.Bytes, err = w.recode(in.Bytes, v)
	}
	if err != nil {
		return err
	}
	m := w.other[at]
	if err := m.LoadState(lifted); err != nil {
		return err
	}
	var out core.Output
	if err := m.Step(in, &out); err != nil {
		return err
	}
	got := m.AppendState(nil)
	want, err := w.rewrite(at, after, v)
	alike := out.Equal(&w.out, func(moved, sent []byte) bool {
		var want []byte
		if err == nil {
			want, err = w.recode(sent, v)
		}
		return bytes.Equal(moved, want)
	})
	switch {
	case err != nil:
		return err
	case v.odd:
		return liftError{fmt.Sprintf("site %d counts up by more than one in one step", at+1), false}
	case !alike || !bytes.Equal(got, want):
		return liftError{fmt.Sprintf("site %d in state %x, given %v", at+1, before, in.Kind), false}
	}
	return nil
}

// rewrite returns the state of a site with its numbers moved.
func (w *sitesWorker) rewrite(at core.ID, state []byte, v core.TimeVisitor) ([]byte, error) {
	m := w.other[at]
	if err := m.LoadState(state); err != nil {
		return nil, err
	}
	m.Visit(core.VisitTimes(w.Layout.Sites, v))
	return m.AppendState(nil), nil
}

// recode returns a message with its numbers moved.
func (w *sitesWorker) recode(msg []byte, v core.TimeVisitor) ([]byte, error) {
	return w.other[0].RecodeMessage(nil, msg, core.VisitTimes(w.Layout.Sites, v))
}
