package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of bbolt's files, in the byte order of the machine. A page has its own number,
// flags, the number of its elements and the number of pages it overflows into. Keys and
// values of an element follow, at the offset from it that it gives.
const (
	pageSize = 4096 // the same everywhere, so that a folder can be moved to another machine
	headSize = 16
	elemSize = 16

	branchPage = 1
	leafPage   = 2

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	metaSize    = 64 // the last 8 bytes are its checksum

	bucketFlag = 1  // of an element: its value is a bucket
	bucketHead = 16 // the number of its first page, or 0 if that follows directly; and a counter
)

var order = binary.NativeEndian

// A meta says where a tree begins, and to which transaction it belongs.
type meta struct {
	root, high, tx uint64 // high is the number of pages that are or were in use
}

// errForeign reports that a file does not look like one of this package.
var errForeign = errors.New("not a voter's file: if it never was one, give another data directory")

func parseMeta(page []byte) (m meta, err error) {
	b := page[headSize:]
	if order.Uint32(b) != boltMagic {
		return m, errForeign
	}
	h := fnv.New64a()
	h.Write(b[:metaSize-8])
	if h.Sum64() != order.Uint64(b[metaSize-8:]) {
		return m, errors.New("a meta page does not match its checksum")
	}
	if v, size := order.Uint32(b[4:]), order.Uint32(b[8:]); v != boltVersion || size != pageSize {
		return m, fmt.Errorf("version %d with pages of %d bytes: %w", v, size, errForeign)
	}
	return meta{root: order.Uint64(b[16:]), high: order.Uint64(b[40:]), tx: order.Uint64(b[48:])}, nil
}

// newest reads both meta pages, which belong to the last two transactions. If one of them
// cannot be read, it is unknown whether it was the newer one. A crash does not cause this,
// because a meta is smaller than a sector.
func newest(f io.ReaderAt, size int64) (meta, error) {
	var b [2 * pageSize]byte
	if _, err := f.ReadAt(b[:], 0); err == io.EOF {
		return meta{}, fmt.Errorf("size of %d bytes: %w", size, errForeign)
	} else if err != nil {
		return meta{}, err
	}
	m, err := parseMeta(b[:pageSize])
	other, err2 := parseMeta(b[pageSize:])
	if errors.Is(err, errForeign) && errors.Is(err2, errForeign) {
		return meta{}, err
	}
	if err := errors.Join(err, err2); err != nil {
		return meta{}, err
	}
	if other.tx > m.tx {
		m, other = other, m
	}
	if other.tx+1 != m.tx {
		return meta{}, fmt.Errorf("the meta pages are from transactions %d and %d, which are not consecutive", other.tx, m.tx)
	}
	if m.high > uint64(size)/pageSize {
		return meta{}, fmt.Errorf("truncated: %d pages are in use, but the file has %d bytes", m.high, size)
	}
	return m, nil
}

// A tree reads the pages of a file, each once, and only valid ones.
type tree struct {
	file io.ReaderAt
	meta meta
	seen []bool // pages that have been read
}

// An elem is a key and its value.
type elem struct {
	key, value []byte
	flags      uint32
}

func readTree(f io.ReaderAt, size int64) (*tree, []elem, error) {
	m, err := newest(f, size)
	if err != nil {
		return nil, nil, err
	}
	t := &tree{file: f, meta: m, seen: make([]bool, m.high)}
	all, err := t.below(m.root, nil, nil)
	return t, all, err
}

// below returns the elements of the leaves under a page. Their keys are ascending, at least
// min and, if there is a max, below it.
func (t *tree) below(id uint64, min, max []byte) ([]elem, error) {
	p, err := t.page(id)
	if err != nil {
		return nil, err
	}
	p.min, p.max = min, max
	if p.flags == leafPage {
		return p.leaf()
	}
	kids, err := p.branch()
	if err != nil {
		return nil, err
	}
	var all []elem
	for i, k := range kids {
		max := max
		if i+1 < len(kids) {
			max = kids[i+1].key
		}
		some, err := t.below(k.id, k.key, max)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// page reads a page and the pages it overflows into.
func (t *tree) page(id uint64) (*page, error) {
	if id < 2 || id >= t.meta.high {
		return nil, fmt.Errorf("page %d is not among the %d in use", id, t.meta.high)
	}
	var head [headSize]byte
	if _, err := t.file.ReadAt(head[:], int64(id)*pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	over := uint64(order.Uint32(head[12:]))
	if over >= t.meta.high-id {
		return nil, fmt.Errorf("page %d overflows into %d more, beyond those in use", id, over)
	}
	for i := id; i <= id+over; i++ {
		if t.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		t.seen[i] = true
	}
	b := make([]byte, (over+1)*pageSize)
	if _, err := t.file.ReadAt(b, int64(id)*pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return parsePage(id, b)
}

// bucket returns the elements of the bucket that a value describes.
func (t *tree) bucket(v []byte) ([]elem, error) {
	if len(v) < bucketHead {
		return nil, errors.New("bucket truncated")
	}
	if id := order.Uint64(v); id != 0 {
		return t.below(id, nil, nil)
	}
	p, err := parsePage(0, v[bucketHead:])
	if err != nil {
		return nil, err
	}
	if p.flags != leafPage {
		return nil, errors.New("inline bucket is not a leaf")
	}
	return p.leaf()
}

// A page is a page with a consistent header whose elements are inside it.
type page struct {
	id       uint64
	bytes    []byte
	flags    uint16
	count    int
	min, max []byte
}

func parsePage(id uint64, b []byte) (*page, error) {
	if len(b) < headSize {
		return nil, fmt.Errorf("page %d is truncated", id)
	}
	p := &page{id: id, bytes: b, flags: order.Uint16(b[8:]), count: int(order.Uint16(b[10:]))}
	if got := order.Uint64(b); got != id {
		return nil, fmt.Errorf("page %d has the number of page %d", id, got)
	}
	if p.flags != leafPage && p.flags != branchPage {
		return nil, fmt.Errorf("page %d has unknown flags %d", id, p.flags)
	}
	if headSize+p.count*elemSize > len(b) {
		return nil, fmt.Errorf("page %d has no room for %d elements", id, p.count)
	}
	return p, nil
}

// part returns the bytes at an offset from element i, and what follows them.
func (p *page) part(i int, pos, size uint32) (part, rest []byte, err error) {
	from := uint64(headSize+i*elemSize) + uint64(pos)
	if from < uint64(headSize+p.count*elemSize) || from+uint64(size) > uint64(len(p.bytes)) {
		return nil, nil, fmt.Errorf("element %d of page %d lies outside the page", i, p.id)
	}
	return p.bytes[from : from+uint64(size)], p.bytes[from+uint64(size):], nil
}

// follows checks that a key comes after the one before.
func (p *page) follows(i int, before, key []byte) error {
	c := bytes.Compare(before, key)
	if i == 0 && bytes.Compare(p.min, key) > 0 || i > 0 && c >= 0 || p.max != nil && bytes.Compare(key, p.max) >= 0 {
		return fmt.Errorf("element %d of page %d is out of order", i, p.id)
	}
	return nil
}

func (p *page) leaf() ([]elem, error) {
	all := make([]elem, p.count)
	var before []byte
	for i := range all {
		b := p.bytes[headSize+i*elemSize:]
		key, rest, err := p.part(i, order.Uint32(b[4:]), order.Uint32(b[8:]))
		if err != nil {
			return nil, err
		}
		size := order.Uint32(b[12:])
		if uint64(size) > uint64(len(rest)) {
			return nil, fmt.Errorf("element %d of page %d lies outside the page", i, p.id)
		}
		if err := p.follows(i, before, key); err != nil {
			return nil, err
		}
		all[i] = elem{key: key, value: rest[:size], flags: order.Uint32(b)}
		before = key
	}
	return all, nil
}

// A kid is a page under a branch, and the smallest key that it may have.
type kid struct {
	key []byte
	id  uint64
}

func (p *page) branch() ([]kid, error) {
	if p.count == 0 {
		return nil, fmt.Errorf("page %d is a branch without children", p.id)
	}
	all := make([]kid, p.count)
	var before []byte
	for i := range all {
		b := p.bytes[headSize+i*elemSize:]
		key, _, err := p.part(i, order.Uint32(b), order.Uint32(b[4:]))
		if err != nil {
			return nil, err
		}
		if err := p.follows(i, before, key); err != nil {
			return nil, err
		}
		all[i] = kid{key, order.Uint64(b[8:])}
		before = key
	}
	return all, nil
}
