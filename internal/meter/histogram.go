package meter

import (
	"math/bits"

	"github.com/stile-lock/stile/internal/member"
)

// bounds are the upper bounds of the buckets of a Histogram. Another bucket has no bound.
var bounds = [...]member.Span{
	10 * microsecond, 30 * microsecond, 100 * microsecond, 300 * microsecond,
	member.Millisecond, 3 * member.Millisecond, 10 * member.Millisecond, 30 * member.Millisecond,
	100 * member.Millisecond, 300 * member.Millisecond, member.Second, 3 * member.Second,
	10 * member.Second, 30 * member.Second, 100 * member.Second, 300 * member.Second,
}

const microsecond = member.Millisecond / 1000

// Bounds returns the upper bounds of the buckets of a Histogram.
func Bounds() [len(bounds)]member.Span { return bounds }

// firsts has, for each length of a number in bits, the first bucket that a number of that
// length may be in.
var firsts = func() (all [65]uint8) {
	for n := 1; n < len(all); n++ {
		least := uint64(1) << (n - 1)
		for int(all[n]) < len(bounds) && uint64(bounds[all[n]]) < least {
			all[n]++
		}
	}
	return all
}()

// A Histogram counts durations.
type Histogram struct {
	Buckets [len(bounds) + 1]uint64 // by their bounds; the last one has none
	Sum     member.Span
}

// Add counts a duration.
func (h *Histogram) Add(d member.Span) { h.add(d, 1) }

// add counts n equal durations.
func (h *Histogram) add(d member.Span, n uint64) {
	d = max(d, 0)
	i := firsts[bits.Len64(uint64(d))]
	for int(i) < len(bounds) && d > bounds[i] {
		i++
	}
	h.Buckets[i] += n
	h.Sum += d * member.Span(n)
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.Buckets {
		h.Buckets[i] += n
	}
	h.Sum += o.Sum
}

// Count returns the number of durations.
func (h *Histogram) Count() (n uint64) {
	for _, x := range h.Buckets {
		n += x
	}
	return n
}
