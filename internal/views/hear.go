package views

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Receive handles a message. Answers go back to where it came from; later messages go
// to the address of the member.
func (w *Leader) Receive(now member.Instant, from string, b []byte) error {
	w.hear(now)
	m, err := ParseMessage(b)
	if err != nil {
		return err
	}
	if m.Kind >= Wait {
		return fmt.Errorf("%w: voters do not receive %s: close the connection", errBytes, m.Kind)
	}
	r := &w.record
	if r.Cluster != 0 && (m.Cluster == r.Cluster || slices.Contains(r.Earlier, m.Cluster)) {
		w.Raise(m.Seen) // also by a process of an older generation, which is refused
	}
	switch {
	case m.Cluster != 0 && m.Cluster != r.Cluster && r.Cluster != 0:
		w.send(from, &Message{Kind: Other, Cluster: r.Cluster, Inc: m.Inc, Former: m.Cluster, Newer: slices.Contains(r.Earlier, m.Cluster)})
	case m.Kind == Here:
		w.here(&m)
	case m.Kind == Join && w.leads:
		w.join(from, &m)
	case m.Kind == Status && w.leads:
		w.read(request{from: from, number: m.Number})
	case m.Kind == Join || m.Kind == Status:
		w.elsewhere(from, &m)
	case r.Cluster != 0 && r.out(m.Inc):
		w.stranger(from, &m)
	case m.Kind == Fetch && r.Rank(m.Inc) >= 0 && r.Epoch > m.Epoch:
		w.push(from)
	case !w.leads || r.Rank(m.Inc) < 0: // the latter joined in a view that a deposed leader has not heard of
		w.elsewhere(from, &m)
	case m.Kind == Leave:
		w.leave(from, &m)
	case m.Kind == Renew:
		w.renew(from, &m)
	case m.Kind == Fetch && m.Refresh:
		w.fresh = r.Epoch
		w.push(from) // so that it goes on asking here
	}
	return nil
}

// elsewhere redirects a process to the leader.
func (w *Leader) elsewhere(from string, m *Message) {
	hint := ""
	if w.leader != w.self {
		hint = w.record.Address(w.leader)
	}
	w.send(from, &Message{Kind: NotLeader, Cluster: w.record.Cluster, Inc: m.Inc, Epoch: w.record.Epoch, Address: hint})
}

// stranger answers a former member. Any voter can, because no incarnation ever becomes
// a member again. A leaving voter must stay until the others can do without it, which
// only the leader knows; one that only stops need not.
func (w *Leader) stranger(from string, m *Message) {
	if m.Kind == Leave {
		w.leftAt = w.now
	}
	votes := m.Kind == Leave && m.Voter != 0 && !m.Stops
	switch {
	case votes && !w.leads:
		w.elsewhere(from, m)
	case votes && (!w.steady || w.listed(m.Voter)) && w.leaving(m.Voter):
		return
	default:
		if votes {
			w.send(from, &Message{Kind: View, Cluster: w.record.Cluster, Record: w.open()}) // shows it that the others can do without it
		}
		w.send(from, &Message{Kind: Gone, Cluster: w.record.Cluster, Inc: m.Inc})
	}
}

// leave notes that a member has promised never to enter again. The member repeats that
// until it is notified that it is gone. One that stops is answered at once, so that it
// does not give up. The last member need not wait for a view without members, but must
// wait for those that left before it: when it ends, no process is left to notify them.
func (w *Leader) leave(from string, m *Message) {
	s := w.standing(m.Inc)
	s.heard, s.stops = w.now, m.Stops
	if !s.leaves {
		s.leaves, s.asked = true, w.now
		w.call(true)
	}
	if m.Stops || w.record.Members[w.record.Rank(m.Inc)].Voter != m.Voter {
		w.push(from) // it has become a voter and has not heard of it: all would wait for it
	}
	if len(w.record.Members) == 1 && len(w.joiners) == 0 && w.flying == nil && w.told(m.Stops) {
		w.send(from, &Message{Kind: Gone, Cluster: w.record.Cluster, Inc: m.Inc})
	}
}

// told reports whether all members that have left know it, as far as can be judged: the
// log can do without their voters, and none of them has asked for as long as it takes
// to ask several times. If the last one only stops, the log goes on when it returns.
func (w *Leader) told(stops bool) bool {
	return (stops || w.agreed()) && (w.leftAt == 0 || w.now-w.leftAt > member.Instant(w.record.Settings.Renew))
}

// heir returns the voter that should lead instead of this one, whose own process stops, or
// 0 if there is none. If none takes over within two renewals, this one continues.
func (w *Leader) heir() uint64 {
	i := slices.IndexFunc(w.record.Members, func(m Member) bool { return m.Voter == w.self })
	if i < 0 {
		return 0
	}
	if s := &w.standings[i]; !s.stops || s.ended || w.now-s.asked > 2*member.Instant(w.record.Settings.Renew) {
		return 0
	}
	for k, m := range w.record.Members {
		if m.Voter != w.self && w.votes(&m) && w.listed(m.Voter) && w.responds(m.Voter) && !w.standings[k].leaves {
			return m.Voter
		}
	}
	return 0
}

// Raise reports an epoch that a process of the cluster has seen. The next view is above
// it, even if the disks of most voters were replaced by older copies. What no cluster
// can have reached is not believed, so that there is always room for a next epoch.
func (w *Leader) Raise(epoch uint64) {
	if epoch < maxEpoch/2 {
		w.floor = max(w.floor, epoch)
	}
}

// Spoke reports that a message from another voter has arrived, with the highest epoch
// that its process has seen.
func (w *Leader) Spoke(now member.Instant, voter, epoch uint64) {
	w.hear(now)
	w.Raise(epoch)
	if voter == w.former.id {
		w.former.at = w.now
	}
	if !slices.Contains(w.spoke, voter) && len(w.spoke) < maxLeaving {
		w.spoke = append(w.spoke, voter)
	}
}

// surveyed reports whether all voters have reported the highest epochs that they have
// seen since this one began to lead, or have had time to.
func (w *Leader) surveyed() bool {
	others := slices.DeleteFunc(without(w.list, w.spoke), func(id uint64) bool { return id == w.self })
	return len(others) == 0 || w.now-w.began >= member.Instant(w.record.Settings.Renew/2)
}

// Evict evicts a member, whatever it does, unless no member would stay.
func (w *Leader) Evict(inc uint64) error {
	s := w.standing(inc)
	switch {
	case !w.leads:
		return ErrNotLeader
	case s == nil:
		return fmt.Errorf("cannot evict incarnation %d: it is not a member of epoch %d", inc, w.record.Epoch)
	}
	s.evict = true
	return nil
}

// Choose makes the next view use other algorithms.
func (w *Leader) Choose(all []member.Choice) error {
	if !w.leads {
		return ErrNotLeader
	}
	v := w.record.View()
	v.Choices = all
	if err := v.Check(); err != nil {
		return err
	}
	w.choices = all
	return nil
}

// Forget requests a view of the same members, so that idle names are forgotten.
func (w *Leader) Forget() error {
	if !w.leads {
		return ErrNotLeader
	}
	w.forget = true
	return nil
}

// Want sets the number of voters.
func (w *Leader) Want(voters int) error {
	switch {
	case !w.leads:
		return ErrNotLeader
	case voters != 1 && voters != 3 && voters != MaxVoters:
		return fmt.Errorf("%d voters: want 1, 3 or 5", voters)
	}
	w.wanted = voters
	return nil
}
