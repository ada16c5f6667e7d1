package trace

import "slices"

// arrows finds the messages in the window, and gives each a path of its own.
func (p *plan) arrows() {
	b := newBender(p.l)
	for _, letter := range p.t.letters() {
		if !letter.in(p.t, &p.l.Window) {
			continue
		}
		a := p.arrow(letter)
		p.clip(&a)
		if p.o.Plain {
			a.Bend = bendOf(offset{a.From.X, p.l.y(a.From)}, offset{a.To.X, p.l.y(a.To)}, 0)
		} else {
			b.bend(&a)
		}
		p.l.Arrows = append(p.l.Arrows, a)
	}
}

// arrow joins the sending of a message to its arrival or loss.
func (p *plan) arrow(l letter) arrow {
	about := l.about(p.t)
	from, to := about.Proc, about.Peer
	if about.Kind == Receive {
		from, to = to, from
	}
	a := arrow{
		Message: about.Msg, Kind: p.kindOf(about.Name), Copy: l.copied,
		Sent: -1, Ended: -1, Relation: p.linked(l), End: endOpen,
	}
	var begin, end *Event
	if l.begin >= 0 {
		begin = &p.t.Events[l.begin]
		a.Sent, a.From, a.Tip = begin.At, p.on(from, begin.At), p.tip(begin)
	}
	if l.end >= 0 {
		end = &p.t.Events[l.end]
		a.Ended, a.To, a.End = end.At, p.on(to, end.At), endArrives
		a.Tip = lines(a.Tip, p.tip(end))
		if end.Kind == Drop {
			a.End = endLost
		}
	}
	p.loose(&a, int(from), int(to), begin, end)
	return a
}

// loose places the ends of a message that is lost at once, has not arrived, or was sent
// before the trace begins.
func (p *plan) loose(a *arrow, from, to int, begin, end *Event) {
	way := length(to-from) * p.l.Page.Pitch
	half := min(max(way, -p.l.Page.Pitch/2), p.l.Page.Pitch/2)
	switch {
	case begin == nil && end.Kind == Drop:
		a.From = point{a.To.X, from, 0}
		a.To = point{a.To.X + 26*pixel, from, half}
	case begin == nil:
		a.From = point{a.To.X - 20*pixel, to, -half}
		a.Tip = lines("It was sent before the trace begins.", a.Tip)
	case end == nil:
		a.To = point{a.From.X + 20*pixel, from, half}
		a.Tip = lines(a.Tip, "It has not arrived.")
	case end.Kind == Drop && begin.At == end.At:
		a.To = point{a.From.X + 26*pixel, from, way * 45 / 100}
	}
}

// linked returns the relation of a message to the focus: it is in the past if it arrived
// there, and in the future if it was sent there.
func (p *plan) linked(l letter) string {
	if p.focus < 0 {
		return ""
	}
	if l.end >= 0 && p.t.Events[l.end].Kind == Receive {
		if r := p.relation(l.end); r == relationPast || r == relationFocus {
			return relationPast
		}
	}
	if l.begin >= 0 {
		if r := p.relation(l.begin); r == relationFuture || r == relationFocus {
			return relationFuture
		}
	}
	return relationConcurrent
}

// clip cuts off what is outside the plot.
func (p *plan) clip(a *arrow) {
	x1, x2 := a.From.X, a.To.X
	dy := p.l.y(a.To) - p.l.y(a.From)
	at := func(x length) point { return point{x, a.From.Lane, a.From.DY + dy*(x-x1)/(x2-x1)} }
	from, to := a.From, a.To
	if x1 < 0 && x2 > 0 {
		from = at(0)
	}
	if plot := p.l.Page.Plot; x2 > plot && x1 < plot {
		to = at(plot)
	}
	a.From, a.To = from, to
}

// lines joins two texts, one below the other.
func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// kindOf returns the index of a message kind.
func (p *plan) kindOf(name string) int { return max(slices.Index(p.kinds, name), 0) }
