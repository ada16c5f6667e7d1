package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/draw"
)

// The colours. Each has one meaning in all pictures, and nothing is conveyed by colour
// alone. Those of inside, waiting and violation are based on Okabe and Ito's bluish
// green, orange and vermilion; red is reserved for violations.
const (
	paper    = draw.Paper
	ink      = draw.Ink
	faint    = "#c9c9d2"
	faded    = "#b9b9c4"
	grey     = draw.Grey
	green    = "#007a55" // inside
	orange   = "#e69f00" // waiting
	waitFill = "#fff3dc"
	waitInk  = "#7a5200"
	alarm    = "#cc2900" // violation, and nothing else
	onGreen  = "#fff"    // words inside: white on dark pages, too
)

// dark returns each colour with its replacement on dark pages.
func dark() [][2]string {
	return [][2]string{
		{paper, "#16181d"}, {ink, "#e8e8ec"}, {faint, "#4a4d57"}, {faded, "#5c606b"}, {grey, "#a0a6b2"},
		{green, "#00835f"}, {waitFill, "#4a3608"}, {waitInk, "#f2c46d"}, {alarm, "#ff7152"},
	}
}

// styleSheet changes the colours on dark pages. Everything drawn has the colours of light
// pages as attributes, for programs without style sheets.
func (p *painter) styleSheet() {
	pairs := dark()
	for _, k := range p.l.Kinds {
		if pair := [2]string{k.Colour, k.Dark}; !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	var b strings.Builder
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	for _, c := range pairs {
		for _, what := range []string{"fill", "stroke"} {
			b.WriteString(".stile [" + what + `="` + c[0] + `"] {` + what + ":" + c[1] + "}\n")
		}
	}
	b.WriteString("}")
	p.Style(b.String())
}

// A weight is how heavily a message is drawn.
type weight struct {
	relation string
	name     string // name of its arrowheads
	stroke   string // width of the line
	heavy    string // width of a heavy line
	head     int    // length of the arrowhead
	opacity  string
}

// weights are in drawing order, the most important last.
func weights() []weight {
	return []weight{
		{relationConcurrent, "c", "1.4", "2.8", 9, "0.25"},
		{relationFuture, "f", "1.2", "2.4", 9, ""},
		{"", "u", "1.6", "2.8", 10, ""},
		{relationPast, "p", "2.2", "3.4", 12, ""},
	}
}

// headID names an arrowhead. The name depends only on how it looks, so that several
// pictures in one page do not interfere.
func headID(k KindStyle, w weight) string { return "stile-" + w.name + strconv.Itoa(k.Slot) }

// definitions defines the arrowheads that are needed, and the hatching of violations. An
// arrow ends at the middle of a dot; its head stops before it.
func (p *painter) definitions() {
	p.Open("defs")
	done := make(map[string]bool)
	for _, w := range weights() {
		for _, a := range p.l.Arrows {
			k := p.l.Kinds[a.Kind]
			id := headID(k, w)
			if a.Relation != w.relation || done[id] {
				continue
			}
			done[id] = true
			p.head(id, w.head, k.Colour)
		}
	}
	if slices.ContainsFunc(p.l.Bars, func(b strip) bool { return b.Means == barBroken }) {
		p.Open("pattern", "id", "stile-broken", "width", "6", "height", "6", "patternUnits", "userSpaceOnUse", "patternTransform", "rotate(45)")
		p.Leaf("rect", "", "width", "6", "height", "6", "fill", paper)
		p.Leaf("rect", "", "width", "3", "height", "6", "fill", alarm)
		p.Close("pattern")
	}
	p.Close("defs")
}

func (p *painter) head(id string, size int, colour string) {
	long := length(size) * pixel
	half := long * 2 / 5
	p.Open("marker", "id", id, "markerUnits", "userSpaceOnUse", "orient", "auto",
		"markerWidth", long.String(), "markerHeight", (2 * half).String(), "refX", (long + 3*pixel).String(), "refY", half.String())
	p.Leaf("path", "", "d", "M0 0L"+long.String()+" "+half.String()+"L0 "+(2*half).String()+"z", "fill", colour)
	p.Close("marker")
}
