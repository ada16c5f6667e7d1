package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"

	"github.com/stile-lock/stile/internal/views/raft"
)

// format is the number of the layout that this program writes. It must grow with every
// change of the records or of the bytes of a batch.
const format = 1

// The keys. Every format has the manifest, which begins with the format number.
const (
	bucketName  = "stile voter"
	keyManifest = "manifest"
	keyIdentity = "identity"
	keyHard     = "hard"
	keySnapshot = "snapshot"
	keyEntry    = "entry " // followed by the index, as 8 bytes
)

func entryKey(index uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte(keyEntry), index))
}

const sumSize = 8

// checksum includes the key: a value in the wrong place is invalid.
func checksum(key string, data []byte) uint64 {
	table := crc64.MakeTable(crc64.ECMA) // cached by the library
	return crc64.Update(crc64.Checksum([]byte(key), table), table, data)
}

// seal returns a record and its checksum.
func seal(key string, data []byte) ([]byte, uint64) {
	sum := checksum(key, data)
	return append(binary.BigEndian.AppendUint64(nil, sum), data...), sum
}

// unseal returns what seal was given.
func unseal(key string, value []byte) ([]byte, uint64, error) {
	if len(value) < sumSize {
		return nil, 0, fmt.Errorf("record %q is too short", key)
	}
	sum, data := binary.BigEndian.Uint64(value), value[sumSize:]
	if checksum(key, data) != sum {
		return nil, 0, fmt.Errorf("record %q does not match its checksum", key)
	}
	return data, sum, nil
}

// A manifest says what else must be in the file.
type manifest struct {
	format, tx uint64
	count, sum uint64 // of all other records
}

func (m manifest) bytes() []byte {
	var b []byte
	for _, n := range [...]uint64{m.format, m.tx, m.count, m.sum} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func parseManifest(b []byte) (m manifest, err error) {
	for i, n := range [...]*uint64{&m.format, &m.tx, &m.count, &m.sum} {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return m, errors.New("manifest truncated")
		}
		*n, b = v, b[size:]
		if i == 0 && m.format != format {
			return m, errFormat(m.format)
		}
	}
	if len(b) > 0 {
		return m, errors.New("manifest too long")
	}
	return m, nil
}

// An errFormat is a format number that this program does not know.
type errFormat uint64

func (e errFormat) Error() string {
	return fmt.Sprintf("the file has format %d, but this version of stile reads only format %d: start the version that wrote it, or a newer one", uint64(e), uint64(format))
}

// A content is what a file holds, and what must be known of it to change it.
type content struct {
	state raft.State
	sums  map[string]uint64 // checksums of the records, except the manifest
	tree  *tree
}

// read checks and reads a file.
func read(f io.ReaderAt, size int64) (content, error) {
	t, top, err := readTree(f, size)
	if err != nil {
		return content{}, err
	}
	if len(top) == 0 || string(top[0].key) != bucketName || top[0].flags != bucketFlag {
		return content{}, fmt.Errorf("first bucket is not %q: %w", bucketName, errForeign)
	}
	all, err := t.bucket(top[0].value)
	if err != nil {
		return content{}, err
	}
	c, err := decode(all, t.meta.tx)
	if err == nil && len(top) > 1 {
		err = fmt.Errorf("unexpected bucket %q", top[1].key)
	}
	c.tree = t
	return c, err
}

// decode builds a state from the records that a transaction has left.
func decode(all []elem, tx uint64) (content, error) {
	m, err := findManifest(all)
	if err != nil {
		return content{}, err
	}
	if m.tx != tx {
		return content{}, fmt.Errorf("the manifest is from transaction %d, the file from %d", m.tx, tx)
	}
	c := content{sums: make(map[string]uint64)}
	var whole raft.Batch
	var total uint64
	for _, e := range all {
		key := string(e.key)
		if e.flags != 0 {
			return content{}, fmt.Errorf("record %q has unknown flags %d", key, e.flags)
		}
		if key == keyManifest {
			continue
		}
		data, sum, err := unseal(key, e.value)
		if err != nil {
			return content{}, err
		}
		if err := gather(&whole, key, data); err != nil {
			return content{}, fmt.Errorf("record %q: %w", key, err)
		}
		c.sums[key] = sum
		total += sum
	}
	if m.count != uint64(len(c.sums)) || m.sum != total {
		return content{}, fmt.Errorf("the %d records do not match the %d of the manifest", len(c.sums), m.count)
	}
	if c.state, err = whole.State(); err != nil {
		return content{}, err
	}
	return c, nil
}

func findManifest(all []elem) (manifest, error) {
	for _, e := range all {
		if string(e.key) == keyManifest {
			data, _, err := unseal(keyManifest, e.value)
			if err != nil {
				return manifest{}, err
			}
			return parseManifest(data)
		}
	}
	return manifest{}, errors.New("manifest missing")
}

// gather adds a record to the batch of all records. Entries come in the order of their
// keys, which is that of the log.
func gather(whole *raft.Batch, key string, data []byte) error {
	b, err := raft.ParseBatch(data)
	if err != nil {
		return err
	}
	switch {
	case key == keyIdentity:
		whole.Group, whole.ID = b.Group, b.ID
	case key == keyHard:
		whole.Hard = b.Hard
	case key == keySnapshot && b.Snapshot != nil:
		whole.Snapshot = b.Snapshot
	case len(b.Entries) == 1 && key == entryKey(b.Entries[0].Index):
		whole.Entries = append(whole.Entries, b.Entries[0])
	default:
		return errors.New("content does not match the key")
	}
	return nil
}
