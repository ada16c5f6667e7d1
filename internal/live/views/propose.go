package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
)

// propose proposes a change if there is a reason for one, and the view has lived
// for long enough. At most one is under way. As long as it is not known what
// became of it, the very same bytes are proposed again, and never others: it may
// be applied whenever, and only those are safe that were not renewed since.
func (w *Leader) propose() {
	s := &w.record.Settings
	if w.flying != nil {
		if w.now-w.proposed >= member.Instant(s.Renew) {
			w.proposed, w.Out.Propose = w.now, w.entry
		}
		return
	}
	if w.now-w.since < member.Instant(s.ViewLife) {
		return
	}
	x, ok := w.next()
	if !ok {
		return
	}
	entry := x.AppendTo(nil)
	if _, ok := Apply(w.record, w.term, entry); !ok {
		return // too many ghosts, say: later
	}
	w.flying, w.entry, w.proposed, w.Out.Propose = &x, entry, w.now, entry
	w.forget, w.choices, w.wanted = false, nil, 0
}

// next returns the next change, and whether there is a reason for it.
func (w *Leader) next() (x Change, ok bool) {
	x = Change{Base: w.record.Epoch, Term: w.term, Choices: w.choices, Wanted: w.wanted}
	for mercy := all; mercy <= silent; mercy++ {
		x.Drop, x.Left = w.goers(mercy)
		w.detain(&x)
		w.revote(&x)
		stay := w.rest(&x)
		x.Join = w.admissible(stay)
		if len(stay)+len(x.Join) > 0 {
			break
		}
		if mercy == silent { // nobody would be left
			return x, false
		}
		for i := range w.standings {
			w.standings[i].evict = false
		}
	}
	x.Ghosts = w.haunting(x.Drop)
	old := w.now-w.since > 4*member.Instant(w.record.Settings.ViewLife)
	return x, len(x.Drop)+len(x.Left)+len(x.Join)+len(x.Promote)+len(x.Retire) > 0 || x.Choices != nil || x.Wanted != 0 || w.forget && old
}

// detain keeps one of those who leave, if all do and nobody comes: the others can
// then go, and the last one need not wait for anybody. It is the one that leads.
func (w *Leader) detain(x *Change) {
	w.last = 0
	if len(x.Left) == 0 || len(x.Drop) > 0 || len(w.rest(x)) > 0 || len(w.admissible(nil)) > 0 {
		return
	}
	w.last = x.Left[0]
	for _, inc := range x.Left {
		if w.record.Members[w.record.Rank(inc)].Voter == w.self {
			w.last = inc
		}
	}
	x.Left = slices.DeleteFunc(x.Left, func(inc uint64) bool { return inc == w.last })
}

// Who goes, at most: somebody must stay, and that is first of all one whom
// nothing is wrong with.
const (
	all    = iota
	leaver // those who leave and those who are silent
	silent // those who are silent
)

// goers returns who is evicted and who leaves.
func (w *Leader) goers(mercy int) (drop, left []uint64) {
	for i := range w.standings {
		s := &w.standings[i]
		switch {
		case w.now-s.heard > w.quiet(w.record.Members[i].Name) || s.evict && mercy == all && !s.leaves:
			drop = append(drop, s.inc)
		case s.leaves && mercy <= leaver:
			left = append(left, s.inc)
		}
	}
	goes := func(inc uint64) bool {
		s := w.standing(inc)
		return s.leaves || slices.Contains(drop, inc)
	}
	if mercy == all {
		if inc := w.accused(goes); inc != 0 && !slices.Contains(drop, inc) && !slices.Contains(left, inc) {
			drop = append(drop, inc)
		}
	}
	return drop, left
}

// silence is how long a member may be silent.
func (w *Leader) silence() member.Instant { return member.Instant(w.record.Settings.Patience()) / 2 }

// quiet is how long the bearer of a name may be silent. Less if another process
// of its name wants to join: then it is dead, most likely.
func (w *Leader) quiet(name string) member.Instant {
	q := w.silence()
	if slices.ContainsFunc(w.joiners, func(j joiner) bool { return j.Name == name }) {
		return min(q, 2*member.Instant(w.record.Settings.Renew))
	}
	return q
}

// rest returns the members who stay. They are not to be changed.
func (w *Leader) rest(x *Change) []Member {
	if len(x.Drop)+len(x.Left) == 0 {
		return w.record.Members
	}
	var stay []Member
	for _, m := range w.record.Members {
		if !slices.Contains(x.Drop, m.Inc) && !slices.Contains(x.Left, m.Inc) {
			stay = append(stay, m)
		}
	}
	return stay
}

// haunting returns all whose leases may still run, and for how long: those of
// earlier changes, and those evicted now.
func (w *Leader) haunting(drop []uint64) []member.Ghost {
	var ghosts []member.Ghost
	add := func(inc uint64, until member.Instant) {
		if until > w.now {
			ghosts = append(ghosts, member.Ghost{Inc: inc, Rest: member.Span(until - w.now)})
		}
	}
	for _, g := range w.ghosts {
		add(g.id, g.at)
	}
	for _, inc := range drop {
		add(inc, w.until(inc))
	}
	return ghosts
}
