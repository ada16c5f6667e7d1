package trace

import (
	"math/bits"
	"slices"
)

// A window is the part of a run that a picture shows.
type window struct {
	from, to int64 // ticks
	width    int   // on paper, in tenths of pixels
	cut      bool  // it is not the whole run
	shown    int   // how many events are in it
}

// How many moments fit, and how much room one has, in pixels.
const (
	maxMoments  = 80
	momentWidth = 30
	tightWidth  = 10
	minPlot     = 620
	maxPlot     = 1200
	hardPlot    = 8000
	margin      = 14 * pixel // left and right, for what is drawn around a moment
)

// window chooses what to show: what was asked for, or else as much as can be
// read.
func (t *Trace) window(o SVGOptions, focus int) window {
	w := window{width: minPlot * pixel}
	if n := len(t.Events); n > 0 {
		w.to = t.Events[n-1].At
		if first := t.Events[0].At; first > w.to/4 {
			w.from = first
		}
	}
	if o.To != 0 {
		w.to = min(o.To, w.to)
	}
	w.from = min(max(w.from, o.From), w.to)
	moments := t.moments(w.from, w.to)
	if o.To == 0 && len(moments) > maxMoments {
		first, last := around(moments, t.centre(focus, w.from))
		if first > 0 {
			w.from = moments[first]
		}
		w.to = moments[last]
		moments = moments[first : last+1]
	}
	for i := range t.Events {
		if at := t.Events[i].At; at >= w.from && at <= w.to {
			w.shown++
		}
	}
	w.cut = w.shown < len(t.Events)
	wide := min(max(len(moments)*momentWidth, minPlot), maxPlot)
	w.width = min(max(wide, len(moments)*tightWidth), hardPlot) * pixel
	if w.to == w.from {
		w.to = w.from + t.unit()
	}
	return w
}

// moments returns the different times at which something happened.
func (t *Trace) moments(from, to int64) []int64 {
	var ms []int64
	for i := range t.Events {
		if at := t.Events[i].At; at >= from && at <= to {
			ms = append(ms, at)
		}
	}
	return slices.Compact(ms)
}

// centre returns the time that must be in the picture: that of the focus, or
// of the first violation, or else the start.
func (t *Trace) centre(focus int, start int64) int64 {
	if focus >= 0 {
		return t.Events[focus].At
	}
	for i := range t.Events {
		if t.Events[i].Kind == Violation && t.Events[i].At >= start {
			return t.Events[i].At
		}
	}
	return start
}

// around returns as many moments as fit, with at in the last third of them
// unless it is near the start.
func around(moments []int64, at int64) (first, last int) {
	i, _ := slices.BinarySearch(moments, at)
	last = min(max(i+maxMoments/3, maxMoments-1), len(moments)-1)
	return last - (maxMoments - 1), last
}

// x returns where a time is in the picture, also one outside the window.
func (w *window) x(at int64) int {
	room := uint64(w.width - 2*margin)
	span := uint64(w.to - w.from)
	if at < w.from {
		return margin - scale(uint64(w.from-at), room, span)
	}
	return margin + scale(uint64(at-w.from), room, span)
}

// scale returns v*room/span, rounded, and bounded for what is far away.
func scale(v, room, span uint64) int {
	const far = 1 << 20
	hi, lo := bits.Mul64(v, room)
	lo, carry := bits.Add64(lo, span/2, 0)
	hi += carry
	if hi >= span {
		return far
	}
	q, _ := bits.Div64(hi, lo, span)
	return int(min(q, far))
}
