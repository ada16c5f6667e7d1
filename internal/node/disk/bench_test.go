//go:build unix

package disk

import (
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

// Two syncs of the disk are most of it.
func BenchmarkSave(b *testing.B) {
	s := open(b, b.TempDir())
	if err := bootstrap(s, 1, 1, nil); err != nil {
		b.Fatal(err)
	}
	index, term := uint64(1), uint64(1)
	for b.Loop() {
		batch := raft.Batch{Hard: raft.Hard{Term: term, Commit: index}, Entries: []raft.Entry{{Index: index + 1, Term: term, Data: make([]byte, 200)}}}
		if index%1000 == 0 {
			batch.Snapshot = &raft.Snapshot{Index: index, Term: term, Electorate: raft.Electorate{Voters: []uint64{1}}, Data: make([]byte, 10000)}
		}
		if err := s.Save(batch); err != nil {
			b.Fatal(err)
		}
		index++
	}
}

func BenchmarkLoad(b *testing.B) {
	s := open(b, b.TempDir())
	if err := bootstrap(s, 1, 1, make([]byte, 10000)); err != nil {
		b.Fatal(err)
	}
	batch := raft.Batch{Hard: raft.Hard{Term: 1, Commit: 1}}
	for i := range uint64(1000) {
		batch.Entries = append(batch.Entries, raft.Entry{Index: 2 + i, Term: 1, Data: make([]byte, 200)})
	}
	if err := s.Save(batch); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Load(); err != nil {
			b.Fatal(err)
		}
	}
}
