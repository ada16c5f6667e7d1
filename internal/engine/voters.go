package engine

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// The rule of voters. There are 1, 3 or 5, never more than are wanted. With the
// third member one voter becomes three, with the fifth three become five if so
// many are wanted; they do not become fewer because members do. A voter that has
// run in no member's process for three leases is replaced by a member, one at a
// time; one whose process leaves, at once. If there is nobody to take the place
// of a leaver, then voters become fewer, so that the others are a majority; and
// if that cannot be, the leaver has to wait. A member is a candidate when it has
// renewed with this leader; the oldest come first. Nothing is begun before the
// log's own list is as the record wants it.

// missed is for how many leases a voter may be absent.
const missed = 3

// Voters tells which voters the log has by now, and whether that is settled: no
// change of them is under way.
func (w *Warden) Voters(ids []uint64, steady bool) {
	w.list, w.steady = slices.Clone(ids), steady
}

// listed reports whether the log has a voter.
func (w *Warden) listed(id uint64) bool { return slices.Contains(w.list, id) }

// leaving reports whether a voter leaves.
func (w *Warden) leaving(id uint64) bool {
	i := w.record.voter(id)
	return i >= 0 && w.record.Voters[i].Leaves
}

// missing notes which voters run in no member's process.
func (w *Warden) missing() {
	old := w.absent
	w.absent = nil
	for _, id := range w.record.staying() {
		if slices.ContainsFunc(w.record.Members, func(m Member) bool { return m.Voter == id }) {
			continue
		}
		t := timed{id, w.now}
		if i := slices.IndexFunc(old, func(o timed) bool { return o.id == id }); i >= 0 {
			t = old[i]
		}
		w.absent = append(w.absent, t)
	}
}

// agreed reports whether the log's list of voters is what the record wants.
func (w *Warden) agreed() bool {
	want := w.record.staying()
	return w.steady && len(want) == len(w.list) && !slices.ContainsFunc(want, func(id uint64) bool { return !w.listed(id) })
}

// revote adds to a change what it does to the voters. A leaver that cannot be
// spared yet is taken out of it.
func (w *Warden) revote(x *Change) {
	x.Promote, x.Retire, x.Forget = nil, nil, nil
	leaves := func(inc uint64) bool {
		return w.record.Members[w.record.Rank(inc)].Voter != 0
	}
	if !w.agreed() {
		x.Left = slices.DeleteFunc(x.Left, leaves)
		return
	}
	for _, v := range w.record.Voters {
		if v.Leaves {
			x.Forget = append(x.Forget, v.ID)
		}
	}
	if !w.replace(x) {
		x.Left = slices.DeleteFunc(x.Left, leaves)
		w.replace(x)
	}
}

// replace decides who becomes a voter and who is none any more. It reports
// whether the voters can do without those who leave.
func (w *Warden) replace(x *Change) bool {
	x.Promote, x.Retire = nil, nil
	have := w.record.staying()
	stay := w.rest(x)
	present, next := w.candidates(stay)
	left := w.departing(x)
	wanted := w.record.Wanted
	if x.Wanted != 0 {
		wanted = x.Wanted
	}
	switch goal := min(wanted, max(len(have), fit(len(stay)))); {
	case goal > len(have):
		if n := goal - len(have); len(left) == 0 && n <= len(next) {
			x.Promote = next[:n]
			return true
		}
	case goal < len(have):
		return w.shrink(x, present, nil, goal)
	}
	gone := left
	if len(gone) == 0 {
		gone = w.overdue(present)
	}
	if len(gone) <= len(next) {
		x.Retire, x.Promote = gone, next[:len(gone)]
		return true
	}
	return len(left) == 0 || w.shrink(x, present, next, odd(len(present)+len(next), len(have)))
}

// odd returns how many voters so many can be, and no more than there were.
func odd(n, most int) int {
	n = min(n, most)
	return n - 1 + n%2
}

// shrink leaves so many voters, the oldest, and only those that are present.
func (w *Warden) shrink(x *Change, present, next []uint64, goal int) bool {
	if goal < 1 || goal > len(present)+len(next) {
		return len(x.Left) == 0
	}
	keep := present[:min(goal, len(present))]
	x.Promote = next[:goal-len(keep)]
	for _, id := range w.record.staying() {
		if !slices.Contains(keep, id) {
			x.Retire = append(x.Retire, id)
		}
	}
	return true
}

// candidates returns the voters that run in the processes of these members, and
// the nonces of those who could be voters, the oldest first.
func (w *Warden) candidates(stay []Member) (present, next []uint64) {
	for _, m := range stay {
		s := w.standing(m.Inc)
		switch {
		case s.leaves || s.evict:
		case m.Voter != 0:
			present = append(present, m.Voter)
		case s.proven:
			next = append(next, m.Nonce)
		}
	}
	slices.Sort(present)
	return present, next
}

// departing returns the voters whose processes leave with a change.
func (w *Warden) departing(x *Change) []uint64 {
	var all []uint64
	for _, m := range w.record.Members {
		if m.Voter != 0 && slices.Contains(x.Left, m.Inc) {
			all = append(all, m.Voter)
		}
	}
	return all
}

// overdue returns a voter that has been absent for too long, if there is one.
func (w *Warden) overdue(present []uint64) []uint64 {
	for _, t := range w.absent {
		if w.now-t.at > missed*w.patience() && !slices.Contains(present, t.id) {
			return []uint64{t.id}
		}
	}
	return nil
}

// reconcile asks for what makes the log's list of voters what the record wants.
// A leader that is to leave has others come first, and then lets another lead,
// who takes it out.
func (w *Warden) reconcile() {
	if !w.steady || w.agreed() || w.revoted != 0 && w.now-w.revoted < member.Instant(w.record.Settings.Renew) {
		return
	}
	var x Revote
	want := w.record.staying()
	for _, id := range want {
		if !w.listed(id) {
			x.Add = append(x.Add, id)
		}
	}
	for _, id := range w.list {
		if !slices.Contains(want, id) && id != w.self {
			x.Remove = append(x.Remove, id)
		}
	}
	w.revoted = w.now
	if len(x.Add)+len(x.Remove) > 0 {
		w.Out.Revote = &x
		return
	}
	for _, id := range want {
		if !slices.ContainsFunc(w.absent, func(t timed) bool { return t.id == id }) {
			w.Out.HandOver = id
			return
		}
	}
}
