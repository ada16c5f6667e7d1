package trace

import "slices"

// lives draws the line of each process, where it is alive.
func (p *painter) lives() {
	p.Open("g", "stroke", faint, "stroke-width", "1.2")
	for _, s := range p.l.Lives {
		dash := ""
		if s.Paused {
			dash = "2 4"
		}
		y := p.l.y(point{Lane: s.Lane})
		p.line(s.X1, y, s.X2, y, "stroke-dasharray", dash)
	}
	p.Close("g")
}

// bars draws where processes wait and where they are inside.
func (p *painter) bars() {
	for _, b := range p.l.Bars {
		p.bar(b.Means, b.Tip, b.X1, p.l.y(point{Lane: b.Lane})-b.Height/2, b.X2-b.X1, b.Height)
	}
}

func (p *painter) bar(means, tip string, x, y, wide, high length) {
	attrs := []string{
		"x", x.String(), "y", y.String(), "width", wide.String(), "height", high.String(), "rx", min(3*pixel, high/2).String(),
	}
	switch means {
	case barWaiting:
		attrs = append(attrs, "fill", waitFill, "stroke", orange)
	case barInside:
		attrs = append(attrs, "fill", green)
	case barBroken:
		attrs = append(attrs, "fill", "url(#stile-broken)", "fill-opacity", "0.55", "stroke", alarm, "stroke-width", "1.6")
	}
	p.Leaf("rect", tip, attrs...)
}

// arrows draws the messages, those that matter most on top.
func (p *painter) arrows() {
	for _, w := range weights() {
		if !slices.ContainsFunc(p.l.Arrows, func(a arrow) bool { return a.Relation == w.relation }) {
			continue
		}
		p.Open("g", "stroke-width", w.stroke, "opacity", w.opacity, "fill", "none")
		for i := range p.l.Arrows {
			if a := &p.l.Arrows[i]; a.Relation == w.relation {
				p.arrow(a, w)
			}
		}
		p.Close("g")
	}
}

func (p *painter) arrow(a *arrow, w weight) {
	k := p.l.Kinds[a.Kind]
	path := p.l.path(a)
	d := "M" + path[0].String()
	for i, c := range path[1:] {
		d += either(i == 0, []string{"L", "Q", "C"}[len(path)-2], " ") + c.String()
	}
	attrs := []string{"d", d, "stroke", k.Colour, "stroke-dasharray", k.Dash, "stroke-width", either(k.Heavy, w.heavy, "")}
	switch a.End {
	case endArrives:
		attrs = append(attrs, "marker-end", "url(#"+headID(k, w)+")")
	case endOpen:
		attrs = append(attrs, "opacity", "0.5")
	}
	p.Leaf("path", a.Tip, attrs...)
	last := path[len(path)-1]
	switch a.End {
	case endLost:
		p.cross(last.X, last.Y, 4*pixel, k.Colour, "2")
	case endOpen:
		p.Leaf("circle", "", "cx", last.X.String(), "cy", last.Y.String(), "r", "2.5", "fill", paper, "stroke", k.Colour, "stroke-width", "1")
	}
}

// String formats a position for use in paths.
func (o offset) String() string { return o.X.String() + " " + o.Y.String() }

func (p *painter) cross(x, y, r length, colour, width string) {
	p.Leaf("path", "", "d", "M"+offset{x - r, y - r}.String()+"L"+offset{x + r, y + r}.String()+
		"M"+offset{x - r, y + r}.String()+"L"+offset{x + r, y - r}.String(),
		"stroke", colour, "stroke-width", width, "fill", "none")
}

// dots draws the moments of the processes.
func (p *painter) dots() {
	for _, d := range p.l.Dots {
		radius, fill, stroke := "3.5", ink, ""
		switch d.Relation {
		case relationFuture:
			fill, stroke = paper, ink
		case relationConcurrent:
			fill = faded
		case relationFocus:
			radius, fill, stroke = "6", paper, ink
		}
		x, y := d.At.X.String(), p.l.y(d.At).String()
		p.Leaf("circle", d.Tip, "cx", x, "cy", y, "r", radius, "fill", fill, "stroke", stroke, "stroke-width", "1.3")
		if d.Relation == relationFocus {
			p.Leaf("circle", d.Tip, "cx", x, "cy", y, "r", "3.5", "fill", ink)
		}
	}
}

// labels writes all words in the plot, on top of everything.
func (p *painter) labels() {
	for _, b := range p.l.Bars {
		if b.Means == barInside {
			p.label(b.Label, onGreen, "font-weight", "bold", "stroke", green, "stroke-width", "3", "paint-order", "stroke")
		} else {
			p.halo(b.Label, waitInk)
		}
	}
	for _, a := range p.l.Arrows {
		opacity := ""
		if a.Relation == relationConcurrent {
			opacity = "0.4"
		}
		k := p.l.Kinds[a.Kind]
		if a.Label != nil && a.Label.Box != nil {
			b := a.Label.Box
			p.Leaf("rect", a.Tip, "x", b.At.X.String(), "y", p.l.y(b.At).String(), "width", b.Wide.String(), "height", b.High.String(),
				"rx", (b.High / 2).String(), "fill", paper, "stroke", k.Colour, "opacity", opacity)
			p.label(a.Label, k.Colour, "opacity", opacity, "pointer-events", "none")
			continue
		}
		p.halo(a.Label, k.Colour, "opacity", opacity)
	}
	for _, m := range p.l.Marks {
		p.halo(m.Label, ink)
	}
	for _, d := range p.l.Dots {
		p.halo(d.Label, ink)
	}
	for _, u := range p.l.Uprights {
		p.halo(u.Label, uprightColour(u.Means))
	}
}

// halo writes a label that may lie on lines.
func (p *painter) halo(l *label, colour string, attrs ...string) {
	p.label(l, colour, append(attrs, "stroke", paper, "stroke-width", "3", "paint-order", "stroke")...)
}

// label writes a label, if there is one.
func (p *painter) label(l *label, colour string, attrs ...string) {
	if l == nil {
		return
	}
	anchor, size := l.Anchor, l.Size.String()
	if anchor == "start" {
		anchor = ""
	}
	if l.Size == barType {
		size = ""
	}
	p.text(l.At.X, p.l.y(l.At), l.Text, append([]string{"fill", colour, "font-size", size, "text-anchor", anchor}, attrs...)...)
}
