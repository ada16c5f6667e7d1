package raft

import (
	"errors"
	"slices"
)

// A Trouble is a fault of a simulated disk at one operation.
type Trouble byte

// The troubles.
const (
	Fine      Trouble = iota
	Stop              // the machine stops before the operation
	Full              // there is no room to write
	SyncError         // some of what was written is not on the disk, and never will be
)

// Errors of a Disk.
var (
	ErrStopped = errors.New("the machine has stopped")
	ErrFull    = errors.New("disk full: free some space, then restart")
	ErrSync    = errors.New("fsync failed: check the disk, then restart")
)

const sectorSize = 512

// A sector is written entirely or not at all. One that was never written, or was
// truncated, holds zeros.
type sector [sectorSize]byte

// A medium is two files, as a disk with a cache keeps them. Reads return what was
// written, but after a power failure only what was synced remains, and of the rest
// whatever got there by chance.
type medium struct {
	files [2][]sector
	cache []op
	next  func() Trouble
	stops error
}

// An op is a write that is not known to be on the disk.
type op struct {
	file, at int
	cut      bool // the file ends here
	data     sector
	lost     bool // a sync has failed: no later one will write it
}

func (o op) do(f []sector) []sector {
	if o.cut {
		return f[:min(o.at, len(f))]
	}
	for len(f) <= o.at {
		f = append(f, sector{})
	}
	f[o.at] = o.data
	return f
}

// covers reports whether nothing is left of an older operation.
func (o op) covers(old op) bool {
	return o.file == old.file && (o.cut && old.at >= o.at || !o.cut && !old.cut && o.at == old.at)
}

func (m *medium) fault() Trouble {
	if m.next == nil {
		return Fine
	}
	return m.next()
}

func (m *medium) stop(err error) error {
	m.stops = err
	return err
}

// put writes, or truncates a file, without a promise of durability.
func (m *medium) put(o op) error {
	if m.stops != nil {
		return m.stops
	}
	switch m.fault() {
	case Stop:
		return m.stop(ErrStopped)
	case Full:
		return m.stop(ErrFull)
	}
	m.cache = append(m.cache, o)
	return nil
}

// sync makes everything durable that was put.
func (m *medium) sync() error {
	if m.stops != nil {
		return m.stops
	}
	switch m.fault() {
	case Stop:
		return m.stop(ErrStopped)
	case SyncError:
		for i := range m.cache {
			m.cache[i].lost = true
		}
		return m.stop(ErrSync)
	}
	left := m.cache[:0] // safe to reuse: each element is read before it is overwritten
	for _, o := range m.cache {
		if o.lost {
			left = append(left, o)
			continue
		}
		left = slices.DeleteFunc(left, o.covers)
		m.files[o.file] = o.do(m.files[o.file])
	}
	m.cache = left
	return nil
}

// read returns a file as the process sees it. Callers must not change it.
func (m *medium) read(file int) []sector {
	if len(m.cache) == 0 {
		return m.files[file]
	}
	f := slices.Clone(m.files[file])
	for _, o := range m.cache {
		if o.file == file {
			f = o.do(f)
		}
	}
	return f
}

// restart begins a new process. If the power has failed, chance decides for each
// operation that was not synced whether it is on the disk or never was.
func (m *medium) restart(power bool, chance func() bool) {
	m.stops = nil
	if !power {
		return
	}
	for _, o := range m.cache {
		if chance() {
			m.files[o.file] = o.do(m.files[o.file])
		}
	}
	m.cache = nil
}
