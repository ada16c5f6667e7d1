package raft

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stile-lock/stile/internal/views"
)

// grown is a world without faults in which all voters are there.
func grown(t *testing.T, voters, maxLog int) *world {
	t.Helper()
	w := newWorld(plan{seed: 5, voters: voters, maxLog: maxLog, mild: true, fixed: true})
	for !w.well(0) {
		if w.tick(); w.wrong != nil || w.now > bound {
			t.Fatalf("not grown after %d ticks: %v", w.now, w.wrong)
		}
	}
	w.idle = true
	w.rest(t, 2*election)
	return w
}

func (w *world) rest(t *testing.T, ticks int) {
	t.Helper()
	for range ticks {
		w.tick()
	}
	if w.wrong != nil {
		t.Fatal(w.wrong)
	}
}

// The same seed gives the same bytes, whatever happens.
func TestDeterminism(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(45) {
		p := plan{seed: seed, voters: 1 + 2*int(seed%3), length: 400, maxLog: 20}
		a, b := run(p), run(p)
		if a.trace != b.trace || a.stats != b.stats {
			t.Fatalf("seed %d, %d voters: %+v and %+v", seed, p.voters, a.stats, b.stats)
		}
		seen[a.trace] = true
	}
	if len(seen) != 45 {
		t.Errorf("45 seeds give %d traces: they do not see the traffic", len(seen))
	}
	p := plan{seed: 1, voters: 3, length: 400, maxLog: 20, chance: true}
	if a, b := run(p), run(p); a.trace == b.trace {
		t.Error("Raft's own timeouts are not noticed")
	}
}

// A group in which nothing happens writes nothing.
func TestIdle(t *testing.T) {
	for _, voters := range []int{1, 3, 5} {
		w := grown(t, voters, 100)
		ops := 0
		for _, q := range w.procs {
			q.disk.Meet(func() Trouble { ops++; return Fine })
		}
		w.rest(t, 1000)
		if ops != 0 {
			t.Errorf("%d voters: %d operations in 1000 ticks", voters, ops)
		}
		w.must(w.leader().node.Propose([]byte("x")))
		if w.rest(t, 10); ops == 0 {
			t.Error("the count does not see an entry")
		}
	}
}

// A voter that returns without its storage, under its old number, is detected as soon as
// another voter counts on what it had promised.
func TestWiped(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	q := w.proc(w.other(l))
	q.disk = &Disk{}
	w.must(join(q.disk, group, q.id))
	w.start(q)
	for range 3 * heartbeat {
		w.tick()
	}
	if w.wrong == nil || !strings.Contains(w.wrong.Error(), "lost") {
		t.Errorf("a wiped voter goes on: %v", w.wrong)
	}
}

// A voter that was away for longer than the log gets a snapshot, even if the first one
// is lost.
func TestLagging(t *testing.T) {
	w := grown(t, 3, 5)
	l := w.leader()
	q := w.proc(w.other(l))
	w.sides[q.id] = 1
	for i := range 40 {
		w.must(l.node.Propose([]byte{byte(i)}))
		w.flush(l)
		w.rest(t, 3)
	}
	before := w.stats.snapshots
	w.sides[q.id] = 0
	sent := func(p parcel) bool {
		m, err := unpack(group, p.from, p.to, p.bytes)
		return err == nil && p.to == q.id && m.GetType() == pb.MsgSnap
	}
	for !slices.ContainsFunc(w.mail, sent) {
		w.rest(t, 1)
	}
	w.mail = nil // the snapshot is lost
	if w.rest(t, 3*election); q.index != l.index || w.stats.snapshots == before {
		t.Errorf("the one who was away is at %d, the leader at %d, after %d snapshots", q.index, l.index, w.stats.snapshots-before)
	}
}

// A leader without followers confirms nothing, and soon does not lead.
func TestAloneLeader(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	w.sides[l.id] = 1
	w.must(l.node.Read(1))
	reads := w.stats.reads
	w.rest(t, 3*election)
	if w.stats.reads != reads {
		t.Error("a read was confirmed by nobody else")
	}
	if l.node.Lead().Serves {
		t.Error("it still leads")
	}
	if err := l.node.Read(2); !errors.Is(err, views.ErrNotLeader) {
		t.Errorf("a read of one who does not lead: %v", err)
	}
	if w.leader() == nil {
		t.Error("the others have no leader")
	}
}

func TestTransfer(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	to := w.other(l)
	w.must(l.node.HandOver(to))
	w.flush(l)
	if err := l.node.Propose([]byte("x")); !errors.Is(err, ErrDropped) {
		t.Errorf("a proposal while the leader changes: %v", err)
	}
	if w.rest(t, 10); w.leader() == nil || w.leader().id != to {
		t.Errorf("%d does not lead", to)
	}
	for _, id := range []uint64{to, 99} {
		if w.leader().node.HandOver(id) == nil {
			t.Errorf("leadership goes from %d to %d", to, id)
		}
	}
}

// A voter votes once in a term, even if it restarts in between.
func TestVote(t *testing.T) {
	w := grown(t, 3, 100)
	disk := w.procs[0].disk
	granted := 0
	for _, from := range w.procs[1:] {
		n, err := open(disk, Config{Machine: w.procs[0], Election: 10, Heartbeat: 1, MaxLog: 100})
		if err != nil {
			t.Fatal(err)
		}
		b, err := pack(group, &pb.Message{Type: pb.MsgVote.Enum(), From: new(from.id), To: new(n.id), Term: new(uint64(99)), Index: new(uint64(1000)), LogTerm: new(uint64(98))})
		if err != nil {
			t.Fatal(err)
		}
		w.must(n.Step(from.id, b))
		out, err := n.Flush()
		if err != nil || len(out.Send)+len(out.Saves) != 1 {
			t.Fatalf("%v, with %d messages and %d saves: a vote waits for its save", err, len(out.Send), len(out.Saves))
		}
		for _, save := range out.Saves {
			w.must(Write(disk, save.Record))
			w.must(n.Saved(save.Number))
			out, err = n.Flush()
		}
		if err != nil || len(out.Send) != 1 {
			t.Fatalf("%v, with %d messages", err, len(out.Send))
		}
		m, err := unpack(group, n.id, from.id, out.Send[0].Bytes)
		if err != nil || m.GetType() != pb.MsgVoteResp {
			t.Fatal(m, err)
		}
		if !m.GetReject() {
			granted++
		}
	}
	if granted != 1 {
		t.Errorf("%d votes in one term, want 1", granted)
	}
}

// A voter that knows other entries to be committed than a leader sends does not campaign for
// a while: with its longer log it would be elected, and the others could not follow it.
func TestConflictingVoter(t *testing.T) {
	for _, conflict := range []bool{true, false} {
		w := grown(t, 3, 100)
		n, err := open(w.procs[0].disk, Config{Machine: w.procs[0], Election: 10, Heartbeat: 1, MaxLog: 100})
		if err != nil {
			t.Fatal(err)
		}
		from, commit := w.procs[1].id, n.status().GetCommit()
		of, err := n.log.Term(commit)
		if err != nil {
			t.Fatal(err)
		}
		if conflict {
			of++
		}
		b, err := pack(group, &pb.Message{Type: pb.MsgApp.Enum(), From: new(from), To: new(n.id), Term: new(uint64(99)), Index: new(commit), LogTerm: new(of), Commit: new(commit)})
		if err != nil {
			t.Fatal(err)
		}
		w.must(n.Step(from, b))
		campaigned := 0
		for tick := 1; campaigned == 0; tick++ {
			w.must(n.Tick())
			out, err := n.Flush()
			if err != nil {
				t.Fatal(err)
			}
			for _, save := range out.Saves {
				w.must(n.Saved(save.Number))
			}
			if slices.ContainsFunc(out.Send, func(x views.Post) bool {
				m, err := unpack(group, n.id, x.To, x.Bytes)
				return err == nil && m.GetType() == pb.MsgPreVote
			}) {
				campaigned = tick
			}
		}
		if late := campaigned >= oddElections*10; late != conflict {
			t.Errorf("with a conflict: %t; it campaigns after %d ticks", conflict, campaigned)
		}
	}
}

// hold has a voter's disk make nothing durable, until the function is called.
func (w *world) hold(q *proc) (release func()) {
	q.saves = []due{{at: forever}}
	return func() {
		q.saves = q.saves[1:]
		w.write(q)
	}
}

// kinds returns which messages are on their way from a voter.
func (w *world) kinds(t *testing.T, from uint64) map[pb.MessageType]int {
	t.Helper()
	all := map[pb.MessageType]int{}
	for _, p := range w.mail {
		if p.from == from {
			m, err := unpack(group, p.from, p.to, p.bytes)
			if err != nil {
				t.Fatal(err)
			}
			all[m.GetType()]++
		}
	}
	return all
}

// A slow disk delays what depends on it, and nothing else: a follower answers
// heartbeats, and confirms no entry before it is durable.
func TestSlowFollower(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	slow := w.proc(w.other(l))
	release := w.hold(slow)
	w.must(l.node.Propose([]byte("x")))
	w.flush(l)
	was := slow.index
	seen := map[pb.MessageType]int{}
	for range 3 * heartbeat {
		w.tick()
		for k, n := range w.kinds(t, slow.id) {
			seen[k] += n
		}
	}
	if seen[pb.MsgHeartbeatResp] == 0 || seen[pb.MsgAppResp] != 0 || slow.index != was || l.index <= was {
		t.Errorf("while the disk is slow: %v sent, applied %d, leader %d", seen, slow.index, l.index)
	}
	release()
	if w.rest(t, 2*heartbeat); slow.index != l.index {
		t.Errorf("applied %d, leader %d", slow.index, l.index)
	}
}

// A leader whose disk is slow sends entries, commits by the others, confirms reads,
// and then hands over: it does not learn what is committed.
func TestSlowLeader(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	was := l.index
	release := w.hold(l)
	w.must(l.node.Propose([]byte("x")))
	w.must(l.node.Read(77))
	l.asked[77] = w.high
	reads := w.stats.reads
	w.flush(l)
	w.rest(t, 4)
	if w.stats.reads == reads {
		t.Error("a read waits for the leader's disk")
	}
	if w.rest(t, 3*election); w.leader() == l || w.leader() == nil {
		t.Error("a leader whose disk stands still does not hand over")
	}
	if w.leader().index <= was || l.index != was {
		t.Errorf("applied %d by the new leader, %d by the slow one", w.leader().index, l.index)
	}
	release()
	if w.rest(t, election); l.index != w.leader().index {
		t.Errorf("the slow one has applied %d of %d", l.index, w.leader().index)
	}
}

// A voter that waits for its disk does not campaign again. Each campaign would be one
// more save, and make void the vote for itself that the disk is about to have: one
// whose disk takes longer than its patience would never lead.
func TestSlowCampaign(t *testing.T) {
	for voters, lag := range map[int]int{1: 2, 3: 4 * election} {
		w := grown(t, voters, 100)
		w.lag = lag
		for _, q := range w.procs {
			w.start(q)
		}
		for range 20 * election {
			w.rest(t, 1)
			for _, q := range w.procs {
				if len(q.node.writes) > 3 {
					t.Fatalf("%d voters: one waits for %d saves", voters, len(q.node.writes))
				}
			}
		}
		if w.leader() == nil {
			t.Errorf("%d voters, whose disks take %d ticks: none leads", voters, lag)
		}
	}
}

// A leader whose disk is always behind, and acknowledges one save after the other, has
// no reason to hand over.
func TestBusyLeader(t *testing.T) {
	w := grown(t, 3, 1000)
	w.lag = 4
	l := w.leader()
	for i := range 10 * election {
		w.must(l.node.Propose([]byte("x")))
		w.flush(l)
		if w.rest(t, 1); len(l.node.writes) == 0 && i > w.lag {
			t.Fatal("the disk is not behind")
		}
		if w.leader() != l || l.node.status().LeadTransferee != 0 {
			t.Fatalf("it hands over at %d, with %d saves pending", w.now, len(l.node.writes))
		}
	}
}

// A leader whose disk is as slow as all others does not hand over: the next one would have
// to save its vote and an entry first, and then hand over too.
func TestAllDisksAreSlow(t *testing.T) {
	w := grown(t, 3, 1000)
	w.lag = 3 * election
	l := w.leader()
	w.must(l.node.Propose([]byte("x")))
	w.flush(l)
	for applied := l.index; l.index == applied; {
		if w.rest(t, 1); w.leader() != l || l.node.status().LeadTransferee != 0 {
			t.Fatalf("it hands over at %d, with %d saves pending", w.now, len(l.node.writes))
		}
	}
}

// A change of voters is in force at a voter only when it is known for good there.
func TestChangeIsDurable(t *testing.T) {
	w := grown(t, 3, 100)
	l := w.leader()
	slow := w.proc(w.other(l))
	release := w.hold(slow)
	before := slow.node.log.conf
	w.want = append(slices.Clone(w.want), w.number(), w.number())
	w.fixed, w.voters = true, 5
	for range 20 {
		w.allowed(l.node.Revote(w.want))
		w.flush(l)
		w.rest(t, 1)
	}
	if now := slow.node.log.conf; !slices.Equal(now.Learners, before.Learners) || !slices.Equal(now.Voters, before.Voters) || len(l.node.log.conf.Voters) != 5 {
		t.Errorf("%+v at a voter that has saved nothing, %+v at the leader", now, l.node.log.conf)
	}
	release()
	w.rest(t, 4)
	if len(slow.node.log.conf.Learners)+len(slow.node.log.conf.Voters) != 5 {
		t.Errorf("voters %+v after all was saved", slow.node.log.conf)
	}
}

// A snapshot brings its voters at once, also if the disk is slow: a change of voters
// before it, which waits for an older save, is no longer applied.
func TestSnapshotOvertakesChange(t *testing.T) {
	w := grown(t, 3, 8)
	l := w.leader()
	slow := w.proc(w.other(l))
	w.want = append(slices.Clone(w.want), w.number(), w.number())
	w.fixed, w.voters = true, 5
	w.must(l.node.Revote(w.want))
	w.flush(l)
	for log := slow.node.log; !log.conf.Joint() || log.last() == log.applied; {
		w.rest(t, 1)
	}
	release := w.hold(slow)
	w.rest(t, 4)
	if len(slow.node.applies) == 0 {
		t.Fatal("no change waits for the disk")
	}
	next := w.want[slices.IndexFunc(w.want, func(id uint64) bool { return id != l.id && id != slow.id })]
	w.must(l.node.HandOver(next)) // to a leader that does not know what the slow one has
	w.flush(l)
	if w.rest(t, 2*election); w.leader() == nil || w.leader() == l {
		t.Fatal("it does not hand over")
	}
	l = w.leader()
	for range 12 {
		w.allowed(l.node.Propose([]byte("x")))
		w.flush(l)
		w.rest(t, 1)
	}
	if last, err := ParseBatch(slow.saves[len(slow.saves)-1].save.Record); err != nil || last.Snapshot == nil {
		t.Fatalf("no snapshot waits for the disk: %v", err)
	}
	release()
	if w.rest(t, 2*election); slow.node == nil || slow.index != w.leader().index || slow.node.log.conf.Joint() {
		t.Errorf("applied %d, leader %d", slow.index, w.leader().index)
	}
}

func TestStartRefused(t *testing.T) {
	q := &proc{w: newWorld(plan{maxLog: 9, mild: true})}
	good := Config{Machine: q, Election: 10, Heartbeat: 1, MaxLog: 10}
	if _, err := New(good); !errors.Is(err, ErrUnborn) {
		t.Errorf("an empty state: %v", err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Machine = nil },
		func(c *Config) { c.Heartbeat = 0 },
		func(c *Config) { c.Election = 1 },
		func(c *Config) { c.MaxLog = 0 },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%+v starts", c)
		}
	}
	for _, id := range []uint64{0, 1<<64 - 1, 1<<64 - 2} {
		if join(&Memory{}, 1, id) == nil || join(&Memory{}, 0, 5) == nil {
			t.Errorf("voter %d joins", id)
		}
	}
}

// Raft logs what it does, if there is a logger.
func TestLog(t *testing.T) {
	q := &proc{w: newWorld(plan{maxLog: 9, mild: true})}
	m, lines := &Memory{}, 0
	if err := bootstrap(m, 1, 1, q.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if _, err := open(m, Config{Machine: q, Election: 10, Heartbeat: 1, MaxLog: 10, Log: func(string) { lines++ }}); err != nil || lines == 0 {
		t.Errorf("%v, %d lines", err, lines)
	}
}

// A state that is not sound is refused, or harmless: Raft never panics on it.
func TestUnsound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	w := run(plan{seed: 3, voters: 3, length: 200, maxLog: 30})
	refused := 0
	for range 4000 {
		q := w.procs[rng.IntN(len(w.procs))]
		s := q.disk.state
		s.Entries = slices.Clone(s.Entries)
		numbers := []*uint64{&s.Group, &s.ID, &s.Hard.Term, &s.Hard.Vote, &s.Hard.Commit, &s.Snapshot.Index, &s.Snapshot.Term}
		s.Snapshot.Electorate = s.Snapshot.Electorate.clone()
		for _, ids := range [][]uint64{s.Snapshot.Electorate.Voters, s.Snapshot.Electorate.Learners} {
			for i := range ids {
				numbers = append(numbers, &ids[i])
			}
		}
		for i := range s.Entries {
			numbers = append(numbers, &s.Entries[i].Index, &s.Entries[i].Term)
			if rng.IntN(50) == 0 {
				s.Entries[i].Kind = Kind(rng.IntN(3))
			}
		}
		for range 1 + rng.IntN(2) {
			n := numbers[rng.IntN(len(numbers))]
			*n = []uint64{0, 1, 2, *n + 1, *n - 1, 1 << 63, 1<<64 - 1}[rng.IntN(7)]
		}
		machine := &proc{w: &world{truth: map[uint64]uint64{}}}
		if _, err := New(Config{State: s, Machine: machine, Election: 10, Heartbeat: 1, MaxLog: 10}); err != nil {
			refused++
		}
	}
	if refused < 1000 {
		t.Errorf("only %d refused", refused)
	}
}

// Messages that are not sound are refused, or end the node: never the process.
func TestUnsoundMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	refused, ended := 0, 0
	for seed := range uint64(60) {
		w := newWorld(plan{seed: seed, voters: 3, maxLog: 10, mild: true, fixed: true})
		for w.now < 120 {
			for _, p := range w.mail {
				q := w.proc(p.to)
				if q == nil || q.node == nil || rng.IntN(4) > 0 {
					continue
				}
				b := slices.Clone(p.bytes)
				if b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8)); rng.IntN(9) == 0 {
					b = b[:rng.IntN(len(b))]
				}
				if q.node.Step(p.from, b) != nil {
					refused++
				}
				if q.node.err != nil {
					ended++
					q.node, q.down = nil, 1
				}
			}
			w.tick()
			w.wrong = nil // a forged message may do harm, but no more than that
			w.truth, w.leaders = map[uint64]uint64{}, map[uint64]uint64{}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	t.Logf("%d refused, %d nodes ended", refused, ended)
}
