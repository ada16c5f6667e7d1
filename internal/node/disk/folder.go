package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// makeFolder makes sure that a folder exists, also after a power failure. A parent that
// cannot be read was not made by this program.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the data directory: %w: its parent must exist", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("open the data directory: %s is not a directory: give another one", dir)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	if err := SyncFolder(filepath.Dir(dir)); err != nil && (made || !errors.Is(err, fs.ErrPermission)) {
		return err
	}
	return nil
}

// Rename renames a file within its folder, durably. It never overwrites a file.
func Rename(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rename %s: %s exists", from, to)
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// ensureFile creates the file, empty, if it is missing. The file gets its name when it is
// complete; a temporary file left by a crash is removed. The folder is synced in any case,
// because an earlier process may have ended too soon.
func ensureFile(path string) error {
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an incomplete file: %w", err)
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeFile(unfinished); err == nil {
			err = os.Rename(unfinished, path)
		}
	}
	if err != nil {
		return fmt.Errorf("create the voter's file: %w", err)
	}
	return SyncFolder(filepath.Dir(path))
}

// makeFile creates the file of a voter without a state.
func makeFile(path string) error {
	err := guard(func() error {
		db, err := bbolt.Open(path, 0o600, options())
		if err != nil {
			return err
		}
		l := newLedger(content{sums: make(map[string]uint64)})
		err = l.commit(db, func(*ledger) error { return nil })
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// A syncer is the part of a file that settle needs.
type syncer interface {
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	Sync() error
}

// settle makes durable what was read. It may have been only in the cache, and after a
// failed sync another sync would not change that, because the kernel considers the pages
// written. So each page is written again in its place, and the meta pages only when
// everything they lead to is on the disk.
func settle(f syncer, t *tree) error {
	if err := rewrite(f, func(id int) bool { return t.seen[id] }, len(t.seen)); err != nil {
		return err
	}
	return rewrite(f, func(id int) bool { return true }, 2)
}

// rewrite writes the selected pages below a number again, and syncs.
func rewrite(f syncer, which func(id int) bool, below int) error {
	b := make([]byte, pageSize)
	for id := range below {
		if !which(id) {
			continue
		}
		at := int64(id) * pageSize
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
	}
	return f.Sync()
}
