package raft

import (
	"encoding/binary"
	"errors"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// An encoded message of Raft is a byte for the layout, the group, and the message.
const (
	layout      = 1
	messageHead = 1 + 8
)

func pack(group uint64, m *pb.Message) ([]byte, error) {
	b := make([]byte, 0, messageHead+proto.Size(m))
	b = binary.BigEndian.AppendUint64(append(b, layout), group)
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
}

// unpack decodes a message and refuses what no voter of the group would send, because
// Raft assumes that the others are sound.
func unpack(group, from, to uint64, b []byte) (*pb.Message, error) {
	if len(b) < messageHead || b[0] != layout {
		return nil, errors.New("message with an unknown layout")
	}
	if g := binary.BigEndian.Uint64(b[1:]); g != group {
		return nil, fmt.Errorf("message for group %d, but this is group %d", g, group)
	}
	m := new(pb.Message)
	if err := proto.Unmarshal(b[messageHead:], m); err != nil {
		return nil, err
	}
	if !validID(from) || from == to || m.GetFrom() != from || m.GetTo() != to {
		return nil, fmt.Errorf("message from %d to %d, but it arrived from %d at %d", m.GetFrom(), m.GetTo(), from, to)
	}
	if m.GetTerm() == 0 {
		return nil, errors.New("message without a term")
	}
	return m, sound(m)
}

// sound checks the content of a message, by its type.
func sound(m *pb.Message) error {
	switch m.GetType() {
	case pb.MsgApp:
		return soundAppend(m)
	case pb.MsgSnap:
		return soundSnapshot(m)
	case pb.MsgHeartbeat, pb.MsgHeartbeatResp:
		if n := len(m.GetContext()); n != 0 && n != 8 {
			return fmt.Errorf("read number of %d bytes: want 8", n)
		}
		return nil
	case pb.MsgAppResp, pb.MsgVote, pb.MsgVoteResp, pb.MsgPreVote, pb.MsgPreVoteResp, pb.MsgTimeoutNow:
		return nil
	}
	return fmt.Errorf("voters do not send %s", m.GetType())
}

// soundAppend checks entries. No log has an entry before the second: the first index is
// that of the snapshot that the group was born with.
func soundAppend(m *pb.Message) error {
	if m.GetIndex() == 0 || m.GetLogTerm() == 0 {
		return errors.New("entries before the first snapshot")
	}
	term := m.GetLogTerm()
	for i, p := range m.GetEntries() {
		e, err := fromEntry(p)
		if err != nil {
			return err
		}
		if err := e.check(m.GetIndex()+1+uint64(i), term); err != nil {
			return err
		}
		term = e.Term
	}
	if term > m.GetTerm() {
		return fmt.Errorf("entries of term %d in a message of term %d", term, m.GetTerm())
	}
	return nil
}

func soundSnapshot(m *pb.Message) error {
	s := fromSnapshot(m.GetSnapshot())
	if s.Index == 0 || s.Term == 0 || s.Term > m.GetTerm() {
		return fmt.Errorf("snapshot of index %d and term %d in a message of term %d", s.Index, s.Term, m.GetTerm())
	}
	c := m.GetSnapshot().GetMetadata().GetConfState()
	if len(c.GetLearnersNext()) > 0 || c.GetAutoLeave() != s.Electorate.Joint() {
		return errors.New("snapshot with an unsupported configuration of voters")
	}
	return s.Electorate.check()
}

func fromEntry(p *pb.Entry) (Entry, error) {
	e := Entry{Index: p.GetIndex(), Term: p.GetTerm(), Data: p.GetData()}
	switch p.GetType() {
	case pb.EntryNormal:
		return e, nil
	case pb.EntryConfChangeV2:
		e.Kind = Change
		return e, nil
	}
	return e, fmt.Errorf("entry %d has unknown type %s", e.Index, p.GetType())
}

func toEntry(e Entry) *pb.Entry {
	kind := pb.EntryNormal
	if e.Kind == Change {
		kind = pb.EntryConfChangeV2
	}
	return &pb.Entry{Index: new(e.Index), Term: new(e.Term), Type: kind.Enum(), Data: e.Data}
}

func fromSnapshot(p *pb.Snapshot) Snapshot {
	m := p.GetMetadata()
	return Snapshot{Index: m.GetIndex(), Term: m.GetTerm(), Electorate: fromConf(m.GetConfState()), Data: p.GetData()}
}

func toSnapshot(s Snapshot) *pb.Snapshot {
	return &pb.Snapshot{Data: s.Data, Metadata: &pb.SnapshotMetadata{
		Index: new(s.Index), Term: new(s.Term), ConfState: toConf(s.Electorate),
	}}
}

func fromConf(c *pb.ConfState) Electorate {
	return Electorate{c.GetVoters(), c.GetVotersOutgoing(), c.GetLearners()}.clone()
}

// toConf lets Raft end a joint change by itself.
func toConf(c Electorate) *pb.ConfState {
	c = c.clone()
	return &pb.ConfState{Voters: c.Voters, VotersOutgoing: c.Outgoing, Learners: c.Learners, AutoLeave: new(c.Joint())}
}
