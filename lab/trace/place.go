package trace

import "maps"

// A placer records what is occupied on the page, so that words do not overlap: first
// come, first served.
type placer struct {
	taken   map[spot][]box
	traffic map[spot]int // number of arrows that pass through
}

const (
	takenSize   = 64 * pixel
	trafficSize = 12 * pixel
)

// take records that a part of the page is occupied.
func (p *placer) take(b box) {
	if p.taken == nil {
		p.taken = make(map[spot][]box)
	}
	for at := range b.spots(takenSize) {
		p.taken[at] = append(p.taken[at], b)
	}
}

// free reports whether a part of the page is free.
func (p *placer) free(b box) bool {
	for at := range b.spots(takenSize) {
		for _, other := range p.taken[at] {
			if other.meets(b) {
				return false
			}
		}
	}
	return true
}

// pass records that an arrow passes through.
func (p *placer) pass(c *curve) {
	if p.traffic == nil {
		p.traffic = make(map[spot]int)
	}
	var last spot
	for i := range 4 * (curvePoints - 1) {
		a, b := c[i/4], c[i/4+1]
		k := length(i % 4)
		at := offset{a.X + (b.X-a.X)*k/4, a.Y + (b.Y-a.Y)*k/4}
		here := spot{floor(at.X, trafficSize), floor(at.Y, trafficSize)}
		if i == 0 || here != last {
			p.traffic[here]++
		}
		last = here
	}
}

// crossed returns about how many arrows pass through a part of the page.
func (p *placer) crossed(b box) int {
	n := 0
	for at := range b.spots(trafficSize) {
		n += p.traffic[at]
	}
	return n
}

// spots returns an iterator over the spots of a size that a box covers.
func (b box) spots(size length) func(yield func(spot) bool) {
	return func(yield func(spot) bool) {
		for x := floor(b.x1, size); x <= floor(b.x2, size); x++ {
			for y := floor(b.y1, size); y <= floor(b.y2, size); y++ {
				if !yield(spot{x, y}) {
					return
				}
			}
		}
	}
}

// put gives a label the place through which the fewest arrows pass, of those that are
// free and inside the plot. It reports whether there was one. Places through which more
// than most arrows pass do not count; if most is 0, arrows are ignored and the first
// place is taken.
func (p *plan) put(l *label, places []label, most int) bool {
	best, least := -1, 0
	for i := range places {
		b := p.boxOf(&places[i])
		if b.x1 < 0 || b.x2 > p.l.Page.Plot || !p.paper.free(b) {
			continue
		}
		cost := 0
		if most > 0 {
			cost = p.paper.crossed(b)
		}
		if cost > most {
			continue
		}
		if best < 0 || cost < least {
			best, least = i, cost
		}
		if cost == 0 {
			break
		}
	}
	if best < 0 {
		return false
	}
	*l = places[best]
	p.paper.take(p.boxOf(l))
	return true
}

// boxOf returns the part of the page that a label needs.
func (p *plan) boxOf(l *label) box {
	if b := l.Box; b != nil {
		y := p.l.y(b.At)
		return box{b.At.X, y, b.At.X + b.Wide, y + b.High}
	}
	wide, y := textWidth(l.Text, l.Size), p.l.y(l.At)
	x := l.At.X
	switch l.Anchor {
	case "middle":
		x -= wide / 2
	case "end":
		x -= wide
	}
	return box{x, y - l.Size*8/10, x + wide, y + l.Size*2/10}
}

// copy returns a placer that knows the same, and is independent of p from then on.
func (p *placer) copy() placer { return placer{maps.Clone(p.taken), p.traffic} }
