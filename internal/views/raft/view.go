package raft

import (
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stile-lock/stile/internal/views"
)

// A view is the log as Raft reads it: in memory, and no further than what the storage
// has. Its snapshot is always current: a voter would refuse one that was made before it
// joined.
type view struct {
	*etcd.MemoryStorage
	machine views.Machine
	conf    Electorate // never changed, but replaced
	voters  []uint64   // of both its groups, ascending
	base    uint64     // index of the snapshot in the storage
	applied uint64
	term    uint64 // of what was applied last
}

func newView(n *Node, s State) *view {
	v := &view{
		MemoryStorage: etcd.NewMemoryStorage(), machine: n.machine,
		base: s.Snapshot.Index, applied: s.Snapshot.Index, term: s.Snapshot.Term,
	}
	v.elect(s.Snapshot.Electorate.clone())
	if s.Snapshot.Index > 0 {
		snap := toSnapshot(s.Snapshot)
		snap.Data = nil // the machine has it
		v.must(v.ApplySnapshot(snap))
	}
	entries := make([]*pb.Entry, len(s.Entries))
	for i, e := range s.Entries {
		entries[i] = toEntry(e)
	}
	v.must(v.Append(entries))
	v.must(v.SetHardState(&pb.HardState{Term: new(s.Hard.Term), Vote: new(s.Hard.Vote), Commit: new(s.Hard.Commit)}))
	return v
}

// must is for what a log in memory never fails at; Node.guard handles it.
func (v *view) must(err error) {
	if err != nil {
		panic(err)
	}
}

// Snapshot returns a current snapshot.
func (v *view) Snapshot() (*pb.Snapshot, error) {
	return toSnapshot(v.present()), nil
}

func (v *view) present() Snapshot {
	return Snapshot{Index: v.applied, Term: v.term, Electorate: v.conf.clone(), Data: v.machine.Snapshot()}
}

func (v *view) last() uint64 {
	last, err := v.LastIndex()
	v.must(err)
	return last
}

// elect notes the electorate from now on.
func (v *view) elect(c Electorate) {
	v.conf, v.voters = c, c.Voters
	if c.Joint() {
		v.voters = slices.Concat(c.Voters, c.Outgoing)
		slices.Sort(v.voters)
		v.voters = slices.Compact(v.voters)
	}
}

// install replaces the log by a snapshot from a leader.
func (v *view) install(s Snapshot) {
	snap := toSnapshot(s)
	snap.Data = nil
	v.must(v.ApplySnapshot(snap))
	v.elect(s.Electorate.clone())
	v.base, v.applied, v.term = s.Index, s.Index, s.Term
}

// truncate drops what a snapshot holds, unless a leader's has replaced it.
func (v *view) truncate(s *Snapshot) {
	if s.Index <= v.base {
		return
	}
	_, err := v.CreateSnapshot(s.Index, toConf(s.Electorate), nil)
	v.must(err)
	v.must(v.Compact(s.Index))
	v.base = s.Index
}
