package disk

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stile-lock/stile/internal/golden"
	"github.com/stile-lock/stile/internal/views/raft"
)

var update = flag.Bool("update", false, "rewrite the golden records")

// The records of a voter's file, as they are stored: another version must be able to read
// them.
func TestGolden(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Save(raft.Batch{
		Group: 300, ID: 64, Hard: raft.Hard{Term: 3, Vote: 64, Commit: 7},
		Snapshot: &raft.Snapshot{Index: 6, Term: 2, Electorate: raft.Electorate{Voters: []uint64{64}, Learners: []uint64{65}}, Data: []byte("ab")},
		Entries:  []raft.Entry{{Index: 7, Term: 3, Data: []byte("c")}, {Index: 8, Term: 3, Kind: raft.Change, Data: []byte("d")}},
	}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	file, top, err := readTree(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	records, err := file.bucket(top[0].value)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden.Example
	for _, e := range records {
		all = append(all, golden.Example{Name: fmt.Sprintf("%x", e.key), Bytes: e.value})
	}
	if len(all) != 6 {
		t.Errorf("%d records, want the manifest, the identity, the hard state, the snapshot and two entries", len(all))
	}
	golden.Check(t, *update, all, func(name string, b []byte) ([]byte, error) {
		key, err := hex.DecodeString(name)
		if err != nil {
			return nil, err
		}
		data, _, err := unseal(string(key), b)
		again, _ := seal(string(key), data)
		return again, err
	})
}
