package model

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// Messages whose second copy changes nothing. If one is sent right behind an equal one, it
// is left out. This is sound if the receiver ignores it from the delivery of the first copy
// on until the second one would have arrived. That is tested in two parts. Right after a
// delivery, the receiver ignores the message. And a receiver that ignores it does so after
// every further step, except a delivery on the same link if links keep the order.

// That is complete if a message has no logical times. If it has, the second copy may be
// older than every time in a state, which no renumbered state shows.

// An echo is a message that may arrive once more.
type echo struct {
	from algorithm.ID
	msg  *blob
}

// repeats tests that the second copy of a message changes nothing, if that was claimed.
func (w *worker) repeats(all []taken) error {
	echoes, err := w.echoes(all)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if len(echoes[s.state.seat]) == 0 {
			continue
		}
		if err := w.cut("that second copies change nothing", i, len(all)); err != nil {
			return err
		}
		after, err := w.after(s)
		if err != nil {
			return err
		}
		for _, e := range echoes[s.state.seat] {
			if err := w.echo(s, after, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unproved returns the kinds of messages whose second copy was left out and could not be
// tested for all times at which it may arrive.
func (m *Model) Unproved() []string {
	var kinds []string
	m.blobs.some(func(b *blob) bool {
		if b.idem && b.times != 0 && !slices.Contains(kinds, m.Spec.Kinds[b.bytes[0]]) {
			kinds = append(kinds, m.Spec.Kinds[b.bytes[0]])
		}
		return false
	})
	slices.Sort(kinds)
	return kinds
}

// echoes returns, for each seat, the messages that may arrive there once more: those that
// were received, and what becomes of them while anchors move up.
func (w *worker) echoes(all []taken) ([][]echo, error) {
	list := make([][]echo, w.Seats)
	for i := range all {
		s := &all[i]
		if s.msg == nil || !w.skipped(s.msg) {
			continue
		}
		to := &list[s.state.seat]
		next := len(*to)
		for found := []echo{{s.in.From, s.msg}}; ; next++ {
			for _, e := range found {
				if !slices.Contains(*to, e) {
					*to = append(*to, e)
				}
			}
			if next == len(*to) {
				break
			}
			older, err := w.older((*to)[next].msg)
			if err != nil {
				return nil, err
			}
			found = found[:0]
			for _, m := range older {
				found = append(found, echo{s.in.From, m})
			}
		}
	}
	return list, nil
}

// skipped reports whether a second copy of a message is left out.
func (w *worker) skipped(m *blob) bool { return m.idem || w.Upset }

// older returns what a message becomes when the anchor of one column moves up by one.
func (w *worker) older(m *blob) ([]*blob, error) {
	if !w.blobs.anchors.Load() || !m.seqs {
		return nil, nil
	}
	var all []*blob
	for column := range w.Seats {
		anchor := make([]uint64, w.Seats)
		anchor[column] = 1
		content, err := w.rewrite(m, &mapping{kept: true, anchor: anchor})
		if err != nil {
			return nil, err
		}
		b, err := w.blob(algorithm.None, content)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// after returns the state after a step.
func (w *worker) after(s *taken) (uint32, error) {
	var msg uint32
	if s.msg != nil {
		msg = s.msg.id
	}
	e, err := w.effect(s.state.id, &s.in, msg)
	if err != nil {
		return 0, err
	}
	return e.state, nil
}

// echo tests that a machine ignores a message after a step if it must.
func (w *worker) echo(s *taken, after uint32, e echo) error {
	first := s.msg == e.msg && s.in.From == e.from
	switch {
	case first:
	case after == s.state.id, w.ordered() && s.in.Kind == host.Receive && s.in.From == e.from:
		return nil
	default:
		if ignored, err := w.ignores(s.state.id, e); !ignored || err != nil {
			return err
		}
	}
	ignored, err := w.ignores(after, e)
	if ignored || err != nil {
		return err
	}
	kind := w.Spec.Kinds[e.msg.bytes[0]]
	claim := "Coder.Idempotent declares"
	if w.Upset {
		claim = "Spec.Upset requires"
	}
	if first {
		return w.claim(s, "a second "+kind+" like it does something, but "+claim+" that it changes nothing")
	}
	return w.claim(s, "after that, a second copy of an earlier "+kind+" from "+w.name(e.from)+" does something, but "+claim+" that it changes nothing")
}

// ignores reports whether a message changes nothing in a state.
func (w *worker) ignores(state uint32, e echo) (bool, error) {
	in := host.Input{Kind: host.Receive, From: e.from, Bytes: e.msg.bytes}
	done, err := w.effect(state, &in, e.msg.id)
	if err != nil {
		return false, err
	}
	return done.idle(state), nil
}
