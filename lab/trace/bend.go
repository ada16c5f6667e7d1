package trace

import "math"

// A bender gives each arrow a path that coincides with no other. An arrow is bent only if
// it must be, and never because of a later one.
type bender struct {
	l    *Layout
	ends map[spot][]*curve // paths that begin or end around a place
}

// A spot is a small part of the page.
type spot struct{ x, y length }

// A curve is a path as points along it, from beginning to end.
type curve [curvePoints]offset

const (
	curvePoints = 17
	spotSize    = 8 * pixel
	apart       = 3 * pixel // anything nearer cannot be told apart
	touching    = pixel     // paths with separate ends may be this near
)

func newBender(l *Layout) *bender { return &bender{l: l, ends: make(map[spot][]*curve)} }

// bend chooses the path of an arrow: straight, or else the least bend with which it
// neither hides behind another nor hides one.
func (b *bender) bend(a *arrow) {
	from, to := offset{a.From.X, b.l.y(a.From)}, offset{a.To.X, b.l.y(a.To)}
	near := b.near(from, to)
	for k := 0; ; k++ {
		a.Bend = bendOf(from, to, k)
		c := along(bent(from, to, a.Bend))
		if k > 4*len(near)+4 || !c.hiddenBy(near) {
			b.take(c)
			return
		}
	}
}

// near returns the paths that may lie where one between two places will.
func (b *bender) near(from, to offset) []*curve {
	var all []*curve
	for _, end := range []offset{from, to} {
		for dx := length(-1); dx <= 1; dx++ {
			for dy := length(-1); dy <= 1; dy++ {
				at := spotOf(end)
				all = append(all, b.ends[spot{at.x + dx, at.y + dy}]...)
			}
		}
	}
	return all
}

func (b *bender) take(c *curve) {
	first, last := spotOf(c[0]), spotOf(c[curvePoints-1])
	b.ends[first] = append(b.ends[first], c)
	if last != first {
		b.ends[last] = append(b.ends[last], c)
	}
}

func spotOf(o offset) spot { return spot{floor(o.X, spotSize), floor(o.Y, spotSize)} }

// floor divides and rounds down.
func floor(a, b length) length {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// bendOf returns the k-th bend to try: 0 is the least, then one to each side in turn. An
// arrow that stays at one lane goes round in a bow or a loop. One that takes no time bows
// to the right of its direction, so that an arrow back is on its left.
func bendOf(from, to offset, k int) []offset {
	side, size := length(1), length((k+1)/2)
	if k%2 == 0 {
		side = -1
	}
	dx, dy := to.X-from.X, to.Y-from.Y
	long := distance(dx, dy)
	switch {
	case dy == 0 && abs(dx) < 24*pixel:
		high := (34*pixel + length(k/2)*16*pixel) * side
		wide := 16*pixel + length(k/2)*5*pixel
		return []offset{{-wide, high}, {wide, high}}
	case dy == 0:
		return []offset{{0, (30*pixel + length(k/2)*14*pixel) * side}}
	case abs(dx) < 6*pixel:
		return []offset{across(dx, dy, long, min(max(long/6, 14*pixel), 40*pixel)+length(k)*12*pixel)}
	case k == 0:
		return nil
	}
	step := min(max(long/10, 12*pixel), 28*pixel)
	return []offset{across(dx, dy, long, side*size*step)}
}

// across returns an offset of length size, to the right of the direction dx, dy.
func across(dx, dy, long, size length) offset {
	return offset{dy * size / long, -dx * size / long}
}

// distance returns the length of an offset, rounded down, and at least 1.
func distance(dx, dy length) length {
	x, y := float64(dx), float64(dy)
	return max(1, length(math.Sqrt(x*x+y*y)))
}

// along returns points along the curve with the given control points.
func along(control []offset) *curve {
	var c curve
	for i := range c {
		c[i] = pointAt(control, i, curvePoints-1)
	}
	return &c
}

// pointAt returns the point of a curve after i of its n parts.
func pointAt(control []offset, i, n int) offset {
	at := make([]offset, len(control))
	copy(at, control)
	a, b := length(n-i), length(i)
	for m := len(at) - 1; m > 0; m-- {
		for j := range m {
			at[j] = offset{(at[j].X*a + at[j+1].X*b) / length(n), (at[j].Y*a + at[j+1].Y*b) / length(n)}
		}
	}
	return at[0]
}

// hiddenBy reports whether a path cannot be told from another, or another from it.
func (c *curve) hiddenBy(others []*curve) bool {
	for _, o := range others {
		room := touching
		if c.between(o[0], o[curvePoints-1]) || c.between(o[curvePoints-1], o[0]) {
			room = apart
		}
		if c.within(o, room) || o.within(c, room) {
			return true
		}
	}
	return false
}

// between reports whether a path begins and ends at the given places.
func (c *curve) between(from, to offset) bool {
	near := func(a, b offset) bool { return abs(a.X-b.X) <= apart && abs(a.Y-b.Y) <= apart }
	return near(c[0], from) && near(c[curvePoints-1], to)
}

// within reports whether all of c lies on o, or no further than room beside it.
func (c *curve) within(o *curve, room length) bool {
	for i := 1; i < curvePoints-1; i++ {
		if !o.passes(c[i], room) {
			return false
		}
	}
	return true
}

// passes reports whether a path comes near a place.
func (c *curve) passes(at offset, room length) bool {
	for i := 1; i < curvePoints; i++ {
		if nearSegment(at, c[i-1], c[i], room) {
			return true
		}
	}
	return false
}

// nearSegment reports whether a place is near the line from a to b.
func nearSegment(at, a, b offset, room length) bool {
	if at.X < min(a.X, b.X)-room || at.X > max(a.X, b.X)+room || at.Y < min(a.Y, b.Y)-room || at.Y > max(a.Y, b.Y)+room {
		return false
	}
	dx, dy := b.X-a.X, b.Y-a.Y
	off := (at.X-a.X)*dy - (at.Y-a.Y)*dx
	return abs(off) <= room*distance(dx, dy)
}
