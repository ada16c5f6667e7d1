package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/stile-lock/stile/internal/views/raft"
)

// A Store is a raft.Storage in a folder. Several goroutines may use it.
type Store struct {
	dir  string
	lock *os.File

	mu   sync.Mutex
	file *os.File // for reading
	db   *bbolt.DB
	now  ledger
	err  error // the first error: nothing is done after it
}

// Errors of a Store.
var (
	// ErrClosed is the error of a Store after Close.
	ErrClosed = errors.New("the storage is closed")
	// errPanic reports that bbolt has panicked and may hold its locks forever.
	errPanic = errors.New("bbolt panicked")
)

// options are those of every use of bbolt here: each commit is synced. The list of free
// pages is not stored: it is derived at the start from the pages in use.
func options() *bbolt.Options {
	return &bbolt.Options{
		Timeout:        time.Second, // the folder is locked: no other process should have the file
		PageSize:       pageSize,
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistArrayType,
		NoStatistics:   true,
	}
}

// Open locks a folder for this process, and creates it if it is missing. If it returns an
// error, the voter of this folder must not start.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if err := s.open(); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

func (s *Store) open() (err error) {
	if err := makeFolder(s.dir); err != nil {
		return err
	}
	if s.lock, err = lockFolder(s.dir); err != nil {
		return err
	}
	return s.openFile()
}

// openFile opens the voter's file.
func (s *Store) openFile() (err error) {
	path := s.Path()
	if err := ensureFile(path); err != nil {
		return err
	}
	if s.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return fmt.Errorf("open the voter's file: %w", err)
	}
	c, err := s.read()
	if err != nil {
		return err
	}
	if err := settle(s.file, c.tree); err != nil {
		return fmt.Errorf("sync %s: %w: free some space or check the disk, then restart", path, err)
	}
	s.now = newLedger(c)
	err = guard(func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, options())
		return err
	})
	if errors.Is(err, errPanic) {
		return damaged(path, err)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return nil
}

// Path returns the name of the voter's file.
func (s *Store) Path() string { return filepath.Join(s.dir, "voter.db") }

// Load reads and checks everything that is stored.
func (s *Store) Load() (raft.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return raft.State{}, s.err
	}
	c, err := s.read()
	if err != nil {
		s.err = err
		return raft.State{}, err
	}
	return c.state, nil
}

// read reads the file without bbolt, while nothing writes.
func (s *Store) read() (c content, err error) {
	err = guard(func() error {
		info, err := s.file.Stat()
		if err != nil {
			return err
		}
		c, err = read(s.file, info.Size())
		return err
	})
	if f := errFormat(0); errors.As(err, &f) {
		return content{}, fmt.Errorf("read %s: %w", s.Path(), err)
	}
	if err != nil {
		return content{}, damaged(s.Path(), err)
	}
	return c, nil
}

// damaged adds how to proceed, whatever the damage is.
func damaged(path string, err error) error {
	return fmt.Errorf("read %s: %w; %w: to start empty, move directory %s away", path, err, raft.ErrDamaged, filepath.Dir(path))
}

// Save adds a batch to what is stored.
func (s *Store) Save(b raft.Batch) error {
	return s.commit(func(l *ledger) error { return l.save(b) })
}

// Erase forgets everything, including the identity: Load then returns an empty state.
func (s *Store) Erase() error {
	return s.commit((*ledger).erase)
}

// SetAside adds a suffix to the name of the voter's file, and starts with an empty one. It
// never overwrites a file. After an error the Store must be closed.
func (s *Store) SetAside(suffix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	err := errors.Join(guard(s.db.Close), s.file.Close())
	s.db, s.file = nil, nil
	if err == nil {
		err = Rename(s.Path(), s.Path()+suffix)
	}
	if err == nil {
		err = s.openFile()
	}
	if err != nil {
		s.err = fmt.Errorf("set %s aside: %w", s.Path(), err)
	}
	return s.err
}

// commit makes a change as one transaction. If that fails the Store is dead.
func (s *Store) commit(change func(*ledger) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	err := guard(func() error { return s.now.commit(s.db, change) })
	if err != nil {
		s.err = fmt.Errorf("save to %s: %w; nothing more can be saved, so the node stops: free some space or check the disk, then restart", s.Path(), err)
	}
	return s.err
}

// Close releases the folder for other processes. A later Save or Load fails.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, ErrClosed) {
		return nil
	}
	err := s.release()
	s.err = ErrClosed
	return err
}

// release frees all resources. A bbolt that has panicked may deadlock when it is closed:
// its resources are left to the end of the process.
func (s *Store) release() error {
	var err error
	if s.db != nil && !errors.Is(s.err, errPanic) {
		err = guard(s.db.Close)
	}
	for _, f := range [...]*os.File{s.file, s.lock} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// guard turns panics into errors, including faults of a memory map.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f()
}
