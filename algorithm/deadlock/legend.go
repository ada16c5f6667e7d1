package deadlock

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// The legend of a picture: it explains what the picture shows, and nothing else.

// A sign is an entry of a legend: a line or a circle, and its meaning.
type sign struct {
	line   line // an edge, unless it is a circle
	circle func(b *strings.Builder, at point)
	means  string
}

// The signs of edges.
func waitSign() sign {
	return sign{line: line{blue, "wait", "1.6", ""}, means: "waits for who has the lock"}
}
func ringSign() sign {
	return sign{line: line{alarm, "ring", "2.4", ""}, means: "the same, in a deadlock"}
}
func saidSign() sign {
	return sign{line: line{grey, "said", "1.6", ` stroke-dasharray="5 4"`}, means: "said, but no longer so"}
}

// width estimates the room that a sign takes.
func (s sign) width() float64 { return 44 + 6.4*float64(len(s.means)) }

// legend draws signs from left to right and from top to bottom, within a width, each
// once. It returns where it ends.
func legend(b *strings.Builder, signs []sign, top, width float64) (bottom float64) {
	x, y := 16.0, top+14
	var seen []string
	for _, s := range signs {
		if slices.Contains(seen, s.means) {
			continue
		}
		if seen = append(seen, s.means); x > 16 && x+s.width() > width {
			x, y = 16, y+20
		}
		if s.circle != nil {
			s.circle(b, point{x + 14, y})
		} else {
			fmt.Fprintf(b, `<path d="M%.1f %.1f h26" stroke="%s" stroke-width="%s"%s marker-end="url(#%s)"/>`+"\n", x, y, s.line.colour, s.line.width, s.line.dash, s.line.head)
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="11" fill="%s">%s</text>`+"\n", x+32, y+4, ink, html.EscapeString(s.means))
		x += s.width()
	}
	if len(seen) == 0 {
		return top
	}
	return y + 14
}
