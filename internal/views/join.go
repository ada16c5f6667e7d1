package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A joiner is a process that wants to join.
type joiner struct {
	Joiner
	reached []uint64 // incarnations that it reaches
	heard   member.Instant
}

// A flap is a name whose bearers were evicted recently.
type flap struct {
	name  string
	times int
	last  member.Instant
	until member.Instant // not admitted again before then
}

// Bounds of what a leader keeps.
const (
	maxJoiners = 4 * member.MaxMembers
	maxFlaps   = 4 * member.MaxMembers
	memory     = 8 // leases for which an eviction is remembered
)

// join handles a request to join, and answers why it has to wait. Joiners repeat their
// requests, so one that has fallen silent no longer wants to join.
func (w *Leader) join(from string, m *Message) {
	r := &w.record
	switch {
	case m.Name == "" || m.Nonce == 0:
		return // no correct process sends that
	case r.bearer(m.Nonce) >= 0:
		w.push(from)
		return
	case r.isGhost(m.Nonce): // admitted and evicted before it heard of it
		w.send(from, &Message{Kind: Gone, Cluster: r.Cluster, Nonce: m.Nonce})
		return
	}
	w.testify(m.Stopped)
	j := joiner{Joiner{m.Name, m.Address, m.Nonce, m.Voter}, m.Who, w.now}
	if i := slices.IndexFunc(w.joiners, func(o joiner) bool { return o.Name == m.Name }); i >= 0 {
		w.joiners[i] = j // another process, or a repeated request
	} else if len(w.joiners) < maxJoiners {
		w.joiners = append(w.joiners, j)
	}
	x := Message{Kind: Wait, Cluster: r.Cluster, Nonce: m.Nonce, Reason: w.against(&j, r.Members)}
	if m.Epoch < r.Epoch {
		x.Record = w.open()
	}
	w.send(from, &x)
}

// testify notes that the incarnation with a nonce has promised never to enter again, as
// its process remembers, which has returned. It leaves the view without a ghost; if it is
// one, it no longer is from the next change on.
func (w *Leader) testify(nonce uint64) {
	if i := w.record.bearer(nonce); i >= 0 && !w.doomed(w.record.Members[i].Inc) {
		s := &w.standings[i]
		if !s.leaves {
			s.asked = w.now
		}
		s.heard, s.leaves, s.stops, s.ended = w.now, true, true, true
	}
	for _, g := range w.record.Ghosts {
		if i := slices.IndexFunc(w.ghosts, func(t timed) bool { return t.id == g.Inc }); i >= 0 && g.Nonce == nonce {
			w.ghosts[i].at = min(w.ghosts[i].at, w.now) // kept: a change in flight may name it
		}
	}
}

// against returns the reason against admitting a joiner beside these members.
func (w *Leader) against(j *joiner, stay []Member) Reason {
	for _, m := range stay {
		if m.Name == j.Name {
			return NameUse
		}
		if m.Voter != 0 && m.Voter == j.Voter {
			return VoterUse
		}
	}
	for _, m := range stay {
		if !slices.Contains(j.reached, m.Inc) {
			return Reach
		}
	}
	if slices.ContainsFunc(w.flaps, func(f flap) bool { return f.name == j.Name && w.now < f.until }) {
		return Flaps
	}
	if len(stay) >= member.MaxMembers {
		return Full
	}
	return Soon
}

// admissible returns the joiners that can be admitted beside these members. Two that
// are admitted together need not have reached each other: if they do not, they
// complain.
func (w *Leader) admissible(stay []Member) []Joiner {
	silent := w.now - 4*member.Instant(w.record.Settings.Renew)
	w.joiners = slices.DeleteFunc(w.joiners, func(j joiner) bool { return j.heard < silent })
	var all []Joiner
	for i := range w.joiners {
		j := &w.joiners[i]
		if w.against(j, stay) == Soon && len(stay)+len(all) < member.MaxMembers {
			all = append(all, j.Joiner)
		}
	}
	return all
}

// flapped notes that the bearer of a name was evicted. The first time in a while has no
// consequence. From then on it has to wait before it is admitted again, each time twice
// as long, up to a lease.
func (w *Leader) flapped(name string) {
	s := &w.record.Settings
	old := w.now - memory*member.Instant(s.Lease)
	w.flaps = slices.DeleteFunc(w.flaps, func(f flap) bool { return f.last < old })
	i := slices.IndexFunc(w.flaps, func(f flap) bool { return f.name == name })
	if i < 0 {
		if len(w.flaps) < maxFlaps {
			w.flaps = append(w.flaps, flap{name: name, times: 1, last: w.now})
		}
		return
	}
	f := &w.flaps[i]
	wait := min(max(s.ViewLife, s.Renew)<<min(f.times-1, 20), s.Lease)
	f.times, f.last, f.until = f.times+1, w.now, w.now+member.Instant(wait)
}
