package console

import (
	"slices"

	"github.com/stile-lock/stile/internal/node"
)

// A histogram counts durations by their lengths.
type histogram struct {
	Bounds []float64 `json:"bounds_s"` // upper bounds of the counts; the last count has none
	Counts []uint64  `json:"counts"`
}

// add adds what a member has counted, less what it had counted before if that is given.
// Members of another version may have other bounds: they are left out.
func (h *histogram) add(now, before *node.Durations) {
	if len(now.Counts) != len(now.Bounds)+1 || h.Counts != nil && !slices.Equal(h.Bounds, now.Bounds) {
		return
	}
	if h.Counts == nil {
		h.Bounds, h.Counts = now.Bounds, make([]uint64, len(now.Counts))
	}
	for i, n := range now.Counts {
		if before != nil && i < len(before.Counts) && before.Counts[i] <= n {
			n -= before.Counts[i]
		}
		h.Counts[i] += n
	}
}

// orEmpty returns the histogram with lists that are not nil.
func (h *histogram) orEmpty() histogram {
	if h.Counts == nil {
		return histogram{[]float64{}, []uint64{}}
	}
	return *h
}

// percentiles are durations that some of all are at most as long as.
type percentiles struct {
	P50 float64 `json:"p50_s"`
	P99 float64 `json:"p99_s"`
}

// percentiles returns nil if nothing was counted.
func (h *histogram) percentiles() *percentiles {
	n := uint64(0)
	for _, c := range h.Counts {
		n += c
	}
	if n == 0 {
		return nil
	}
	return &percentiles{h.quantile(0.5, n), h.quantile(0.99, n)}
}

// quantile returns the length that a part of all are at most as long as, as if those of a
// bucket were evenly spread. What is longer than all bounds counts as the last bound.
func (h *histogram) quantile(part float64, n uint64) float64 {
	rank, below := part*float64(n), 0.0
	for i, bound := range h.Bounds {
		c := float64(h.Counts[i])
		if below+c >= rank && c > 0 {
			least := 0.0
			if i > 0 {
				least = h.Bounds[i-1]
			}
			return significant(least + (bound-least)*(rank-below)/c)
		}
		below += c
	}
	if len(h.Bounds) == 0 {
		return 0
	}
	return h.Bounds[len(h.Bounds)-1]
}
