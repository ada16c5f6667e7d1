package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// A Chart draws lines over the number of processes.
type Chart struct {
	Title string
	Unit  string // unit of the y axis
	Xs    []int
	Lines []Line
}

// A Line has one value for each x; NaN where there is none.
type Line struct {
	Look
	Name string
	Ys   []float64
}

// The margins around the lines.
const (
	marginLeft   = 36
	marginRight  = 10
	marginTop    = 10
	marginBottom = 22
)

// A frame places the values of a chart.
type frame struct {
	*Chart
	height        int
	right, bottom float64
	top           float64 // highest value on the scale
	log           bool
}

func (c *Chart) frame(width, height int) frame {
	f := frame{Chart: c, height: height, right: float64(width - marginRight), bottom: float64(height - marginBottom), top: 1}
	var all []float64
	for _, l := range c.Lines {
		for _, y := range l.Ys {
			if !math.IsNaN(y) {
				all = append(all, y)
			}
		}
	}
	slices.Sort(all)
	if len(all) > 0 && all[len(all)-1] > 0 {
		f.top = all[len(all)-1] * 1.08
	}
	f.log = len(all) > 0 && f.top > 20 && f.top > 8*all[len(all)/2]
	return f
}

// x returns the position of a number of processes.
func (f frame) x(n int) float64 {
	lo, hi := float64(slices.Min(f.Xs)), float64(slices.Max(f.Xs))
	if hi == lo {
		return (marginLeft + f.right) / 2
	}
	return marginLeft + (float64(n)-lo)/(hi-lo)*(f.right-marginLeft)
}

// y returns the position of a value. The logarithmic scale is of 1+y, so that it includes
// 0.
func (f frame) y(v float64) float64 {
	share := v / f.top
	if f.log {
		share = math.Log1p(v) / math.Log1p(f.top)
	}
	return f.bottom - max(share, 0)*(f.bottom-marginTop)
}

// draw draws the axes and the lines of a chart of this size.
func (c *Chart) draw(to *Canvas, width, height int) {
	f := c.frame(width, height)
	f.axes(to)
	for _, l := range c.Lines {
		f.line(to, l)
	}
}

func (f frame) axes(c *Canvas) {
	const left = marginLeft - 6
	for _, v := range f.ticks() {
		y := f.y(v)
		c.Leaf("line", "", "class", "grid", "x1", strconv.Itoa(marginLeft), "x2", px(f.right), "y1", px(y), "y2", px(y))
		c.Text(strconv.Itoa(left), px(y+3.5), short(v), "class", "tick", "text-anchor", "end")
	}
	c.Text(strconv.Itoa(left), px(f.bottom+15), "N", "class", "tick", "text-anchor", "end")
	last := math.Inf(-1)
	for _, n := range f.Xs {
		x := f.x(n)
		if x-last < 16 {
			continue
		}
		last = x
		c.Text(px(x), px(f.bottom+15), strconv.Itoa(n), "class", "tick", "text-anchor", "middle")
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

func (f frame) line(c *Canvas, l Line) {
	var points []string
	for i, n := range f.Xs {
		if !math.IsNaN(l.Ys[i]) {
			points = append(points, px(f.x(n))+","+px(f.y(l.Ys[i])))
		}
	}
	if len(points) == 0 {
		return
	}
	c.Open("g", "class", l.class())
	c.Leaf("polyline", "", "points", strings.Join(points, " "), "stroke-dasharray", l.dash)
	for i, n := range f.Xs {
		if y := l.Ys[i]; !math.IsNaN(y) {
			l.marker(c, f.x(n), f.y(y), fmt.Sprintf("%s, N=%d: %s %s", l.Name, n, short(y), f.Unit))
		}
	}
	c.Close("g")
}

// short formats a value in few characters.
func short(v float64) string {
	switch a := math.Abs(v); {
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
