package model

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// Canonical states. Only the order of logical times, and whether one immediately follows
// another, matters to an algorithm, so all states that agree in that are one. The times
// of a state are renumbered: the smallest becomes 1, and two neighbours that are 1 apart
// stay so. With Spread, neighbours that are further apart become 2 apart, which stands
// for "2 or more". A step that puts a new time into such a gap leaves open how much of it
// is left, and then has two successors.

// A Form says how the times and counters of states are renumbered.
type Form struct{ Times, Counters Numbering }

// A Numbering is a way of renumbering.
type Numbering uint8

// The numberings.
const (
	Kept     Numbering = iota // unchanged
	Shifted                   // times: the smallest is 1, gaps stay
	Spread                    // times: the same, but wide gaps are 2
	Measured                  // counters: relative to the anchor of their column, if there is one
	Ranked                    // counters: 1, 2, ... in their order within the column
)

// A rule says how the times and counters of one state are renumbered.
type rule struct {
	times  uint64 // times that occur
	wide   uint64 // times kept apart from their predecessor though they could be next to it
	whole  bool   // all gaps between times are kept
	anchor string // what counters are relative to, as bytes
	ranks  string // counters that occur, if they are not 1, 2, ... already
}

// A mapping renumbers.
type mapping struct {
	id     uint32
	same   bool // nothing changes
	kept   bool // times stay as they are
	times  [maxTime + 1]uint64
	anchor []uint64
	ranks  []counter // sorted
}

// Time implements host.TimeVisitor.
func (m *mapping) Time(t *uint64) {
	if *t != 0 {
		m.Ticket(t)
	}
}

// Ticket implements host.TimeVisitor.
func (m *mapping) Ticket(t *uint64) {
	if !m.kept {
		*t = m.times[*t]
	}
}

// Seq implements host.TimeVisitor.
func (m *mapping) Seq(column algorithm.ID, v *uint64) {
	switch {
	case m.anchor != nil:
		*v = max(*v, m.anchor[column]) - m.anchor[column]
	case m.ranks != nil && *v != 0:
		first := slices.IndexFunc(m.ranks, func(c counter) bool { return c.column == column })
		*v = uint64(slices.Index(m.ranks[first:], counter{column, *v}) + 1)
	}
}

// Anchor implements host.TimeVisitor.
func (m *mapping) Anchor(column algorithm.ID, v *uint64) { m.Seq(column, v) }

// timesOf returns the set of logical times in a state. Bit 0 is set if 0 is a live value.
func (w *worker) timesOf(g *state) uint64 {
	if w.Form.Times == Kept {
		return 0
	}
	var set uint64
	for p := range g.seats {
		if !g.seats[p].dead {
			set |= w.times[g.seats[p].blob]
		}
	}
	for i := range g.messages {
		set |= w.times[g.messages[i].blob]
	}
	return set
}

// settle makes w.to canonical and emits it, once for each of its possible meanings.
func (w *worker) settle(s explore.Step) {
	g := w.to
	if w.err != nil {
		return
	}
	w.fair = w.fair || s.Fair
	s.Broken, s.Enters = w.broken, w.enters
	if w.mortal && g.comebacks == 0 {
		w.lose(g, false)
	}
	if w.Sites && w.vain {
		g.timers = slices.DeleteFunc(g.timers, w.isVain)
	}
	r := w.ruleOf(g)
	if w.Form.Times != Spread || w.old == 0 || w.exact {
		w.give(g, r, s)
		return
	}
	open := shrunk(w.old, r.times)
	for wide := open; w.err == nil; wide = (wide - 1) & open {
		r.wide = wide
		w.give(g, r, s)
		if wide == 0 {
			return
		}
	}
}

// ruleOf returns how a state is renumbered.
func (w *worker) ruleOf(g *state) rule {
	r := rule{times: w.timesOf(g)}
	switch {
	case w.Form.Counters == Measured && w.blobs.anchors.Load():
		r.anchor = cmp.Or(w.anchorOf(g), w.floor)
	case w.Form.Counters == Ranked:
		r.ranks = w.ranksOf(g)
	}
	return r
}

// isVain reports whether the expiry of a timer would change nothing. Then it need not
// run: a site sets its timer anew when there is something to wait for again. That is not
// known of other machines.
func (w *worker) isVain(t timer) bool {
	w.at = w.to
	return !w.Moves(algorithm.ID(t.seat), host.Input{Kind: host.Expire, From: algorithm.None, Timer: int(t.id)})
}

// shrunk returns the times in a state whose distance to their predecessor is not known,
// because the previous step has put that predecessor into a wide gap.
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

// give emits a state, renumbered by a rule.
func (w *worker) give(g *state, r rule, s explore.Step) {
	var m *mapping
	if w.Form != (Form{}) {
		if m = w.mapping(r); !m.same {
			g = w.mapped(g, m)
		}
	}
	if w.spent != nil {
		g = w.unspent(g)
	}
	if !w.ordered() {
		s.Renaming = w.renaming(m, &s)
		if g != w.spare {
			w.spare.copyFrom(g)
			g = w.spare
		}
		slices.SortFunc(g.messages, compareMessages)
	}
	if w.err == nil {
		w.buf = w.pack(w.buf[:0], g)
		w.emit(s, w.buf)
	}
}

func compareMessages(a, b message) int {
	old := 0
	if a.old != b.old {
		old = 1
		if b.old {
			old = -1
		}
	}
	return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.blob, b.blob), cmp.Compare(a.tag, b.tag), old)
}

// mapping returns the mapping of a rule.
func (w *worker) mapping(r rule) *mapping {
	plain := r.wide == 0 && !r.whole && r.anchor == "" && r.ranks == ""
	if plain {
		if w.last != nil && w.lastTimes == r.times {
			return w.last
		}
		if m, ok := w.shifts[r.times]; ok {
			w.last, w.lastTimes = m, r.times
			return m
		}
	} else if m, ok := w.rules[r]; ok {
		return m
	}
	m := w.newMapping(r)
	w.mappings = append(w.mappings, m)
	if plain {
		w.shifts[r.times] = m
	} else {
		w.rules[r] = m
	}
	return m
}

func (w *worker) newMapping(r rule) *mapping {
	m := &mapping{id: uint32(len(w.mappings)), same: true, kept: w.Form.Times == Kept}
	next, last := uint64(1), -1
	if r.times&1 == 1 {
		next = 0
	}
	for rest := r.times; rest != 0; rest &= rest - 1 {
		t := bits.TrailingZeros64(rest)
		if last >= 0 {
			gap := t - last
			if w.Form.Times == Spread && !r.whole && (gap > 2 || r.wide>>t&1 == 1) {
				gap = 2
			}
			next += uint64(gap)
		}
		if next > maxTime {
			w.err = tooManyTimes(next, w.Form.Times == Spread)
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
	if r.ranks != "" {
		m.ranks, m.same = slices.Clone(w.counters), false
	}
	return m
}

// mapped returns the state with every blob renumbered.
func (w *worker) mapped(g *state, m *mapping) *state {
	out := w.spare
	out.copyFrom(g)
	w.renumber(out, m)
	if m.anchor != nil {
		w.collapse(out)
	}
	return out
}

// renumber renumbers every blob of a state.
func (w *worker) renumber(g *state, m *mapping) {
	for p := range g.seats {
		if !g.seats[p].dead {
			g.seats[p].blob = w.rename(g.seats[p].blob, m)
		}
	}
	for i := range g.messages {
		g.messages[i].blob = w.rename(g.messages[i].blob, m)
	}
}

// collapse removes a second copy, right behind the first, of a message if it would change
// nothing.
func (w *worker) collapse(g *state) {
	kept := g.messages[:0]
	for i, x := range g.messages {
		if i > 0 && w.info(x.blob).idem && x == kept[len(kept)-1] {
			continue
		}
		kept = append(kept, x)
	}
	g.messages = kept
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
	if m.anchor != nil {
		w.err = cmp.Or(w.err, w.visit(b.seat, b.bytes, &lagNoter{placesOf(b.seat, b.bytes), w.Model, m.anchor}))
	}
	bytes, err := w.rewrite(b, m)
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

// rewrite returns the bytes of a blob with its times and counters mapped.
func (w *worker) rewrite(b *blob, v host.TimeVisitor) (_ []byte, err error) {
	defer w.caught(reading, &err)
	if b.seat == algorithm.None {
		recoded, err := w.other[0].RecodeMessage(nil, b.bytes, v)
		if err != nil {
			return nil, mistake.Unreadable("message", err)
		}
		return recoded, nil
	}
	m := w.other[b.seat]
	if err := m.LoadState(b.bytes); err != nil {
		return nil, mistake.Unreadable("state", err)
	}
	m.VisitTimes(v)
	return m.AppendState(nil), nil
}
