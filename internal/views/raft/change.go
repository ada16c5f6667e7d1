package raft

import (
	"errors"
	"fmt"
	"math"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"github.com/stile-lock/stile/internal/views"
)

// Revote takes a step towards these voters, and no others:
//
//   - Wanted nodes that are neither voters nor learners become learners, and learners
//     that are not wanted are removed.
//   - When all learners have the log, they become voters, and voters that are not wanted
//     are removed, in one change.
//
// So a node that never starts, or dies before it has the log, blocks nothing. No leader
// removes itself: one that is not wanted stays until another one leads, by HandOver.
// Removed voters must keep running until the leader is Settled.
//
// If there is nothing to do, or nothing that this leader can do, Revote does nothing. A
// number that was removed must never be wanted again.
func (n *Node) Revote(want []uint64) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	if err := wanted(want); err != nil {
		return fmt.Errorf("make %d the voters: %w", want, err)
	}
	if !n.Lead().Settled || n.status().LeadTransferee != 0 {
		return ErrBusy
	}
	c := n.log.conf.towards(want, n.id)
	if len(c.GetChanges()) == 0 {
		return nil
	}
	if promotes(c) && !n.caughtUp() {
		return ErrBehind
	}
	if err := n.log.conf.void(c); err != nil {
		return fmt.Errorf("make %d the voters instead of %d, with learners %d: %w", want, n.log.conf.Voters, n.log.conf.Learners, err)
	}
	if err := n.raw().ProposeConfChange(c); err != nil {
		return dropped(err)
	}
	n.pending = pending{n.status().GetTerm(), n.log.conf.removes(c)}
	return nil
}

// wanted reports what is wrong with the numbers of the wanted voters.
func wanted(want []uint64) error {
	if len(want) == 0 || len(want) > views.MaxVoters {
		return fmt.Errorf("want 1 to %d voters", views.MaxVoters)
	}
	for i, id := range want {
		if !validID(id) || slices.Contains(want[:i], id) {
			return fmt.Errorf("voter number %d is invalid or listed twice", id)
		}
	}
	return nil
}

// towards returns the next step towards some voters, empty if there is none. One voter,
// stays, remains even if it is not wanted.
func (c Electorate) towards(want []uint64, stays uint64) *pb.ConfChangeV2 {
	step := new(pb.ConfChangeV2)
	do := func(t pb.ConfChangeType, id uint64) {
		step.Changes = append(step.Changes, &pb.ConfChangeSingle{Type: t.Enum(), NodeId: new(id)})
	}
	for _, id := range want {
		if !c.Has(id) && !slices.Contains(c.Learners, id) {
			do(pb.ConfChangeAddLearnerNode, id)
		}
	}
	for _, id := range c.Learners {
		if !slices.Contains(want, id) {
			do(pb.ConfChangeRemoveNode, id)
		}
	}
	if len(step.Changes) > 0 {
		return step
	}
	for _, id := range c.Learners {
		do(pb.ConfChangeAddNode, id)
	}
	for _, id := range c.Voters {
		if id != stays && !slices.Contains(want, id) {
			do(pb.ConfChangeRemoveNode, id)
		}
	}
	return step
}

func promotes(c *pb.ConfChangeV2) bool {
	return slices.ContainsFunc(c.GetChanges(), func(s *pb.ConfChangeSingle) bool { return s.GetType() == pb.ConfChangeAddNode })
}

// removes reports whether a change ends the vote of a voter.
func (c Electorate) removes(change *pb.ConfChangeV2) bool {
	return slices.ContainsFunc(change.GetChanges(), func(s *pb.ConfChangeSingle) bool {
		return s.GetType() == pb.ConfChangeRemoveNode && c.Has(s.GetNodeId())
	})
}

// A goal is what learners must have before they vote: what was committed when that was
// first asked, after they joined. What is committed at this moment would be too much to
// ask: while there is only one voter and entries arrive all the time, learners are
// always behind by what is in flight to them.
type goal struct {
	term, index uint64
}

// caughtUp reports whether all learners have reached the goal, get the log as it grows,
// and were heard recently.
func (n *Node) caughtUp() bool {
	if s := n.status(); n.goal.term != s.GetTerm() {
		n.goal = goal{s.GetTerm(), s.GetCommit()}
	}
	all := true
	n.core.WithProgress(func(id uint64, t etcd.ProgressType, p tracker.Progress) {
		if t == etcd.ProgressTypeLearner && (p.Match < n.goal.index || p.State != tracker.StateReplicate || !n.heardLately(id)) {
			all = false
		}
	})
	return all
}

// A heard is when a learner was last heard, in ticks.
type heard struct{ id, at uint64 }

// hears notes that a learner was heard. Raft's own mark will not do: it is cleared
// every so many ticks, and a caller that checks at exactly these ticks finds no learner
// heard.
func (n *Node) hears(id uint64) {
	if !slices.Contains(n.log.conf.Learners, id) {
		return
	}
	n.heard = slices.DeleteFunc(n.heard, func(h heard) bool { return h.id == id || !slices.Contains(n.log.conf.Learners, h.id) })
	n.heard = append(n.heard, heard{id, n.ticks})
}

func (n *Node) heardLately(id uint64) bool {
	return slices.ContainsFunc(n.heard, func(h heard) bool { return h.id == id && n.ticks-h.at <= uint64(n.election) })
}

// void reports why a change is void, or nil. All voters judge alike: they have the same
// electorate at the same index.
func (c Electorate) void(change *pb.ConfChangeV2) error {
	if c.Joint() || change.GetTransition() != pb.ConfChangeTransitionAuto {
		return errors.New("another change is in progress, or this one has an unsupported kind")
	}
	c = c.clone()
	for _, s := range change.GetChanges() {
		id := s.GetNodeId()
		voter, learner := slices.Index(c.Voters, id), slices.Index(c.Learners, id)
		switch t := s.GetType(); {
		case t == pb.ConfChangeAddLearnerNode && voter < 0 && learner < 0 && validID(id):
			c.Learners = append(c.Learners, id)
		case t == pb.ConfChangeAddNode && learner >= 0:
			c.Learners, c.Voters = slices.Delete(c.Learners, learner, learner+1), append(c.Voters, id)
		case t == pb.ConfChangeRemoveNode && learner >= 0:
			c.Learners = slices.Delete(c.Learners, learner, learner+1)
		case t == pb.ConfChangeRemoveNode && voter >= 0:
			c.Voters = slices.Delete(c.Voters, voter, voter+1)
		default:
			return fmt.Errorf("%s does not apply to %d", t, id)
		}
	}
	// One more than can be wanted: a leader that will be removed.
	if v, l := len(c.Voters), len(c.Learners); v == 0 || v > views.MaxVoters+1 || l > views.MaxVoters {
		return fmt.Errorf("unsupported number of voters or learners: %d and %d", v, l)
	}
	return nil
}

// A pending change is proposed and not applied.
type pending struct {
	term    uint64 // of the leader that proposed it; in a later term the change is applied, or gone, before a leader serves
	removes bool   // it ends the vote of a voter
}

// changing reports whether a change of voters or learners is under way.
func (n *Node) changing() bool {
	return n.log.conf.Joint() || n.pending.term == n.status().GetTerm()
}

// parting reports whether a change is under way that ends the vote of a voter. No
// leader proposes entries meanwhile. Otherwise departing voters might have entries that
// the remaining ones lack, and know that they are departing, so that they would neither
// lead nor vote for another. But while the remaining voters do not know of the change,
// they need these votes. Because of this rule, any number of voters can be removed at
// once.
func (n *Node) parting() bool {
	if n.pending.removes && n.pending.term == n.status().GetTerm() {
		return true
	}
	c := n.log.conf
	return slices.ContainsFunc(c.Outgoing, func(id uint64) bool { return !slices.Contains(c.Voters, id) })
}

// leaves reports whether a change that is not applied yet, or not ended, ends the vote
// of a voter.
func (n *Node) leaves(id uint64) bool {
	if c := n.log.conf; slices.Contains(c.Outgoing, id) && !slices.Contains(c.Voters, id) {
		return true
	}
	if n.log.applied < n.log.last() {
		all, err := n.log.Entries(n.log.applied+1, n.log.last()+1, math.MaxUint64)
		n.log.must(err)
		if slices.ContainsFunc(all, removal(id)) {
			return true
		}
	}
	return slices.ContainsFunc(n.writes, func(w write) bool { return slices.ContainsFunc(w.entries, removal(id)) })
}

// removal matches an entry that ends the vote of a voter.
func removal(id uint64) func(e *pb.Entry) bool {
	return func(e *pb.Entry) bool {
		c := new(pb.ConfChangeV2)
		if e.GetType() != pb.EntryConfChangeV2 || proto.Unmarshal(e.GetData(), c) != nil {
			return false
		}
		return slices.ContainsFunc(c.GetChanges(), func(s *pb.ConfChangeSingle) bool {
			return s.GetType() == pb.ConfChangeRemoveNode && s.GetNodeId() == id
		})
	}
}

// applyChange puts a change of voters in force, unless it is void.
func (n *Node) applyChange(e Entry) error {
	c := new(pb.ConfChangeV2)
	if err := proto.Unmarshal(e.Data, c); err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	n.pending, n.goal = pending{}, goal{}
	was := n.log.conf
	if c.LeaveJoint() {
		if !was.Joint() {
			return nil
		}
	} else if was.void(c) != nil {
		return nil // void at all voters
	}
	now := fromConf(n.raw().ApplyConfChange(c))
	if !slices.Equal(was.Voters, now.Voters) || was.Joint() && !slices.Equal(was.Voters, was.Outgoing) {
		n.settle = settling{}
	}
	n.log.elect(now)
	return nil
}

// A settling is how a leader makes sure that the end of the last change of voters is
// known permanently to a majority of the remaining ones: by an entry that it proposes
// after it has applied that end. A voter that has this entry has learned by it that the
// end is committed. Without it, the leader could be lost together with the removed
// voters, as the only one that knew that they might end. Or it could be lost by itself,
// as the one whose vote is needed by voters that do not know yet that the group has
// grown.
//
// Changes of learners need none of this. A removed learner was never counted by any
// voter: a voter that counts it has applied its promotion, which was then committed, so
// that a voter would be removed. And if the change is joint, both of its groups have
// the same voters, so that a voter that does not know of its end needs the same votes
// as one that does. Therefore a removed learner may end as soon as a leader has applied
// its removal.
type settling struct {
	term  uint64 // in which the leader does so
	index uint64 // of the entry, or 0 if it is not proposed yet
	done  bool
}

// unsettled continues settling, and reports whether that needs another round.
func (n *Node) unsettled() bool {
	if n.serves() != nil || n.log.conf.Joint() {
		return false
	}
	s := &n.settle
	if term := n.status().GetTerm(); s.term != term {
		*s = settling{term: term}
	}
	switch {
	case s.done:
		return false
	case s.index > 0 || n.alone():
		s.done = n.log.applied >= s.index
		return false
	}
	next := n.last + 1
	if n.raw().Propose(nil) != nil {
		return false // dropped, because the leader is changing
	}
	s.index = next
	return true
}
