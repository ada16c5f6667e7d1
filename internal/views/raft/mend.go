package raft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// ErrDamaged means that what a voter has promised is no longer known.
var ErrDamaged = errors.New("the storage is damaged, and the votes of this voter are lost: do not repair it; start the node with an empty data directory, or, if it was the only voter, recover the cluster: see docs/operating.md")

// Load reads the storage. A torn record was never promised, and is dropped; anything
// else that is not as it was written is damage.
func (d *Disk) Load() (State, error) {
	if err := d.pick(); err != nil {
		return State{}, err
	}
	if err := d.settle(); err != nil {
		return State{}, err
	}
	return (&Memory{state: d.state}).Load()
}

// pick reads the newer file, or the older one if the newer was torn as it began.
func (d *Disk) pick() error {
	if d.medium.stops != nil {
		return d.medium.stops
	}
	files := [...]content{scan(d.medium.read(0)), scan(d.medium.read(1))}
	at := counts(files[0], files[1])
	f := files[at]
	if f.err != nil {
		return fmt.Errorf("%w; %w", f.err, ErrDamaged)
	}
	*d = Disk{Size: d.Size, medium: d.medium, file: at, age: f.age, records: uint32(len(f.batches)), length: f.good, base: f.base}
	for _, b := range f.batches {
		if err := d.state.Apply(b); err != nil {
			return fmt.Errorf("%w; %w", err, ErrDamaged)
		}
	}
	return nil
}

// counts returns which of the two files counts: the newer one, or the one that might be
// newer and is damaged.
func counts(a, b content) int {
	files, at := [...]content{a, b}, 0
	if b.age > a.age {
		at = 1
	}
	if f := files[at]; f.err == nil && len(f.batches) == 0 {
		at = 1 - at // it was torn at its beginning: the older one has everything
	}
	// A file of unknown age might be the newer one.
	if f := files[1-at]; f.err != nil && (f.age == 0 || f.age >= files[at].age) {
		at = 1 - at
	}
	return at
}

// settle makes durable what was read: it may have been only in the cache, and after a
// failed sync no other one would change that. It rewrites the content in place.
// Beginning the other file instead would be wrong, because that may be the only one
// that is really on the disk.
func (d *Disk) settle() error {
	if d.length == 0 {
		return nil
	}
	d.medium.cache = slices.Grow(d.medium.cache, d.length+1)
	for i, s := range d.medium.read(d.file)[:d.length] {
		if err := d.medium.put(op{file: d.file, at: i, data: s}); err != nil {
			return err
		}
	}
	if err := d.medium.put(op{file: d.file, at: d.length, cut: true}); err != nil {
		return err
	}
	return d.medium.sync()
}

// A content is what is in a file.
type content struct {
	age     uint32 // 0 if no sector has it
	batches []Batch
	good    int   // sectors of these batches
	base    int   // sectors of the first batch
	err     error // damage
}

// scan reads the records of a file. Sectors of the last one may be missing.
func scan(file []sector) content {
	var c content
	var data []byte
	var record uint32
	var place uint16
	torn := false
	for i := range file {
		s := &file[i]
		if *s == (sector{}) {
			torn = true
			continue
		}
		h := binary.BigEndian
		if crc32.ChecksumIEEE(s[4:]) != h.Uint32(s[0:]) {
			c.fail(i, "does not match its checksum")
			continue
		}
		age, of, at, n, used := h.Uint32(s[4:]), h.Uint32(s[8:]), h.Uint16(s[12:]), h.Uint16(s[14:]), h.Uint16(s[16:])
		if c.age == 0 {
			c.age = age
		}
		if age != c.age || of != record || !torn && at != place || at >= n || used > payload {
			c.fail(i, "is in the wrong place")
			continue
		}
		if torn {
			continue
		}
		data = append(data, s[sectorHead:sectorHead+int(used)]...)
		if place++; place < n {
			continue
		}
		b, err := ParseBatch(data)
		if err != nil {
			c.fail(i, err.Error())
			continue
		}
		c.batches = append(c.batches, b)
		if c.good = i + 1; c.base == 0 {
			c.base = c.good
		}
		data, record, place = nil, record+1, 0
	}
	return c
}

func (c *content) fail(sector int, how string) {
	if c.err == nil {
		c.err = fmt.Errorf("sector %d %s", sector, how)
	}
}
