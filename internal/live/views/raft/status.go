package raft

import (
	"slices"

	etcd "go.etcd.io/raft/v3"

	"github.com/stile-lock/stile/internal/live/views"
)

// Lead says who leads, and who votes. The lists are not to be changed.
func (n *Node) Lead() views.Lead {
	if n.err != nil {
		return views.Lead{}
	}
	s := n.status()
	lead := views.Lead{Leader: s.Lead, Term: s.GetTerm(), Serves: n.serves() == nil, Voters: n.log.voters, Learners: n.log.conf.Learners}
	lead.Settled = lead.Serves && n.settle.done && n.settle.term == lead.Term && !n.changing()
	return lead
}

// raw is Raft, for whatever may change its state.
func (n *Node) raw() *etcd.RawNode {
	n.known = false
	return n.core
}

// status is what Raft says of itself. It is asked again only if something may
// have changed, since that makes garbage.
func (n *Node) status() *etcd.BasicStatus {
	if !n.known {
		n.now, n.known = n.core.BasicStatus(), true
	}
	return &n.now
}

func (n *Node) leads() bool { return n.status().RaftState == etcd.StateLeader }

// alone says whether nobody else votes.
func (n *Node) alone() bool { return slices.Equal(n.log.voters, []uint64{n.id}) }

// serves says why this voter cannot serve, if so.
func (n *Node) serves() error {
	switch {
	case n.err != nil:
		return n.err
	case !n.leads():
		return views.ErrNotLeader
	case n.log.term != n.status().GetTerm():
		return ErrNotReady
	}
	return nil
}
