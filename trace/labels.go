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
		p.paper.take(around(d.At.X, p.l.Y(d.At), 8*pixel, 8*pixel))
	}
	for i := range p.l.Marks {
		m := &p.l.Marks[i]
		p.paper.take(around(m.At.X, p.l.Y(m.At), 13*pixel, 13*pixel))
		if m.Means == MarkViolation { // a ring, and a sign above it
			p.paper.take(box{m.At.X - 11*pixel, p.l.Y(m.At) - 29*pixel, m.At.X + 11*pixel, p.l.Y(m.At) + 11*pixel})
		}
	}
	for i := range p.l.Arrows {
		a := &p.l.Arrows[i]
		c := along(p.l.Path(a))
		p.paper.pass(c)
		end := c[curvePoints-1]
		if a.End == EndArrives {
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
func back(c *curve, way Length) Offset {
	a, b := c[curvePoints-2], c[curvePoints-1]
	long := distance(a.X-b.X, a.Y-b.Y)
	return Offset{b.X + (a.X-b.X)*way/long, b.Y + (a.Y-b.Y)*way/long}
}

// uprightLabels places the words of lines through all lanes: cuts below the lanes, all
// others above them.
func (p *plan) uprightLabels() {
	rows := []Length{-22 * pixel, -38 * pixel, -54 * pixel, -70 * pixel}[:p.rowsAbove()]
	for i := range p.l.Uprights {
		u := &p.l.Uprights[i]
		if u.Label == nil || u.cuts() {
			continue
		}
		var places []Label
		for _, dy := range rows {
			places = append(places, p.about(u, Point{DY: dy})...)
		}
		if !p.put(u.Label, places, 0) {
			u.Label = nil
			p.l.LeftOut++
		}
	}
	p.cutLabels()
}

// cuts reports whether a line is about the network.
func (u *Upright) cuts() bool { return u.Means == UprightCut || u.Means == UprightHealed }

// about returns the possible places for the words of a line at a height: right of it,
// left of it, and in the middle of the plot.
func (p *plan) about(u *Upright, at Point) []Label {
	place := func(x Length, anchor string) Label {
		return Label{Text: u.Label.Text, At: Point{x, at.Lane, at.DY}, Anchor: anchor, Size: barType}
	}
	return []Label{place(u.X+6*pixel, "start"), place(u.X-6*pixel, "end"), place(p.l.Page.Plot/2, "middle")}
}

// cutLabels places the words of cuts below the last lane: beside their lines in one row
// or, if that is not enough, in two, the upper one first.
func (p *plan) cutLabels() {
	foot := p.l.Page.Axis - p.l.Y(Point{Lane: p.last()})
	rows := []Length{foot - 23*pixel, foot - 9*pixel}
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
func (p *plan) cutsIn(rows []Length, sides int) (labels []*Label, left int) {
	ends := make([]Length, len(rows)) // ends of the words in each row
	for i := range p.l.Uprights {
		u := &p.l.Uprights[i]
		if !u.cuts() {
			continue
		}
		var places []Label
		for side := range sides {
			for row, dy := range rows {
				if l := p.about(u, Point{Lane: p.last(), DY: dy})[side]; p.boxOf(&l).x1 >= ends[row] {
					places = append(places, l)
				}
			}
		}
		l := &Label{}
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
	dots := make([][]Length, p.t.N)
	for i := range p.l.Dots {
		at := p.l.Dots[i].At
		dots[at.Lane] = append(dots[at.Lane], at.X)
	}
	for i := range p.l.Bars {
		b := &p.l.Bars[i]
		at, wide := gap(dots[b.Lane], max(b.X1, 0), min(b.X2, p.l.Page.Plot))
		for _, word := range p.barNames[i] {
			if word == "" || wide < TextWidth(word, barType)+7*pixel || p.l.Page.Pitch < 21*pixel {
				continue
			}
			l := Label{Text: word, At: Point{at, b.Lane, 4 * pixel}, Anchor: "middle", Size: barType}
			if b.Means == BarWaiting {
				l.At.DY, l.Size = -7*pixel, markType
			}
			b.Label = &l
			p.paper.take(p.boxOf(&l))
			break
		}
		if b.Means == BarInside || b.Means == BarWaiting && p.l.Page.Pitch >= 30*pixel {
			p.paper.take(box{b.X1, p.l.Y(Point{Lane: b.Lane}) - b.Height/2, b.X2, p.l.Y(Point{Lane: b.Lane}) + b.Height/2})
		}
	}
}

// gap returns the middle of the widest part between lo and hi that has no dot in it, and
// its width. The dots are in order.
func gap(dots []Length, lo, hi Length) (x, wide Length) {
	at := lo
	try := func(end Length) {
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
		var places []Label
		at := func(dx, dy Length, anchor string) {
			places = append(places, Label{Text: m.Label.Text, At: Point{m.At.X + dx, m.At.Lane, m.At.DY + dy}, Anchor: anchor, Size: markType})
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
		var places []Label
		at := func(dx, dy Length, anchor string) {
			places = append(places, Label{Text: d.Clock.String(), At: Point{d.At.X + dx, d.At.Lane, d.At.DY + dy}, Anchor: anchor, Size: clockType})
		}
		for _, dy := range []Length{19 * pixel, -13 * pixel, 28 * pixel, -22 * pixel} {
			at(0, dy, "middle")
			at(2*pixel, dy, "start")
			at(-2*pixel, dy, "end")
		}
		var l Label
		if p.put(&l, places, anyTraffic) {
			d.Label = &l
		} else {
			p.l.LeftOut++
		}
	}
}
