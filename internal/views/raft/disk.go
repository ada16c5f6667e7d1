package raft

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A Disk is a Storage on a simulated disk, which can lose what was not synced, tear
// what was being written, be full, fail and rot. Its layout is one that a real file
// could have: a record is a batch, in sectors of its own, each of which identifies its
// place and has a checksum. So a torn record, which lacks sectors, can be distinguished
// from one that has rotted.
//
// It has two files. In the newer one, the first record is a complete state. When the
// file has grown, or a snapshot makes most of it unnecessary, the other file is
// truncated and takes its place.
type Disk struct {
	Size int // maximum sectors of a file (default unlimited)

	medium  medium
	state   State
	file    int
	age     uint32 // of the file, counting all files so far; 0 if there is none yet
	records uint32
	length  int // sectors
	base    int // sectors of the first record
}

// A sector begins with a checksum of everything that follows, the age of its file, the
// number of its record, its place in the record, the number of the record's sectors,
// and the number of its own bytes.
const (
	sectorHead = 4 + 4 + 4 + 2 + 2 + 2
	payload    = sectorSize - sectorHead
	maxSectors = 1<<16 - 1
	minGrowth  = 64 // sectors that a file may always grow by
)

// Meet injects trouble: next is called before every operation. Without it, no trouble
// occurs.
func (d *Disk) Meet(next func() Trouble) { d.medium.next = next }

// Restart is what happens to the disk when the process ends and another begins. If the
// power fails too, chance decides for each operation that was not synced whether it is
// on the disk.
func (d *Disk) Restart(power bool, chance func() bool) {
	d.medium.restart(power, chance)
}

// Rot flips a bit on the disk, unless the disk is empty.
func (d *Disk) Rot(bit uint64) {
	n := uint64(len(d.medium.files[0]) + len(d.medium.files[1]))
	if n == 0 {
		return
	}
	bit %= n * sectorSize * 8
	at, in := bit/8/sectorSize, bit/8%sectorSize
	f := d.medium.files[0]
	if at >= uint64(len(f)) {
		at -= uint64(len(f))
		f = d.medium.files[1]
	}
	f[at][in] ^= 1 << (bit % 8)
}

// Save appends a record, or begins a file with the whole state.
func (d *Disk) Save(b Batch) error {
	if d.medium.stops != nil {
		return d.medium.stops
	}
	if err := d.write(b); err != nil {
		return err
	}
	return d.medium.sync()
}

// write is Save without the promise of durability.
func (d *Disk) write(b Batch) error {
	if err := d.state.Apply(b); err != nil {
		return err
	}
	if d.age == 0 || b.Snapshot != nil || d.length > max(minGrowth, 4*d.base) {
		return d.begin()
	}
	return d.record(b)
}

// Erase truncates both files, first the one that does not count: what Load finds in
// between is what it found before, or nothing, and never an older state.
func (d *Disk) Erase() error {
	if d.medium.stops != nil {
		return d.medium.stops
	}
	last := counts(scan(d.medium.read(0)), scan(d.medium.read(1)))
	for _, file := range [...]int{1 - last, last} {
		if err := d.medium.put(op{file: file, cut: true}); err != nil {
			return err
		}
		if err := d.medium.sync(); err != nil {
			return err
		}
	}
	*d = Disk{Size: d.Size, medium: d.medium}
	return nil
}

// begin makes the other file the newer one.
func (d *Disk) begin() error {
	d.file, d.age, d.records, d.length, d.base = 1-d.file, d.age+1, 0, 0, 0
	if err := d.medium.put(op{file: d.file, cut: true}); err != nil {
		return err
	}
	if err := d.medium.sync(); err != nil {
		return err
	}
	all := Batch{Group: d.state.Group, ID: d.state.ID, Hard: d.state.Hard, Entries: d.state.Entries}
	if d.state.Snapshot.Index > 0 {
		all.Snapshot = &d.state.Snapshot
	}
	err := d.record(all)
	d.base = d.length
	return err
}

// record writes a batch after all others.
func (d *Disk) record(b Batch) error {
	data := b.AppendTo(nil)
	n := (len(data) + payload - 1) / payload
	if n > maxSectors {
		return d.medium.stop(fmt.Errorf("record of %d bytes: want at most %d", len(data), maxSectors*payload))
	}
	if d.Size > 0 && d.length+n > d.Size {
		return d.medium.stop(ErrFull)
	}
	for i := range n {
		part := data[i*payload : min(len(data), (i+1)*payload)]
		var s sector
		h := binary.BigEndian
		h.PutUint32(s[4:], d.age)
		h.PutUint32(s[8:], d.records)
		h.PutUint16(s[12:], uint16(i))
		h.PutUint16(s[14:], uint16(n))
		h.PutUint16(s[16:], uint16(len(part)))
		copy(s[sectorHead:], part)
		h.PutUint32(s[0:], crc32.ChecksumIEEE(s[4:]))
		if err := d.medium.put(op{file: d.file, at: d.length, data: s}); err != nil {
			return err
		}
		d.length++
	}
	d.records++
	return nil
}
