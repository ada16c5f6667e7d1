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

	"github.com/stile-lock/stile/internal/engine"
)

// Revote takes a step towards these voters, and no others:
//
//   - Those who are neither voters nor learners become learners, and learners who
//     are not wanted are none any more.
//   - When all learners have the log, they become voters, and voters who are not
//     wanted are none any more, in one change.
//
// So whoever never comes, or dies before it has the log, stops nothing. Nobody
// removes itself: a leader that is not wanted stays until another one leads, by
// HandOver. Those who are removed must go on until the leader is Settled.
//
// If there is nothing to be done, or nothing by this leader, it does nothing. A
// number that was removed must never be wanted again.
func (n *Node) Revote(want []uint64) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	if err := wanted(want); err != nil {
		return fmt.Errorf("let %d vote: %w", want, err)
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
		return fmt.Errorf("let %d vote instead of %d, with %d as learners: %w", want, n.log.conf.Voters, n.log.conf.Learners, err)
	}
	if err := n.raw().ProposeConfChange(c); err != nil {
		return dropped(err)
	}
	n.pending = pending{n.status().GetTerm(), n.log.conf.removes(c)}
	return nil
}

// wanted says what is wrong with the numbers of voters to be.
func wanted(want []uint64) error {
	if len(want) == 0 || len(want) > engine.MaxVoters {
		return fmt.Errorf("1 to %d can be", engine.MaxVoters)
	}
	for i, id := range want {
		if !validID(id) || slices.Contains(want[:i], id) {
			return fmt.Errorf("%d is no number of a voter, or there twice", id)
		}
	}
	return nil
}

// towards returns the next step towards some voters, empty if there is none. One
// stays, whoever is wanted.
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

// removes says whether a change ends the vote of somebody.
func (c Electorate) removes(change *pb.ConfChangeV2) bool {
	return slices.ContainsFunc(change.GetChanges(), func(s *pb.ConfChangeSingle) bool {
		return s.GetType() == pb.ConfChangeRemoveNode && c.Has(s.GetNodeId())
	})
}

// A goal is what learners must have before they vote: what was committed when
// that was first asked, after they came. What is committed at this moment would
// be too much to ask: while one votes alone and entries come all the time,
// learners are always behind by the way to them.
type goal struct {
	term, index uint64
}

// caughtUp says whether all learners have reached the goal, get the log as it
// grows, and were heard of late.
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

// hears notes that a learner was heard. Raft's own mark of that will not do: it is
// wiped out every so many ticks, and whoever asks at these very ticks sees nobody.
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

// void says why a change is void, or nil. All voters judge alike: they have the
// same electorate at the same index.
func (c Electorate) void(change *pb.ConfChangeV2) error {
	if c.Joint() || change.GetTransition() != pb.ConfChangeTransitionAuto {
		return errors.New("a change is under way, or is to be of another sort")
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
			return fmt.Errorf("%s cannot be done to %d", t, id)
		}
	}
	// One more than can be wanted: a leader that is to go.
	if v, l := len(c.Voters), len(c.Learners); v == 0 || v > engine.MaxVoters+1 || l > engine.MaxVoters {
		return fmt.Errorf("%d voters and %d learners cannot be", v, l)
	}
	return nil
}

// A pending change is proposed and not applied.
type pending struct {
	term    uint64 // of the leader that did; in a later one, the change is applied, or gone, before anybody serves
	removes bool   // it ends the vote of somebody
}

// changing says whether a change of voters or learners is under way.
func (n *Node) changing() bool {
	return n.log.conf.Joint() || n.pending.term == n.status().GetTerm()
}

// parting says whether a change is under way that ends the vote of somebody. No
// leader proposes entries meanwhile. Otherwise those who go might have entries
// that those who stay lack, and know that they are to go, so that they would
// neither lead nor vote for anybody: and while those who stay do not know it, they
// need these votes. Therefore any number of voters can go at once.
func (n *Node) parting() bool {
	if n.pending.removes && n.pending.term == n.status().GetTerm() {
		return true
	}
	c := n.log.conf
	return slices.ContainsFunc(c.Outgoing, func(id uint64) bool { return !slices.Contains(c.Voters, id) })
}

// leaves says whether a change that is not applied yet, or not ended, ends the vote of
// somebody.
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

// removal finds an entry that ends the vote of somebody.
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
		return nil // for all
	}
	now := fromConf(n.raw().ApplyConfChange(c))
	if !slices.Equal(was.Voters, now.Voters) || was.Joint() && !slices.Equal(was.Voters, was.Outgoing) {
		n.settle = settling{}
	}
	n.log.elect(now)
	return nil
}

// A settling is how a leader makes sure that the end of the last change of
// voters is known, for good, to a majority of those who are left: by an entry
// that it proposes after it has applied that end. Whoever has this entry has
// learned by it that the end is committed. Without it, the leader could be lost
// together with those who went, as the only one who knew that they might; or it
// could be lost alone, as the one whose vote those need who do not know yet that
// they are more.
//
// Changes of learners need nothing of this. A learner that is removed was never
// counted by anybody: who counts it has applied that it votes, which was then
// committed, and it would be a voter that is removed. And if the change is joint,
// both of its groups are the same voters, so that whoever does not know of its
// end needs no others than who does. Therefore a removed learner may end as soon
// as a leader has applied its removal.
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
		return false // dropped, since the leader is changing
	}
	s.index = next
	return true
}
