package mutex

import "github.com/stile-lock/stile/algorithm"

// The formulas of which theory is made.

// others returns n -> exactly k(n-1).
func others(k float64) func(n int) algorithm.Range {
	return func(n int) algorithm.Range { return algorithm.Exact(k * float64(n-1)) }
}

// between returns n -> lo .. hi, and exactly 0 for a single process.
func between(lo, hi float64) func(n int) algorithm.Range {
	return func(n int) algorithm.Range {
		if n == 1 {
			return algorithm.Range{}
		}
		return algorithm.Range{Lo: lo, Hi: hi}
	}
}

// upTo returns n -> 0 .. k(n-1).
func upTo(k float64) func(n int) algorithm.Range {
	return func(n int) algorithm.Range { return algorithm.Range{Hi: k * float64(n-1)} }
}

// onceEach returns the bypass of algorithms in which each other process can enter at most
// once while one waits.
func onceEach(n int) int { return n - 1 }
