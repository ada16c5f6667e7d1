package model

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// An effect is what a machine did.
type effect struct {
	state   uint32
	sends   []sent
	entered bool
	notices []host.Notice
}

type sent struct {
	blob uint32
	link uint16
	idem bool
}

// idle reports whether the effect changes nothing.
func (e *effect) idle(state uint32) bool {
	return e.state == state && len(e.sends) == 0 && !e.entered && len(e.notices) == 0
}

// The bits of a stepKey, between the input's kind and the state, for the origin of an
// input and for what it is about.
const (
	kindBits = 4
	fromBits = 8
	argBits  = 24
	modeBits = 8 // of these, for the mode in which a lock is requested
)

// stepKey numbers a machine in a state together with an input. It is not ok if that does
// not fit, because two steps would have the same number.
func stepKey(state uint32, in *host.Input, msg uint32) (k uint64, ok bool) {
	from, arg := uint64(in.From+1), uint64(in.Arg)
	switch in.Kind {
	case host.Receive:
		arg = uint64(msg)
	case host.Request:
		if arg |= uint64(uint8(in.Mode)) << (argBits - modeBits); in.Arg >= 1<<(argBits-modeBits) || in.Mode != int(int8(in.Mode)) {
			return 0, false
		}
	case host.Expire:
		arg = uint64(in.Timer)
	case host.Hear:
		arg = in.Time
	}
	k = uint64(state)<<(argBits+fromBits+kindBits) | arg<<(fromBits+kindBits) | from<<kindBits | uint64(in.Kind)
	return k, from < 1<<fromBits && arg < 1<<argBits
}

// receiveKey is stepKey for a message: there are at most maxSeats and maxBlobs, which
// fit.
func receiveKey(state uint32, from algorithm.ID, msg uint32) uint64 {
	return uint64(state)<<(argBits+fromBits+kindBits) | uint64(msg)<<(fromBits+kindBits) | uint64(from+1)<<kindBits | uint64(host.Receive)
}

// effect returns what a machine in a state does with an input, running it if this worker
// has not done so before. It is valid until the next call.
func (w *worker) effect(state uint32, in *host.Input, msg uint32) (*effect, error) {
	k, ok := stepKey(state, in, msg)
	if !ok {
		return nil, TooMuch{fmt.Sprintf("seat or transaction %d, lock %d, timer %d, logical time %d: one of these exceeds the checker's range", in.From+1, in.Arg+1, in.Timer, in.Time)}
	}
	if i, ok := w.steps[k]; ok {
		return &w.effects[i], nil
	}
	var message *blob
	if in.Kind == host.Receive {
		message = w.info(msg)
	}
	e, err := w.run(w.info(state), *in, message, w.tried.first(k))
	if err != nil {
		return nil, err
	}
	w.steps[k] = uint32(len(w.effects))
	w.effects = append(w.effects, e)
	return &w.effects[len(w.effects)-1], nil
}

// tried is the set of steps that have been tried by any of the workers: with a newly
// created machine, and with numbers moved.
type tried struct {
	mu    sync.Mutex
	steps map[uint64]struct{}
}

// first reports whether a step should be tried, which is once, or never if t is nil.
func (t *tried) first(k uint64) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.steps[k]; ok {
		return false
	}
	t.steps[k] = struct{}{}
	return true
}

// doubly makes a machine take a step and, if it should be tried, a twin, too.
func (w *worker) doubly(m algorithm.Machine, seat algorithm.ID, in host.Input, try bool) error {
	if !try {
		return m.Step(in, &w.out)
	}
	if err := w.twin.Before(m, w.birth(seat, w.Starts[0])); err != nil {
		return err
	}
	if err := m.Step(in, &w.out); err != nil {
		return err
	}
	return w.twin.After(seat, in, m, &w.out)
}

// step makes a machine take a step in a state, into w.out and w.state.
func (w *worker) step(state *blob, in host.Input, try bool) (err error) {
	defer w.caught(func() string { return w.Spec.When(in) }, &err)
	m, err := w.load(state)
	if err != nil {
		return err
	}
	w.loaded[state.seat] = unloaded
	if err := w.doubly(m, state.seat, in, try); err != nil {
		return err
	}
	w.state = m.AppendState(w.state[:0])
	return nil
}

// caught is deferred where only a machine runs: if it panics, its algorithm is at fault.
// The caller of a check is in another goroutine, and could not recover.
func (w *worker) caught(when func() string, err *error) {
	if why := recover(); why != nil {
		*err = host.Panicked(when(), why)
	}
}

// reading describes when a machine runs without taking a step.
func reading() string { return "when its own bytes are read" }

// run makes a machine take a step, and tries it in other ways if it should.
func (w *worker) run(state *blob, in host.Input, msg *blob, try bool) (effect, error) {
	if err := w.step(state, in, try); err != nil {
		return effect{}, err
	}
	if try {
		if err := w.lift(state, in, msg); err != nil {
			return effect{}, err
		}
	}
	e := effect{entered: w.out.Entered}
	if in.Kind == host.Request {
		w.asked.Store(true)
	}
	if e.entered {
		w.entered.Store(true)
	}
	for _, n := range w.out.Notices {
		if n.Timer < 0 || n.Timer > host.MaxTimer {
			return effect{}, fmt.Errorf("%w: it set timer %d: want 0 to %d", host.ErrAlgorithm, n.Timer, host.MaxTimer)
		}
		n.Cycle = slices.Clone(n.Cycle)
		e.notices = append(e.notices, n)
	}
	allowed := w.counted(state, in, msg)
	after := slices.Clone(w.state)
	sends := make([][]byte, len(w.out.Sends))
	for i := range sends {
		sends[i] = slices.Clone(w.out.Bytes(i))
	}
	for i, s := range w.out.Sends {
		b, err := w.blob(algorithm.None, sends[i])
		if err != nil {
			return effect{}, err
		}
		if b.times&^allowed != 0 {
			return effect{}, LiftError{what: fmt.Sprintf("a message from %v has a time that was incremented by more than one", w.name(state.seat))}
		}
		e.sends = append(e.sends, sent{b.id, uint16(int(state.seat)*w.Seats + int(s.To)), b.idem})
	}
	b, err := w.blob(state.seat, after)
	if err != nil {
		return effect{}, err
	}
	if b.times&^allowed != 0 {
		return effect{}, LiftError{what: fmt.Sprintf("%v increments a number by more than one in one step", w.name(state.seat))}
	}
	e.state = b.id
	return e, nil
}

// name returns the displayed name of a seat.
func (m *Model) name(seat algorithm.ID) string {
	if m.Sites {
		return fmt.Sprintf("site %d", seat+1)
	}
	return seat.String()
}
