package trace

import "github.com/stile-lock/stile/internal/draw"

// SVG renders the layout. It works on light and dark pages, and conveys nothing by colour
// alone.
func (l *Layout) SVG() string {
	p := &painter{l: l}
	p.Begin(l.Page.Width.String(), l.Page.Height.String(), "class", "stile")
	p.styleSheet()
	p.Background()
	p.definitions()
	p.heading()
	p.Open("svg", "x", l.Page.Left.String(), "y", "0", "width", l.Page.Plot.String(), "height", (l.Page.Axis + 2*pixel).String(), "overflow", "hidden")
	p.lives()
	p.bars()
	p.uprights()
	p.arrows()
	p.dots()
	p.marks()
	p.labels()
	p.Close("svg")
	p.axis()
	p.legend()
	p.Close("svg")
	return p.String()
}

// A painter writes a layout as SVG. It decides how things look, and never where they are.
type painter struct {
	draw.Canvas
	l *Layout
}

// heading writes the title, the part of the run that is shown, and the names of the
// lanes.
func (p *painter) heading() {
	for _, w := range p.l.Title {
		p.text(w.X, w.Y, w.Text, "font-size", "15", "font-weight", "bold", "fill", ink)
	}
	p.text(p.l.Part.X, p.l.Part.Y, p.l.Part.Text, "fill", grey)
	for _, n := range p.l.Lanes {
		p.text(n.X, p.l.y(point{Lane: n.Lane, DY: n.DY}), n.Text, "fill", ink)
	}
}

// axis draws the axis, with marks at round times.
func (p *painter) axis() {
	g := &p.l.Page
	p.Open("g", "stroke", grey, "stroke-width", "1")
	p.line(g.Left, g.Axis, g.Left+g.Plot, g.Axis)
	for _, t := range p.l.Ticks {
		p.line(g.Left+t.X, g.Axis, g.Left+t.X, g.Axis+5*pixel)
	}
	p.Close("g")
	p.Open("g", "fill", grey, "font-size", "11", "text-anchor", "middle")
	for _, t := range p.l.Ticks {
		p.text(g.Left+t.X, p.l.Axis.Y, t.Text)
	}
	p.Close("g")
	p.text(p.l.Axis.X, p.l.Axis.Y, p.l.Axis.Text, "fill", grey, "font-size", "11")
}

// legend draws the samples, and what is below them.
func (p *painter) legend() {
	for _, s := range p.l.Legend {
		p.sample(s)
		p.text(s.TextX, s.TextY, s.Text, "fill", ink)
	}
	for _, w := range p.l.Footer {
		p.text(w.X, w.Y, w.Text, "fill", grey)
	}
}

func (p *painter) line(x1, y1, x2, y2 length, attrs ...string) {
	p.Leaf("line", "", append([]string{"x1", x1.String(), "y1", y1.String(), "x2", x2.String(), "y2", y2.String()}, attrs...)...)
}

// text writes words at a place.
func (p *painter) text(x, y length, words string, attrs ...string) {
	p.Text(x.String(), y.String(), words, attrs...)
}
