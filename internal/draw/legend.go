package draw

import "slices"

// The legend of a graph: it explains what the picture shows, and nothing else.

// A sign is an entry of a legend: an edge or something else, and its meaning.
type sign struct {
	edge  stroke                    // an edge, unless draw is set
	draw  func(c *Canvas, at point) // draws anything else
	means string
}

// A stroke is the look of an edge.
type stroke struct{ colour, head, width, dash string }

// The signs of edges.
func waitSign() sign {
	return sign{edge: stroke{Blue, "wait", "1.6", ""}, means: "waits for the lock's holder"}
}
func ringSign() sign {
	return sign{edge: stroke{alarm, "ring", "2.4", ""}, means: "the same, in a deadlock"}
}
func saidSign() sign {
	return sign{edge: stroke{Grey, "said", "1.6", "5 4"}, means: "reported, but no longer true"}
}

// heads defines the arrowheads of the edges.
func heads(c *Canvas) {
	c.Open("defs")
	for _, s := range []sign{ringSign(), waitSign(), saidSign()} {
		c.tag("marker", []string{
			"id", s.edge.head, "viewBox", "0 0 10 10", "refX", "9", "refY", "5", "markerWidth", "11", "markerHeight", "11", "markerUnits", "userSpaceOnUse", "orient", "auto",
		})
		c.b.WriteString(">")
		c.tag("path", []string{"d", "M0 0.8 L10 5 L0 9.2 z", "fill", s.edge.colour})
		c.b.WriteString("/></marker>\n")
	}
	c.Close("defs")
}

// arrow draws an edge along a path, with a tooltip.
func (s stroke) arrow(c *Canvas, path, tip string) {
	c.Leaf("path", tip, "d", path, "fill", "none", "stroke", s.colour, "stroke-width", s.width, "stroke-dasharray", s.dash, "marker-end", "url(#"+s.head+")")
}

// width estimates the room that a sign takes.
func (s sign) width() float64 { return 44 + 6.4*float64(len(s.means)) }

// legend draws signs from left to right and from top to bottom, within a width, each
// once. It returns where it ends.
func legend(c *Canvas, signs []sign, top, width float64) (bottom float64) {
	x, y := 16.0, top+14
	var seen []string
	for _, s := range signs {
		if slices.Contains(seen, s.means) {
			continue
		}
		if seen = append(seen, s.means); x > 16 && x+s.width() > width {
			x, y = 16, y+20
		}
		if s.draw != nil {
			s.draw(c, point{x + 14, y})
		} else {
			e := s.edge
			c.Leaf("path", "", "d", "M"+point{x, y}.String()+" h26", "stroke", e.colour, "stroke-width", e.width, "stroke-dasharray", e.dash, "marker-end", "url(#"+e.head+")")
		}
		c.Text(px(x+32), px(y+4), s.means, "font-size", "11", "fill", Ink)
		x += s.width()
	}
	if len(seen) == 0 {
		return top
	}
	return y + 14
}
