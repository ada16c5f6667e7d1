//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

func readBytes(b []byte) (content, error) { return read(bytes.NewReader(b), int64(len(b))) }

// A specimen is a file, and what it holds.
type specimen struct {
	bytes []byte
	state raft.State
	tree  *tree
}

func newSpecimen(t testing.TB, seed uint64, saves int) specimen {
	t.Helper()
	dir, _ := memoryFolder(t)
	s := open(t, dir)
	w := newWriter(seed)
	for range saves {
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	c, err := readBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return specimen{b, w.state(), c.tree}
}

// pages returns the pages in use, but the meta pages.
func (x specimen) pages() (used []int) {
	for id, seen := range x.tree.seen {
		if seen {
			used = append(used, id)
		}
	}
	return used
}

// place draws a byte: of the meta pages, of the beginning of a page in use, of
// the rest of one, or anywhere.
func (x specimen) place(rng *rand.Rand) int {
	used := x.pages()
	switch rng.IntN(4) {
	case 0:
		return rng.IntN(2)*pageSize + rng.IntN(headSize+metaSize)
	case 1:
		return used[rng.IntN(len(used))]*pageSize + rng.IntN(headSize+4*elemSize)
	case 2:
		return used[rng.IntN(len(used))]*pageSize + rng.IntN(pageSize)
	}
	return rng.IntN(len(x.bytes))
}

// A verdict counts how files with damage were taken.
type verdict struct{ refused, harmless int }

// take judges what a file led to. A state must be the right one.
func (v *verdict) take(x specimen, got raft.State, err error) error {
	switch {
	case errors.Is(err, raft.ErrDamaged):
		v.refused++
	case err == nil && same(got, x.state):
		v.harmless++
	default:
		return fmt.Errorf("%v: a wrong state, or an error that is none of damage: %.300s", err, fmt.Sprintf("%+v", got))
	}
	return nil
}

// flips turns bits, one at a time, and looks at what a reader makes of it.
func (x specimen) flips(n int, read func([]byte) (raft.State, error)) (v verdict, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := slices.Clone(x.bytes)
	for range n {
		at, bit := x.place(rng), byte(1)<<rng.IntN(8)
		b[at] ^= bit
		got, err := read(b)
		if err := v.take(x, got, err); err != nil {
			return v, fmt.Errorf("byte %d of page %d, bit %#x: %w", at%pageSize, at/pageSize, bit, err)
		}
		b[at] ^= bit
	}
	return v, nil
}

// asVoter uses bytes as the file of a voter: it starts, saves, and starts again.
func asVoter(t testing.TB, dir string, b []byte) (raft.State, error) {
	if err := os.WriteFile(filepath.Join(dir, "voter.db"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		return raft.State{}, err
	}
	defer s.Close()
	got, err := s.Load()
	if err != nil {
		return got, err
	}
	var want raft.State
	want.Apply(raft.Batch{Group: got.Group, ID: got.ID, Hard: got.Hard, Snapshot: &got.Snapshot, Entries: slices.Clone(got.Entries)})
	for range 3 {
		b := raft.Batch{Hard: want.Hard, Entries: []raft.Entry{{Index: want.Last() + 1, Term: want.Hard.Term, Data: make([]byte, 5000)}}}
		if err := errors.Join(want.Apply(b), s.Save(b)); err != nil {
			return got, err
		}
	}
	if again, err := s.Load(); err != nil || !same(again, want) {
		return again, fmt.Errorf("after three more saves: %w", err)
	}
	return got, nil
}

func TestFlips(t *testing.T) {
	x := newSpecimen(t, 5, 200)
	if !slices.ContainsFunc(x.pages(), func(id int) bool { return order.Uint16(x.bytes[id*pageSize+8:]) == branchPage }) {
		t.Error("the file has no branch: take a longer log")
	}
	dir, _ := memoryFolder(t)
	v, err := x.flips(400, func(b []byte) (raft.State, error) { return asVoter(t, dir, b) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("as a voter: %+v", v)
	if v.refused == 0 || v.harmless == 0 {
		t.Errorf("%+v: both must occur", v)
	}
	// Many more, and other files, with the reader only.
	for seed := range uint64(5) {
		x := newSpecimen(t, seed, int(1+seed*40))
		v, err := x.flips(1000, func(b []byte) (raft.State, error) {
			c, err := readBytes(b)
			if err != nil {
				err = damaged("x", err)
			}
			return c.state, err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d saves, %d pages in use, read: %+v", 1+seed*40, len(x.pages()), v)
	}
}

// Readers that look well are caught by the flips: one that does not look at the
// checksums, and one that, as bbolt does, takes the other meta page if one is bad.
func TestFlipsControls(t *testing.T) {
	x := newSpecimen(t, 5, 200)
	for name, wrong := range map[string]func([]byte) (content, error){"no checksums": unsealed, "a lone meta page": lone} {
		_, err := x.flips(3000, func(b []byte) (raft.State, error) {
			c, err := wrong(b)
			if err != nil {
				err = damaged("x", err)
			}
			return c.state, err
		})
		if err == nil {
			t.Errorf("%s: not caught", name)
			continue
		}
		t.Logf("%s: caught: %.120s", name, err)
	}
}

// unsealed reads without a look at the checksums.
func unsealed(b []byte) (c content, err error) {
	t, top, err := readTree(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(top) == 0 {
		return c, errors.Join(err, errForeign)
	}
	all, err := t.bucket(top[0].value)
	if err != nil {
		return c, err
	}
	var whole raft.Batch
	for _, e := range all {
		if len(e.value) < sumSize || string(e.key) == keyManifest {
			continue
		}
		if err := gather(&whole, string(e.key), e.value[sumSize:]); err != nil {
			return c, err
		}
	}
	c.state, err = whole.State()
	return c, err
}

// lone puts the good meta page in the place of a bad one, as of one before.
func lone(b []byte) (content, error) {
	_, err0 := parseMeta(b[:pageSize])
	_, err1 := parseMeta(b[pageSize : 2*pageSize])
	if (err0 == nil) == (err1 == nil) {
		return readBytes(b)
	}
	good := b[:pageSize]
	if err0 != nil {
		good = b[pageSize : 2*pageSize]
	}
	m, _ := parseMeta(good)
	t := &tree{file: bytes.NewReader(b), meta: m, seen: make([]bool, m.high)}
	top, err := t.below(m.root, nil, nil)
	if err != nil {
		return content{}, err
	}
	all, err := t.bucket(top[0].value)
	if err != nil {
		return content{}, err
	}
	return decode(all, m.tx)
}

// A file that is cut off anywhere is refused, unless it ends where nothing was.
func TestTruncation(t *testing.T) {
	x := newSpecimen(t, 6, 150)
	dir, _ := memoryFolder(t)
	var v verdict
	for size := 0; size < len(x.bytes); size += pageSize {
		for _, size := range []int{size, size + 1234} {
			got, err := asVoter(t, dir, x.bytes[:size])
			if err := v.take(x, got, err); err != nil {
				t.Fatalf("cut off after %d bytes: %v", size, err)
			}
		}
	}
	t.Logf("%+v", v)
	if v.refused == 0 || v.harmless == 0 {
		t.Errorf("%+v: both must occur", v)
	}
}

// Any bytes in a page in use, and any page in the place of another, are no
// state, or the right one.
func TestGarbage(t *testing.T) {
	x := newSpecimen(t, 5, 200)
	rng := rand.New(rand.NewPCG(3, 4))
	var v verdict
	for range 1500 {
		b := slices.Clone(x.bytes)
		at := x.place(rng) / pageSize * pageSize
		if rng.IntN(2) == 0 {
			copy(b[at:at+pageSize], x.bytes[rng.IntN(len(b)/pageSize)*pageSize:])
		} else {
			from := at + rng.IntN(pageSize)
			for i := from; i < min(from+1+rng.IntN(64), at+pageSize); i++ {
				b[i] = byte(rng.Uint32() & rng.Uint32())
			}
		}
		c, err := readBytes(b)
		if err != nil {
			err = damaged("x", err)
		}
		if err := v.take(x, c.state, err); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%+v", v)
}
