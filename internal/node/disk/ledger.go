package disk

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/stile-lock/stile/internal/views/raft"
)

// A ledger knows which records the file has, and writes others. After an error it must not
// be used again.
type ledger struct {
	state  raft.State        // without the data of snapshot and entries
	sums   map[string]uint64 // checksums of the records
	total  uint64            // sum of the checksums
	bucket *bbolt.Bucket     // while a transaction is open
}

func newLedger(c content) ledger {
	l := ledger{sums: c.sums}
	_ = l.state.Apply(bare(c.state.Whole())) // unchanged since it was read
	for _, sum := range c.sums {
		l.total += sum
	}
	return l
}

// bare returns a batch without the data, which need not be kept in memory.
func bare(b raft.Batch) raft.Batch {
	if b.Snapshot != nil {
		b.Snapshot = &raft.Snapshot{Index: b.Snapshot.Index, Term: b.Snapshot.Term}
	}
	entries := make([]raft.Entry, len(b.Entries))
	for i, e := range b.Entries {
		entries[i] = raft.Entry{Index: e.Index, Term: e.Term}
	}
	b.Entries = entries
	return b
}

// commit makes a change in a transaction of its own. It does not use bbolt's Update, which
// rolls back in a panic: that walks through the file, whose state is in doubt, in a
// goroutine whose faults cannot be caught.
func (l *ledger) commit(db *bbolt.DB, change func(*ledger) error) error {
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	if err := l.write(tx, change); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// write makes a change and writes the manifest of the result.
func (l *ledger) write(tx *bbolt.Tx, change func(*ledger) error) (err error) {
	if l.bucket, err = tx.CreateBucketIfNotExists([]byte(bucketName)); err != nil {
		return err
	}
	defer func() { l.bucket = nil }()
	if err := change(l); err != nil {
		return err
	}
	m := manifest{format: format, tx: uint64(tx.ID()), count: uint64(len(l.sums)), sum: l.total}
	value, _ := seal(keyManifest, m.bytes())
	return l.bucket.Put([]byte(keyManifest), value)
}

// save writes a batch and deletes the entries that it supersedes.
func (l *ledger) save(b raft.Batch) error {
	for i, e := range b.Entries {
		if e.Index != b.Entries[0].Index+uint64(i) {
			return fmt.Errorf("got entry %d, want entry %d", e.Index, b.Entries[0].Index+uint64(i))
		}
	}
	first, last := l.state.Snapshot.Index+1, l.state.Last()
	if err := l.state.Apply(bare(b)); err != nil {
		return err
	}
	for i := first; i <= last; i++ {
		if i <= l.state.Snapshot.Index || i > l.state.Last() {
			if err := l.drop(entryKey(i)); err != nil {
				return err
			}
		}
	}
	if b.Group != 0 || b.ID != 0 {
		if err := l.put(keyIdentity, raft.Batch{Group: b.Group, ID: b.ID}); err != nil {
			return err
		}
	}
	if b.Snapshot != nil {
		if err := l.put(keySnapshot, raft.Batch{Snapshot: b.Snapshot}); err != nil {
			return err
		}
	}
	for _, e := range b.Entries {
		if err := l.put(entryKey(e.Index), raft.Batch{Entries: []raft.Entry{e}}); err != nil {
			return err
		}
	}
	return l.put(keyHard, raft.Batch{Hard: b.Hard})
}

// erase deletes all records.
func (l *ledger) erase() error {
	for key := range l.sums {
		if err := l.drop(key); err != nil {
			return err
		}
	}
	l.state = raft.State{}
	return nil
}

func (l *ledger) put(key string, b raft.Batch) error {
	value, sum := seal(key, b.AppendTo(nil))
	l.total += sum - l.sums[key]
	l.sums[key] = sum
	return l.bucket.Put([]byte(key), value)
}

func (l *ledger) drop(key string) error {
	l.total -= l.sums[key]
	delete(l.sums, key)
	return l.bucket.Delete([]byte(key))
}
