package raft

import (
	"slices"

	etcd "go.etcd.io/raft/v3"

	"github.com/stile-lock/stile/internal/views"
)

// Lead reports which voter leads, and which nodes vote. Callers must not change the
// lists.
func (n *Node) Lead() views.Lead {
	if n.err != nil {
		return views.Lead{}
	}
	s := n.status()
	lead := views.Lead{Leader: s.Lead, Term: s.GetTerm(), Serves: n.serves() == nil, Voters: n.log.voters, Learners: n.log.conf.Learners}
	lead.Settled = lead.Serves && n.settle.done && n.settle.term == lead.Term && !n.changing()
	return lead
}

// raw returns Raft, for calls that may change its state.
func (n *Node) raw() *etcd.RawNode {
	n.known = false
	return n.core
}

// status returns Raft's status. It is fetched again only if something may have changed,
// because that makes garbage.
func (n *Node) status() *etcd.BasicStatus {
	if !n.known {
		n.now, n.known = n.core.BasicStatus(), true
	}
	return &n.now
}

func (n *Node) leads() bool { return n.status().RaftState == etcd.StateLeader }

// alone reports whether there is no other voter.
func (n *Node) alone() bool { return slices.Equal(n.log.voters, []uint64{n.id}) }

// serves reports why this voter cannot serve, if so.
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
