package group

import (
	"fmt"
	"slices"

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
	e, err := w.run(w.info(state), *in, letter)
	if err != nil {
		return nil, err
	}
	w.steps[k] = uint32(len(w.effects))
	w.effects = append(w.effects, e)
	return &w.effects[len(w.effects)-1], nil
}

// run lets a machine take a step, and tries it with its times moved.
func (w *worker) run(state *blob, in core.Input, msg *blob) (effect, error) {
	m, err := w.load(state)
	if err != nil {
		return effect{}, err
	}
	w.loaded[state.seat] = unloaded
	if err := w.twin.Before(m, w.birth(state.seat, w.Starts[0])); err != nil {
		return effect{}, err
	}
	if err := m.Step(in, &w.out); err != nil {
		return effect{}, err
	}
	if err := w.twin.After(state.seat, in, m, &w.out); err != nil {
		return effect{}, err
	}
	w.state = m.AppendState(w.state[:0])
	if err := w.lift(state, in, msg); err != nil {
		return effect{}, err
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
