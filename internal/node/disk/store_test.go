//go:build unix

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/stile-lock/stile/internal/views/raft"
)

var _ raft.Storage = (*Store)(nil)

// memoryFolder returns a folder in memory, where a sync costs nothing, or, where
// there is none, one on the disk.
func memoryFolder(t testing.TB) (dir string, fast bool) {
	dir, err := os.MkdirTemp("/dev/shm", "stile")
	if err != nil {
		return t.TempDir(), false
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir, true
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func load(t testing.TB, s *Store) raft.State {
	t.Helper()
	got, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A Store keeps what a raft.Memory keeps, restarts or not.
func TestLikeMemory(t *testing.T) {
	base, _ := memoryFolder(t)
	for seed := range uint64(5) {
		dir := filepath.Join(base, string(rune('a'+seed)))
		s := open(t, dir)
		if got := load(t, s); !same(got, raft.State{}) {
			t.Fatalf("a new folder holds %+v", got)
		}
		w := newWriter(seed)
		for i := range 180 {
			if err := s.Save(w.next()); err != nil {
				t.Fatal(err)
			}
			if w.rng.IntN(10) == 0 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, dir)
			}
			if got := load(t, s); !same(got, w.state()) {
				t.Fatalf("seed %d, save %d:\ngot  %+v\nwant %+v", seed, i, got, w.state())
			}
			if i == 120 {
				if err := s.Erase(); err != nil {
					t.Fatal(err)
				}
				if got := load(t, s); !same(got, raft.State{}) {
					t.Fatalf("an erased storage holds %+v", got)
				}
				w.want = raft.Memory{}
			}
		}
		s.Close()
	}
}

// A store is the same voter's until it is erased.
func TestBirth(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := join(s, 5, 3); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir)
	if err := bootstrap(s, 6, 1, nil); err == nil {
		t.Error("a store becomes another voter's")
	}
	s.Close()
	s = open(t, dir)
	if got := load(t, s); got.Group != 5 || got.ID != 3 {
		t.Errorf("joined as voter 3 of group 5, but is %+v", got)
	}
}

// A batch that does not fit is not saved, and ends the storage, but does not damage the
// file.
func TestMisfit(t *testing.T) {
	for name, b := range map[string]raft.Batch{
		"a second birth":          {Group: 1, ID: 1},
		"a hole before the batch": {Entries: []raft.Entry{{Index: 7, Term: 1}}},
		"a hole in the batch":     {Entries: []raft.Entry{{Index: 2, Term: 1}, {Index: 4, Term: 1}}},
	} {
		dir := t.TempDir()
		s := open(t, dir)
		w := newWriter(1)
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
		first := s.Save(b)
		if first == nil {
			t.Errorf("%s was saved", name)
			continue
		}
		_, err := s.Load()
		if again := s.Save(w.next()); again != first || err != first || s.Erase() != first {
			t.Errorf("%s: a dead storage says %v and then %v", name, first, again)
		}
		s.Close()
		w = newWriter(1)
		w.next()
		if got := load(t, open(t, dir)); !same(got, w.state()) {
			t.Errorf("%s has changed the file: %+v", name, got)
		}
	}
}

func TestClosed(t *testing.T) {
	s := open(t, t.TempDir())
	s.Close()
	if _, err := s.Load(); !errors.Is(err, ErrClosed) {
		t.Errorf("load after close: %v", err)
	}
	if err := s.Save(raft.Batch{}); !errors.Is(err, ErrClosed) {
		t.Errorf("save after close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

// In steady state, the file does not grow.
func TestSize(t *testing.T) {
	dir, fast := memoryFolder(t)
	saves := uint64(10000)
	if !fast {
		saves = 1000
		t.Logf("there is no /dev/shm: %d saves instead of 10000", saves)
	}
	s := open(t, dir)
	if err := bootstrap(s, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	const most, keep = 2 << 20, 100
	index := uint64(1)
	for i := range saves {
		index++
		b := raft.Batch{Hard: raft.Hard{Term: 1, Commit: index - 1}, Entries: []raft.Entry{{Index: index, Term: 1, Data: make([]byte, 500)}}}
		if i%keep == keep-1 {
			b.Snapshot = &raft.Snapshot{Index: index - 1, Term: 1, Electorate: raft.Electorate{Voters: []uint64{1}}, Data: make([]byte, 20000+i*7%40000)}
		}
		if err := s.Save(b); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("%d bytes after %d saves, more than %d", info.Size(), saves, most)
	}
	t.Logf("%d bytes", info.Size())
	if got := load(t, s); got.Last() != index {
		t.Errorf("the last entry is %d, not %d", got.Last(), index)
	}
}

// Files that this program cannot read are refused, each with the right advice.
func TestRefused(t *testing.T) {
	other := func(change func(*bbolt.Tx) error) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, options())
			if err == nil {
				err = errors.Join(db.Update(change), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		make    func(t *testing.T, path string)
		says    string
		damaged bool
	}{
		"a newer format": {other(func(tx *bbolt.Tx) error {
			b, _ := tx.CreateBucket([]byte(bucketName))
			value, _ := seal(keyManifest, []byte{2, 'w', 'h', 'o', ' ', 'k', 'n', 'o', 'w', 's'})
			_, err := tx.CreateBucket([]byte("stile voter's other things"))
			return errors.Join(err, b.Put([]byte(keyManifest), value))
		}), "format 2", false},
		"a file of others": {other(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("photos"))
			return err
		}), "voter's file", true},
		"a text": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("once upon a time ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "voter's file", true},
		"an empty file": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "voter's file", true},
		"another transaction's manifest": {other(func(tx *bbolt.Tx) error {
			b, _ := tx.CreateBucket([]byte(bucketName))
			value, _ := seal(keyManifest, manifest{format: format, tx: 1}.bytes())
			return b.Put([]byte(keyManifest), value)
		}), "transaction 1", true},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "voter.db")
		test.make(t, path)
		before, _ := os.ReadFile(path)
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, raft.ErrDamaged) != test.damaged || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v; want %q", name, err, test.says)
		}
		if after, _ := os.ReadFile(path); string(before) != string(after) {
			t.Errorf("%s was changed", name)
		}
	}
}

// bootstrap makes an empty store that of the only voter of a group.
func bootstrap(s raft.Storage, group, id uint64, machine []byte) error {
	record, err := raft.Logs{}.Found(group, id, machine)
	if err != nil {
		return err
	}
	return raft.Write(s, record)
}

// join makes an empty store that of a voter which a group has taken in.
func join(s raft.Storage, group, id uint64) error {
	record, err := raft.Logs{}.Join(group, id)
	if err != nil {
		return err
	}
	return raft.Write(s, record)
}
