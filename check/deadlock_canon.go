package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stile-lock/stile/core"
)

// Attempts are numbered without end, but sites only ask whether two numbers of
// one transaction are equal, or which is the later one. So in each state they
// are numbered anew, from 1 on, in their order: there are then finitely many
// states, with any number of restarts.

// attempts collects the numbers that occur in a state, and renumbers them.
type attempts struct {
	seen    map[core.ID]map[uint64]uint64
	collect bool
}

// Time implements core.TimeVisitor. Stamps count transactions, of which there
// are finitely many.
func (*attempts) Time(*core.Time) {}

// Ticket implements core.TimeVisitor.
func (*attempts) Ticket(*core.Time) {}

// Anchor implements core.TimeVisitor.
func (a *attempts) Anchor(column core.ID, v *uint64) { a.Seq(column, v) }

// Seq implements core.TimeVisitor.
func (a *attempts) Seq(column core.ID, v *uint64) {
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

// number gives the numbers collected their new ones.
func (a *attempts) number() {
	for _, column := range a.seen {
		for i, v := range slices.Sorted(maps.Keys(column)) {
			column[v] = uint64(i + 1)
		}
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
	a := &attempts{seen: map[core.ID]map[uint64]uint64{}, collect: true}
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

// packCanonical packs a state with its attempts renumbered.
func (s *scene) packCanonical(w *sitesWorker, b []byte) []byte {
	w.all = w.all[:0]
	for i, m := range s.sites {
		if s.dead>>i&1 == 1 {
			s.sites[i] = nil
			continue
		}
		w.all = append(w.all, w.mentions(i, m)...)
	}
	for _, l := range s.links {
		for _, m := range l {
			w.all = append(w.all, w.mentions(-1, m)...)
		}
	}
	slices.SortFunc(w.all, func(x, y mention) int {
		if x.column != y.column {
			return int(x.column - y.column)
		}
		return cmp.Compare(x.v, y.v)
	})
	w.all = slices.Compact(w.all)
	dense := true
	for i, m := range w.all {
		before := uint64(0)
		if i > 0 && w.all[i-1].column == m.column {
			before = w.all[i-1].v
		}
		dense = dense && m.v == before+1
	}
	if !dense {
		w.renumber(s)
	}
	return s.pack(b)
}

// renumber rewrites all numbers.
func (w *sitesWorker) renumber(s *scene) {
	a := &attempts{seen: map[core.ID]map[uint64]uint64{}, collect: true}
	for _, m := range w.all {
		a.Seq(m.column, &m.v)
	}
	a.collect = false
	a.number()
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
