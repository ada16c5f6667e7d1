package raft

import (
	"errors"
	"slices"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stile-lock/stile/internal/views"
)

// revote makes these the voters, through the leader, as a views.Leader would.
func (w *world) revote(t *testing.T, want ...uint64) {
	t.Helper()
	for range bound {
		if l := w.leader(); l != nil {
			lead := l.node.Lead()
			if lead.Settled && slices.Equal(lead.Voters, want) && len(lead.Learners) == 0 {
				return
			}
			w.allowed(l.node.Revote(want))
			if lead.Settled && !slices.Contains(want, l.id) && slices.Contains(lead.Voters, want[0]) {
				w.allowed(l.node.HandOver(want[0]))
			}
			w.flush(l)
		}
		w.rest(t, 1)
	}
	t.Fatalf("%d never vote: %+v", want, w.leader().node.Lead())
}

// entries counts what is in a leader's log, by kind.
func entries(q *proc) (changes, others int) {
	for _, e := range q.disk.state.Entries {
		if e.Kind == Change {
			changes++
		} else {
			others++
		}
	}
	return changes, others
}

// One voter becomes three, five, three and one again, the leader's own place
// being the one that stays, or not.
func TestRevote(t *testing.T) {
	w := grown(t, 1, 1000)
	for _, want := range [][]uint64{
		{1, 64, 65}, {1, 64, 65, 128, 129}, {1, 65, 129}, {1}, {1, 192, 193}, {192, 193, 256}, {257},
	} {
		w.revote(t, want...)
		w.must(w.leader().node.Propose([]byte("x")))
		if w.rest(t, 10); w.proc(want[0]).index != w.leader().index {
			t.Errorf("%d: nothing is committed", want)
		}
	}
}

// Calls at the ticks at which Raft forgets which voters it has heard, and at no others,
// still get voters.
func TestRevoteInStep(t *testing.T) {
	for phase := range election {
		w := grown(t, 1, 1000)
		l := w.leader()
		w.must(l.node.Revote([]uint64{1, 64, 65}))
		w.flush(l)
		w.rest(t, 2*election+phase)
		for range 4 {
			w.rest(t, election-1)
			w.must(l.node.Tick())
			if err := l.node.Revote([]uint64{1, 64, 65}); err != nil && !errors.Is(err, ErrBehind) && !errors.Is(err, ErrBusy) {
				t.Fatal(err)
			}
			w.flush(l)
		}
		if lead := l.node.Lead(); !slices.Equal(lead.Voters, []uint64{1, 64, 65}) {
			t.Errorf("phase %d: %+v", phase, lead)
		}
	}
}

// One voter becomes three by one change of learners and one joint change of
// voters, and not before the learners have the log.
func TestLearnersFirst(t *testing.T) {
	w := grown(t, 1, 1000)
	l := w.leader()
	want := []uint64{1, 64, 65}
	w.must(l.node.Revote(want))
	if err := l.node.Revote(want); !errors.Is(err, ErrBusy) || l.node.Lead().Settled {
		t.Errorf("a change beside another: %v", err)
	}
	w.flush(l)
	lead := l.node.Lead()
	if !slices.Equal(lead.Voters, []uint64{1}) || !slices.Equal(lead.Learners, []uint64{64, 65}) || !lead.Settled {
		t.Errorf("learners do not come first: %+v", lead)
	}
	if err := l.node.Revote(want); !errors.Is(err, ErrBehind) {
		t.Errorf("learners without the log vote: %v", err)
	}
	w.rest(t, 3*election)
	w.must(l.node.Revote(want))
	w.must(l.node.Propose([]byte("nobody goes")))
	w.flush(l)
	if c := l.node.log.conf; !slices.Equal(c.Voters, want) || !slices.Equal(c.Outgoing, []uint64{1}) || l.node.Lead().Settled {
		t.Errorf("the change is not joint: %+v", c)
	}
	for _, err := range []error{l.node.Revote(want), l.node.HandOver(64)} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("within a joint change: %v", err)
		}
	}
	w.rest(t, 3*election)
	for _, q := range w.procs {
		if lead := q.node.Lead(); !slices.Equal(lead.Voters, want) || len(lead.Learners) > 0 || lead.Settled != (q == l) {
			t.Errorf("voter %d: %+v", q.id, lead)
		}
	}
	if changes, _ := entries(l); changes != 4 {
		t.Errorf("%d entries, not two changes and their ends", changes)
	}
	ops := 0
	l.disk.Meet(func() Trouble { ops++; return Fine })
	w.must(l.node.Revote(want))
	if w.flush(l); ops > 0 {
		t.Error("a change to what is there already is written")
	}
}

// A learner that never answers stops nothing, and can be replaced. A voter that
// never answers, among two, stops all: that is what learners are for.
func TestDeadLearner(t *testing.T) {
	for _, learns := range []bool{true, false} {
		w := grown(t, 1, 1000)
		l := w.leader()
		w.add(64).end()
		if learns {
			w.must(l.node.Revote([]uint64{1, 64}))
		} else {
			w.must(l.node.raw().ProposeConfChange(&pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{{Type: pb.ConfChangeAddLearnerNode.Enum(), NodeId: new(uint64(64))}}}))
			w.flush(l)
			w.must(l.node.raw().ProposeConfChange(&pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{{Type: pb.ConfChangeAddNode.Enum(), NodeId: new(uint64(64))}}}))
		}
		w.flush(l)
		w.rest(t, 3*election)
		was := l.index
		if err := l.node.Propose([]byte("x")); (err == nil) != learns {
			t.Fatalf("learns: %t, %v", learns, err)
		}
		w.rest(t, 10)
		if (l.index > was) != learns {
			t.Errorf("learns: %t, applied %d after %d", learns, l.index, was)
		}
		if learns {
			w.revote(t, 1, 65, 66)
		}
	}
}

// A leader that is not wanted brings the others in and out, and is removed by
// the next one.
func TestLeaderNotWanted(t *testing.T) {
	w := grown(t, 1, 1000)
	w.revote(t, 1, 64, 65)
	l := w.leader()
	want := []uint64{128, 129, 130}
	for range 6 * election {
		w.allowed(l.node.Revote(want))
		w.flush(l)
		w.rest(t, 1)
	}
	if lead := l.node.Lead(); !lead.Settled || !slices.Equal(lead.Voters, []uint64{l.id, 128, 129, 130}) {
		t.Fatalf("the others have not come and gone: %+v", lead)
	}
	w.must(l.node.Revote(want)) // nothing that it could do
	w.must(l.node.HandOver(129))
	w.flush(l)
	w.rest(t, election)
	next := w.leader()
	w.revote(t, want...)
	if next.id != 129 || w.leader() != next || !removed(l.node) && l.node.leads() {
		t.Errorf("%d leads, then %d", next.id, w.leader().id)
	}
}

func TestRevoteRefused(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	for _, want := range [][]uint64{nil, {1, 2, 3, 4, 5, 6}, {1, 1}, {0}, {1<<64 - 1}} {
		if l.node.Revote(want) == nil {
			t.Errorf("%d can be the voters", want)
		}
	}
	for _, q := range w.procs {
		if q != l {
			if err := q.node.Revote([]uint64{1}); !errors.Is(err, views.ErrNotLeader) {
				t.Errorf("a follower changes the voters: %v", err)
			}
		}
	}
}

// What no leader proposes is void, for all.
func TestVoid(t *testing.T) {
	c := Electorate{Voters: []uint64{1, 2}, Learners: []uint64{3}}
	one := func(t pb.ConfChangeType, id uint64) *pb.ConfChangeV2 {
		return &pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{{Type: t.Enum(), NodeId: new(id)}}}
	}
	for _, x := range []struct {
		change *pb.ConfChangeV2
		void   bool
	}{
		{one(pb.ConfChangeAddLearnerNode, 4), false},
		{one(pb.ConfChangeAddNode, 3), false},
		{one(pb.ConfChangeRemoveNode, 3), false},
		{one(pb.ConfChangeRemoveNode, 2), false},
		{one(pb.ConfChangeAddLearnerNode, 2), true},
		{one(pb.ConfChangeAddLearnerNode, 3), true},
		{one(pb.ConfChangeAddLearnerNode, 0), true},
		{one(pb.ConfChangeAddNode, 4), true},
		{one(pb.ConfChangeAddNode, 1), true},
		{one(pb.ConfChangeRemoveNode, 4), true},
		{one(pb.ConfChangeUpdateNode, 1), true},
		{&pb.ConfChangeV2{Transition: pb.ConfChangeTransitionJointExplicit.Enum(), Changes: one(pb.ConfChangeAddNode, 3).Changes}, true},
		{&pb.ConfChangeV2{Changes: slices.Concat(one(pb.ConfChangeRemoveNode, 1).Changes, one(pb.ConfChangeRemoveNode, 2).Changes)}, true},
	} {
		if err := c.void(x.change); (err != nil) != x.void {
			t.Errorf("%v: %v", x.change, err)
		}
	}
	c.Outgoing = []uint64{1}
	if c.void(one(pb.ConfChangeAddNode, 3)) == nil {
		t.Error("a change within a joint one")
	}
}

// Of two voters one is removed and ends. The other one restarts and leads, because
// its disk knows that the change is committed.
func TestTwoToOne(t *testing.T) {
	w := grown(t, 2, 100)
	l := w.leader()
	gone := w.proc(w.other(l))
	w.must(l.node.Revote([]uint64{l.id}))
	for !slices.Equal(l.node.log.voters, []uint64{l.id}) {
		w.flush(gone)
		w.flush(l)
		w.deliver()
		w.now++
	}
	gone.end()
	w.crash(l)
	if w.rest(t, 100); w.leader() != l {
		t.Error("the only voter does not lead after a restart")
	}
}

// lastWord brings a leader of three to where it has just applied the end of a
// change, by which it alone stays, and two come. Then only those who go hear that
// the end is committed.
func (w *world) lastWord(t *testing.T) (l *proc, gone, came []*proc) {
	t.Helper()
	l = w.leader()
	gone = slices.DeleteFunc(slices.Clone(w.procs), func(q *proc) bool { return q == l })
	want := []uint64{l.id, w.number(), w.number()}
	w.must(l.node.Revote(want))
	w.flush(l)
	w.rest(t, 3*election) // they learn
	came = []*proc{w.proc(want[1]), w.proc(want[2])}
	w.mail = nil
	w.must(l.node.Revote(want))
	w.flush(l)
	for range 50 {
		if slices.Equal(l.node.log.conf.Voters, want) && !l.node.log.conf.Joint() {
			break
		}
		w.pump(1, 2, 3, 4, 5)
	}
	end := l.node.log.applied
	w.pump(gone[0].id, gone[1].id)
	w.mail = nil
	for i := range 2 {
		g, c := gone[i].node, came[i].node
		if !removed(g) || g.log.last() != end || !c.log.conf.Joint() || c.log.last() != end {
			t.Fatalf("all should have the end, at %d, and those who go alone should know that it is committed: %d: %+v, %d: %+v", end, g.id, g.log.conf, c.id, c.log.conf)
		}
	}
	return l, gone, came
}

// Removed voters run until the leader is settled. Here the leader is lost before,
// and the new voters need the votes of the removed ones: without them no voter leads.
func TestGoneTooSoon(t *testing.T) {
	for _, c := range []struct {
		name string
		soon bool // removed voters end as soon as they know of the change
	}{
		{"the rule", false},
		{"ends as soon as it knows", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := grown(t, 3, 1000)
			l, gone, came := w.lastWord(t)
			w.flush(l)
			w.mail = nil
			end := func() { gone[0].end(); gone[1].end() }
			if c.soon || l.node.Lead().Settled {
				end()
			}
			l.end()
			w.rest(t, bound)
			next := w.leader()
			if (next == nil) != c.soon {
				t.Fatalf("ends too soon: %t, leader: %v", c.soon, next)
			}
			if c.soon {
				return
			}
			if lead := next.node.Lead(); !lead.Settled || !slices.Equal(lead.Voters, []uint64{l.id, came[0].id, came[1].id}) {
				t.Fatalf("the next leader is not settled: %+v", lead)
			}
			end() // now they may
			was := w.high
			w.must(next.node.Propose([]byte("x")))
			if w.rest(t, 10); came[0].index <= was || came[1].index <= was {
				t.Error("nothing is committed after those who went have ended")
			}
		})
	}
}

// A number that was removed keeps its storage, and disturbs no voter.
func TestRemoved(t *testing.T) {
	w := grown(t, 3, 5)
	l := w.leader()
	gone := w.proc(w.other(l))
	w.want = slices.DeleteFunc(slices.Clone(w.want), func(id uint64) bool { return id == gone.id })
	w.revote(t, append(w.want, w.number())...)
	if w.rest(t, 6*election); w.leader() != l || !l.node.Lead().Settled {
		t.Error("one who was removed disturbs the leader")
	}
	if err := join(gone.disk, group, gone.id); err == nil {
		t.Error("a storage is born twice")
	}
}

// Lead is asked at every flush, and makes no garbage.
func TestLeadIsCheap(t *testing.T) {
	w := grown(t, 3, 100)
	n := w.leader().node
	if allocs := testing.AllocsPerRun(100, func() { n.Lead() }); allocs != 0 {
		t.Errorf("Lead takes memory %v times", allocs)
	}
}
