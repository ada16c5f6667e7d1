package raft

import (
	"fmt"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// MaxVoters is how many voters there may be.
const MaxVoters = 7

// A voter's number is the index of the entry that took it in, times perEntry,
// and its place among those who came with it.
const perEntry = 8

// ChangeVoters asks for so many new voters and for the end of some old ones, in
// one change; data goes to the machine along with it, which learns the numbers
// of the new ones there. Each of them is to be started, by Join, when the
// change is applied: until a majority of them and of the old runs, nothing is
// committed. Those who are removed must go on until the change is settled.
//
// Nobody removes itself, and at least half of the voters stay. Otherwise those
// who go may be the only ones who know that they may.
func (n *Node) ChangeVoters(add int, remove []uint64, data []byte) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	// What is proposed but not saved yet would take the index.
	if err := n.drain(); err != nil {
		n.die(err)
		return n.err
	}
	if err := n.serves(); err != nil {
		return err
	}
	if !n.Lead().Settled || n.changing() || n.raw.BasicStatus().LeadTransferee != 0 {
		return ErrBusy
	}
	if add < 0 || add > MaxVoters || len(data) > MaxEntry {
		return fmt.Errorf("add %d voters, with %d bytes: 0 to %d can be added, with at most %d bytes", add, len(data), MaxVoters, MaxEntry)
	}
	if slices.Contains(remove, n.id) {
		return fmt.Errorf("remove voter %d: it leads; let another one lead first, by TransferLeadership", n.id)
	}
	c := &pb.ConfChangeV2{Context: data}
	for i := range add {
		c.Changes = append(c.Changes, single(pb.ConfChangeAddNode, (n.log.last()+1)*perEntry+uint64(i)))
	}
	for _, id := range remove {
		c.Changes = append(c.Changes, single(pb.ConfChangeRemoveNode, id))
	}
	if _, err := n.log.conf.after(n.log.last()+1, c); err != nil {
		return fmt.Errorf("add %d voters to %d and remove %d: %w", add, n.log.conf.Voters, remove, err)
	}
	return dropped(n.raw.ProposeConfChange(c))
}

func single(t pb.ConfChangeType, id uint64) *pb.ConfChangeSingle {
	return &pb.ConfChangeSingle{Type: t.Enum(), NodeId: new(id)}
}

// changing says whether the log has a change of voters that is not applied. In
// that case Raft would put an empty entry in the place of another one.
func (n *Node) changing() bool {
	lo, hi := n.log.applied+1, n.log.last()+1
	if lo >= hi {
		return false
	}
	entries, err := n.log.Entries(lo, hi, 1<<62)
	n.log.must(err)
	return slices.ContainsFunc(entries, func(e *pb.Entry) bool { return e.GetType() != pb.EntryNormal })
}

// after says who votes after a change at an index, or why it is void. All
// voters judge alike: they have the same electorate at the same index.
func (c Electorate) after(index uint64, change *pb.ConfChangeV2) (added []uint64, err error) {
	if c.Joint() {
		return nil, fmt.Errorf("a change is under way")
	}
	left := slices.Clone(c.Voters)
	for i, s := range change.GetChanges() {
		id := s.GetNodeId()
		switch s.GetType() {
		case pb.ConfChangeAddNode:
			if id != index*perEntry+uint64(i) || i >= perEntry || !validID(id) {
				return nil, fmt.Errorf("%d is no number for a voter that comes by entry %d", id, index)
			}
			added = append(added, id)
		case pb.ConfChangeRemoveNode:
			at := slices.Index(left, id)
			if at < 0 {
				return nil, fmt.Errorf("%d does not vote", id)
			}
			left = slices.Delete(left, at, at+1)
		default:
			return nil, fmt.Errorf("%s is no change that there is", s.GetType())
		}
	}
	if 2*len(left) < len(c.Voters) {
		return nil, fmt.Errorf("only %d of %d voters would stay; at least half of them must", len(left), len(c.Voters))
	}
	if n := len(left) + len(added); n == 0 || n > MaxVoters || len(change.GetChanges()) == 0 {
		return nil, fmt.Errorf("%d changes that leave %d voters; 1 to %d can be", len(change.GetChanges()), n, MaxVoters)
	}
	return added, nil
}

// applyChange puts a change of voters in force, unless it is void.
func (n *Node) applyChange(e Entry) error {
	c := new(pb.ConfChangeV2)
	if err := proto.Unmarshal(e.Data, c); err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	var added []uint64
	if c.LeaveJoint() {
		if !n.log.conf.Joint() {
			return nil
		}
	} else {
		var err error
		if added, err = n.log.conf.after(e.Index, c); err != nil {
			return nil // void, for all
		}
	}
	n.settle = settling{}
	n.log.conf = fromConf(n.raw.ApplyConfChange(c))
	now := n.log.conf.clone()
	n.machine.Apply(Applied{Index: e.Index, Term: e.Term, Data: c.GetContext(), Change: &now, Added: added})
	return nil
}

// A settling is how a leader makes sure that the end of the last change of
// voters is known, for good, to a majority of those who are left: by an entry
// that it proposes after it has applied that end. Whoever has this entry has
// learned by it that the end is committed. Without it, the leader could be lost
// together with those who went, as the only one who knew that they might.
type settling struct {
	term  uint64 // in which the leader does so
	index uint64 // of the entry, or 0 if it is not proposed yet
	done  bool
}

// unsettled goes on with it, and says whether that needs another round.
func (n *Node) unsettled() bool {
	if n.serves() != nil || n.log.conf.Joint() {
		return false
	}
	s := &n.settle
	if term := n.hardNow().Term; s.term != term {
		*s = settling{term: term}
	}
	switch {
	case s.done:
		return false
	case s.index > 0 || slices.Equal(n.log.conf.Voters, []uint64{n.id}):
		s.done = n.log.applied >= s.index
		return false
	}
	next := n.log.last() + 1
	if n.raw.Propose(nil) != nil {
		return false // dropped, since the leader is changing
	}
	s.index = next
	return true
}
