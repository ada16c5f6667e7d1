//go:build unix

package disk

import (
	"math/rand/v2"
	"reflect"

	"github.com/stile-lock/stile/internal/views/raft"
)

// A writer makes batches such as Raft could want, and knows what they lead to. It depends
// only on the seed.
type writer struct {
	rng  *rand.Rand
	want raft.Memory
}

func newWriter(seed uint64) *writer { return &writer{rng: rand.New(rand.NewPCG(seed, 7))} }

// next makes a batch and takes it for saved.
func (w *writer) next() raft.Batch {
	b := w.batch()
	if err := w.want.Save(b); err != nil {
		panic(err)
	}
	return b
}

func (w *writer) state() raft.State {
	s, _ := w.want.Load()
	return s
}

func (w *writer) batch() raft.Batch {
	s := w.state()
	voters := raft.Electorate{Voters: []uint64{1, 2}}
	if s.ID == 0 {
		return raft.Batch{Group: 9, ID: 1, Hard: raft.Hard{Term: 1, Commit: 1}, Snapshot: &raft.Snapshot{Index: 1, Term: 1, Electorate: voters, Data: w.bytes()}}
	}
	b := raft.Batch{Hard: s.Hard}
	switch w.rng.IntN(40) {
	case 0, 1, 2, 3:
		b.Hard.Term++
		b.Hard.Vote = w.rng.Uint64N(3)
	case 4:
		if s.Hard.Commit > s.Snapshot.Index {
			term := s.Entries[s.Hard.Commit-s.Snapshot.Index-1].Term
			b.Snapshot = &raft.Snapshot{Index: s.Hard.Commit, Term: term, Electorate: voters, Data: w.bytes()}
		}
	case 5:
		// The snapshot of a leader, of which this log knows nothing.
		b.Hard.Term++
		last := s.Last() + 1 + w.rng.Uint64N(5)
		b.Snapshot = &raft.Snapshot{Index: last, Term: b.Hard.Term, Electorate: voters, Data: w.bytes()}
		b.Hard.Commit = last
		for i := range w.rng.Uint64N(3) {
			b.Entries = append(b.Entries, raft.Entry{Index: last + 1 + i, Term: b.Hard.Term, Data: w.bytes()})
		}
	default:
		from := s.Last() + 1
		if w.rng.IntN(6) == 0 { // another leader's
			from = s.Hard.Commit + 1 + w.rng.Uint64N(s.Last()-s.Hard.Commit+1)
		}
		for i := range 1 + w.rng.Uint64N(5) {
			b.Entries = append(b.Entries, raft.Entry{Index: from + i, Term: s.Hard.Term, Data: w.bytes()})
		}
		b.Hard.Commit += w.rng.Uint64N(from - s.Hard.Commit)
	}
	return b
}

func (w *writer) bytes() []byte {
	b := make([]byte, 1+w.rng.IntN(100))
	if w.rng.IntN(5) == 0 {
		b = make([]byte, 1+w.rng.IntN(9000))
	}
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return b
}

func same(a, b raft.State) bool {
	if len(a.Entries) == 0 && len(b.Entries) == 0 {
		a.Entries, b.Entries = nil, nil
	}
	return reflect.DeepEqual(a, b)
}
