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
// if most of the rest would be absent, or has not answered since the leaver asked,
// that one has to wait. A member is a candidate when it has renewed with this leader;
// the oldest come first. Nothing is begun before the log's own list is as the record
// wants it, but for a new voter that dies before the log has it: that one is replaced.

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

// call asks members whether they live, as long as one whose voter is needed wants to
// leave, until they have answered: all of them, or those that were not asked lately. It
// must not leave the log to somebody who may be dead, though that one is a member still
// and has renewed a moment ago. What comes of itself does not say that its sender lives:
// it may have been under way for long.
func (w *Warden) call(all bool) {
	_, left := w.goers(leaver)
	asked := w.asks(left)
	if asked == 0 {
		return
	}
	for i := range w.record.Members {
		m, s := &w.record.Members[i], &w.standings[i]
		if w.mute(m, asked) && (all || w.now-s.called >= member.Instant(w.record.Settings.Renew/4)) {
			s.called = w.now
			w.send(m.Address, &Message{Kind: Call, Cluster: w.record.Cluster, Inc: m.Inc, Number: uint64(w.now)})
		}
	}
}

// here takes the answer of a member that was called.
func (w *Warden) here(m *Message) {
	if s, at := w.standing(m.Inc), member.Instant(m.Number); w.leads && s != nil && at <= w.now {
		s.lived = max(s.lived, at)
	}
}

// asks returns when the last of some leavers asked whose voters are needed, or 0.
func (w *Warden) asks(left []uint64) (last member.Instant) {
	for _, inc := range left {
		if w.votes(&w.record.Members[w.record.Rank(inc)]) {
			last = max(last, w.standing(inc).asked)
		}
	}
	return last
}

// mute reports whether it is not known of a member that it lived at an instant, or
// later.
func (w *Warden) mute(m *Member, since member.Instant) bool {
	return m.Voter != w.self && w.standing(m.Inc).lived < since
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
	present, next, _ := w.candidates(w.rest(x), 0)
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
	asked := w.asks(x.Left)
	present, next, unsure := w.candidates(stay, asked)
	left := w.departing(x)
	unsure = unsure && w.now-asked <= w.silence()
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
		return !unsure && w.shrink(x, present, nil, w.missed(present, left, true), goal) || len(left) == 0
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
	return len(left) == 0 || !unsure && w.shrink(x, present, next, recent, odd(len(present)+len(next)+len(recent), len(have)))
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
// some renewals may be dead, and is nobody to rely on. Nor is one of whom it is not
// known that it lived at an instant, or later: it is unsure what can be if there is one.
func (w *Warden) candidates(stay []Member, since member.Instant) (present, next []uint64, unsure bool) {
	late := w.now - 3*member.Instant(w.record.Settings.Renew)
	for _, m := range stay {
		s := w.standing(m.Inc)
		switch {
		case s.leaves && s.inc != w.last || s.evict || s.heard < late:
		case w.mute(&m, since):
			unsure = true
		case w.votes(&m):
			present = append(present, m.Voter)
		case s.proven:
			next = append(next, m.Nonce)
		}
	}
	slices.Sort(present)
	return present, next, unsure
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
// A leader that must leave has others come first, and then hands over to one that
// takes it out. No entry is committed while the log waits for the next leader, so a
// voter that may be dead is not chosen: the leader could not even evict it.
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
		if w.responds(id) {
			w.Out.HandOver = id
			return
		}
	}
}

// responds reports whether a voter belongs to a member that has not missed three renewals.
func (w *Warden) responds(voter uint64) bool {
	late := w.now - 3*member.Instant(w.record.Settings.Renew)
	return slices.ContainsFunc(w.record.Members, func(m Member) bool {
		return m.Voter == voter && w.standing(m.Inc).heard >= late
	})
}
