package trace

import "slices"

// Font sizes.
const (
	barType   = 12 * pixel
	markType  = 11 * pixel
	arrowType = 10 * pixel
	clockType = 9 * pixel
)

// How much is written beside arrows, if that may be chosen.
const (
	fewArrows   = 16  // up to this many may have labels even where other arrows pass through
	fullArrows  = 60  // up to this many messages may have their full names
	stampArrows = 150 // up to this many may have a stamp
)

// How many arrows may pass through words.
const (
	anyTraffic  = 1 << 30
	someTraffic = 7 // approximate: an arrow counts once for each spot that it passes through
)

// labels finds places for all words in the plot, the most important first.
func (p *plan) labels() {
	for i := range p.l.Dots {
		d := &p.l.Dots[i]
		p.paper.take(around(d.At.X, p.l.y(d.At), 8*pixel, 8*pixel))
	}
	for i := range p.l.Marks {
		m := &p.l.Marks[i]
		p.paper.take(around(m.At.X, p.l.y(m.At), 13*pixel, 13*pixel))
		if m.Means == markViolation { // a ring, and a sign above it
			p.paper.take(box{m.At.X - 11*pixel, p.l.y(m.At) - 29*pixel, m.At.X + 11*pixel, p.l.y(m.At) + 11*pixel})
		}
	}
	for i := range p.l.Arrows {
		a := &p.l.Arrows[i]
		c := along(p.l.path(a))
		p.paper.pass(c)
		end := c[curvePoints-1]
		if a.End == endArrives {
			end = back(c, 8*pixel) // position of its head
		}
		p.paper.take(around(end.X, end.Y, 9*pixel, 9*pixel))
	}
	p.uprightLabels()
	p.barLabels()
	p.markLabels()
	p.clockLabels()
	p.arrowLabels()
}

// wordless removes the words that have no place.
func (p *plan) wordless() {
	for i := range p.l.Bars {
		p.l.Bars[i].Label = nil
	}
	for i := range p.l.Marks {
		p.l.Marks[i].Label = nil
	}
	for i := range p.l.Uprights {
		p.l.Uprights[i].Label = nil
	}
}

// back returns the point of a path at a distance before its end.
func back(c *curve, way length) offset {
	a, b := c[curvePoints-2], c[curvePoints-1]
	long := distance(a.X-b.X, a.Y-b.Y)
	return offset{b.X + (a.X-b.X)*way/long, b.Y + (a.Y-b.Y)*way/long}
}

// uprightLabels places the words of lines through all lanes: cuts below the lanes, all
// others above them.
func (p *plan) uprightLabels() {
	rows := []length{-22 * pixel, -38 * pixel, -54 * pixel, -70 * pixel}[:p.rowsAbove()]
	for i := range p.l.Uprights {
		u := &p.l.Uprights[i]
		if u.Label == nil || u.cuts() {
			continue
		}
		var places []label
		for _, dy := range rows {
			places = append(places, p.about(u, point{DY: dy})...)
		}
		if !p.put(u.Label, places, 0) {
			u.Label = nil
			p.l.LeftOut++
		}
	}
	p.cutLabels()
}

// cuts reports whether a line is about the network.
func (u *upright) cuts() bool { return u.Means == uprightCut || u.Means == uprightHealed }

// about returns the possible places for the words of a line at a height: right of it,
// left of it, and in the middle of the plot.
func (p *plan) about(u *upright, at point) []label {
	place := func(x length, anchor string) label {
		return label{Text: u.Label.Text, At: point{x, at.Lane, at.DY}, Anchor: anchor, Size: barType}
	}
	return []label{place(u.X+6*pixel, "start"), place(u.X-6*pixel, "end"), place(p.l.Page.Plot/2, "middle")}
}

// cutLabels places the words of cuts below the last lane: beside their lines in one row
// or, if that is not enough, in two, the upper one first.
func (p *plan) cutLabels() {
	foot := p.l.Page.Axis - p.l.y(point{Lane: p.last()})
	rows := []length{foot - 23*pixel, foot - 9*pixel}
	before := p.paper.copy()
	labels, left := p.cutsIn(rows[1:], 2)
	if left > 0 {
		p.paper = before
		labels, left = p.cutsIn(rows, 3)
	}
	p.l.LeftOut += left
	for i := range p.l.Uprights {
		if u := &p.l.Uprights[i]; u.cuts() {
			u.Label, labels = labels[0], labels[1:]
		}
	}
}

// last returns the last lane.
func (p *plan) last() int { return max(p.t.N-1, 0) }

// cutsIn finds places for the words of cuts, in rows at the given heights and on the
// first sides of their lines, and returns how many have none. The words of a row are in
// order.
func (p *plan) cutsIn(rows []length, sides int) (labels []*label, left int) {
	ends := make([]length, len(rows)) // ends of the words in each row
	for i := range p.l.Uprights {
		u := &p.l.Uprights[i]
		if !u.cuts() {
			continue
		}
		var places []label
		for side := range sides {
			for row, dy := range rows {
				if l := p.about(u, point{Lane: p.last(), DY: dy})[side]; p.boxOf(&l).x1 >= ends[row] {
					places = append(places, l)
				}
			}
		}
		l := &label{}
		if p.put(l, places, 0) {
			ends[slices.Index(rows, l.At.DY)] = p.boxOf(l).x2
		} else {
			l = nil
			left++
		}
		labels = append(labels, l)
	}
	return labels, left
}

// barLabels writes into bars, and above those of waiting, if there is room.
func (p *plan) barLabels() {
	dots := make([][]length, p.t.N)
	for i := range p.l.Dots {
		at := p.l.Dots[i].At
		dots[at.Lane] = append(dots[at.Lane], at.X)
	}
	for i := range p.l.Bars {
		b := &p.l.Bars[i]
		at, wide := gap(dots[b.Lane], max(b.X1, 0), min(b.X2, p.l.Page.Plot))
		for _, word := range p.barNames[i] {
			if word == "" || wide < textWidth(word, barType)+7*pixel || p.l.Page.Pitch < 21*pixel {
				continue
			}
			l := label{Text: word, At: point{at, b.Lane, 4 * pixel}, Anchor: "middle", Size: barType}
			if b.Means == barWaiting {
				l.At.DY, l.Size = -7*pixel, markType
			}
			b.Label = &l
			p.paper.take(p.boxOf(&l))
			break
		}
		if b.Means == barInside || b.Means == barWaiting && p.l.Page.Pitch >= 30*pixel {
			p.paper.take(box{b.X1, p.l.y(point{Lane: b.Lane}) - b.Height/2, b.X2, p.l.y(point{Lane: b.Lane}) + b.Height/2})
		}
	}
}

// gap returns the middle of the widest part between lo and hi that has no dot in it, and
// its width. The dots are in order.
func gap(dots []length, lo, hi length) (x, wide length) {
	at := lo
	try := func(end length) {
		if end-at > wide {
			x, wide = (at+end)/2, end-at
		}
		at = end
	}
	first, _ := slices.BinarySearch(dots, lo)
	for _, d := range dots[first:] {
		if d >= hi {
			break
		}
		try(d)
	}
	try(hi)
	return x, wide
}

// markLabels places the words beside marks.
func (p *plan) markLabels() {
	for i := range p.l.Marks {
		m := &p.l.Marks[i]
		if m.Label == nil {
			continue
		}
		var places []label
		at := func(dx, dy length, anchor string) {
			places = append(places, label{Text: m.Label.Text, At: point{m.At.X + dx, m.At.Lane, m.At.DY + dy}, Anchor: anchor, Size: markType})
		}
		at(6*pixel, -7*pixel, "start")
		at(0, 18*pixel, "middle")
		at(6*pixel, 16*pixel, "start")
		at(-6*pixel, -7*pixel, "end")
		at(-6*pixel, 16*pixel, "end")
		at(9*pixel, 4*pixel, "start")
		at(0, -18*pixel, "middle")
		at(-9*pixel, 4*pixel, "end")
		if !p.put(m.Label, places, anyTraffic) {
			m.Label = nil
			p.l.LeftOut++
		}
	}
}

// clockLabels places the clocks below or above the dots.
func (p *plan) clockLabels() {
	for i := range p.l.Dots {
		d := &p.l.Dots[i]
		if d.Clock == nil {
			continue
		}
		var places []label
		at := func(dx, dy length, anchor string) {
			places = append(places, label{Text: d.Clock.String(), At: point{d.At.X + dx, d.At.Lane, d.At.DY + dy}, Anchor: anchor, Size: clockType})
		}
		for _, dy := range []length{19 * pixel, -13 * pixel, 28 * pixel, -22 * pixel} {
			at(0, dy, "middle")
			at(2*pixel, dy, "start")
			at(-2*pixel, dy, "end")
		}
		var l label
		if p.put(&l, places, anyTraffic) {
			d.Label = &l
		} else {
			p.l.LeftOut++
		}
	}
}
