package page

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// nameHeight is the minimum distance between the names of two lines.
const nameHeight = 11.5

// A name is the label at the end of a line.
type name struct {
	line
	at   float64 // position of the end of the line
	text float64 // position of its name
}

// drawNames writes the name of each line at its end, moving names apart where they would
// overlap.
func (f frame) drawNames(b *strings.Builder) {
	var all []name
	for _, l := range f.lines {
		last := -1
		for i, y := range l.ys {
			if !math.IsNaN(y) {
				last = i
			}
		}
		if last >= 0 {
			y := f.y(l.ys[last])
			all = append(all, name{l, y, y})
		}
	}
	slices.SortStableFunc(all, func(x, y name) int { return cmp.Compare(x.at, y.at) })
	spread(all, marginTop, float64(f.height-6))
	for _, n := range all {
		fmt.Fprintf(b, `<g class="name %s %s"><path class="lead" d="M%.1f %.1fL%.1f %.1f"/>%s<text x="%.1f" y="%.1f">%s</text></g>`,
			n.class, n.Class(), f.right+4, n.at, f.right+13, n.text, n.marker(f.right+18, n.text, ""), f.right+25, n.text+3.5, html.EscapeString(n.name))
	}
}

// spread moves names, ordered from top to bottom, apart: first down, and then up from the
// bottom where they have left the chart.
func spread(all []name, top, bottom float64) {
	low := top
	for i := range all {
		all[i].text = max(all[i].text, low)
		low = all[i].text + nameHeight
	}
	high := bottom
	for i := len(all) - 1; i >= 0; i-- {
		all[i].text = min(all[i].text, high)
		high = all[i].text - nameHeight
	}
}
