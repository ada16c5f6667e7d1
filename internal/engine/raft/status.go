package raft

// Lead says who leads.
func (n *Node) Lead() Lead {
	if n.err != nil {
		return Lead{}
	}
	s := n.raw.BasicStatus()
	serves := n.serves() == nil
	return Lead{Leader: s.Lead, Term: s.GetTerm(), Serves: serves, Settled: serves && n.settle.done && n.settle.term == s.GetTerm()}
}

// ID is the number of this voter in its group.
func (n *Node) ID() uint64 { return n.id }

// Group is the number of the group.
func (n *Node) Group() uint64 { return n.group }

// Electorate says who votes.
func (n *Node) Electorate() Electorate { return n.log.conf.clone() }

// Removed says that this voter has learned that it votes no more. It must go on
// nevertheless, and start again after a crash, until a leader is Settled: those
// who stay may not have learned it yet, and then they need its vote.
func (n *Node) Removed() bool { return len(n.log.conf.Voters) > 0 && !n.log.conf.Has(n.id) }

// AppliedIndex is the index of the last entry that was applied.
func (n *Node) AppliedIndex() uint64 { return n.log.applied }
