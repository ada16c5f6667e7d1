package check

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// Canonical states. Only the order of logical times and whether one is right
// after another matters to an algorithm, so all states that agree in that are
// one. The times of a state are renumbered: the smallest becomes 1, and two
// neighbours that are 1 apart stay so. With omega, neighbours that are further
// apart become 2 apart, which stands for "2 or more". A step that puts a new
// time into such a gap leaves open how much is left of it, and then has two
// successors.

// A rule says how times and counters are renumbered.
type rule struct {
	times  uint64 // the times that occur
	wide   uint64 // times that stay far from their predecessor though they could be next to it
	anchor string // what counters are measured from, as bytes
}

type mapping struct {
	mapper
	id   uint32
	same bool // nothing changes
}

// timesOf returns the set of logical times in a state. Bit 0 is set if 0 is a
// live value.
func (w *worker) timesOf(g *global) uint64 {
	var set uint64
	for p := range g.procs {
		set |= w.times[g.procs[p].blob]
	}
	for i := range g.letters {
		set |= w.times[g.letters[i].blob]
	}
	return set
}

// settle makes w.to canonical and emits it, once for each way it can be meant.
func (w *worker) settle(old uint64, s explore.Step, emit func(s explore.Step, next []byte)) {
	g := w.to
	r := rule{times: w.timesOf(g)}
	if w.blobs.anchors.Load() {
		r.anchor = w.anchor(g)
	}
	if !w.omega || old == 0 || w.exact {
		w.emit(g, r, s, emit)
		return
	}
	open := shrunk(old, r.times)
	for wide := open; ; wide = (wide - 1) & open {
		r.wide = wide
		w.emit(g, r, s, emit)
		if wide == 0 || w.err != nil {
			return
		}
	}
}

// shrunk returns the times in a state whose distance to their predecessor is
// not known: the step before has put that predecessor into a wide gap.
func shrunk(old, now uint64) uint64 {
	var open uint64
	for rest := old; rest != 0; {
		x := bits.TrailingZeros64(rest)
		rest &= rest - 1
		if rest == 0 {
			break
		}
		y := bits.TrailingZeros64(rest)
		if y-x >= 2 && now>>(x+1)&1 == 1 && now>>y&1 == 1 {
			open |= 1 << y
		}
	}
	return open
}

func (w *worker) emit(g *global, r rule, s explore.Step, emit func(s explore.Step, next []byte)) {
	if m := w.mapping(r); !m.same {
		g = w.mapped(g, m)
	}
	if !w.ordered() {
		if g != w.spare {
			w.spare.copyFrom(g)
			g = w.spare
		}
		slices.SortFunc(g.letters, compareLetters)
	}
	if w.err == nil {
		w.buf = w.pack(w.buf[:0], g)
		emit(s, w.buf)
	}
}

func compareLetters(a, b letter) int {
	return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.blob, b.blob), cmp.Compare(a.knows, b.knows), compareBools(a.seen, b.seen))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// mapping returns how a rule renumbers.
func (w *worker) mapping(r rule) *mapping {
	if w.last != nil && w.lastRule == r {
		return w.last
	}
	if m, ok := w.rules[r]; ok {
		w.last, w.lastRule = m, r
		return m
	}
	m := &mapping{id: uint32(len(w.rules)), same: true}
	next, last := uint64(1), -1
	if r.times&1 == 1 {
		next = 0
	}
	for rest := r.times; rest != 0; rest &= rest - 1 {
		t := bits.TrailingZeros64(rest)
		if last >= 0 {
			gap := t - last
			if w.omega && (gap > 2 || r.wide>>t&1 == 1) {
				gap = 2
			}
			next += uint64(gap)
		}
		if next > maxTime {
			w.err = tooManyTimes{next, w.Spec.Spreads}
		} else {
			m.times[t] = next
		}
		m.same = m.same && int(next) == t
		last = t
	}
	for _, c := range []byte(r.anchor) {
		m.anchor = append(m.anchor, uint64(c))
		m.same = m.same && c == 0
	}
	w.rules[r] = m
	return m
}

// mapped returns the state with every blob renumbered.
func (w *worker) mapped(g *global, m *mapping) *global {
	out := w.spare
	out.copyFrom(g)
	for p := range out.procs {
		out.procs[p].blob = w.rename(out.procs[p].blob, m)
	}
	for i := range out.letters {
		out.letters[i].blob = w.rename(out.letters[i].blob, m)
	}
	if m.anchor != nil {
		w.collapse(out)
	}
	return out
}

// collapse takes out second copies, right behind the first, of letters of
// which a second copy changes nothing.
func (w *worker) collapse(g *global) {
	kept := g.letters[:0]
	for i, x := range g.letters {
		if i > 0 && w.info(x.blob).idem && x == kept[len(kept)-1] {
			continue
		}
		kept = append(kept, x)
	}
	g.letters = kept
}

// rename returns what a blob becomes under a mapping.
func (w *worker) rename(id uint32, m *mapping) uint32 {
	b := w.infos[id]
	if b.times == 0 && !b.seqs {
		return id
	}
	k := uint64(m.id)<<32 | uint64(id)
	if r, ok := w.maps[k]; ok {
		return r
	}
	bytes, err := w.rewrite(w.machines, b, &m.mapper)
	if err == nil {
		b, err = w.blob(b.seat, bytes)
	}
	if err != nil {
		w.err = err
		return id
	}
	w.maps[k] = b.id
	return b.id
}

// rewrite returns the bytes of a blob with its times mapped.
func (w *worker) rewrite(machines []core.Machine, b *blob, v core.TimeVisitor) ([]byte, error) {
	if b.seat == core.None {
		return machines[0].RecodeMessage(nil, b.bytes, core.VisitTimes(w.Nodes, v))
	}
	m := machines[b.seat]
	if err := m.LoadState(b.bytes); err != nil {
		return nil, err
	}
	m.Visit(core.VisitTimes(w.Nodes, v))
	return m.AppendState(nil), nil
}

// anchor returns what the counters of a state are measured from, one byte for
// each column, or nothing if it has none.
func (w *worker) anchor(g *global) string {
	for p := range g.procs {
		if a := w.infos[g.procs[p].blob].anchor; a != nil {
			return small(a)
		}
	}
	for i := range g.letters {
		if a := w.infos[g.letters[i].blob].anchor; a != nil {
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
