package explore

import (
	"math/bits"
	"sync/atomic"
)

// Fingerprint hashes a state to 64 bits. It is never 0.
func Fingerprint(b []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	h := uint64(len(b)) ^ k0
	for len(b) >= 8 {
		h = fold(h^le64(b), k1)
		b = b[8:]
	}
	tail := uint64(len(b)) << 56 // so that zeros at the end count
	for i, x := range b {
		tail |= uint64(x) << (8 * uint(i))
	}
	h = fold(h^tail, k0)
	h = fold(h^k1, k0^h>>32)
	if h == 0 {
		return 1
	}
	return h
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func le64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// A table is a set of fingerprints that several workers fill concurrently.
type table struct {
	slots []uint64
	shift uint
	count atomic.Int64
	bytes atomic.Int64 // size of the slots, which must not be read while the table grows
}

func newTable(bits uint) *table {
	t := &table{slots: make([]uint64, 1<<bits), shift: 64 - bits}
	t.bytes.Store(8 << bits)
	return t
}

// add inserts fp and reports whether it was new. The caller updates count.
func (t *table) add(fp uint64) bool {
	last := uint64(len(t.slots) - 1)
	for i := fp >> t.shift; ; i = (i + 1) & last {
		old := atomic.LoadUint64(&t.slots[i])
		if old == 0 && atomic.CompareAndSwapUint64(&t.slots[i], 0, fp) {
			return true
		}
		if old == 0 {
			old = atomic.LoadUint64(&t.slots[i])
		}
		if old == fp {
			return false
		}
	}
}

// full reports whether the table must grow before many more are added.
func (t *table) full() bool { return t.count.Load()*32 > t.bytes.Load()*3 }

// brim reports whether hardly any slot is left.
func (t *table) brim() bool { return t.count.Load()*128 > t.bytes.Load()*15 }

// share is how many states each of the workers may add before it checks whether the table
// is full: together they cannot fill what is left.
func (t *table) share(workers int) int64 {
	const most = 256
	return max(1, min(most, int64(len(t.slots)/64/workers)))
}

// grow doubles the table, which must not be used meanwhile.
func (t *table) grow() {
	old := t.slots
	t.shift--
	t.slots = make([]uint64, 2*len(old))
	t.bytes.Store(16 * int64(len(old)))
	last := uint64(len(t.slots) - 1)
	for _, fp := range old {
		if fp == 0 {
			continue
		}
		i := fp >> t.shift
		for t.slots[i] != 0 {
			i = (i + 1) & last
		}
		t.slots[i] = fp
	}
}
