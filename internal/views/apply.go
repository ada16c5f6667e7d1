package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// Apply returns the record after an entry of the log, of some term, and whether the
// entry changed it: a void entry leaves the record as it is. Apply is total: whatever
// the bytes are, all voters reach the same result.
func Apply(r Record, term uint64, entry []byte) (next Record, applied bool) {
	x, err := ParseChange(entry)
	if err != nil || x.Term != term && x.Start == nil {
		return r, false
	}
	n, ok := r.changed(&x)
	if !ok || n.Check() != nil {
		return r, false
	}
	return n, true
}

// changed returns the record after a change. Check may still reject it.
func (r *Record) changed(x *Change) (n Record, ok bool) {
	if x.Base != r.Epoch {
		return n, false
	}
	n = r.Clone()
	n.Before, n.Formers = r.Epoch, nil
	for _, m := range r.Members {
		n.Formers = append(n.Formers, m.Inc)
	}
	if !n.start(x) || !n.remove(x) || !n.setGhosts(r, x) || !n.admit(x.Join) {
		return n, false
	}
	if x.Choices != nil {
		n.Choices = x.Choices
	}
	if x.Wanted != 0 {
		n.Wanted = x.Wanted
	}
	if !n.rekey(x.Secret) {
		return n, false
	}
	return n, n.revote(x)
}

// start sets the cluster and the epoch. Check refuses those that are 0 or too large.
func (r *Record) start(x *Change) bool {
	born := r.Cluster != 0
	switch s := x.Start; {
	case s == nil:
		r.Epoch = max(r.Epoch, min(x.Above, maxEpoch)) + 1
		return born
	case !born:
		*r = Record{Cluster: s.Cluster, Epoch: s.Epoch, Settings: s.Settings}
		r.rekey(s.Secret[:])
	case s.Cluster == r.Cluster || s.Epoch < r.Epoch+Jump:
		return false
	default:
		r.Earlier = append(r.Earlier, r.Cluster)
		r.Earlier = r.Earlier[max(0, len(r.Earlier)-maxEarlier):]
		r.Cluster, r.Epoch = s.Cluster, s.Epoch
		r.Voters, r.Keys = nil, nil // the log starts from scratch, and so do tickets
		r.rekey(s.Secret[:])
	}
	return true
}

// rekey adds the next key for tickets, and forgets the oldest.
func (r *Record) rekey(secret []byte) bool {
	if len(secret) == 0 {
		return true
	}
	k := ticket.Key{Epoch: r.Epoch}
	copy(k.Secret[:], secret)
	r.Keys = slices.Insert(r.Keys, 0, k)
	r.Keys = r.Keys[:min(len(r.Keys), ticket.MaxKeys)]
	return len(secret) == len(k.Secret)
}

// remove removes the members that are evicted and those that leave.
func (r *Record) remove(x *Change) bool {
	for _, inc := range slices.Concat(x.Drop, x.Left) {
		i := r.Rank(inc)
		if i < 0 {
			return false
		}
		r.Members = slices.Delete(r.Members, i, i+1)
		r.Parted = r.Epoch
	}
	return true
}

// setGhosts sets the ghosts: the earlier ones, and the members evicted now. No others can
// be ghosts, because a leaving member has promised not to act.
func (r *Record) setGhosts(old *Record, x *Change) bool {
	r.Ghosts = nil
	for _, g := range x.Ghosts {
		n := Ghost{Inc: g.Inc, Rest: g.Rest}
		if i := slices.IndexFunc(old.Ghosts, func(o Ghost) bool { return o.Inc == g.Inc }); i >= 0 {
			n.Nonce = old.Ghosts[i].Nonce
		} else if i := old.Rank(g.Inc); i >= 0 && slices.Contains(x.Drop, g.Inc) {
			n.Nonce = old.Members[i].Nonce
		} else {
			return false
		}
		r.Ghosts = append(r.Ghosts, n)
	}
	return true
}

// admit adds the joining processes, each as a new incarnation.
func (r *Record) admit(all []Joiner) bool {
	for i, j := range all {
		m := Member{Name: j.Name, Address: j.Address, Nonce: j.Nonce, Inc: r.Epoch*places + uint64(i)}
		if k := r.voter(j.Voter); k >= 0 && !slices.ContainsFunc(r.Members, func(o Member) bool { return o.Voter == j.Voter }) {
			m.Voter = j.Voter
			r.Voters[k].Name, r.Voters[k].Address = j.Name, j.Address
		}
		r.Members = append(r.Members, m)
	}
	return len(all) <= member.MaxMembers
}

// revote sets the voters. A member that is promoted while the voter in its process
// leaves becomes that voter again.
func (r *Record) revote(x *Change) bool {
	for _, id := range x.Retire {
		i := r.voter(id)
		if i < 0 || r.Voters[i].Leaves {
			return false
		}
		r.Voters[i].Leaves = true
	}
	for _, id := range x.Forget {
		i := r.voter(id)
		if i < 0 || !r.Voters[i].Leaves {
			return false
		}
		r.Voters = slices.Delete(r.Voters, i, i+1)
		for k := range r.Members {
			if r.Members[k].Voter == id {
				r.Members[k].Voter = 0
			}
		}
	}
	for i, nonce := range x.Promote {
		k := r.bearer(nonce)
		if k < 0 || !r.promote(&r.Members[k], r.Epoch*places+uint64(i)) {
			return false
		}
	}
	return true
}

// promote makes a member a voter, with a new number if it has none.
func (r *Record) promote(m *Member, id uint64) bool {
	if k := r.voter(m.Voter); k >= 0 {
		was := r.Voters[k].Leaves
		r.Voters[k].Leaves = false
		return was
	}
	m.Voter = id
	r.Voters = append(r.Voters, Voter{ID: id, Name: m.Name, Address: m.Address})
	return true
}
