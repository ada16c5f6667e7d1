package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A chart is a picture with one bar for each entrant, on a logarithmic scale.
type chart struct {
	file, title, workload, figure string
	unit                          float64
}

var charts = []chart{
	{"performance-uncontended.svg", "Acquire and release the same lock again: median, µs (shorter is better)", "uncontended", figP50, 1},
	{"performance-contended.svg", "32 clients on one lock: holds per second (longer is better)", "clients-32", figRate, 1},
	{"performance-locks.svg", "32 clients on 32 locks: holds per second (longer is better)", "locks-32", figRate, 1},
	{"performance-tail.svg", "32 clients on 32 locks: 99th percentile, µs (shorter is better)", "locks-32", figP99, 1},
}

// charted returns the lines of the page that show the charts.
func charted(r *Result) string {
	var b strings.Builder
	for _, c := range charts {
		if c.draw(r) != "" {
			fmt.Fprintf(&b, "![%s](%s)\n\n", c.title, c.file)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

const (
	chartWidth, chartLabel, chartRow = 760, 250, 22
	chartBar                         = 390 // width of the longest bar
)

// draw returns the picture, or nothing if nothing was measured.
func (c chart) draw(r *Result) string {
	type bar struct {
		e *entrant
		v float64
	}
	var bars []bar
	low, high := math.Inf(1), 0.0
	for _, w := range workloads {
		if w.Name != c.workload {
			continue
		}
		for _, e := range r.rows(w) {
			if v := r.find(w.Name, e.Name).median(c.figure) * c.unit; v > 0 && e.Name != limitMutex {
				bars = append(bars, bar{e, v})
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if len(bars) == 0 {
		return ""
	}
	from := math.Floor(math.Log10(low)*2-0.2) / 2
	scale := chartBar / max(math.Log10(high)-from, 0.1)
	height := 44 + chartRow*len(bars) + 10
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" role="img" aria-label="%s">
<style>
text{fill:#1f2328}.bar{fill:#8c959f}.own{fill:#0969da}.limit{fill:#d0d7de}.value{font-size:12px}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.bar{fill:#6e7681}.own{fill:#58a6ff}.limit{fill:#373e47}}
</style>
<text x="10" y="22" font-weight="bold">%s</text>
`, chartWidth, height, chartWidth, height, html.EscapeString(c.title), html.EscapeString(c.title))
	for i, x := range bars {
		y, class := 40+chartRow*i, "bar"
		switch {
		case x.e.ours:
			class = "own"
		case x.e.kind == "":
			class = "limit"
		}
		label := x.e.Title
		if x.e.plain() && x.e.kind != "" {
			label += " (plain)"
		}
		width := max(2, (math.Log10(x.v)-from)*scale)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.0f" height="15" rx="2"/><text class="value" x="%.0f" y="%d">%s</text>`+"\n",
			chartLabel-8, y+12, html.EscapeString(label), class, chartLabel, y, width, chartLabel+width+6, y+12, short(x.v))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
