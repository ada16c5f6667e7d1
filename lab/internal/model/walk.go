package model

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// Walks with live machines. In an exploration every machine is rebuilt from its bytes
// before each step, so what it keeps outside of them is lost or mixed up, while a host
// that runs it keeps it alive. Random runs are therefore made by machines that live from
// the start, beside those that are rebuilt, and both must do the same. Every other walk
// reads the state of a live machine only at its end: a Fields that changes what it writes
// makes up for what a step has left undone.

// maxWalk is the maximum length of a walk: one that is longer is drawn anew.
const maxWalk = 2000

// A did is a step that a machine took: the worker notes them for a walk.
type did struct {
	seat  algorithm.ID
	state uint32 // before it
	in    host.Input
}

// walk makes random runs, of the given number of steps in all, unless over says why to end.
// If applications talk, clocks are looked at, too.
func (m *Model) walk(over func() string, steps int, seed uint64, talks bool) error {
	c := m.Config
	c.Form = Form{} // real numbers
	real, err := newModel(c, m.reductions)
	if err != nil {
		return err
	}
	real.tried = nil
	w := real.worker()
	w.walking, w.over = true, over
	effort := steps
	draw := rand.New(rand.NewPCG(seed, 0))
	for written := false; steps > 0; written = !written {
		l := live{worker: w, written: written, talks: talks, before: effort - steps, effort: effort}
		done, err := l.run(min(steps, maxWalk), draw)
		if errors.Is(err, host.ErrAlgorithm) || errors.As(err, new(ClaimError)) || errors.As(err, new(Cut)) {
			return err
		}
		steps -= max(1, done)
	}
	return nil
}

// A live group is one whose machines are kept alive.
type live struct {
	*worker
	machines []algorithm.Machine
	written  bool // states are read after every step
	talks    bool // applications talk
	latest   uint64
	steps    int
	before   int // steps of walks before this one
	effort   int // steps of all walks
	out      host.Output
	twin     host.Output
}

// run makes a random run of at most so many steps, and returns how many it took.
func (l *live) run(most int, draw *rand.Rand) (steps int, err error) {
	var at []byte
	var begun []did
	starts := 0
	view := l.Starts[0]
	l.done = l.done[:0]
	err = l.Init(func(state []byte) bool {
		if starts++; draw.IntN(starts) == 0 {
			at, begun = slices.Clone(state), slices.Clone(l.done)
			if !l.Upset {
				view = l.Starts[starts-1]
			}
		}
		l.done = l.done[:0]
		return !l.Upset || starts < 100
	})
	if err != nil {
		return 0, err
	}
	for p := range algorithm.ID(l.Seats) {
		l.machines = append(l.machines, l.birth(p, view))
	}
	for p := 0; l.talks && p < l.Seats; p++ {
		now, err := l.readClock(l.machines[p])
		if err != nil {
			return 0, err
		}
		l.latest = max(l.latest, now)
	}
	if l.Upset {
		l.unpack(at, l.from)
		for p := range l.machines {
			if err := l.machines[p].LoadState(l.info(l.from.seats[p].blob).bytes); err != nil {
				return 0, err
			}
		}
	}
	if err := l.follow(begun); err != nil {
		return 0, err
	}
	for ; steps < most; steps++ {
		if err := l.cut("what machines do that are kept alive", l.before+steps, l.effort); err != nil {
			return steps, err
		}
		var next []byte
		var chosen uint32
		var through []did
		n := 0
		_, err := l.Next(at, func(s explore.Step, state []byte) {
			if n++; draw.IntN(n) == 0 {
				next, chosen, through = append(next[:0], state...), s.Label, append(through[:0], l.done...)
			}
		})
		if err != nil || n == 0 {
			return steps, err
		}
		if m := moveOf(chosen); m.kind == doReturn {
			l.machines[m.p] = l.birth(m.p, algorithm.View{N: l.Seats, Late: true})
		}
		l.steps++
		if err := l.follow(through); err != nil {
			return steps, err
		}
		at = append(at[:0], next...)
	}
	return steps, l.end(at)
}

// follow lets the live machines take the steps that others have taken.
func (l *live) follow(through []did) error {
	for _, d := range through {
		if err := l.step(d); err != nil {
			return err
		}
		if !l.talks {
			continue
		}
		now, err := l.readClock(l.machines[d.seat])
		switch {
		case err != nil:
			return err
		case now > l.latest && d.in.Kind != host.Request:
			return ClaimError{fmt.Sprintf("%s, %s: %s", l.name(d.seat), l.Spec.When(d.in), advances)}
		}
		l.latest = max(l.latest, now)
	}
	return nil
}

// step lets a live machine take a step, and compares it with one that is rebuilt.
func (l *live) step(d did) (err error) {
	defer l.caught(func() string { return l.Spec.When(d.in) }, &err)
	m, rebuilt := l.machines[d.seat], l.other[d.seat]
	if err := rebuilt.LoadState(l.info(d.state).bytes); err != nil {
		return mistake.Unreadable("state", err)
	}
	if err := errors.Join(m.Step(d.in, &l.out), rebuilt.Step(d.in, &l.twin)); err != nil {
		return err
	}
	if !mistake.Equal(&l.out, &l.twin, nil) {
		return l.differs(d, "does not do the same")
	}
	if l.written && !bytes.Equal(m.AppendState(nil), rebuilt.AppendState(nil)) {
		return l.differs(d, "is not in the same state afterwards")
	}
	return nil
}

// end compares all states at the end of a walk.
func (l *live) end(at []byte) (err error) {
	defer l.caught(reading, &err)
	l.unpack(at, l.from)
	for p, s := range l.from.seats {
		if want := l.info(s.blob).bytes; !s.dead && !bytes.Equal(l.machines[p].AppendState(nil), want) {
			return mistake.Lives(algorithm.ID(p), fmt.Sprintf("after %d steps", l.steps), "is not in the same state", nil)
		}
	}
	return nil
}

// differs returns the error that a live machine and one that was rebuilt differ in a step.
func (l *live) differs(d did, how string) error {
	fresh := l.birth(d.seat, l.Starts[0])
	when := fmt.Sprintf("in step %d, %s", l.steps, l.Spec.When(d.in))
	return mistake.Lives(d.seat, when, how, mistake.Unlike(l.machines[d.seat], fresh))
}
