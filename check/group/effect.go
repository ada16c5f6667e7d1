package group

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stile-lock/stile/core"
)

// An effect is what a machine did.
type effect struct {
	state   uint32
	sends   []sent
	entered bool
	notices []core.Notice
}

type sent struct {
	blob uint32
	link uint16
	idem bool
}

// idle reports whether it changes nothing.
func (e *effect) idle(state uint32) bool {
	return e.state == state && len(e.sends) == 0 && !e.entered && len(e.notices) == 0
}

// stepKey numbers a machine in a state together with what happens to it.
func stepKey(state uint32, in *core.Input, msg uint32) uint64 {
	from, arg := uint64(in.From+1), uint64(msg)
	switch in.Kind {
	case core.Hear:
		from = in.Time
	case core.Expire:
		arg = uint64(in.Timer)
	case core.Receive:
	default:
		arg = uint64(in.Arg)
	}
	return uint64(state)<<36 | arg<<12 | from<<4 | uint64(in.Kind)
}

// receiveKey is stepKey for a message.
func receiveKey(state uint32, from core.ID, msg uint32) uint64 {
	return uint64(state)<<36 | uint64(msg)<<12 | uint64(from+1)<<4 | uint64(core.Receive)
}

// effect returns what a machine in a state does with an input, running it if
// nobody has before. It is valid until the next one.
func (w *worker) effect(state uint32, in *core.Input, msg uint32) (*effect, error) {
	k := stepKey(state, in, msg)
	if i, ok := w.steps[k]; ok {
		return &w.effects[i], nil
	}
	var letter *blob
	if in.Kind == core.Receive {
		letter = w.info(msg)
	}
	e, err := w.run(w.info(state), *in, letter, w.tried.first(k))
	if err != nil {
		return nil, err
	}
	w.steps[k] = uint32(len(w.effects))
	w.effects = append(w.effects, e)
	return &w.effects[len(w.effects)-1], nil
}

// tried is which steps have been tried, by any of the workers: with a machine
// that was just born, and with numbers moved.
type tried struct {
	mu    sync.Mutex
	steps map[uint64]struct{}
}

// first reports whether a step is to be tried, which is once.
func (t *tried) first(k uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.steps[k]; ok {
		return false
	}
	t.steps[k] = struct{}{}
	return true
}

// doubly lets a machine take a step, and if it is to be tried, a twin too.
func (w *worker) doubly(m core.Machine, seat core.ID, in core.Input, try bool) error {
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

// run lets a machine take a step, and tries it in other ways if it is to be.
func (w *worker) run(state *blob, in core.Input, msg *blob, try bool) (effect, error) {
	m, err := w.load(state)
	if err != nil {
		return effect{}, err
	}
	w.loaded[state.seat] = unloaded
	if err := w.doubly(m, state.seat, in, try); err != nil {
		return effect{}, err
	}
	w.state = m.AppendState(w.state[:0])
	if try {
		if err := w.lift(state, in, msg); err != nil {
			return effect{}, err
		}
	}
	e := effect{entered: w.out.Entered}
	for _, n := range w.out.Notices {
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
		b, err := w.blob(core.None, sends[i])
		if err != nil {
			return effect{}, err
		}
		if b.times&^allowed != 0 {
			return effect{}, LiftError{what: fmt.Sprintf("a message of %v has a time that was counted up by more than one", w.name(state.seat))}
		}
		e.sends = append(e.sends, sent{b.id, uint16(int(state.seat)*w.Seats + int(s.To)), b.idem})
	}
	b, err := w.blob(state.seat, after)
	if err != nil {
		return effect{}, err
	}
	if b.times&^allowed != 0 {
		return effect{}, LiftError{what: fmt.Sprintf("%v counts up by more than one in one step", w.name(state.seat))}
	}
	e.state = b.id
	return e, nil
}

// name returns what people call a seat.
func (m *Model) name(seat core.ID) string {
	if m.Sites {
		return fmt.Sprintf("site %d", seat+1)
	}
	return seat.String()
}
