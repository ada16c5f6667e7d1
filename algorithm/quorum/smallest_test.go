package quorum

import (
	"math/bits"
	"testing"
)

// Sets of size K of which any two intersect, and no process in more than K of them, exist
// for at most K(K-1)+1 processes; for 3 and 7 processes, exactly that many.
func TestSmallestSets(t *testing.T) {
	for _, test := range []struct {
		n, k   int
		exists bool
	}{
		{2, 1, false}, {3, 2, true}, {4, 2, false}, {5, 2, false}, {6, 2, false},
		{7, 2, false}, {7, 3, true}, {8, 3, false}, {9, 3, false},
	} {
		if got := systemExists(test.n, test.k); got != test.exists {
			t.Errorf("%d processes, sets of %d: found %v, want %v", test.n, test.k, got, test.exists)
		}
		if bound := test.k*(test.k-1) + 1; test.exists && test.n > bound {
			t.Errorf("sets of %d for %d processes, above the bound %d", test.k, test.n, bound)
		}
	}
}

// systemExists tries all systems of n sets of size k, in which no process is in more than k.
func systemExists(n, k int) bool {
	var all []uint
	for set := range uint(1) << n {
		if bits.OnesCount(set) == k {
			all = append(all, set)
		}
	}
	var chosen []uint
	var add func(from int) bool
	add = func(from int) bool {
		if len(chosen) == n {
			return true
		}
		for i := from; i < len(all); i++ { // a set may be that of several processes
			if chosen = append(chosen, all[i]); fits(chosen, n, k) && add(i) {
				return true
			}
			chosen = chosen[:len(chosen)-1]
		}
		return false
	}
	return add(0)
}

// fits reports whether the last set intersects the others, and no process is in more than
// k sets.
func fits(sets []uint, n, k int) bool {
	last := sets[len(sets)-1]
	for _, s := range sets {
		if s&last == 0 {
			return false
		}
	}
	for p := range n {
		load := 0
		for _, s := range sets {
			load += int(s >> p & 1)
		}
		if load > k {
			return false
		}
	}
	return true
}
