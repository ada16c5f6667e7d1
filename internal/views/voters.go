package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Voters reports the voters that the log has, whether it has learners as well, and
// whether it is settled: no change of either is in flight.
func (w *Leader) Voters(ids []uint64, growing, steady bool) {
	if growing != w.growing || steady != w.steady || !slices.Equal(ids, w.list) {
		w.revoted = 0 // reconcile at once
		w.leftAt = w.now
	}
	w.list, w.growing, w.steady = ids, growing, steady
}

// call asks members whether they run, while a voter that the log needs wants to
// leave, until they answer: all members, or those not asked lately. A member may
// have died just after its last renewal, and must not be left with the log. Only
// an answer shows that it runs: any other message may have been in flight for long.
func (w *Leader) call(all bool) {
	_, left := w.goers(leaver)
	asked := w.asks(left)
	if asked == 0 {
		return
	}
	for i := range w.record.Members {
		m, s := &w.record.Members[i], &w.standings[i]
		if !w.runs(m, asked) && (all || w.now-s.called >= member.Instant(w.record.Settings.Renew/4)) {
			s.called = w.now
			w.send(m.Address, &Message{Kind: Call, Cluster: w.record.Cluster, Inc: m.Inc, Number: uint64(w.now)})
		}
	}
}

// here handles a member's answer to a call.
func (w *Leader) here(m *Message) {
	if s, at := w.standing(m.Inc), member.Instant(m.Number); w.leads && s != nil && at <= w.now {
		s.lived = max(s.lived, at)
	}
}

// asks returns when the last of these leaving members asked to leave that has a
// voter which the record does not retire yet, or 0. The voter of one that stops stays.
func (w *Leader) asks(left []uint64) (last member.Instant) {
	for _, inc := range left {
		if !w.standing(inc).stops && w.votes(&w.record.Members[w.record.Rank(inc)]) {
			last = max(last, w.standing(inc).asked)
		}
	}
	return last
}

// runs reports whether a member is known to have run at some instant or later.
func (w *Leader) runs(m *Member, since member.Instant) bool {
	return m.Voter == w.self || w.standing(m.Inc).lived >= since
}

// listed reports whether a voter is in the log's list.
func (w *Leader) listed(id uint64) bool { return slices.Contains(w.list, id) }

// leaving reports whether the record retires a voter.
func (w *Leader) leaving(id uint64) bool {
	i := w.record.voter(id)
	return i >= 0 && w.record.Voters[i].Leaves
}

// votes reports whether a member has a voter that the record does not retire.
func (w *Leader) votes(m *Member) bool { return m.Voter != 0 && !w.leaving(m.Voter) }

// missing notes since when voters have been absent: no member has them.
func (w *Leader) missing() {
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

// agreed reports whether the log has exactly the voters of the record.
func (w *Leader) agreed() bool {
	r := roster{list: w.list, steady: w.steady, growing: w.growing, voters: w.record.staying()}
	return r.agreed()
}

// revote adds to a change what it does to the voters. Leaving voters that are kept
// do not leave with it, except those that stop.
func (w *Leader) revote(x *Change) {
	x.Forget = nil
	for _, v := range w.record.Voters {
		if v.Leaves && w.steady && !w.listed(v.ID) {
			x.Forget = append(x.Forget, v.ID)
		}
	}
	r := w.roster(x)
	s := r.choose()
	x.Promote, x.Retire = s.add, without(r.voters, s.keep)
	x.Left = slices.DeleteFunc(x.Left, func(inc uint64) bool {
		return !w.standing(inc).stops && slices.Contains(s.keep, w.record.Members[w.record.Rank(inc)].Voter)
	})
}

// roster returns what is known about the voters, and about the members that would
// be left after a change.
func (w *Leader) roster(x *Change) *roster {
	stay := w.rest(x)
	r := &roster{list: w.list, steady: w.steady, growing: w.growing, voters: w.record.staying(), wanted: w.record.Wanted, members: len(stay)}
	if x.Wanted != 0 {
		r.wanted = x.Wanted
	}
	for _, m := range w.record.Members {
		if w.votes(&m) && slices.Contains(x.Left, m.Inc) && !w.standing(m.Inc).stops {
			r.leaving = append(r.leaving, m.Voter)
		}
	}
	asked := w.asks(x.Left)
	late := w.now - 3*member.Instant(w.record.Settings.Renew)
	for _, m := range stay {
		s := w.standing(m.Inc)
		switch {
		case s.leaves && s.inc != w.last || s.evict || s.heard < late: // it goes, or may be dead
		case !w.runs(&m, asked):
			r.awaited = w.now-asked <= w.silence()
		case w.votes(&m):
			r.present = append(r.present, m.Voter)
		case s.proven:
			r.spares = append(r.spares, m.Nonce)
		}
	}
	slices.Sort(r.present)
	for _, t := range w.absent {
		switch i := slices.IndexFunc(r.spares, func(nonce uint64) bool { return w.successor(t.id, nonce) }); {
		case i >= 0:
			r.overdue = slices.Insert(r.overdue, 0, t.id)
			nonce := r.spares[i]
			r.spares = slices.Insert(slices.Delete(r.spares, i, i+1), 0, nonce)
		case w.now-t.at > member.Instant(w.record.Settings.Replace):
			r.overdue = append(r.overdue, t.id)
		}
	}
	return r
}

// successor reports whether the member with a nonce has the name of an absent voter and
// not its disk, which is therefore lost: the voter will never return.
func (w *Leader) successor(voter, nonce uint64) bool {
	m := &w.record.Members[w.record.bearer(nonce)]
	return m.Voter == 0 && m.Name == w.record.Voters[w.record.voter(voter)].Name
}

// reconcile asks the log to have the voters of the record. A leader that is not
// one of them waits until the log has the others, and then hands over to another
// voter, which removes it. No entry is committed while the log waits for the next
// leader, so a voter that may be dead is not chosen: the leader could not even evict
// it.
//
// While a change of the record's voters is in flight the log's voters stay as they
// are. Otherwise the log could make a voter of a member that leaves with the
// change, or remove a voter that the change takes back.
func (w *Leader) reconcile() {
	if !w.steady || w.agreed() || w.revoted != 0 && w.now-w.revoted < member.Instant(w.record.Settings.Renew/4) {
		return
	}
	if x := w.flying; x != nil && len(x.Promote)+len(x.Retire) > 0 {
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
func (w *Leader) responds(voter uint64) bool {
	late := w.now - 3*member.Instant(w.record.Settings.Renew)
	return slices.ContainsFunc(w.record.Members, func(m Member) bool {
		return m.Voter == voter && w.standing(m.Inc).heard >= late
	})
}
