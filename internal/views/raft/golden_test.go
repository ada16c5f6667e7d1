package raft

import (
	"flag"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/stile-lock/stile/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the golden messages")

// The bytes of messages between voters are a contract with other versions.
func TestGolden(t *testing.T) {
	snapshot := toSnapshot(Snapshot{Index: 6, Term: 2, Electorate: Electorate{Voters: []uint64{64, 65}, Learners: []uint64{66}}, Data: []byte("ab")})
	change, err := proto.Marshal(&pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{{Type: pb.ConfChangeAddNode.Enum(), NodeId: new(uint64(66))}}})
	if err != nil {
		t.Fatal(err)
	}
	entries := []*pb.Entry{toEntry(Entry{Index: 9, Term: 3, Data: []byte("c")}), toEntry(Entry{Index: 10, Term: 3, Kind: Change, Data: change})}
	var all []golden.Example
	for _, m := range []*pb.Message{
		{Type: pb.MsgApp.Enum(), Index: new(uint64(8)), LogTerm: new(uint64(3)), Commit: new(uint64(7)), Entries: entries},
		{Type: pb.MsgAppResp.Enum(), Index: new(uint64(10)), Reject: new(true), RejectHint: new(uint64(4))},
		{Type: pb.MsgVote.Enum(), Index: new(uint64(8)), LogTerm: new(uint64(3))},
		{Type: pb.MsgVoteResp.Enum(), Reject: new(true)},
		{Type: pb.MsgPreVote.Enum(), Index: new(uint64(8)), LogTerm: new(uint64(3))},
		{Type: pb.MsgPreVoteResp.Enum()},
		{Type: pb.MsgHeartbeat.Enum(), Commit: new(uint64(7)), Context: []byte("12345678")},
		{Type: pb.MsgHeartbeatResp.Enum(), Context: []byte("12345678")},
		{Type: pb.MsgSnap.Enum(), Snapshot: snapshot},
		{Type: pb.MsgTimeoutNow.Enum()},
	} {
		m.From, m.To, m.Term = new(uint64(64)), new(uint64(65)), new(uint64(4))
		b, err := pack(300, m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, golden.Example{Name: m.GetType().String(), Bytes: b})
	}
	golden.Check(t, *update, all, func(_ string, b []byte) ([]byte, error) {
		m, err := unpack(300, 64, 65, b)
		if err != nil {
			return nil, err
		}
		return pack(300, m)
	})
}
