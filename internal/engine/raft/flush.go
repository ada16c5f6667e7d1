package raft

import (
	"encoding/binary"
	"fmt"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stile-lock/stile/internal/engine"
)

// Flush does what the calls since the last Flush have led to, and returns what
// is to be sent. If it returns an error the voter is dead and its process must
// end: then nothing may be sent.
func (n *Node) Flush() (out engine.LogOut, err error) {
	defer n.guard(&err)
	if n.err != nil {
		return engine.LogOut{}, n.err
	}
	err = n.drain()
	for err == nil && n.unsettled() {
		err = n.drain()
	}
	if err != nil {
		n.die(err)
		return engine.LogOut{}, n.err
	}
	out, n.out = n.out, engine.LogOut{}
	out.Lead = n.Lead()
	if !out.Lead.Serves {
		n.reads, out.Reads = nil, nil
	}
	return out, nil
}

// drain keeps the order that all depends on: save, apply, send.
func (n *Node) drain() error {
	for n.core.HasReady() {
		rd := n.raw().Ready()
		if err := n.save(rd); err != nil {
			return fmt.Errorf("save: %w", err)
		}
		if err := n.apply(rd); err != nil {
			return err
		}
		if err := n.send(rd.Messages); err != nil {
			return err
		}
		n.raw().Advance(rd)
		if err := n.truncate(); err != nil {
			return fmt.Errorf("save a snapshot: %w", err)
		}
	}
	return nil
}

// save makes durable what a Ready holds. That more is committed is no reason to
// write: it is only kept in mind, for the next batch. But a change of voters is
// known for good before it is in force: after a restart, those who have gone
// could not be asked any more.
func (n *Node) save(rd etcd.Ready) error {
	if !etcd.IsEmptyHardState(rd.HardState) {
		n.hard = Hard{rd.HardState.GetTerm(), rd.HardState.GetVote(), rd.HardState.GetCommit()}
	}
	fresh := !etcd.IsEmptySnap(rd.Snapshot)
	if !rd.MustSync && !fresh && !n.decided(rd.CommittedEntries) {
		return nil
	}
	b := Batch{Hard: n.hard}
	if fresh {
		s := fromSnapshot(rd.Snapshot)
		b.Snapshot = &s
	}
	for _, p := range rd.Entries {
		e, err := fromEntry(p)
		if err != nil {
			return err
		}
		b.Entries = append(b.Entries, e)
	}
	if err := n.storage.Save(b); err != nil {
		return err
	}
	n.kept = n.hard.Commit
	if fresh {
		n.log.install(*b.Snapshot)
	}
	return n.log.Append(rd.Entries)
}

// decided says whether a change of voters is committed that is not saved as such.
func (n *Node) decided(all []*pb.Entry) bool {
	return slices.ContainsFunc(all, func(e *pb.Entry) bool {
		return e.GetType() != pb.EntryNormal && e.GetIndex() > n.kept
	})
}

// apply hands over what is committed, and counts the reads that waited for it.
func (n *Node) apply(rd etcd.Ready) error {
	if !etcd.IsEmptySnap(rd.Snapshot) {
		s := rd.Snapshot
		if err := n.machine.Restore(s.GetMetadata().GetIndex(), s.GetData()); err != nil {
			return fmt.Errorf("take up a snapshot: %w", err)
		}
	}
	for _, p := range rd.CommittedEntries {
		e, err := fromEntry(p)
		if err != nil {
			return err
		}
		n.log.applied, n.log.term = e.Index, e.Term
		if e.Kind == Change {
			err = n.applyChange(e)
		} else if len(e.Data) > 0 {
			n.machine.Apply(e.Index, e.Term, e.Data)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range rd.ReadStates {
		n.reads = append(n.reads, read{binary.BigEndian.Uint64(r.RequestCtx), r.Index})
	}
	for len(n.reads) > 0 && n.reads[0].index <= n.log.applied {
		n.out.Reads = append(n.out.Reads, n.reads[0].number)
		n.reads = n.reads[1:]
	}
	return nil
}

func (n *Node) send(all []*pb.Message) error {
	for _, m := range all {
		b, err := pack(n.group, m)
		if err != nil {
			return err
		}
		n.out.Send = append(n.out.Send, engine.Post{To: m.GetTo(), Bytes: b})
		if m.GetType() == pb.MsgSnap {
			n.snaps = slices.DeleteFunc(n.snaps, func(s sentSnapshot) bool { return s.to == m.GetTo() })
			n.snaps = append(n.snaps, sentSnapshot{to: m.GetTo()})
		}
	}
	return nil
}

// ageSnapshots gives up snapshots of which nothing was heard: Raft sends
// nothing else to their receiver until it is told of their end.
func (n *Node) ageSnapshots() {
	kept := n.snaps[:0]
	for _, s := range n.snaps {
		if s.age++; s.age < n.election {
			kept = append(kept, s)
			continue
		}
		n.raw().ReportSnapshot(s.to, etcd.SnapshotFailure)
	}
	n.snaps = kept
}

// truncate puts a snapshot in the place of a log that is long enough.
func (n *Node) truncate() error {
	if n.log.applied-n.log.base < n.maxLog {
		return nil
	}
	s := n.log.present()
	n.hard.Commit = max(n.hard.Commit, s.Index)
	if err := n.storage.Save(Batch{Hard: n.hard, Snapshot: &s}); err != nil {
		return err
	}
	n.kept = n.hard.Commit
	n.log.truncate()
	return nil
}
