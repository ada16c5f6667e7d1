package views

import (
	"fmt"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
)

// A Joiner is a process that wants to join.
type Joiner struct {
	Name    string
	Address string
	Nonce   uint64
	Voter   uint64 // number of the voter whose disk it has; 0 if it has none
}

// A Start founds a cluster, or restores one from a backup.
type Start struct {
	Cluster  uint64          // drawn at random for each, so that no node mistakes one cluster for another
	Epoch    uint64          // first epoch; after a backup at least Jump above its epoch
	Settings member.Settings // of a new cluster; they never change, not even after a backup
	Secret   [32]byte        // of the first key for tickets
}

// Jump is the minimum by which the epoch rises when a backup is restored: more than any
// cluster reaches between two backups.
const Jump = 1 << 20

// How far apart, at random, two restores of the same backup may begin: if the clock
// distinguishes them, and if it does not.
const (
	spread     = 1 << 20
	wideSpread = 1 << 32
)

// A Change is the only kind of entry that voters agree on. Each applied change makes
// one view.
type Change struct {
	Base    uint64   // epoch that it changes; void in any other
	Term    uint64   // term of the leader that proposes it; void as an entry of any other
	Above   uint64   // the next epoch is above this one, too: the highest that the leader has heard of
	Start   *Start   // nil except in the first change, and in the first after a backup
	Drop    []uint64 // evicted incarnations
	Left    []uint64 // incarnations that have promised never to enter again
	Join    []Joiner
	Ghosts  []member.Ghost  // all ghosts, of earlier changes and of this one
	Choices []member.Choice // nil for no change
	Wanted  int             // number of voters; 0 for no change
	Promote []uint64        // nonces of members and joiners that become voters
	Retire  []uint64        // voters that leave
	Forget  []uint64        // voters that left, and are no longer in the log's own list
	Secret  []byte          // of the next key for tickets; empty for no other key
}

const changeForm = 1

// AppendTo appends the encoded change.
func (x *Change) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, changeForm)}
	x.fields(&c)
	return c.B
}

// ParseChange reads a change.
func ParseChange(b []byte) (Change, error) {
	if len(b) == 0 || b[0] != changeForm {
		return Change{}, fmt.Errorf("%w: not a change in format %d", errBytes, changeForm)
	}
	var x Change
	c := codec.Coder{B: b[1:], Bad: errBytes}
	x.fields(&c)
	return x, c.End()
}

func (x *Change) fields(c *codec.Coder) {
	c.Number(&x.Base)
	c.Number(&x.Term)
	c.Number(&x.Above)
	starts := x.Start != nil
	if c.Flag(&starts); starts {
		if x.Start == nil {
			x.Start = &Start{}
		}
		c.Number(&x.Start.Cluster)
		c.Number(&x.Start.Epoch)
		CodeSettings(c, &x.Start.Settings)
		c.Fixed(x.Start.Secret[:])
	}
	c.Numbers(&x.Drop, member.MaxMembers)
	c.Numbers(&x.Left, member.MaxMembers)
	codec.List(c, &x.Join, member.MaxMembers, func(j *Joiner) {
		c.Text(&j.Name, maxName)
		c.Text(&j.Address, member.MaxAddress)
		c.Number(&j.Nonce)
		c.Number(&j.Voter)
	})
	codec.List(c, &x.Ghosts, member.MaxGhosts, func(g *member.Ghost) {
		c.Number(&g.Inc)
		g.Rest.Code(c)
	})
	choices(c, &x.Choices)
	codec.Within(c, &x.Wanted, 0, MaxVoters)
	c.Numbers(&x.Promote, MaxVoters)
	c.Numbers(&x.Retire, maxLeaving)
	c.Numbers(&x.Forget, maxLeaving)
	c.Bytes(&x.Secret, 32)
}

// Birth returns the entry that begins a cluster. The first epoch is 1, or, for voters
// without a disk, a number that no earlier cluster of theirs has reached: milliseconds
// of the wall clock. The first joiners become the first voters, as many as are wanted
// and possible. Applying the entry to the empty record gives their numbers: the log
// begins with these voters, and with that record.
func Birth(s Start, wanted int, choices []member.Choice, first ...Joiner) Change {
	x := Change{Start: &s, Join: first, Choices: choices, Wanted: wanted}
	for _, j := range first[:min(fit(len(first)), max(wanted, 1), len(first))] {
		x.Promote = append(x.Promote, j.Nonce)
	}
	return x
}

// A Restore specifies how a cluster is restored from a backup.
type Restore struct {
	Cluster uint64   // drawn at random from all 64 bits
	Secret  [32]byte // of the first key for tickets
	Seen    uint64   // highest epoch known from elsewhere: other disks, fencing tokens at resources; 0 if none
	Clock   uint64   // wall clock, in milliseconds since 1970; 0 if there is none
}

// First returns the first epoch after a restore of a record, or, if that is empty, of a
// cluster that is founded again without one.
//
// It must be above everything that the lost cluster has reached; Jump ensures that. It
// must also differ between two restores of the same backup by more than the first one
// has used, or both would issue the same fencing tokens. And it should be higher after
// the second one, or resources would refuse its tokens. The backup knows nothing of an
// earlier restore, but the clock does: no cluster makes a view every millisecond, so
// the time of a restore is above every epoch that an earlier one has reached. Voters
// without a disk begin with the time as well.
//
// The clock may be wrong, and two restores may happen at the same time. Therefore the
// epoch is moved ahead by a random number, derived from the cluster's. It is small,
// about a quarter of an hour, to keep the order that the clock gives. If the clock is
// behind the backup it provides no order, and the number is larger. Two restores at the
// same time still share epochs with a probability of 2^-19 for each view that one of
// them has made.
func (x *Restore) First(r *Record) uint64 {
	floor := max(r.Epoch, min(x.Seen, maxEpoch)) + Jump
	if clock := min(x.Clock, maxEpoch); clock > floor {
		return clock + x.Cluster%spread
	}
	return floor + x.Cluster%wideSpread
}

// Restored returns the entry that restores a cluster from a backup, with one member and
// voter. All members of the backup become ghosts for as long as a lease can run.
// Nothing is known of nodes that joined later: the operator must make sure that none of
// them runs. A view has no room for more than MaxGhosts. Because all of these rest for
// the same time, they also stand for ghosts of the backup that are left out.
func Restored(r *Record, how Restore, first Joiner) (Change, error) {
	x := Change{Base: r.Epoch, Start: &Start{Cluster: how.Cluster, Epoch: how.First(r), Secret: how.Secret}, Join: []Joiner{first}, Promote: []uint64{first.Nonce}}
	if x.Start.Epoch >= maxEpoch {
		return x, fmt.Errorf("restore epoch %d as %d: epochs must stay below %d: set the clock, or found a new cluster", r.Epoch, x.Start.Epoch, uint64(maxEpoch))
	}
	for _, m := range r.Members {
		x.Drop = append(x.Drop, m.Inc)
		x.Ghosts = append(x.Ghosts, member.Ghost{Inc: m.Inc, Rest: r.Settings.Patience()})
	}
	for _, g := range r.Ghosts[:min(len(r.Ghosts), member.MaxGhosts-len(r.Members))] {
		x.Ghosts = append(x.Ghosts, member.Ghost{Inc: g.Inc, Rest: r.Settings.Patience()})
	}
	return x, nil
}

// fit is the maximum number of voters for a number of members.
func fit(members int) int {
	switch {
	case members < 3:
		return 1
	case members < MaxVoters:
		return 3
	}
	return MaxVoters
}
