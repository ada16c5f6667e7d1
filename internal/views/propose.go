package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// propose proposes a change if there is a reason for one, and the view has lived long
// enough. At most one change is in flight. Until the log has it, the very same bytes are
// proposed again, and until its outcome is known never others: the change may be applied
// at any time, and it is safe to evict only members that were not renewed since.
func (w *Leader) propose() {
	s := &w.record.Settings
	if w.flying != nil {
		if !w.appended && w.now-w.proposed >= member.Instant(s.Renew) {
			w.proposed, w.Out.Propose = w.now, w.entry
		}
		return
	}
	if w.now-w.since < member.Instant(s.ViewLife) || !w.surveyed() {
		return
	}
	x, ok := w.next()
	if !ok {
		return
	}
	entry := x.AppendTo(nil)
	if _, ok := Apply(w.record, w.term, entry); !ok {
		return // too many ghosts, for example: later
	}
	w.flying, w.entry, w.appended, w.proposed, w.Out.Propose = &x, entry, false, w.now, entry
	w.forget, w.choices, w.wanted = false, nil, 0
	w.explain(&x)
}

// next returns the next change, and whether there is a reason for it.
func (w *Leader) next() (x Change, ok bool) {
	x = Change{Base: w.record.Epoch, Term: w.term, Above: w.floor, Choices: w.choices, Wanted: w.wanted}
	for mercy := all; mercy <= silent; mercy++ {
		x.Drop, x.Left = w.goers(mercy)
		w.keepOne(&x)
		w.revote(&x)
		stay := w.rest(&x)
		x.Join = w.admissible(stay)
		if len(stay)+len(x.Join) > 0 {
			break
		}
		if mercy == silent { // no member would be left
			return x, false
		}
		for i := range w.standings {
			w.standings[i].evict = false
		}
	}
	x.Ghosts = w.runningGhosts(x.Drop)
	old := w.now-w.since > 4*member.Instant(w.record.Settings.ViewLife)
	due := w.fresh == w.record.Epoch || w.floor > w.record.Epoch
	reason := due || len(x.Drop)+len(x.Left)+len(x.Join)+len(x.Promote)+len(x.Retire) > 0 || x.Choices != nil || x.Wanted != 0 || w.forget && old
	if w.rekeys(reason) {
		secret := w.draw()
		x.Secret, reason = secret[:], true
	}
	return x, reason
}

// keepOne keeps one of the leaving members if all leave and none joins: the others can
// then leave, and the last one need not wait for any other. It is the member of the
// voter that leads.
func (w *Leader) keepOne(x *Change) {
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

// Which members may go. At least one must stay, preferably one with which nothing is
// wrong.
const (
	all    = iota
	leaver // members that leave and members that are silent
	silent // members that are silent
)

// goers returns the members to evict and those that leave. A member that stops and whose
// voter leads first hands leadership over.
func (w *Leader) goers(mercy int) (drop, left []uint64) {
	for i := range w.standings {
		s := &w.standings[i]
		switch {
		case w.now-s.heard > w.quiet(w.record.Members[i].Name) || s.evict && mercy == all && !s.leaves:
			drop = append(drop, s.inc)
		case s.leaves && mercy <= leaver && (w.record.Members[i].Voter != w.self || w.heir() == 0):
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

// quiet is how long the bearer of a name may be silent. It is less if another process
// of that name wants to join, because the member is then most likely dead.
func (w *Leader) quiet(name string) member.Instant {
	q := w.silence()
	if slices.ContainsFunc(w.joiners, func(j joiner) bool { return j.Name == name }) {
		return min(q, 2*member.Instant(w.record.Settings.Renew))
	}
	return q
}

// rest returns the members that stay. Callers must not change them.
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

// runningGhosts returns all ghosts whose leases may still run, and for how long: those of
// earlier changes, and the members evicted now.
func (w *Leader) runningGhosts(drop []uint64) []member.Ghost {
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
