package trace

import (
	"strings"
)

// SVG renders the layout. It works on light and dark pages, and conveys nothing by colour
// alone.
func (l *Layout) SVG() string {
	p := &painter{l: l}
	p.open("svg", "xmlns", "http://www.w3.org/2000/svg", "class", "stile", "width", l.Page.Width.String(), "height", l.Page.Height.String(),
		"viewBox", "0 0 "+l.Page.Width.String()+" "+l.Page.Height.String(), "font-family", fonts, "font-size", "12")
	p.styleSheet()
	p.leaf("rect", "", "width", "100%", "height", "100%", "fill", paper)
	p.definitions()
	p.heading()
	p.open("svg", "x", l.Page.Left.String(), "y", "0", "width", l.Page.Plot.String(), "height", (l.Page.Axis + 2*pixel).String(), "overflow", "hidden")
	p.lives()
	p.bars()
	p.uprights()
	p.arrows()
	p.dots()
	p.marks()
	p.labels()
	p.closeTag("svg")
	p.axis()
	p.legend()
	p.closeTag("svg")
	return p.b.String()
}

const fonts = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

// A painter writes a layout as SVG. It decides how things look, and never where they are.
type painter struct {
	l *Layout
	b strings.Builder
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
	p.open("g", "stroke", grey, "stroke-width", "1")
	p.line(g.Left, g.Axis, g.Left+g.Plot, g.Axis)
	for _, t := range p.l.Ticks {
		p.line(g.Left+t.X, g.Axis, g.Left+t.X, g.Axis+5*pixel)
	}
	p.closeTag("g")
	p.open("g", "fill", grey, "font-size", "11", "text-anchor", "middle")
	for _, t := range p.l.Ticks {
		p.text(g.Left+t.X, p.l.Axis.Y, t.Text)
	}
	p.closeTag("g")
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

// open writes the start of an element with its attributes, name and value in turn; one
// with an empty value is left out.
func (p *painter) open(name string, attrs ...string) {
	p.tag(name, attrs)
	p.b.WriteString(">\n")
}

func (p *painter) closeTag(name string) { p.b.WriteString("</" + name + ">\n") }

// leaf writes an element that holds only a title, which browsers show as a tooltip.
func (p *painter) leaf(name, tip string, attrs ...string) {
	p.tag(name, attrs)
	if tip == "" {
		p.b.WriteString("/>\n")
		return
	}
	p.b.WriteString("><title>" + escapeLines(tip) + "</title></" + name + ">\n")
}

func (p *painter) line(x1, y1, x2, y2 length, attrs ...string) {
	p.leaf("line", "", append([]string{"x1", x1.String(), "y1", y1.String(), "x2", x2.String(), "y2", y2.String()}, attrs...)...)
}

// text writes words at a place.
func (p *painter) text(x, y length, words string, attrs ...string) {
	p.tag("text", append([]string{"x", x.String(), "y", y.String()}, attrs...))
	p.b.WriteString(">" + escape(words) + "</text>\n")
}

func (p *painter) tag(name string, attrs []string) {
	p.b.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			p.b.WriteString(" " + attrs[i] + `="` + escape(attrs[i+1]) + `"`)
		}
	}
}

// escape makes text safe inside XML.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean(s))
}

// escapeLines makes text of several lines safe.
func escapeLines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = escape(all[i])
	}
	return strings.Join(all, "\n")
}
