package sim

import "github.com/stile-lock/stile/core"

// A shadow says which steps are taken twice, the second time by a machine that
// knows nothing but the bytes of the state: all of the first ones, and then
// fewer and fewer, until they are not felt.
type shadow struct {
	taken int // steps so far
	next  int // which step is to be taken twice
	twin  core.Twin
}

// wait says when to take a step twice again: after one 64th of the steps so
// far, or 8192, or more if a state has many bytes.
func (s *shadow) wait(size int) {
	s.next = s.taken + min(s.taken/64, max(8192, 64*size))
}

// takeTwice lets p's machine take a step, and a twin of it too.
func (w *world) takeTwice(p core.ID, in core.Input) error {
	m := w.machines[p]
	twin := &w.shadow.twin
	if err := twin.Before(m, w.birth(p, w.view)); err != nil {
		return err
	}
	if err := m.Step(in, &w.out); err != nil {
		return err
	}
	w.state = m.AppendState(w.state[:0])
	w.shadow.wait(len(w.state))
	return twin.After(p, in, m, &w.out)
}
