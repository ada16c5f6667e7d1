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
// of a leaver, then voters become fewer, without it and those absent for so long;
// if most of the rest would be absent, or was not heard of since the leaver asked,
// that one has to wait. A member is a
// candidate when it has renewed with this leader; the oldest come first. Nothing is
// begun before the log's own list is as the record wants it, but for a new voter
// that dies before the log has it: that one is replaced.

// absence is for how many leases a voter may be absent.
const absence = 3

// Voters tells which voters the log has by now, whether it has learners beside
// them, and whether that is settled: no change of them is under way.
func (w *Warden) Voters(ids []uint64, growing, steady bool) {
	if growing != w.growing || steady != w.steady || !slices.Equal(ids, w.list) {
		w.revoted = 0 // there may be something to be done at once
		w.parted = w.now
	}
	w.list, w.growing, w.steady = ids, growing, steady
}

// Sign tells that another voter has answered what was sent to it at an instant of
// the own clock: it lived then. What lies in the future is of a clock before a
// restart, and says nothing.
func (w *Warden) Sign(now member.Instant, voter uint64, lived member.Instant) {
	w.hear(now)
	if lived <= 0 || lived > w.now {
		return
	}
	if i := slices.IndexFunc(w.signs, func(t timed) bool { return t.id == voter }); i >= 0 {
		w.signs[i].at = max(w.signs[i].at, lived)
		return
	}
	w.signs = slices.DeleteFunc(w.signs, func(t timed) bool { return !w.listed(t.id) })
	w.signs = append(w.signs, timed{voter, lived})
}

// mute reports whether it is not known of a voter that it lived after some processes
// had asked to leave. It may be dead, though it is a member still, and they cannot
// leave it alone with the log: a voter that lives answers the leader several times a
// second.
func (w *Warden) mute(voter uint64, x *Change) bool {
	var asked member.Instant
	for _, inc := range x.Left {
		asked = max(asked, w.standing(inc).asked)
	}
	return voter != w.self && w.listed(voter) &&
		!slices.ContainsFunc(w.signs, func(t timed) bool { return t.id == voter && t.at > asked })
}

// listed reports whether the log has a voter.
func (w *Warden) listed(id uint64) bool { return slices.Contains(w.list, id) }

// leaving reports whether a voter leaves.
func (w *Warden) leaving(id uint64) bool {
	i := w.record.voter(id)
	return i >= 0 && w.record.Voters[i].Leaves
}

// votes reports whether a voter runs in a member's process, and does not leave.
func (w *Warden) votes(m *Member) bool { return m.Voter != 0 && !w.leaving(m.Voter) }

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
	return w.steady && !w.growing && len(want) == len(w.list) && !slices.ContainsFunc(want, func(id uint64) bool { return !w.listed(id) })
}

// revote adds to a change what it does to the voters. A leaver that cannot be
// spared yet is taken out of it.
func (w *Warden) revote(x *Change) {
	x.Promote, x.Retire, x.Forget = nil, nil, nil
	votes := func(inc uint64) bool {
		return w.votes(&w.record.Members[w.record.Rank(inc)])
	}
	for _, v := range w.record.Voters {
		if v.Leaves && w.steady && !w.listed(v.ID) {
			x.Forget = append(x.Forget, v.ID)
		}
	}
	if !w.agreed() {
		x.Left = slices.DeleteFunc(x.Left, votes)
		w.stillborn(x)
		return
	}
	if !w.replace(x) {
		x.Left = slices.DeleteFunc(x.Left, votes)
		w.replace(x)
	}
}

// stillborn gives up those that were to be voters, and died or leave before the
// log had them: others take their places, or voters stay fewer.
func (w *Warden) stillborn(x *Change) {
	present, next := w.candidates(w.rest(x))
	var keep, others []uint64
	for _, id := range w.record.staying() {
		if w.listed(id) {
			keep = append(keep, id)
		} else if slices.Contains(present, id) {
			others = append(others, id)
		}
	}
	keep = append(keep, others...)
	n := len(w.record.staying())
	goal := odd(len(keep)+len(next), n)
	if !w.steady || len(keep) == n || goal < 1 {
		return
	}
	keep = keep[:min(goal, len(keep))]
	x.Promote = next[:goal-len(keep)]
	x.Retire = slices.DeleteFunc(w.record.staying(), func(id uint64) bool { return slices.Contains(keep, id) })
}

// replace decides who becomes a voter and who is none any more. It reports
// whether the voters can do without those who leave.
func (w *Warden) replace(x *Change) bool {
	x.Promote, x.Retire = nil, nil
	have := w.record.staying()
	stay := w.rest(x)
	present, next := w.candidates(stay)
	left := w.departing(x)
	if len(left) > 0 {
		present = slices.DeleteFunc(present, func(id uint64) bool { return w.mute(id, x) })
	}
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
		return w.shrink(x, present, nil, w.missed(present, left, true), goal) || len(left) == 0
	}
	gone := left
	if len(gone) == 0 {
		gone = w.overdue(present)
	}
	if len(gone) <= len(next) {
		x.Retire, x.Promote = gone, next[:len(gone)]
		return true
	}
	recent := w.missed(present, left, false)
	return len(left) == 0 || w.shrink(x, present, next, recent, odd(len(present)+len(next)+len(recent), len(have)))
}

// odd returns how many voters so many can be, and no more than there were.
func odd(n, most int) int {
	n = min(n, most)
	return n - 1 + n%2
}

// shrink leaves so many voters: first those that are present, then new ones, then
// those that are absent. It reports whether most of them are not absent.
func (w *Warden) shrink(x *Change, present, next, absent []uint64, goal int) bool {
	if goal < 1 {
		return false
	}
	keep := present[:min(goal, len(present))]
	promote := next[:min(goal-len(keep), len(next))]
	here := len(keep) + len(promote)
	if 2*here <= goal || here+len(absent) < goal {
		return false
	}
	keep = slices.Concat(keep, absent[:goal-here])
	x.Promote = promote
	for _, id := range w.record.staying() {
		if !slices.Contains(keep, id) {
			x.Retire = append(x.Retire, id)
		}
	}
	return true
}

// missed returns the voters that run in no process that stays, and did not leave:
// those that may come back soon, or all.
func (w *Warden) missed(present, left []uint64, all bool) []uint64 {
	gone := slices.Clone(left)
	for !all {
		late := w.overdue(gone)
		if len(late) == 0 {
			break
		}
		gone = append(gone, late...)
	}
	return slices.DeleteFunc(w.record.staying(), func(id uint64) bool {
		return slices.Contains(present, id) || slices.Contains(gone, id)
	})
}

// candidates returns the voters that run in the processes of these members, and
// the nonces of those who could be voters, the oldest first. Whoever has missed
// some renewals may be dead, and is nobody to rely on.
func (w *Warden) candidates(stay []Member) (present, next []uint64) {
	late := w.now - 3*member.Instant(w.record.Settings.Renew)
	for _, m := range stay {
		s := w.standing(m.Inc)
		switch {
		case s.leaves && s.inc != w.last || s.evict || s.heard < late:
		case w.votes(&m):
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
		if w.votes(&m) && slices.Contains(x.Left, m.Inc) {
			all = append(all, m.Voter)
		}
	}
	return all
}

// overdue returns a voter that has been absent for too long, if there is one
// beside some.
func (w *Warden) overdue(beside []uint64) []uint64 {
	for _, t := range w.absent {
		if w.now-t.at > absence*w.patience() && !slices.Contains(beside, t.id) {
			return []uint64{t.id}
		}
	}
	return nil
}

// reconcile asks for what makes the log's list of voters what the record wants.
// A leader that is to leave has others come first, and then lets another lead,
// who takes it out.
func (w *Warden) reconcile() {
	if !w.steady || w.agreed() || w.revoted != 0 && w.now-w.revoted < member.Instant(w.record.Settings.Renew/4) {
		return
	}
	w.revoted = w.now
	want := w.record.staying()
	rest := slices.DeleteFunc(slices.Clone(w.list), func(id uint64) bool { return id == w.self })
	if slices.Contains(want, w.self) || w.growing || !slices.Equal(rest, want) {
		w.Out.Revote = want
		return
	}
	for _, id := range want {
		if !slices.ContainsFunc(w.absent, func(t timed) bool { return t.id == id }) {
			w.Out.HandOver = id
			return
		}
	}
}
