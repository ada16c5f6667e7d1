package check

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/core"
)

// Attempts are numbered without end, but sites only ask whether two numbers of
// one transaction are equal, or which is the later one. So in each state they
// are numbered anew, from 1 on, in their order: there are then finitely many
// states, with any number of restarts.
//
// With any number of transactions their stamps and the clocks grow without
// end, too. Sites compare them, take the later one, and count by one: so they
// are renumbered as logical times are elsewhere, see canon.go. The smallest
// becomes 1, neighbours that are 1 apart stay so, and any others become 2
// apart, which stands for "2 or more".

// numbers collects the numbers that occur in a state, and renumbers them.
type numbers struct {
	seen    map[core.ID]map[uint64]uint64
	times   [maxTime + 1]uint64
	endless bool
	collect bool
}

// timeColumn is the column of stamps and clocks.
const timeColumn = core.ID(-2)

// Time implements core.TimeVisitor. Where transactions are counted so are
// stamps, and may stay as they are.
func (a *numbers) Time(t *uint64) {
	switch v := uint64(*t); {
	case !a.endless || v == 0:
	case a.collect:
		a.Seq(timeColumn, &v)
	default:
		*t = a.times[v]
	}
}

// Ticket implements core.TimeVisitor.
func (a *numbers) Ticket(t *uint64) { a.Time(t) }

// Anchor implements core.TimeVisitor.
func (a *numbers) Anchor(column core.ID, v *uint64) { a.Seq(column, v) }

// Seq implements core.TimeVisitor.
func (a *numbers) Seq(column core.ID, v *uint64) {
	switch {
	case *v == 0:
	case a.collect:
		if a.seen[column] == nil {
			a.seen[column] = map[uint64]uint64{}
		}
		a.seen[column][*v] = 0
	default:
		*v = a.seen[column][*v]
	}
}

// A mention is a number that occurs in the state of a site or in a message.
type mention struct {
	column core.ID
	v      uint64
}

// mentions returns the numbers in a message, or in the state of a site. They
// are remembered: the same states come again and again.
func (w *sitesWorker) mentions(site int, b []byte) []mention {
	w.key = append(append(w.key[:0], byte(site+1)), b...)
	if list, ok := w.known[string(w.key)]; ok {
		return list
	}
	a := &numbers{seen: map[core.ID]map[uint64]uint64{}, endless: w.Rounds == 0, collect: true}
	c := core.VisitTimes(w.Layout.Sites, a)
	if site < 0 {
		w.err = w.machines[0].VisitMessage(b, c)
	} else if w.err = w.machines[site].LoadState(b); w.err == nil {
		w.machines[site].Visit(c)
	}
	var list []mention
	for _, column := range slices.Sorted(maps.Keys(a.seen)) {
		for _, v := range slices.Sorted(maps.Keys(a.seen[column])) {
			list = append(list, mention{column, v})
		}
	}
	w.known[string(w.key)] = list
	return list
}

// gather puts all numbers of a state into w.all, in order, and returns which
// times are among them.
func (w *sitesWorker) gather(s *scene) (times uint64) {
	w.all = w.all[:0]
	for i, m := range s.sites {
		if s.dead>>i&1 == 0 {
			w.all = append(w.all, w.mentions(i, m)...)
		}
	}
	for _, l := range s.links {
		for _, m := range l {
			w.all = append(w.all, w.mentions(-1, m)...)
		}
	}
	slices.SortFunc(w.all, func(x, y mention) int {
		return cmp.Or(cmp.Compare(x.column, y.column), cmp.Compare(x.v, y.v))
	})
	w.all = slices.Compact(w.all)
	for _, m := range w.all {
		if m.column == timeColumn && m.v > maxTime {
			w.err = tooManyTimes{m.v, true}
		} else if m.column == timeColumn {
			times |= 1 << m.v
		}
	}
	return times
}

// settle makes w.to canonical and emits it, once for each way it can be meant:
// old are the times of the state before.
func (w *sitesWorker) settle(old uint64, emit func(state []byte)) {
	for i := range w.to.sites {
		if w.to.dead>>i&1 == 1 {
			w.to.sites[i] = nil
		}
	}
	if !w.allTimers {
		w.to.timers = slices.DeleteFunc(w.to.timers, w.vain)
	}
	times := w.gather(w.to)
	a := &numbers{endless: w.Rounds == 0}
	same := w.dense()
	open := shrunk(old, times)
	for wide := open; w.err == nil; wide = (wide - 1) & open {
		s := w.to
		if kept := a.spread(times, wide); !same || !kept {
			s = w.spare
			s.copyFrom(w.to)
			a.rank(w.all)
			w.renumber(s, a)
		}
		w.buf = s.pack(w.buf[:0])
		if emit(w.buf); wide == 0 {
			return
		}
	}
}

// dense reports whether the numbers of each transaction in w.all are those from
// 1 on.
func (w *sitesWorker) dense() bool {
	before := mention{}
	for _, m := range w.all {
		if before.column != m.column {
			before = mention{column: m.column}
		}
		if m.column != timeColumn && m.v != before.v+1 {
			return false
		}
		before = m
	}
	return true
}

// rank gives the numbers of each transaction their new values.
func (a *numbers) rank(all []mention) {
	if a.seen != nil {
		return
	}
	a.seen = map[core.ID]map[uint64]uint64{}
	for _, m := range all {
		if a.seen[m.column] == nil {
			a.seen[m.column] = map[uint64]uint64{}
		}
		a.seen[m.column][m.v] = uint64(len(a.seen[m.column]) + 1)
	}
}

// spread gives times their new values, and reports whether they are the old
// ones. Those in wide stay far from the one before, though they could be next
// to it.
func (a *numbers) spread(times, wide uint64) (same bool) {
	same = true
	next, last := uint64(1), -1
	for ; times != 0; times &= times - 1 {
		t := bits.TrailingZeros64(times)
		if last >= 0 {
			gap := min(t-last, 2)
			if wide>>t&1 == 1 {
				gap = 2
			}
			next += uint64(gap)
		}
		a.times[t], last = next, t
		same = same && int(next) == t
	}
	return same
}

// renumber rewrites all numbers.
func (w *sitesWorker) renumber(s *scene, a *numbers) {
	c := core.VisitTimes(w.Layout.Sites, a)
	for i := range s.sites {
		if s.dead>>i&1 == 1 {
			continue
		}
		if w.err = w.machines[i].LoadState(s.sites[i]); w.err != nil {
			return
		}
		w.machines[i].Visit(c)
		s.sites[i] = w.machines[i].AppendState(nil)
	}
	for _, l := range s.links {
		for j, m := range l {
			if l[j], w.err = w.machines[0].RecodeMessage(nil, m, c); w.err != nil {
				return
			}
		}
	}
}

// vain reports whether a timer that runs out would change nothing. Then it need
// not run: a site sets its timer anew when there is something to wait for
// again. TestVainTimers sees to that.
func (w *sitesWorker) vain(t [2]uint32) bool {
	state := w.to.sites[t[0]]
	w.key = append(append(w.key[:0], byte(t[0]), byte(t[1]), byte(t[1]>>8), byte(t[1]>>16)), state...)
	if known, ok := w.idles[string(w.key)]; ok {
		return known
	}
	m := w.machines[t[0]]
	if w.err = m.LoadState(state); w.err == nil {
		w.err = m.Step(core.Input{Kind: core.Expire, Timer: int(t[1])}, &w.out)
	}
	idle := len(w.out.Sends) == 0 && len(w.out.Notices) == 0 && slices.Equal(m.AppendState(nil), state)
	w.idles[string(w.key)] = idle
	return idle
}
