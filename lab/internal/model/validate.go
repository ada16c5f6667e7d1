package model

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// Validation. An exploration takes states for one that an author's claims say behave
// alike, and knows machines only by their bytes. Validate tests this after the
// exploration, on every different step that was taken in it.

// ClaimError says that an algorithm breaks what it claims, or what the model assumes of it,
// so that different states were taken for one, or states were left out.
type ClaimError struct{ what string }

func (e ClaimError) Error() string { return e.what }

// A Cut says that limits ended a validation early, so that less was tested than a verdict
// rests on.
type Cut struct{ what string }

func (e Cut) Error() string { return e.what }

// cut returns a Cut if limits end the validation now, after some of the steps that are to
// be taken.
func (w *worker) cut(what string, done, of int) error {
	if w.over == nil {
		return nil
	}
	if why := w.over(); why != "" {
		return Cut{fmt.Sprintf("%s after all states were explored, but before the verdict was validated: %s was tested in %d of %d steps", why, what, done, of)}
	}
	return nil
}

// A taken step is one that some machine took in an exploration.
type taken struct {
	state *blob
	in    host.Input
	msg   *blob // Receive: the message
}

// Validate tests what the verdict holds rests on, after an exploration. Effort is the
// number of steps of walks, which are drawn from seed. If the limits of time end it early,
// the error is a Cut. No worker may be running.
func (m *Model) Validate(l explore.Limits, effort int, seed uint64) error {
	w := m.worker()
	w.over = l.Ends()
	all := m.taken()
	talks := slices.ContainsFunc(all, func(s taken) bool { return s.in.Kind == host.Hear })
	tests := []func([]taken) error{
		func(all []taken) error { return w.liftMore(all, 4*effort) }, w.lags, w.repeats,
	}
	if talks {
		tests = append(tests, w.ticks)
	}
	for _, test := range tests {
		if err := test(all); err != nil {
			return fmt.Errorf("%s: %w", m.Spec.Name, err)
		}
	}
	return m.walk(w.over, effort, seed, talks)
}

// taken returns all steps that were taken, in an order that does not depend on the order of
// exploration.
func (m *Model) taken() []taken {
	all := make([]taken, 0, len(m.tried.steps))
	for k := range m.tried.steps {
		arg := k >> (fromBits + kindBits) & (1<<argBits - 1)
		s := taken{state: m.blobs.get(uint32(k >> (argBits + fromBits + kindBits)))}
		s.in.Kind = host.InputKind(k & (1<<kindBits - 1))
		s.in.From = algorithm.ID(k>>kindBits&(1<<fromBits-1)) - 1
		switch s.in.Kind {
		case host.Receive:
			s.msg = m.blobs.get(uint32(arg))
			s.in.Bytes = s.msg.bytes
		case host.Expire:
			s.in.Timer = int(arg)
		case host.Hear:
			s.in.Time = arg
		case host.Request:
			s.in.Arg, s.in.Mode = int(arg&(1<<(argBits-modeBits)-1)), int(int8(arg>>(argBits-modeBits)))
		default:
			s.in.Arg = int(arg)
		}
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(
			cmp.Compare(a.state.seat, b.state.seat), bytes.Compare(a.state.bytes, b.state.bytes),
			cmp.Compare(a.in.Kind, b.in.Kind), cmp.Compare(a.in.From, b.in.From), bytes.Compare(a.in.Bytes, b.in.Bytes),
			cmp.Compare(a.in.Timer, b.in.Timer), cmp.Compare(a.in.Time, b.in.Time), cmp.Compare(a.in.Arg, b.in.Arg), cmp.Compare(a.in.Mode, b.in.Mode),
		) < 0
	})
	return all
}

// claim returns a ClaimError about a step: why comes after a description of it.
func (w *worker) claim(s *taken, why string) error {
	what, err := w.tellStep(w.other[s.state.seat], s.state, s.in, s.msg)
	return cmp.Or(err, error(ClaimError{what + ": " + why}))
}

// Applications that talk are assumed to do so only right before a request, which makes no
// difference if only a request advances a clock beyond all others.
const advances = "its clock advances, but only a request may advance it, because applications are assumed to talk only right before one"

// ticks tests that only a request advances a clock. A message may carry the stamp of a
// request, which its sender's clock has passed by one; that no clock passes that of the
// sender is left to walks.
func (w *worker) ticks(all []taken) error {
	for i := range all {
		s := &all[i]
		if s.in.Kind == host.Request {
			continue
		}
		if err := w.cut("that only requests advance clocks", i, len(all)); err != nil {
			return err
		}
		m, last, err := w.before(s)
		if err != nil {
			return err
		}
		if err := w.step(s.state, s.in, false); err != nil {
			return err
		}
		now, err := w.readClock(m)
		switch {
		case err != nil:
			return err
		case now > last:
			return w.claim(s, advances)
		}
	}
	return nil
}

// before loads the state that a step is taken in. It returns the machine, and how far the
// step may advance its clock.
func (w *worker) before(s *taken) (m host.Machine, last uint64, err error) {
	defer w.caught(reading, &err)
	if m, err = w.load(s.state); err != nil {
		return nil, 0, err
	}
	if last, err = w.readClock(m); err != nil {
		return nil, 0, err
	}
	last = max(last, s.in.Time)
	if s.msg != nil {
		var sent latest
		if err := m.VisitMessageTimes(s.in.Bytes, &sent); err != nil {
			return nil, 0, mistake.Unreadable("message", err)
		}
		last = max(last, sent.time+1)
	}
	return m, last, nil
}

// latest finds the latest of the times that it visits.
type latest struct{ time uint64 }

// Time implements host.TimeVisitor.
func (l *latest) Time(t *uint64) { l.time = max(l.time, *t) }

// Ticket implements host.TimeVisitor.
func (l *latest) Ticket(t *uint64) { l.Time(t) }

// Seq implements host.TimeVisitor.
func (l *latest) Seq(algorithm.ID, *uint64) {}

// Anchor implements host.TimeVisitor.
func (l *latest) Anchor(algorithm.ID, *uint64) {}
