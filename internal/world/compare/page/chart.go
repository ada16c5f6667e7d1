package page

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// A chart draws lines over the number of processes, as SVG.
type chart struct {
	width, height int
	label         string // text for readers who cannot see the chart
	unit          string // unit of the y axis
	xs            []int
	lines         []line
	bands         []band  // ranges that theory allows, behind the lines
	names         bool    // name each line at its end
	top           float64 // highest value shown, if not 0
}

// A line has one value for each x; NaN where there is none.
type line struct {
	look
	name  string
	class string // class of its group, for the style sheet
	ys    []float64
}

// A band lies between two values at each x; NaN where theory is silent.
type band struct{ lo, hi []float64 }

// The margins around the lines.
const (
	marginLeft   = 36
	marginRight  = 10
	marginTop    = 10
	marginBottom = 22
	nameWidth    = 152
)

// A frame places values in a chart.
type frame struct {
	*chart
	right float64
	log   bool
}

func (c *chart) frame() frame {
	f := frame{chart: c, right: float64(c.width - marginRight)}
	if c.names {
		f.right = float64(c.width - nameWidth)
	}
	var all []float64
	for _, l := range c.lines {
		for _, y := range l.ys {
			if !math.IsNaN(y) {
				all = append(all, y)
			}
		}
	}
	if c.top == 0 {
		c.top = c.highest(all)
	}
	slices.Sort(all)
	f.log = len(all) > 0 && c.top > 20 && c.top > 8*all[len(all)/2]
	return f
}

// highest returns the top of the scale for these measured values. A band far above them
// is cut off.
func (c *chart) highest(measured []float64) float64 {
	top := 0.0
	for _, y := range measured {
		top = max(top, y)
	}
	limit := 2.5 * top
	for _, b := range c.bands {
		for _, y := range b.hi {
			if y <= limit {
				top = max(top, y)
			}
		}
	}
	if top == 0 {
		return 1
	}
	return top * 1.08
}

// x returns the position of a number of processes.
func (f frame) x(n int) float64 {
	lo, hi := float64(slices.Min(f.xs)), float64(slices.Max(f.xs))
	if hi == lo {
		return (marginLeft + f.right) / 2
	}
	return marginLeft + (float64(n)-lo)/(hi-lo)*(f.right-marginLeft)
}

// y returns the position of a value. The logarithmic scale is of 1+y, so that it includes
// 0.
func (f frame) y(v float64) float64 {
	share := min(v, f.top) / f.top
	if f.log {
		share = math.Log1p(min(v, f.top)) / math.Log1p(f.top)
	}
	bottom := float64(f.height - marginBottom)
	return bottom - max(share, 0)*(bottom-marginTop)
}

// svg draws the chart.
func (c *chart) svg() string {
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, c.width, c.height, html.EscapeString(c.label), c.body())
}

// body draws the contents of the chart.
func (c *chart) body() string {
	f := c.frame()
	var b strings.Builder
	f.axes(&b)
	drawn := map[string]bool{} // bands of different loads are often the same
	for _, band := range c.bands {
		if points := f.outline(band); points != "" && !drawn[points] {
			drawn[points] = true
			fmt.Fprintf(&b, `<polygon class="theory" points="%s"/>`, points)
		}
	}
	for _, l := range c.lines {
		f.drawLine(&b, l)
	}
	if c.names {
		f.drawNames(&b)
	}
	return b.String()
}

func (f frame) axes(b *strings.Builder) {
	bottom := float64(f.height - marginBottom)
	for _, v := range f.ticks() {
		y := f.y(v)
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%.1f" y1="%.1f" y2="%.1f"/>`, marginLeft, f.right, y, y)
		fmt.Fprintf(b, `<text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`, marginLeft-6, y+3.5, short(v))
	}
	fmt.Fprintf(b, `<text class="tick" x="%d" y="%.1f" text-anchor="end">N</text>`, marginLeft-6, bottom+15)
	last := math.Inf(-1)
	for _, n := range f.xs {
		x := f.x(n)
		if x-last < 16 {
			continue
		}
		last = x
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, x, bottom+15, n)
	}
}

// ticks returns the values that get a horizontal line.
func (f frame) ticks() []float64 {
	all := []float64{0}
	if f.log {
		last := f.y(0)
		for v := 1.0; v <= f.top; v *= 10 {
			for _, w := range []float64{v, 2 * v, 5 * v} {
				if y := f.y(w); w <= f.top && last-y >= 14 {
					all, last = append(all, w), y
				}
			}
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10(f.top))-1)
	for _, d := range []float64{1, 2, 5, 10, 20, 50} {
		if f.top/(step*d) <= float64(f.height)/30 {
			step *= d
			break
		}
	}
	for i := 1; float64(i)*step <= f.top; i++ {
		all = append(all, float64(i)*step)
	}
	return all
}

// outline returns the corners of the range that theory allows, which is never thinner
// than a line.
func (f frame) outline(d band) string {
	const half = 2.5
	var up, down []string
	for i, n := range f.xs {
		if math.IsNaN(d.lo[i]) {
			continue
		}
		up = append(up, fmt.Sprintf("%.1f,%.1f", f.x(n), f.y(d.hi[i])-half))
		down = append(down, fmt.Sprintf("%.1f,%.1f", f.x(n), f.y(d.lo[i])+half))
	}
	slices.Reverse(down)
	return strings.Join(append(up, down...), " ")
}

func (f frame) drawLine(b *strings.Builder, l line) {
	var points []string
	var markers strings.Builder
	for i, n := range f.xs {
		if math.IsNaN(l.ys[i]) {
			continue
		}
		x, y := f.x(n), f.y(l.ys[i])
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
		markers.WriteString(l.marker(x, y, html.EscapeString(fmt.Sprintf("%s, N=%d: %s %s", l.name, n, short(l.ys[i]), f.unit))))
	}
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(b, `<g class="line %s %s"><polyline points="%s" stroke-dasharray="%s"/>%s</g>`,
		l.class, l.Class(), strings.Join(points, " "), l.dash, markers.String())
}

// short formats a value in few characters, and NaN as a dash.
func short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 10_000:
		return strconv.FormatFloat(v/1000, 'f', 0, 64) + "k"
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	decimals := 2
	for x := math.Abs(v); x > 0 && x < 0.1 && decimals < 6; x *= 10 {
		decimals++
	}
	return words.Trimmed(v, decimals)
}
