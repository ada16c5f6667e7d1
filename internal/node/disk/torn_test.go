//go:build unix

package disk

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

const sectorSize = 512

// A step is the file before and after a save, and the sectors that differ: those
// of the meta pages, which are written after a sync, and the others.
type step struct {
	older, newer []byte
	was, is      raft.State
	data, meta   []int
}

func steps(t *testing.T, seed uint64, n int) []step {
	t.Helper()
	dir, _ := memoryFolder(t)
	s := open(t, dir)
	w := newWriter(seed)
	older, was := []byte(nil), raft.State{}
	var all []step
	for range n {
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
		newer, err := os.ReadFile(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		if older != nil {
			older = append(older, make([]byte, len(newer)-len(older))...) // it grows first
			st := step{older: older, newer: newer, was: was, is: w.state()}
			for at := 0; at < len(newer); at += sectorSize {
				switch {
				case bytes.Equal(older[at:at+sectorSize], newer[at:at+sectorSize]):
				case at < 2*pageSize:
					st.meta = append(st.meta, at)
				default:
					st.data = append(st.data, at)
				}
			}
			all = append(all, st)
		}
		older, was = newer, w.state()
	}
	return all
}

// torn returns the file with some sectors of a save written.
func (st step) torn(sectors []int) []byte {
	b := slices.Clone(st.older)
	for _, at := range sectors {
		copy(b[at:at+sectorSize], st.newer[at:])
	}
	return b
}

// Whatever sectors of a save the power leaves on the disk, in the order that the
// syncs make sure of, the file holds the state before it or the one after it.
func TestTornSave(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for i, st := range steps(t, 21, 80) {
		if len(st.meta) != 1 {
			t.Fatalf("save %d: a meta is in %d sectors, but only one is written as a whole", i, len(st.meta))
		}
		for range 10 {
			some := slices.DeleteFunc(slices.Clone(st.data), func(int) bool { return rng.IntN(2) == 0 })
			if c, err := readBytes(st.torn(some)); err != nil || !same(c.state, st.was) {
				t.Fatalf("save %d, %d of %d sectors: %v", i, len(some), len(st.data), err)
			}
		}
		if c, err := readBytes(st.torn(append(st.data, st.meta...))); err != nil || !same(c.state, st.is) {
			t.Fatalf("save %d: %v", i, err)
		}
	}
}

// A disk that writes the meta page first is lying. Nothing is promised then, but
// a state that never was is not made of it.
func TestLyingDisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	refused := 0
	for i, st := range steps(t, 22, 150) {
		some := slices.DeleteFunc(slices.Clone(st.data), func(int) bool { return rng.IntN(2) == 0 })
		c, err := readBytes(st.torn(append(some, st.meta...)))
		if err == nil && !same(c.state, st.is) {
			t.Fatalf("save %d, %d of %d sectors: %+v", i, len(some), len(st.data), c.state)
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: the sectors that are left out do not matter")
	}
	t.Logf("%d of 149 refused", refused)
}
