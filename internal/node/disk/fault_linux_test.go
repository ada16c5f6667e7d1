package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

// replaceFile lets bbolt write to a device instead of its file.
func replaceFile(t *testing.T, s *Store, device string) {
	t.Helper()
	dev, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no such device: ", err)
	}
	defer dev.Close()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the open files are not known: ", err)
	}
	for _, e := range all {
		fd, _ := strconv.Atoi(e.Name())
		name, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if name == s.Path() && fd != int(s.file.Fd()) {
			if err := syscall.Dup3(int(dev.Fd()), fd, syscall.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("bbolt has no file open")
}

// A disk that is full, and one that cannot sync: /dev/full takes no byte, and
// /dev/null takes all, but knows no sync. Either ends the storage for good, and
// the next process finds what was acknowledged.
func TestWriteAndSyncErrors(t *testing.T) {
	vote := func(term uint64) raft.Batch { return raft.Batch{Hard: raft.Hard{Term: term, Vote: 1, Commit: 1}} }
	for device, want := range map[string]error{"/dev/full": syscall.ENOSPC, "/dev/null": syscall.EINVAL} {
		dir := t.TempDir()
		s := open(t, dir)
		if err := bootstrap(s, 1, 1, nil); err != nil {
			t.Fatal(err)
		}
		for term := range uint64(10) {
			if err := s.Save(vote(2 + term)); err != nil {
				t.Fatal(err)
			}
		}
		replaceFile(t, s, device)
		first := s.Save(vote(12))
		if first == nil || !strings.Contains(first.Error(), want.Error()) || !strings.Contains(first.Error(), "restart") {
			t.Errorf("%s: %v; want %v", device, first, want)
		}
		if again := s.Save(vote(12)); again != first {
			t.Errorf("%s: it goes on: %v", device, again)
		}
		s.Close()
		if got := load(t, open(t, dir)); got.Hard != vote(11).Hard {
			t.Errorf("%s: %+v", device, got)
		}
	}
}

// The planted bug: a store that does not sync does not notice that a sync failed.
func TestSyncControl(t *testing.T) {
	s := open(t, t.TempDir())
	s.db.NoSync = true
	if err := bootstrap(s, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, s, "/dev/null")
	if err := s.Save(raft.Batch{Hard: raft.Hard{Term: 2, Commit: 1}}); err != nil {
		t.Errorf("without a sync its error is seen as well, so that proves nothing: %v", err)
	}
}

// A file that changes under a running process is an error, not the death of the
// process by a signal or in another goroutine: bbolt looks at it through a
// memory map, and looks for free pages when it rolls back.
func TestFault(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"empty":          func(path string) error { return os.Truncate(path, 0) },
		"meta pages":     func(path string) error { return os.Truncate(path, 2*pageSize) },
		"other contents": func(path string) error { return overwrite(path, 2*pageSize) },
	} {
		dir := t.TempDir()
		s := open(t, dir)
		w := newWriter(2)
		for range 50 {
			if err := s.Save(w.next()); err != nil {
				t.Fatal(err)
			}
		}
		if err := change(s.Path()); err != nil {
			t.Fatal(err)
		}
		first := s.Save(w.next())
		if first == nil || !strings.Contains(first.Error(), "panicked") {
			t.Errorf("%s: %v", name, first)
		}
		if _, err := s.Load(); err != first {
			t.Errorf("%s: it goes on: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(dir); !errors.Is(err, raft.ErrDamaged) {
			t.Errorf("%s: the next one is told %v", name, err)
		}
	}
}

// overwrite fills a file from a place on.
func overwrite(path string, from int) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{0xA5}, int(info.Size())-from), int64(from))
	return err
}

// A real disk that gets full, if this process may make one.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk; TestFileLimit does without")
	}
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("a small disk cannot be mounted here; TestFileLimit does without: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(mount, syscall.MNT_DETACH) })
	dir := filepath.Join(mount, "data")
	s := open(t, dir)
	if err := bootstrap(s, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	index, err := uint64(1), error(nil)
	for err == nil && index < 1000 {
		err = s.Save(raft.Batch{Hard: raft.Hard{Term: 1, Commit: 1}, Entries: []raft.Entry{{Index: index + 1, Term: 1, Data: make([]byte, 3000)}}})
		if err == nil {
			index++
		}
	}
	if err == nil || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Fatalf("after %d saves: %v", index, err)
	}
	t.Logf("after %d saves: %v", index, err)
	s.Close()
	// It can be read while the disk is still full, and continues when it is not.
	s = open(t, dir)
	if got := load(t, s); got.Last() != index {
		t.Errorf("%d entries were acknowledged, %d are there", index, got.Last())
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=2m"); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(raft.Batch{Hard: raft.Hard{Term: 2, Commit: 1}}); err != nil {
		t.Error(err)
	}
	s.Close()
}
