package model

import (
	"bytes"
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// The lift test. Canonical states are sound because a machine does the same when all
// logical times are moved up together, when gaps between them are widened, and when the
// counters of a column are moved: up together where they are relative to an anchor, and
// apart where only their order counts. Every different step of every machine is taken
// again in several such ways.

// LiftError says that an algorithm does more with logical times or counters than compare,
// copy and increment them by one, so that its states cannot be renumbered.
type LiftError struct {
	what     string
	counters bool // it concerns counters
}

func (e LiftError) Error() string {
	moved := "logical times"
	if e.counters {
		moved = "counters"
	}
	return "its behaviour changes when " + moved + " are shifted: " + e.what
}

// A shift is one way to move numbers: all times up, gaps of 2 or more between them wider,
// and the counters of each column up, no two columns alike, or apart.
type shift struct{ up, wide, seqs, ranks uint64 }

// far is beyond any time or counter of a canonical state.
const far = 1 << 20

// timeShifts, seqShifts and rankShifts are the ways that are tried. A machine that looks
// at a remainder notices one of the small ones; a machine that looks at a size notices a
// large one.
var (
	timeShifts = [...]shift{{up: 1}, {up: 2, wide: 2}, {up: 7, wide: 1}, {up: far}, {up: far + 1, wide: far}}
	seqShifts  = [...]shift{{seqs: 1}, {seqs: 2}, {seqs: 7}, {seqs: far}}
	rankShifts = [...]shift{{ranks: 2}, {ranks: 3}, {ranks: far + 1}}
)

// A lifter moves the times and counters that it visits. A time that it does not know is
// taken to be the increment of the one before it, and so is a counter.
type lifter struct {
	shift
	from, to []uint64
	counters []counter
	odd      bool // there was a counter that is neither known nor one more
}

// newLifter returns a lifter for these times and counters, and whether it moves any. If 0
// is one of the times, it is a value of its own, and stays.
func newLifter(times uint64, counters []counter, m shift) (l *lifter, moves bool) {
	l = &lifter{shift: m, counters: counters}
	moves = m.seqs != 0 || m.ranks != 0 && len(counters) > 0
	for ; times != 0 && m.up != 0; times &= times - 1 {
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

// Time implements host.TimeVisitor.
func (l *lifter) Time(v *uint64) {
	if *v != 0 {
		l.Ticket(v)
	}
}

// Ticket implements host.TimeVisitor.
func (l *lifter) Ticket(v *uint64) {
	for i := len(l.from) - 1; i >= 0; i-- {
		if l.from[i] <= *v {
			*v += l.to[i] - l.from[i]
			return
		}
	}
}

// Seq implements host.TimeVisitor.
func (l *lifter) Seq(column algorithm.ID, v *uint64) {
	switch {
	case l.seqs != 0:
		*v += l.seqs + uint64(column)
	case l.ranks == 0 || *v == 0:
	case slices.Contains(l.counters, counter{column, *v}):
		*v = 3**v + l.ranks
	case slices.Contains(l.counters, counter{column, *v - 1}):
		*v = 3*(*v-1) + l.ranks + 1
	case *v != 1:
		l.odd = true
	}
}

// Anchor implements host.TimeVisitor.
func (l *lifter) Anchor(column algorithm.ID, v *uint64) { l.Seq(column, v) }

// before returns the times and counters that a step starts from.
func before(state *blob, in host.Input, msg *blob) (times uint64, counters []counter) {
	times, counters = state.times, state.counters
	if msg != nil {
		times |= msg.times
		counters = slices.Concat(counters, msg.counters)
	}
	if in.Kind == host.Hear && in.Time <= maxTime {
		times |= 1 << in.Time
	}
	return times, counters
}

// counted returns the times that may occur after a step: those before it, and each
// incremented by one. If gaps are not distinguished by their width, a step must not jump
// over one.
func (w *worker) counted(state *blob, in host.Input, msg *blob) uint64 {
	if w.Form.Times != Spread {
		return ^uint64(0)
	}
	times, _ := before(state, in, msg)
	times |= 1
	return times | times<<1
}

// lift tries the step that w has just taken with its numbers moved. w.state and w.out
// hold its result.
func (w *worker) lift(state *blob, in host.Input, msg *blob) error {
	if w.err != nil {
		return nil
	}
	times, counters := before(state, in, msg)
	var ways []shift
	if w.Form.Times != Kept && times != 0 {
		ways = append(ways, timeShifts[:]...)
	}
	switch {
	case w.Form.Counters == Ranked:
		ways = append(ways, rankShifts[:]...)
	case state.seqs || msg != nil && msg.seqs:
		ways = append(ways, seqShifts[:]...)
	}
	for _, m := range ways {
		if l, moves := newLifter(times, counters, m); moves {
			if err := w.again(state, in, msg, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// residues is how many shifts liftMore has, each by one more than the one before: they meet
// every remainder of a division by as much or less.
const residues = 64

// liftMore tries each step with its numbers moved in more ways: by all of 1 to residues if
// there are few steps, and otherwise by some of these, no two neighbours by the same. It
// takes about as many steps as effort says, and at least one for each.
func (w *worker) liftMore(all []taken, effort int) error {
	each := min(residues, 1+effort/max(1, len(all)))
	for i := range all {
		if err := w.cut("that numbers are only compared and incremented", i, len(all)); err != nil {
			return err
		}
		s := &all[i]
		times, counters := before(s.state, s.in, s.msg)
		var ways []shift
		for j := range each {
			by := uint64((i*each+j)%residues + 1)
			if w.Form.Times != Kept && times != 0 {
				ways = append(ways, shift{up: by, wide: by / 2})
			}
			switch {
			case w.Form.Counters == Ranked:
				ways = append(ways, shift{ranks: by})
			case s.state.seqs || s.msg != nil && s.msg.seqs:
				ways = append(ways, shift{seqs: by})
			}
		}
		if err := w.liftBy(s, times, counters, ways); err != nil {
			return err
		}
	}
	return nil
}

// liftBy takes a step, and again with its numbers moved in some ways.
func (w *worker) liftBy(s *taken, times uint64, counters []counter, ways []shift) error {
	if len(ways) == 0 {
		return nil
	}
	if err := w.step(s.state, s.in, false); err != nil {
		return err
	}
	for _, m := range ways {
		if l, moves := newLifter(times, counters, m); moves {
			if err := w.again(s.state, s.in, s.msg, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// again takes the step with its numbers moved, and compares. A difference may be due to
// what the machine remembers of other steps.
func (w *worker) again(state *blob, in host.Input, msg *blob, l *lifter) error {
	used := w.other[state.seat]
	err := w.moved(used, state, in, msg, l)
	if !errors.As(err, new(LiftError)) {
		return err
	}
	if fresh := w.birth(state.seat, w.Starts[0]); w.moved(fresh, state, in, msg, l) == nil {
		return mistake.Forgets(state.seat, mistake.Unwritten(used, w.birth(state.seat, w.Starts[0])))
	}
	return err
}

// moved makes a machine take the step with its numbers moved, and compares.
func (w *worker) moved(m algorithm.Machine, state *blob, in host.Input, msg *blob, l *lifter) error {
	lifted, err := w.rewrite(state, l)
	if err != nil {
		return err
	}
	if msg != nil {
		if in.Bytes, err = w.rewrite(msg, l); err != nil {
			return err
		}
	}
	if in.Kind == host.Hear {
		l.Time(&in.Time)
	}
	got, err := w.stepFrom(m, lifted, in)
	if err != nil {
		return err
	}
	want, err := w.rewrite(&blob{seat: state.seat, bytes: w.state}, l)
	if err != nil {
		return err
	}
	expected := w.out
	expected.Notices = slices.Clone(w.out.Notices)
	for i := range expected.Notices {
		if n := &expected.Notices[i]; n.Kind == host.Heard || n.Kind == host.Doomed {
			l.Seq(n.Who, &n.Attempt)
		}
	}
	alike := mistake.Equal(&w.lifted, &expected, func(moved, sent []byte) bool {
		var want []byte
		if want, err = w.rewrite(&blob{seat: algorithm.None, bytes: sent}, l); err != nil {
			return false
		}
		return bytes.Equal(moved, want)
	})
	switch {
	case err != nil:
		return err
	case l.odd:
		return LiftError{w.name(state.seat) + " increments a counter by more than one in one step", true}
	case !alike || !bytes.Equal(got, want):
		what, err := w.tellStep(m, state, in, msg)
		return cmp.Or(err, error(LiftError{what, l.up == 0}))
	}
	return nil
}

// tellStep describes in words the state of a machine and the step that it takes.
func (w *worker) tellStep(m algorithm.Machine, state *blob, in host.Input, msg *blob) (_ string, err error) {
	defer w.caught(reading, &err)
	if err := m.LoadState(state.bytes); err != nil {
		return "", mistake.Unreadable("state", err)
	}
	when := w.Spec.When(in)
	if msg != nil {
		fields, err := m.DescribeMessage(msg.bytes)
		if err != nil {
			return "", mistake.Unreadable("message", err)
		}
		when += listed(" with ", fields)
	}
	return w.name(state.seat) + listed(", with ", m.Describe()) + ", " + when, nil
}

// listed lists fields, after a word if there are any.
func listed(word string, fields []host.Field) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.Name+" "+f.Value)
	}
	if list == nil {
		return ""
	}
	return word + strings.Join(list, ", ")
}

// stepFrom makes a machine take a step from a state, into w.lifted, and returns the state
// after it.
func (w *worker) stepFrom(m algorithm.Machine, state []byte, in host.Input) (after []byte, err error) {
	defer w.caught(func() string { return w.Spec.When(in) }, &err)
	if err := m.LoadState(state); err != nil {
		return nil, err
	}
	if err := m.Step(in, &w.lifted); err != nil {
		return nil, err
	}
	return m.AppendState(nil), nil
}
