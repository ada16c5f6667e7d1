//go:build unix

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

// The folder is created, readable only by its owner, but not its parents.
func TestMakeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open(t, dir)
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, filepath.Join(dir, "voter.db"): 0o600, filepath.Join(dir, "lock"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "a", "b")); err == nil {
		t.Error("a path with a mistake in it was made")
	}
	if _, err := Open(filepath.Join(dir, "lock")); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as a folder: %v", err)
	}
}

// A file that was being made when the process ended is made anew.
func TestHalfMade(t *testing.T) {
	for _, size := range []int{0, 100, pageSize, 4 * pageSize} {
		dir := t.TempDir()
		half := filepath.Join(dir, "voter.db.new")
		if err := os.WriteFile(half, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		w := newWriter(1)
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
		if got := load(t, s); !same(got, w.state()) {
			t.Errorf("%d bytes were there: %+v", size, got)
		}
		if _, err := os.Stat(half); err == nil {
			t.Errorf("%d bytes of a half made file are still there", size)
		}
	}
}

// A folder is for one at a time.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(dir)
	want := fmt.Sprintf("%s is in use by process %d", dir, os.Getpid())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a second one: %v; want %q", err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second one, which cannot know by whom: %v", err)
	}
	s.Close()
	open(t, dir)
}

// A shaky file is one whose writes since the last sync are lost with the power,
// but for those that chance has taken to the disk. The cache of what was never
// synced is what settle reads.
type shaky struct {
	cache, disk []byte
	dirty       []int // pages
	left        int   // operations until the power fails
}

func (f *shaky) ReadAt(b []byte, off int64) (int, error) { return copy(b, f.cache[off:]), nil }

func (f *shaky) step() error {
	if f.left--; f.left < 0 {
		return os.ErrClosed
	}
	return nil
}

func (f *shaky) WriteAt(b []byte, off int64) (int, error) {
	f.dirty = append(f.dirty, int(off/pageSize))
	return copy(f.cache[off:], b), f.step()
}

func (f *shaky) Sync() error {
	if err := f.step(); err != nil {
		return err
	}
	for _, id := range f.dirty {
		f.write(id)
	}
	f.dirty = nil
	return nil
}

func (f *shaky) write(id int) { copy(f.disk[id*pageSize:][:pageSize], f.cache[id*pageSize:]) }

// settleStorm interrupts a settle at every operation, and lets one of the written pages
// reach the disk. The file must then have one of the two states, and after an undisturbed
// end the newer one.
func settleStorm(t *testing.T, settle func(syncer, *tree) error) (bad []string) {
	dir, _ := memoryFolder(t)
	s := open(t, dir)
	w := newWriter(3)
	for range 40 {
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
	}
	older, _ := os.ReadFile(s.Path())
	was := w.state()
	if err := s.Save(w.next()); err != nil {
		t.Fatal(err)
	}
	newer, _ := os.ReadFile(s.Path())
	if len(newer) != len(older) {
		t.Fatal("the file has grown just now: take another seed")
	}
	for left := 0; ; left++ {
		for pick := 0; ; pick++ {
			f := &shaky{cache: slices.Clone(newer), disk: slices.Clone(older), left: left}
			c, err := readBytes(f.cache)
			if err != nil {
				t.Fatal(err)
			}
			failed := settle(f, c.tree)
			if pick < len(f.dirty) {
				f.write(f.dirty[pick])
			}
			c, err = readBytes(f.disk)
			switch {
			case err == nil && same(c.state, w.state()):
			case err == nil && failed != nil && same(c.state, was):
			default:
				bad = append(bad, fmt.Sprintf("after %d operations, with write %d: %v", left, pick, err))
			}
			if failed == nil {
				return bad
			}
			if pick >= len(f.dirty) {
				break
			}
		}
	}
}

func TestSettle(t *testing.T) {
	if bad := settleStorm(t, settle); bad != nil {
		t.Error(bad)
	}
	atOnce := func(f syncer, t *tree) error {
		return rewrite(f, func(id int) bool { return id < 2 || t.seen[id] }, len(t.seen))
	}
	onlySync := func(f syncer, _ *tree) error { return f.Sync() }
	for name, wrong := range map[string]func(syncer, *tree) error{"all at once": atOnce, "only a sync": onlySync} {
		if bad := settleStorm(t, wrong); bad == nil {
			t.Errorf("%s: not caught", name)
		} else {
			t.Logf("%s: caught: %s", name, bad[0])
		}
	}
}

// A file that is set aside stays as it is, and the store begins with an empty one. No file
// is overwritten.
func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := bootstrap(s, 1, 2, []byte("machine")); err != nil {
		t.Fatal(err)
	}
	old := load(t, s)
	if err := s.SetAside(".old"); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s); got.ID != 0 {
		t.Errorf("%+v", got)
	}
	if err := bootstrap(s, 3, 4, nil); err != nil {
		t.Fatal(err)
	}
	now := load(t, s)
	if err := s.SetAside(".old"); err == nil || s.Save(raft.Batch{}) == nil {
		t.Errorf("it overwrites a file, or goes on: %v", err)
	}
	s.Close()
	if got := load(t, open(t, dir)); !same(got, now) {
		t.Errorf("%+v, want %+v", got, now)
	}
	other := filepath.Join(t.TempDir(), "voter.db")
	if err := os.Rename(filepath.Join(dir, "voter.db.old"), other); err != nil {
		t.Fatal(err)
	}
	if got := load(t, open(t, filepath.Dir(other))); !same(got, old) {
		t.Errorf("%+v, want %+v", got, old)
	}
}
