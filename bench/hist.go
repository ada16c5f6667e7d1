package main

import (
	"math/bits"
	"time"
)

// fine is the number of steps, as a power of two, between a time and its double.
const fine = 6

// A histogram counts times, in steps of 1.6 %.
type histogram struct {
	Counts map[int]uint64 // by step
	Count  uint64
	Sum    time.Duration
	Max    time.Duration
	All    uint64 // including those before and after the measurement
}

// A tally collects times of one goroutine.
type tally struct {
	counts [(64 - fine) << fine]uint32
	count  uint64
	sum    time.Duration
	max    time.Duration
	all    uint64
}

// step returns the number of the step that a time is in.
func step(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<fine {
		return int(v)
	}
	up := bits.Len64(v) - fine - 1
	return up<<fine + int(v>>up)
}

// lower returns the shortest time of a step.
func lower(step int) time.Duration {
	if step < 1<<fine {
		return time.Duration(step)
	}
	up := step>>fine - 1
	return time.Duration(uint64(step-up<<fine) << up)
}

func (t *tally) add(d time.Duration) {
	t.counts[step(d)]++
	t.count++
	t.sum += d
	t.max = max(t.max, d)
}

// into adds a tally to a histogram.
func (t *tally) into(h *histogram) {
	if h.Counts == nil {
		h.Counts = map[int]uint64{}
	}
	for i, n := range t.counts {
		if n > 0 {
			h.Counts[i] += uint64(n)
		}
	}
	h.Count, h.Sum, h.Max = h.Count+t.count, h.Sum+t.sum, max(h.Max, t.max)
	h.All += t.all
}

// merge adds another histogram.
func (h *histogram) merge(o *histogram) {
	if h.Counts == nil {
		h.Counts = map[int]uint64{}
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Count, h.Sum, h.Max = h.Count+o.Count, h.Sum+o.Sum, max(h.Max, o.Max)
	h.All += o.All
}

// quantile returns the middle of the step that a share of the times does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	if h.Count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.Count-1))
	var seen uint64
	for i := range len(tally{}.counts) {
		if seen += h.Counts[i]; seen > rank {
			return min((lower(i)+lower(i+1))/2, h.Max)
		}
	}
	return h.Max
}

// mean returns the mean time.
func (h *histogram) mean() time.Duration {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.Count)
}
