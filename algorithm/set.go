package algorithm

import (
	"iter"
	"math/bits"
)

// A Set is a set of seats: one word for up to 64 seats, a slice beyond. The zero Set is
// empty. Copying a Set value may share memory; use Copy.
type Set struct {
	lo uint64
	hi []uint64 // seats 64 and up
}

// SetOf returns the set of the given seats.
func SetOf(ids ...ID) Set {
	var s Set
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Add adds id to the set.
func (s *Set) Add(id ID) {
	if id < 64 {
		s.lo |= 1 << uint(id)
		return
	}
	w := int(id)/64 - 1
	for len(s.hi) <= w {
		s.hi = append(s.hi, 0)
	}
	s.hi[w] |= 1 << (uint(id) % 64)
}

// Fill makes s the set of all seats 0 to n-1.
func (s *Set) Fill(n int) {
	s.Clear()
	for id := range ID(n) {
		s.Add(id)
	}
}

// Remove removes id from the set.
func (s *Set) Remove(id ID) {
	if id < 64 {
		s.lo &^= 1 << uint(id)
	} else if w := int(id)/64 - 1; w < len(s.hi) {
		s.hi[w] &^= 1 << (uint(id) % 64)
	}
}

// Has reports whether id is in the set.
func (s *Set) Has(id ID) bool {
	if id < 64 {
		return id >= 0 && s.lo>>uint(id)&1 == 1
	}
	w := int(id)/64 - 1
	return w < len(s.hi) && s.hi[w]>>(uint(id)%64)&1 == 1
}

// Clear empties the set.
func (s *Set) Clear() {
	s.lo = 0
	clear(s.hi)
}

// Empty reports whether the set is empty.
func (s *Set) Empty() bool {
	if s.lo != 0 {
		return false
	}
	for _, w := range s.hi {
		if w != 0 {
			return false
		}
	}
	return true
}

// Len returns the number of seats in the set.
func (s *Set) Len() int {
	n := bits.OnesCount64(s.lo)
	for _, w := range s.hi {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the smallest member not below id, or None.
func (s *Set) Next(id ID) ID {
	if id < 64 {
		if w := s.lo >> uint(id); w != 0 {
			return id + ID(bits.TrailingZeros64(w))
		}
		id = 64
	}
	for w := int(id)/64 - 1; w < len(s.hi); w++ {
		if x := s.hi[w] >> (uint(id) % 64); x != 0 {
			return id + ID(bits.TrailingZeros64(x))
		}
		id = ID(w+2) * 64
	}
	return None
}

// All returns an iterator over the members in ascending order.
func (s *Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := s.Next(0); id != None; id = s.Next(id + 1) {
			if !yield(id) {
				return
			}
		}
	}
}

// Copy makes s equal to t without sharing memory.
func (s *Set) Copy(t *Set) {
	s.lo = t.lo
	s.hi = append(s.hi[:0], t.hi...)
}

// Union adds every member of t to s.
func (s *Set) Union(t *Set) {
	s.lo |= t.lo
	for len(s.hi) < len(t.hi) {
		s.hi = append(s.hi, 0)
	}
	for i, w := range t.hi {
		s.hi[i] |= w
	}
}

// Equal reports whether both sets have the same members.
func (s *Set) Equal(t *Set) bool {
	if s.lo != t.lo {
		return false
	}
	for i := range max(len(s.hi), len(t.hi)) {
		if word(s.hi, i) != word(t.hi, i) {
			return false
		}
	}
	return true
}

// Meets returns the smallest seat in both sets, or None.
func (s *Set) Meets(t *Set) ID {
	if w := s.lo & t.lo; w != 0 {
		return ID(bits.TrailingZeros64(w))
	}
	for i := range min(len(s.hi), len(t.hi)) {
		if w := s.hi[i] & t.hi[i]; w != 0 {
			return ID((i+1)*64 + bits.TrailingZeros64(w))
		}
	}
	return None
}

func word(hi []uint64, i int) uint64 {
	if i < len(hi) {
		return hi[i]
	}
	return 0
}
