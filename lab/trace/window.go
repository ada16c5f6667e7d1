package trace

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// A window is the part of a run that a picture shows.
//
// A moment is at x = margin + (at-from)*room/(to-from), rounded, to the right of where
// the plot begins.
type window struct {
	From   int64  `json:"from"`   // first tick shown
	To     int64  `json:"to"`     // last tick shown; always after From
	End    int64  `json:"end"`    // end of the run
	Unit   int64  `json:"unit"`   // ticks in one unit of time; 1 in a run counted in steps
	Margin length `json:"margin"` // position of From
	Room   length `json:"room"`   // distance from there to To
	Whole  bool   `json:"whole"`  // whether it is all of the run

	Messages    int    `json:"messages"` // number of messages shown
	AllMessages int    `json:"allmessages"`
	Entries     int    `json:"entries"` // number of entries shown
	AllEntries  int    `json:"allentries"`
	Part        string `json:"part"` // all this as a sentence
}

// How many moments fit, and how much room each has, in pixels.
const (
	fitMoments   = 240  // a run with no more is shown whole
	fitMessages  = 1200 // if it has no more messages than this
	storyMoments = 900  // limit of a picture that shows an entry
	stories      = 3    // number of entries that it tries to show
	behind       = 6    // moments after the one that a picture is made for

	wideMoment  = 30
	wideClock   = 60 // with clocks at the dots
	tightMoment = 10
	wideArrow   = 12
	wideMessage = 60
	leastMoment = 5
	minPlot     = 620
	wideMax     = 1200
	tightMax    = 2400
	hardPlot    = 6000
	margin      = 20 * pixel // left and right, for what is drawn around a moment
)

// window chooses what to show: what was requested, or else as much as is legible, and a
// part in which something is completed.
func (t *Trace) window(o Options, focus int) window {
	w := window{End: t.end(), To: t.end(), Unit: t.unit(), Margin: margin}
	if n := len(t.Events); n > 0 {
		if first := t.Events[0].At; first > w.To/4 {
			w.From = first
		}
	}
	start := w.From
	if o.To > 0 {
		w.To = t.ticks(o.To)
	}
	w.From = min(max(w.From, t.ticks(o.From)), w.To)
	moments := t.moments(w.From, w.To)
	if !(o.To > 0) && t.fitting(moments) < len(moments) {
		first, last := t.part(moments, focus)
		if first > 0 {
			w.From = moments[first]
		}
		w.To = moments[last]
		moments = moments[first : last+1]
	}
	w.Whole = w.From == start && w.To == w.End
	t.count(&w)
	if w.To == w.From {
		w.To = w.From + w.Unit
	}
	w.Room = t.room(o, w, len(moments)) - 2*margin
	w.Part = t.partSentence(w)
	return w
}

// room chooses the width of the plot.
func (t *Trace) room(o Options, w window, moments int) length {
	if o.Scale > 0 && o.Scale <= maxScale {
		units := float64(w.To-w.From) / float64(w.Unit)
		return length(min(units*o.Scale, maxScale))*pixel + 2*margin
	}
	most := wideMax
	if t.N > 12 {
		most = tightMax
	}
	roomy := min(moments*wideMoment, wideMax)
	if o.Clocks {
		roomy = min(moments*wideClock, tightMax)
	}
	wide := max(minPlot, roomy, min(moments*tightMoment, tightMax),
		min(max(moments, w.Messages)*leastMoment, hardPlot), min(t.spread(w), most))
	return length(wide) * pixel
}

// spread returns the width of the plot, in pixels, at which arrows that begin together
// have room beside each other.
func (t *Trace) spread(w window) int {
	var flights []int64
	together, peak, last := 0, 0, int64(-1)
	for _, l := range t.letters() {
		if l.begin < 0 || l.end < 0 || !l.in(t, &w) || t.Events[l.end].At == t.Events[l.begin].At {
			continue
		}
		sent := t.Events[l.begin].At
		if sent != last {
			together, last = 0, sent
		}
		together++
		peak = max(peak, together)
		flights = append(flights, t.Events[l.end].At-sent)
	}
	if len(flights) == 0 {
		return 0
	}
	sort.Slice(flights, func(i, j int) bool { return flights[i] < flights[j] })
	long := int(min((w.To-w.From)/flights[len(flights)/2], wideMax))
	return min(peak*wideArrow*long, len(flights)*wideMessage)
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

// fitting returns how many moments, from the first on, are not too many, and not too
// busy.
func (t *Trace) fitting(moments []int64) int {
	n := min(len(moments), fitMoments)
	if n == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(t.Events, moments[0], func(e Event, at int64) int { return cmp.Compare(e.At, at) })
	sent := 0
	for ; i < len(t.Events) && t.Events[i].At <= moments[n-1]; i++ {
		if t.Events[i].Kind != Send {
			continue
		}
		if sent++; sent > fitMessages {
			fit, _ := slices.BinarySearch(moments, t.Events[i].At)
			return max(fit, 1)
		}
	}
	return n
}

// part chooses some of too many moments: those around the focus or the first violation,
// or else from a request until some processes have entered and left.
func (t *Trace) part(moments []int64, focus int) (first, last int) {
	if at, ok := t.centre(focus, moments[0]); ok {
		i, _ := slices.BinarySearch(moments, at)
		fit := max(t.fitting(moments[max(0, i-fitMoments/2):]), 2*behind)
		last = min(max(i+fit/3, fit-1), len(moments)-1)
		return max(0, last-(fit-1)), last
	}
	begin, ends := t.stories(moments[0])
	first, _ = slices.BinarySearch(moments, begin)
	last = first + t.fitting(moments[first:]) - 1
	for k := min(stories, len(ends)); k > 0; k-- {
		i, _ := slices.BinarySearch(moments, ends[k-1])
		i = min(i+behind, len(moments)-1)
		if i-first < storyMoments {
			return first, max(last, i)
		}
		if k == 1 { // its request is too far away
			return i - (storyMoments - 1), i
		}
	}
	return first, last
}

// centre returns the time that must be in the picture: that of the focus, or of the first
// violation.
func (t *Trace) centre(focus int, start int64) (at int64, ok bool) {
	if focus >= 0 {
		return t.Events[focus].At, true
	}
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == Violation && e.At >= start {
			return e.At, true
		}
	}
	return 0, false
}

// stories returns the time of the first request, and the times at which a process is
// done: has left or, if none does, has entered, been refused, or is known as a leader.
func (t *Trace) stories(start int64) (begin int64, ends []int64) {
	begin = -1
	for _, kinds := range [][]Kind{{Exit}, {Enter, Deny}, {Lead}} {
		for i := range t.Events {
			e := &t.Events[i]
			if e.At < start {
				continue
			}
			if e.Kind == Ask && begin < 0 {
				begin = e.At
			}
			if slices.Contains(kinds, e.Kind) && e.At > begin {
				ends = append(ends, e.At)
			}
		}
		if len(ends) > 0 {
			break
		}
	}
	return max(begin, start), ends
}

// Pages returns the options for several pictures that show the whole run, one part after
// the other.
func (t *Trace) pages(o Options) []Options {
	moments := t.moments(0, t.end())
	if t.fitting(moments) == len(moments) {
		o.From, o.To = 0, 0
		return []Options{o}
	}
	units := func(at int64) float64 { return float64(at) / float64(t.unit()) }
	var pages []Options
	for i := 0; i+1 < len(moments); { // a page begins where the one before ends
		last := i + max(t.fitting(moments[i:])-1, 1)
		o.From, o.To = units(moments[i]), units(moments[last])
		if i == 0 {
			o.From = 0
		}
		pages = append(pages, o)
		i = last
	}
	return pages
}

// x returns the position of a time in the plot, even outside the window.
func (w *window) x(at int64) length {
	room, span := uint64(max(w.Room, 0)), uint64(w.To-w.From)
	if at < w.From {
		return w.Margin - scale(uint64(w.From-at), room, span)
	}
	return w.Margin + scale(uint64(at-w.From), room, span)
}

// shows reports whether a time is in the window.
func (w *window) shows(at int64) bool { return at >= w.From && at <= w.To }

// scale returns v*room/span, rounded, and bounded for distant times.
func scale(v, room, span uint64) length {
	const far = 1 << 28
	hi, lo := bits.Mul64(v, room)
	lo, carry := bits.Add64(lo, span/2, 0)
	hi += carry
	if hi >= span {
		return far
	}
	q, _ := bits.Div64(hi, lo, span)
	return length(min(q, far))
}
