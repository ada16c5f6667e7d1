package raft

import (
	"encoding/binary"
	"fmt"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stile-lock/stile/internal/views"
)

// Flush carries out what the calls since the last Flush have led to, and returns what
// must be saved and sent. If it returns an error the voter is dead and its process must
// end: then nothing may be sent.
func (n *Node) Flush() (out views.LogOut, err error) {
	defer n.guard(&err)
	if n.err != nil {
		return views.LogOut{}, n.err
	}
	err = n.drain()
	for err == nil && n.unsettled() {
		err = n.drain()
	}
	if err != nil {
		n.die(err)
		return views.LogOut{}, n.err
	}
	out, n.out = n.out, views.LogOut{}
	out.Lead = n.Lead()
	if !out.Lead.Serves {
		n.reads, out.Reads = nil, nil
	}
	return out, nil
}

// A write is a save that is not acknowledged yet, with what waits for it.
type write struct {
	number    uint64
	commit    uint64        // commit index that is durable with it
	entries   []*pb.Entry   // entries that it appends to the log
	snapshot  *Snapshot     // from a leader, replaces the log
	cut       *Snapshot     // this voter's own, replaces what it has applied
	responses []*pb.Message // messages that may be sent when it is durable
}

// drain takes what Raft has ready: it emits what must be saved, applies what is
// committed, and sends what depends on no save.
func (n *Node) drain() error {
	for n.core.HasReady() {
		rd := n.raw().Ready()
		for _, m := range rd.Messages {
			if m.GetTo() == etcd.LocalAppendThread {
				if err := n.append(m); err != nil {
					return err
				}
			}
		}
		for _, m := range rd.Messages {
			switch to := m.GetTo(); {
			case to == etcd.LocalAppendThread || n.withholds(m):
			case to == etcd.LocalApplyThread:
				n.applies = append(n.applies, m)
			default:
				if err := n.send(m); err != nil {
					return err
				}
			}
		}
		for _, r := range rd.ReadStates {
			n.reads = append(n.reads, read{binary.BigEndian.Uint64(r.RequestCtx), r.Index})
		}
		if err := n.apply(); err != nil {
			return err
		}
		n.truncate()
	}
	return nil
}

// withholds keeps entries from a departing voter until they are durable here, and
// reports whether it does so. If this leader crashed before, that voter could have what
// all remaining ones lack, and know that it no longer votes. Then it would refuse them
// its vote, which they need while they do not know it. A leader proposes nothing while
// voters are being removed (see parting), but begins its term with an entry of its own.
func (n *Node) withholds(m *pb.Message) bool {
	k := len(n.writes) - 1
	if m.GetType() != pb.MsgApp || k < 0 || m.GetIndex()+uint64(len(m.GetEntries())) <= n.log.last() || !n.leaves(m.GetTo()) {
		return false
	}
	n.writes[k].responses = append(n.writes[k].responses, m)
	return true
}

// append emits a save, if something must become durable. A higher commit index is no
// reason to write: it is only remembered, for the next save. What waits for all saves
// before it, and for none of its own, waits for the last one.
func (n *Node) append(m *pb.Message) error {
	hard := n.hard
	if m.Term != nil {
		hard = Hard{m.GetTerm(), m.GetVote(), m.GetCommit()}
	}
	must := hard.Term != n.hard.Term || hard.Vote != n.hard.Vote
	n.hard = hard
	w := write{responses: m.GetResponses(), entries: m.GetEntries()}
	b := Batch{Hard: n.hard}
	if !etcd.IsEmptySnap(m.GetSnapshot()) {
		s := fromSnapshot(m.GetSnapshot())
		b.Snapshot, w.snapshot = &s, &s
		n.last = s.Index
		// It is beyond everything that was committed here, and Raft has its voters
		// already: a change before it can no longer be applied.
		n.applies = nil
	}
	for _, p := range m.GetEntries() {
		e, err := fromEntry(p)
		if err != nil {
			return err
		}
		b.Entries = append(b.Entries, e)
		n.last = e.Index
	}
	if must || b.Snapshot != nil || len(b.Entries) > 0 {
		n.save(b, w)
		return nil
	}
	if k := len(n.writes) - 1; k >= 0 {
		n.writes[k].responses = append(n.writes[k].responses, w.responses...)
		return nil
	}
	return n.respond(w.responses)
}

// save emits a record.
func (n *Node) save(b Batch, w write) {
	n.saves++
	w.number, w.commit = n.saves, b.Hard.Commit
	n.writes = append(n.writes, w)
	n.out.Saves = append(n.out.Saves, views.Save{Number: w.number, Record: b.AppendTo(nil)})
}

// Saved reports that a save is durable, and with it all before it. An error means that
// the voter is dead.
func (n *Node) Saved(number uint64) (err error) {
	defer n.guard(&err)
	if n.err != nil {
		return n.err
	}
	for len(n.writes) > 0 && n.writes[0].number <= number {
		w := n.writes[0]
		n.writes = slices.Delete(n.writes, 0, 1)
		n.stalled = 0
		if err := n.durable(&w); err != nil {
			n.die(err)
			return n.err
		}
	}
	return nil
}

// durable does what has waited for a save.
func (n *Node) durable(w *write) error {
	n.kept = max(n.kept, w.commit)
	if s := w.snapshot; s != nil {
		if err := n.machine.Restore(s.Index, s.Data); err != nil {
			return fmt.Errorf("restore a snapshot: %w", err)
		}
		n.log.install(*s)
	}
	if err := n.log.Append(w.entries); err != nil {
		return err
	}
	if w.cut != nil {
		n.log.truncate(w.cut)
		n.cutting = false
	}
	if err := n.respond(w.responses); err != nil {
		return err
	}
	return n.apply()
}

// respond delivers what a save has held back: to others, or to Raft itself.
func (n *Node) respond(all []*pb.Message) error {
	for _, m := range all {
		if m.GetTo() != n.id {
			if err := n.send(m); err != nil {
				return err
			}
			continue
		}
		// A removed voter no longer cares about its own vote.
		_ = n.raw().Step(m)
	}
	return nil
}

// apply applies what is committed, in order, and counts the reads that waited for it. A
// change of voters must be known permanently before it is in force: after a restart, the
// removed voters could not be asked any more. So what follows waits until a save has
// made the commit index durable.
func (n *Node) apply() error {
	for len(n.applies) > 0 {
		m := n.applies[0]
		if last := decided(m.GetEntries()); last > n.kept {
			if !slices.ContainsFunc(n.writes, func(w write) bool { return w.commit >= last }) {
				n.save(Batch{Hard: n.hard}, write{})
			}
			return nil
		}
		n.applies = slices.Delete(n.applies, 0, 1)
		for _, p := range m.GetEntries() {
			if err := n.applyEntry(p); err != nil {
				return err
			}
		}
		if err := n.respond(m.GetResponses()); err != nil {
			return err
		}
	}
	for len(n.reads) > 0 && n.reads[0].index <= n.log.applied {
		n.out.Reads = append(n.out.Reads, n.reads[0].number)
		n.reads = n.reads[1:]
	}
	return nil
}

func (n *Node) applyEntry(p *pb.Entry) error {
	e, err := fromEntry(p)
	if err != nil {
		return err
	}
	n.log.applied, n.log.term = e.Index, e.Term
	switch {
	case e.Kind == Change:
		return n.applyChange(e)
	case len(e.Data) > 0:
		n.machine.Apply(e.Index, e.Term, e.Data)
	}
	return nil
}

// decided returns the index of the last change of voters among some entries, or 0.
func decided(all []*pb.Entry) (index uint64) {
	for _, e := range all {
		if e.GetType() != pb.EntryNormal {
			index = e.GetIndex()
		}
	}
	return index
}

func (n *Node) send(m *pb.Message) error {
	b, err := pack(n.group, m)
	if err != nil {
		return err
	}
	n.out.Send = append(n.out.Send, views.Post{To: m.GetTo(), Bytes: b})
	if m.GetType() == pb.MsgSnap {
		n.snaps = slices.DeleteFunc(n.snaps, func(s sentSnapshot) bool { return s.to == m.GetTo() })
		n.snaps = append(n.snaps, sentSnapshot{to: m.GetTo()})
	}
	return nil
}

// ageSnapshots gives up snapshots that were not answered: Raft sends nothing else to
// their receiver until it is notified of their end.
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

// truncate replaces a log that is long enough by a snapshot, unless a later one from a
// leader is about to.
func (n *Node) truncate() {
	if n.cutting || n.log.applied-n.log.base < n.maxLog || slices.ContainsFunc(n.writes, func(w write) bool { return w.snapshot != nil }) {
		return
	}
	n.cutting = true
	s := n.log.present()
	b := Batch{Hard: n.hard, Snapshot: &s}
	b.Hard.Commit = max(b.Hard.Commit, s.Index)
	n.save(b, write{cut: &s})
}
