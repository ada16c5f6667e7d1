package explore

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// plainPrint is Fingerprint without its shortcuts: the length, then eight bytes at a time,
// and the number of those left over.
func plainPrint(b []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	mix := func(x, y uint64) uint64 {
		hi, lo := bits.Mul64(x, y)
		return hi ^ lo
	}
	h := uint64(len(b)) ^ k0
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h^binary.LittleEndian.Uint64(b), k1)
	}
	rest := [8]byte{7: byte(len(b))}
	copy(rest[:], b)
	h = mix(h^binary.LittleEndian.Uint64(rest[:]), k0)
	return mix(h^k1, k0^h>>32)
}

// Every byte counts, and so does its place and the length.
func TestFingerprint(t *testing.T) {
	seen := map[uint64][]byte{}
	try := func(b []byte) {
		fp := Fingerprint(b)
		if want := plainPrint(b); fp != want || fp == 0 {
			t.Fatalf("% x: %x, want %x", b, fp, want)
		}
		if other, ok := seen[fp]; ok && !bytes.Equal(other, b) {
			t.Fatalf("% x and % x have one fingerprint", b, other)
		}
		seen[fp] = bytes.Clone(b)
	}
	for size := range 18 {
		b := make([]byte, size)
		try(b)
		for i := range b {
			for _, x := range []byte{1, 2, 0x40, 0x80, 0xff} {
				b[i] = x
				try(b)
				if i+1 < size {
					b[i+1] = 1
					try(b)
					b[i+1] = 0
				}
			}
			b[i] = 0
		}
	}
}

// A table is a set, also when it is nearly full, when its last slots are taken, and after
// it has grown.
func TestTableAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		n := newTable(2)
		in := map[uint64]bool{}
		for range 100 {
			fp := r.Uint64()>>r.IntN(64) | 1
			if r.IntN(2) == 0 {
				fp = ^uint64(0) - uint64(r.IntN(40)) // begins at the last slot
			}
			if got := n.add(fp); got != !in[fp] {
				t.Fatalf("%x is new: %v, want %v", fp, got, !in[fp])
			}
			if !in[fp] {
				n.count.Add(1)
			}
			if in[fp] = true; n.full() {
				n.grow()
			}
			if size := int64(len(n.slots)); n.bytes.Load() != 8*size || size != 1<<(64-n.shift) || 4*int64(len(in)) > 3*size {
				t.Fatalf("%d of %d slots, %d bytes, shift %d", len(in), size, n.bytes.Load(), n.shift)
			}
		}
		used := 0
		for _, fp := range n.slots {
			if fp != 0 {
				used++
			}
		}
		if used != len(in) {
			t.Fatalf("%d slots used for %d", used, len(in))
		}
	}
}

// A table grows when three quarters are used. When it must not, 15 of 16 may be.
func TestTableBounds(t *testing.T) {
	n := newTable(6)
	for _, c := range []struct {
		count      int64
		full, brim bool
	}{{0, false, false}, {48, false, false}, {49, true, false}, {60, true, false}, {61, true, true}} {
		n.count.Store(c.count)
		if n.full() != c.full || n.brim() != c.brim {
			t.Errorf("%d of 64: full %v, brim %v", c.count, n.full(), n.brim())
		}
	}
	n = newTable(16)
	for workers, want := range map[int]int64{1: 256, 4: 256, 5: 204, 1024: 1, 5000: 1} {
		if got := n.share(workers); got != want {
			t.Errorf("each of %d workers adds %d at once, want %d", workers, got, want)
		}
	}
}

// A frontier gives back what was put into it, level by level.
func TestFrontier(t *testing.T) {
	var f frontier
	put := func(sizes ...int) {
		for _, n := range sizes {
			f.put(bytes.Repeat([]byte{byte(n)}, n))
		}
	}
	take := func(level int, sizes ...int) {
		t.Helper()
		for _, n := range sizes {
			if !f.more() || f.level != level {
				t.Fatalf("level %d, want %d and a state of %d bytes", f.level, level, n)
			}
			if s := f.take(); !bytes.Equal(s, bytes.Repeat([]byte{byte(n)}, n)) {
				t.Fatalf("took % x, want %d bytes", s, n)
			}
		}
	}
	if f.more() || f.blocks() != 0 || f.bytes() != 0 {
		t.Error("there is something to take at the beginning")
	}
	put(3, 0, 200)
	if f.blocks() != 1 || f.bytes() < 206 {
		t.Errorf("%d blocks, %d bytes", f.blocks(), f.bytes())
	}
	take(0, 3, 0)
	put(5)
	take(0, 200)
	take(1, 5)
	if f.more() || f.level != 1 {
		t.Errorf("something is left at level %d", f.level)
	}
	put(1, 2)
	take(2, 1, 2)
	f.put(make([]byte, chunkSize-2)) // with its length, one block
	if f.blocks() != 1 {
		t.Errorf("%d blocks, want 1", f.blocks())
	}
	f.put(nil)
	if f.blocks() != 2 {
		t.Errorf("%d blocks, want 2", f.blocks())
	}
	if f.more(); f.bytes() != int64(cap(f.now)+cap(f.next)) || len(f.now) != chunkSize+1 {
		t.Errorf("%d bytes", f.bytes())
	}
}
