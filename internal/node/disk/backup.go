package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stile-lock/stile/internal/engine/raft"
)

// A backup is no file that a voter could run on: it would forget what it has
// promised since. It begins with this line and the number of its format, and
// ends with a checksum of all before.
const backupHead = "stile: backup of a voter\n"

// ErrBackup says that a file is no backup that can be used.
var ErrBackup = errors.New("this is no whole backup of a voter: take another one")

// Backup writes a copy of what is kept at one moment. It is for ReadBackup; that
// it is durable is up to the caller. Saves need not wait for a slow writer.
func (s *Store) Backup(w io.Writer) error {
	state, err := s.Load()
	if err != nil {
		return err
	}
	if state.ID == 0 {
		return fmt.Errorf("back up %s: there is nothing in it yet", s.dir)
	}
	whole := raft.Batch{Group: state.Group, ID: state.ID, Hard: state.Hard, Entries: state.Entries}
	if state.Snapshot.Index > 0 {
		whole.Snapshot = &state.Snapshot
	}
	b := binary.AppendUvarint([]byte(backupHead), format)
	b = whole.AppendTo(b)
	b = binary.BigEndian.AppendUint64(b, checksum(backupHead, b))
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write a backup of %s: %w", s.dir, err)
	}
	return nil
}

// ReadBackup checks a backup and returns what it holds. The state is for a new
// group: in the old one, the voter has promised more since.
func ReadBackup(path string) (raft.State, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return raft.State{}, fmt.Errorf("read a backup: %w", err)
	}
	s, err := parseBackup(b)
	if err != nil {
		return raft.State{}, fmt.Errorf("read the backup %s: %w", path, err)
	}
	return s, nil
}

func parseBackup(b []byte) (raft.State, error) {
	rest, ok := bytes.CutPrefix(b, []byte(backupHead))
	if !ok || len(rest) < sumSize {
		return raft.State{}, fmt.Errorf("it does not begin as one: %w", ErrBackup)
	}
	end := len(b) - sumSize
	if binary.BigEndian.Uint64(b[end:]) != checksum(backupHead, b[:end]) {
		return raft.State{}, fmt.Errorf("it does not fit its checksum: %w", ErrBackup)
	}
	rest = rest[:len(rest)-sumSize]
	f, size := binary.Uvarint(rest)
	if size > 0 && f != format {
		return raft.State{}, errFormat(f)
	}
	whole, err := raft.ParseBatch(rest[max(size, 0):])
	if err != nil {
		return raft.State{}, fmt.Errorf("%w: %w", err, ErrBackup)
	}
	s, err := build(whole)
	if err != nil {
		return raft.State{}, fmt.Errorf("%w: %w", err, ErrBackup)
	}
	return s, nil
}
