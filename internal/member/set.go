package member

import "math/bits"

// A set is a subset of a view's universe.
type set [4]uint64

func (s *set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s *set) drop(i int)     { s[i>>6] &^= 1 << (i & 63) }
func (s *set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s set) empty() bool     { return s == set{} }
func (s set) and(o set) set   { return set{s[0] & o[0], s[1] & o[1], s[2] & o[2], s[3] & o[3]} }
func (s set) or(o set) set    { return set{s[0] | o[0], s[1] | o[1], s[2] | o[2], s[3] | o[3]} }

func (s set) len() int {
	n := 0
	for _, x := range s {
		n += bits.OnesCount64(x)
	}
	return n
}

// firstOf returns the set of the first n.
func firstOf(n int) set {
	var s set
	for i := range n {
		s.add(i)
	}
	return s
}

// list returns the indices in the set.
func (s set) list() []int {
	all := make([]int, 0, s.len())
	for i, x := range s {
		for ; x != 0; x &= x - 1 {
			all = append(all, 64*i+bits.TrailingZeros64(x))
		}
	}
	return all
}
