package model

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The counters of a state: what they are relative to, or which there are.

// anchorOf returns what the counters of a state are relative to, one byte for each
// column, or nothing if it has none.
func (w *worker) anchorOf(g *state) string {
	for p := range g.seats {
		if a := w.infos[g.seats[p].blob].anchor; a != nil && !g.seats[p].dead {
			return small(a)
		}
	}
	for i := range g.messages {
		if a := w.infos[g.messages[i].blob].anchor; a != nil {
			return small(a)
		}
	}
	return ""
}

func small(a []uint64) string {
	if !slices.ContainsFunc(a, func(v uint64) bool { return v != 0 }) {
		return ""
	}
	b := make([]byte, len(a))
	for i, v := range a {
		b[i] = byte(min(v, 255))
	}
	return string(b)
}

// ranksOf puts all counters of a state into w.counters, in order, and returns their name,
// or nothing if those of each column are 1, 2, ... already.
func (w *worker) ranksOf(g *state) string {
	all := w.counters[:0]
	for p := range g.seats {
		if !g.seats[p].dead {
			all = append(all, w.infos[g.seats[p].blob].counters...)
		}
	}
	for i := range g.messages {
		all = append(all, w.infos[g.messages[i].blob].counters...)
	}
	slices.SortFunc(all, func(x, y counter) int {
		return cmp.Or(cmp.Compare(x.column, y.column), cmp.Compare(x.value, y.value))
	})
	w.counters = slices.Compact(all)
	dense, before := true, counter{}
	for i, c := range w.counters {
		if i == 0 || before.column != c.column {
			before = counter{column: c.column}
		}
		dense = dense && c.value == before.value+1
		before = c
	}
	if dense {
		return ""
	}
	w.keyBuf = w.keyBuf[:0]
	for _, c := range w.counters {
		w.keyBuf = binary.AppendUvarint(binary.AppendUvarint(w.keyBuf, uint64(c.column+1)), c.value)
	}
	return string(w.keyBuf)
}
