package trace

import (
	"slices"
	"strconv"
)

// An arrow is one message in the picture.
type arrow struct {
	kind           string
	style          style
	relation       relation
	x1, y1, x2, y2 int
	lost           bool // it ends in a cross
	lonely         bool // nothing is known of its end, or of its beginning
	copied         bool
	tip            string
}

// arrows finds the messages of the trace.
func (p *picture) arrows() []arrow {
	begun := make(map[int]int) // where the message of a number was sent
	ended := make(map[int]bool)
	copied := make(map[int]bool)
	var all []arrow
	for i := range p.t.Events {
		e := &p.t.Events[i]
		switch e.Kind {
		case Send:
			begun[e.Msg] = i
		case Duplicate:
			begun[e.Msg], copied[e.Msg] = i, true
		case Receive, Drop:
			ended[e.Msg] = true
			if s, ok := begun[e.Msg]; ok && e.At >= p.window.from && p.t.Events[s].At <= p.window.to {
				all = append(all, p.arrow(s, i, copied[e.Msg]))
			}
		}
	}
	for i := range p.t.Events {
		if e := &p.t.Events[i]; e.Kind == Send && !ended[e.Msg] && e.At >= p.window.from && e.At <= p.window.to {
			all = append(all, p.stub(i))
		}
	}
	return all
}

// arrow joins the sending of a message to its arrival or loss.
func (p *picture) arrow(s, i int, copied bool) arrow {
	from, e := &p.t.Events[s], &p.t.Events[i]
	a := arrow{
		kind: e.Name, style: p.style(e.Name), copied: copied, lost: e.Kind == Drop, tip: p.tip(from) + " " + p.tip(e),
		x1: p.x(from.At), y1: p.y(from.Proc), x2: p.x(e.At), y2: p.y(from.Peer),
	}
	if a.lost && e.At == from.At {
		a.x2, a.y2 = a.x1+26*pixel, a.y1+(a.y2-a.y1)*45/100
	}
	a.relation = p.linked(s, i)
	return a
}

// stub begins a message whose end is not in the trace.
func (p *picture) stub(s int) arrow {
	from := &p.t.Events[s]
	y1, y2 := p.y(from.Proc), p.y(from.Peer)
	half := p.pitch / 2
	return arrow{
		kind: from.Name, style: p.style(from.Name), lonely: true, tip: p.tip(from) + " It has not arrived.",
		relation: p.linked(s, s),
		x1:       p.x(from.At), y1: y1, x2: p.x(from.At) + 20*pixel, y2: min(max(y2, y1-half), y1+half),
	}
}

// linked returns how a message stands to the focus: it is in the past if it
// arrived there, and in the future if it was sent there.
func (p *picture) linked(s, i int) relation {
	end := p.relation(i)
	switch begin := p.relation(s); {
	case begin == unfocused:
		return unfocused
	case s != i && (end == past || end == focused):
		return past
	case begin == future || begin == focused:
		return future
	}
	return concurrent
}

func (p *picture) style(kind string) style {
	i := slices.Index(p.kinds, kind)
	return p.styles[max(i, 0)]
}

// messages draws the arrows, those that matter most on top.
func (p *picture) messages() {
	all := p.drawn
	for _, w := range weights() {
		some := slices.ContainsFunc(all, func(a arrow) bool { return a.relation == w.relation })
		if !some {
			continue
		}
		p.open("g", "stroke-width", w.stroke, "opacity", w.opacity, "fill", "none")
		for _, a := range all {
			if a.relation == w.relation {
				p.message(a, w)
			}
		}
		p.closeTag("g")
	}
}

func (p *picture) message(a arrow, w weight) {
	end := "url(#" + headID(a.style, w) + ")"
	opacity := ""
	if a.lost {
		end = ""
	}
	if a.lonely {
		end, opacity = "", "0.45"
	}
	p.leaf("line", a.tip, "x1", px(a.x1), "y1", px(a.y1), "x2", px(a.x2), "y2", px(a.y2),
		"stroke", a.style.colour, "stroke-dasharray", a.style.dash, "marker-end", end, "opacity", opacity)
	if a.lost {
		p.cross(a.x2, a.y2, 4*pixel, a.style.colour, "2")
	}
	if a.copied {
		p.text((a.x1+a.x2)/2+4*pixel, (a.y1+a.y2)/2, "copy", "font-size", "10", "font-style", "italic", "fill", a.style.colour)
	}
}

func (p *picture) cross(x, y, r int, colour, width string) {
	p.leaf("path", "", "d", "M"+px(x-r)+" "+px(y-r)+"L"+px(x+r)+" "+px(y+r)+"M"+px(x-r)+" "+px(y+r)+"L"+px(x+r)+" "+px(y-r),
		"stroke", colour, "stroke-width", width, "fill", "none")
}

// headID names an arrowhead. It depends on nothing but how it looks, so that
// several pictures in one page do not disturb each other.
func headID(s style, w weight) string { return "stile-" + w.name + strconv.Itoa(s.slot) }

// arrowheads defines the arrowheads that may be needed. An arrow ends at the
// middle of a dot; its head stops before the dot.
func (p *picture) arrowheads() {
	p.open("defs")
	done := make(map[string]bool)
	for _, w := range weights() {
		if (w.relation == unfocused) != (p.focus < 0) {
			continue
		}
		for _, s := range p.styles {
			id := headID(s, w)
			if done[id] {
				continue
			}
			done[id] = true
			long, half := w.head*pixel, w.head*pixel*2/5
			p.open("marker", "id", id, "markerUnits", "userSpaceOnUse", "orient", "auto",
				"markerWidth", px(long), "markerHeight", px(2*half), "refX", px(long+3*pixel), "refY", px(half))
			p.leaf("path", "", "d", "M0 0L"+px(long)+" "+px(half)+"L0 "+px(2*half)+"z", "fill", s.colour)
			p.closeTag("marker")
		}
	}
	p.closeTag("defs")
}
