package views

import (
	"fmt"
	"slices"
)

// A process that is not a member refuses to go on in three cases, each an error. In all of
// them two processes would otherwise act as one, or one cluster would become two.

// OtherCluster is the error of a process that knows its cluster, and that was told to join
// another one.
type OtherCluster struct {
	Own, Theirs uint64
	Address     string // where it was told to join
}

func (e *OtherCluster) Error() string {
	return fmt.Sprintf("this node belongs to cluster %016x, and the node at %s that it was told to join to cluster %016x: leave out --join to return to its own cluster, or move its data directory away to join the other", e.Own, e.Address, e.Theirs)
}

// Recovered is the error of a process of an older generation: its cluster was recovered as
// another one.
type Recovered struct {
	Own, Theirs uint64
	Address     string // of a node of the recovered cluster
}

func (e *Recovered) Error() string {
	return fmt.Sprintf("this node belongs to cluster %016x, which was recovered as cluster %016x: move its data directory away, and start it with --join %s", e.Own, e.Theirs, e.Address)
}

// InUse is the error of a process whose name or voter is that of a member that runs
// elsewhere.
type InUse struct {
	Name    string
	Copy    bool   // the member has the same voter: one of the data directories is a copy
	Bearer  string // name of the member
	Address string // its address
}

func (e *InUse) Error() string {
	if e.Copy {
		return fmt.Sprintf("the data directory of %s is also in use by node %s at %s: one of them is a copy: start this node with an empty directory, a name of its own, and --join", e.Name, e.Bearer, e.Address)
	}
	return fmt.Sprintf("the name %s is in use by the node at %s: give this node another name", e.Name, e.Address)
}

// refuse ends the membership with an error.
func (p *Membership) refuse(err error) {
	p.refused = err
	p.end(Refused)
}

// misled reports whether an answer from another cluster means that the operator has named
// the wrong one: it came from an address that the operator has given, and the own cluster
// has had time to answer.
func (p *Membership) misled(from string) bool {
	return slices.Contains(p.config.Join, from) && p.now-p.served > patience*p.retry()
}

// patience is how many retries the own cluster has to answer.
const patience = 8

// bearer returns the member that has the name or the voter of this process, if that is why
// it was not admitted; otherwise nil. It may be an earlier incarnation of the same node,
// which is silent, and evicted soon.
func (p *Membership) bearer() *Member {
	i := -1
	switch p.why {
	case NameUse:
		i = p.record.named(p.config.Name)
	case VoterUse:
		i = slices.IndexFunc(p.record.Members, func(m Member) bool { return m.Voter == p.config.Voter })
	}
	if i < 0 {
		return nil
	}
	return &p.record.Members[i]
}

// Waits returns why the process was not admitted when it last asked, as a sentence without
// an end; nothing if there is no reason, or it is not known.
func (p *Membership) Waits() string {
	if p.phase != joining {
		return ""
	}
	r := &p.record
	switch o := p.bearer(); {
	case o != nil:
		return fmt.Sprintf("node %s at %s is still a member under this name or with this data directory: waiting until it answers or is evicted", o.Name, o.Address)
	case p.why == Reach:
		return "it does not reach " + p.unreached() + ": check the network between them"
	case p.why == Full:
		return fmt.Sprintf("the cluster has %d members, the maximum: use a client instead", len(r.Members))
	case p.why == Flaps:
		return "nodes of this name were evicted repeatedly: waiting for up to a lease"
	}
	return ""
}

// unreached names a member that this process does not reach.
func (p *Membership) unreached() string {
	all := p.reaches()
	for _, m := range p.record.Members {
		if !slices.Contains(all, m.Inc) {
			return fmt.Sprintf("node %s at %s", m.Name, m.Address)
		}
	}
	return "all members"
}
