package engine

import (
	"fmt"

	"github.com/stile-lock/stile/internal/code"
	"github.com/stile-lock/stile/internal/member"
)

// A Joiner is a process that wants to be a member.
type Joiner struct {
	Name    string
	Address string
	Nonce   uint64
	Voter   uint64 // the number of the voter whose disk it has; 0 if it has none
}

// A Start begins a cluster, or takes it up again from a backup.
type Start struct {
	Cluster  uint64          // drawn anew in both cases, so that nobody takes the one for the other
	Epoch    uint64          // the first one; 0 with a backup, whose epoch jumps ahead
	Settings member.Settings // at birth alone; they never change
}

// Jump is how far the epoch goes ahead when a backup is restored: further than
// any cluster goes between two backups.
const Jump = 1 << 20

// A Change is the one kind of entry that voters agree on. Each that is applied
// makes one view.
type Change struct {
	Base    uint64   // the epoch that it changes; in any other it is void
	Term    uint64   // of the leader that proposes it; as an entry of any other it is void
	Start   *Start   // nil but for the first one, and after a backup
	Drop    []uint64 // incarnations that are evicted
	Left    []uint64 // incarnations that have promised never to enter again
	Join    []Joiner
	Ghosts  []member.Ghost  // all, those of earlier changes and of this one
	Choices []member.Choice // nil leaves them as they are
	Wanted  int             // how many voters; 0 leaves it as it is
	Promote []uint64        // nonces of members and joiners that become voters
	Retire  []uint64        // voters that leave
	Forget  []uint64        // voters that left, and are none in the log's own list any more
}

const changeForm = 1

// AppendTo appends the bytes of a change.
func (x *Change) AppendTo(b []byte) []byte {
	c := code.Coder{B: append(b, changeForm)}
	x.fields(&c)
	return c.B
}

// ParseChange reads a change.
func ParseChange(b []byte) (Change, error) {
	if len(b) == 0 || b[0] != changeForm {
		return Change{}, fmt.Errorf("%w: not a change of the form %d", errBytes, changeForm)
	}
	var x Change
	c := code.Coder{B: b[1:], Bad: errBytes}
	x.fields(&c)
	return x, c.End()
}

func (x *Change) fields(c *code.Coder) {
	c.Number(&x.Base)
	c.Number(&x.Term)
	starts := x.Start != nil
	if c.Flag(&starts); starts {
		if x.Start == nil {
			x.Start = &Start{}
		}
		c.Number(&x.Start.Cluster)
		c.Number(&x.Start.Epoch)
		CodeSettings(c, &x.Start.Settings)
	}
	c.Numbers(&x.Drop, member.MaxMembers)
	c.Numbers(&x.Left, member.MaxMembers)
	code.List(c, &x.Join, member.MaxMembers, func(j *Joiner) {
		c.Text(&j.Name, maxName)
		c.Text(&j.Address, member.MaxAddress)
		c.Number(&j.Nonce)
		c.Number(&j.Voter)
	})
	code.List(c, &x.Ghosts, member.MaxGhosts, func(g *member.Ghost) {
		c.Number(&g.Inc)
		g.Rest.Code(c)
	})
	choices(c, &x.Choices)
	code.Within(c, &x.Wanted, 0, MaxVoters)
	c.Numbers(&x.Promote, MaxVoters)
	c.Numbers(&x.Retire, maxLeaving)
	c.Numbers(&x.Forget, maxLeaving)
}

// Birth returns the entry that begins a cluster. The first epoch is 1, or, for
// voters without a disk, a number that no earlier cluster of theirs has reached:
// milliseconds of the wall clock. The first voters are those who join first, so
// many as are wanted and can be. What Apply makes of it, from no record, says what
// their numbers are: the log begins with these voters, and with that record.
func Birth(s Start, wanted int, choices []member.Choice, first ...Joiner) Change {
	x := Change{Start: &s, Join: first, Choices: choices, Wanted: wanted}
	for _, j := range first[:min(fit(len(first)), max(wanted, 1), len(first))] {
		x.Promote = append(x.Promote, j.Nonce)
	}
	return x
}

// Restored returns the entry that takes a cluster up again from a backup, with
// one member and voter. Whoever was a member by the backup is a ghost for as
// long as a lease can run; of those who joined later nothing is known: who
// restores must see to it that none of them runs. A view has no room for more than
// MaxGhosts: as all of these rest equally long, they also stand for ghosts of the
// backup that are left out.
func Restored(r *Record, cluster uint64, first Joiner) Change {
	x := Change{Base: r.Epoch, Start: &Start{Cluster: cluster}, Join: []Joiner{first}, Promote: []uint64{first.Nonce}}
	for _, m := range r.Members {
		x.Drop = append(x.Drop, m.Inc)
		x.Ghosts = append(x.Ghosts, member.Ghost{Inc: m.Inc, Rest: r.Settings.Patience()})
	}
	for _, g := range r.Ghosts[:min(len(r.Ghosts), member.MaxGhosts-len(r.Members))] {
		x.Ghosts = append(x.Ghosts, member.Ghost{Inc: g.Inc, Rest: r.Settings.Patience()})
	}
	return x
}

// fit is how many voters so many members have at most.
func fit(members int) int {
	switch {
	case members < 3:
		return 1
	case members < MaxVoters:
		return 3
	}
	return MaxVoters
}
