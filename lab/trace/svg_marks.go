package trace

// marks draws what must not be overlooked.
func (p *painter) marks() {
	for _, m := range p.l.Marks {
		p.mark(m.Means, m.Tip, m.At.X, p.l.y(m.At))
	}
}

// mark draws a sign around a place. Each has a shape of its own.
func (p *painter) mark(means, tip string, x, y length) {
	at := "translate(" + x.String() + " " + y.String() + ")"
	p.Open("g", "transform", at, "stroke", ink, "stroke-width", "1.6", "fill", paper)
	p.Tip(tip)
	shape := func(d string, attrs ...string) { p.Leaf("path", "", append([]string{"d", d}, attrs...)...) }
	letter := func(s string, attrs ...string) {
		p.text(0, 3*pixel+pixel/2, s, append([]string{"fill", ink, "stroke", "none", "font-size", "10", "font-weight", "bold", "text-anchor", "middle"}, attrs...)...)
	}
	switch means {
	case markCrash:
		shape("M-6-6L6 6M-6 6L6-6", "stroke-width", "2.6", "fill", "none")
	case markRestart:
		shape("M-5 5L0-6L5 5z")
	case markPause:
		shape("M-6-6H6V6H-6z", "stroke", "none")
		shape("M-3-6V6M3-6V6", "stroke-width", "2.6")
	case markResume:
		shape("M-4-6L6 0L-4 6z")
	case markSuspect:
		shape("M0-8L8 0L0 8L-8 0z")
		letter("?")
	case markTrust:
		shape("M0-8L8 0L0 8L-8 0z")
		shape("M-3 0L-1 3L3-3", "fill", "none")
	case markTimer:
		shape("M-4-5H4L-4 5H4z")
	case markLead:
		shape("M0-7L2-2L7-2L3 1L5 6L0 3L-5 6L-3 1L-7-2L-2-2z", "fill", ink, "stroke", "none")
	case markDenied:
		shape("M-5-5H5V5H-5z")
		shape("M-3-3L3 3M-3 3L3-3")
	case markEnded:
		shape("M-5-5H5V5H-5z")
		shape("M-3 0L-1 3L3-3", "fill", "none")
	case markAbort:
		shape("M-7-5H7V5H-7z")
		letter("!")
	case markNote:
		p.Leaf("circle", "", "r", "6")
		letter("i", "font-style", "italic")
	case markViolation:
		p.Leaf("circle", "", "r", "10", "fill", "none", "stroke", alarm, "stroke-width", "2.5")
	}
	p.Close("g")
	if means == markViolation {
		p.warning(x, y-20*pixel)
	}
}

// warning draws the sign of a violation.
func (p *painter) warning(x, y length) {
	p.Open("g", "transform", "translate("+x.String()+" "+y.String()+")")
	p.Leaf("path", "", "d", "M0-8L8 6H-8z", "fill", alarm, "stroke", paper)
	p.Leaf("path", "", "d", "M0-4V1M0 3V4.5", "stroke", onGreen, "stroke-width", "1.8")
	p.Close("g")
}

// uprights draws lines through all lanes, each kind with dashes of its own.
func (p *painter) uprights() {
	for _, u := range p.l.Uprights {
		p.upright(u.Means, u.Tip, u.X, u.Y1, u.Y2)
	}
}

func (p *painter) upright(means, tip string, x, y1, y2 length) {
	dash, width := "3 3", "1.2"
	switch means {
	case uprightCut:
		dash, width = "8 4", "2"
	case uprightHealed:
		dash = "8 4"
	case uprightFocus:
		dash = "2 3"
	case uprightNote:
		dash = "1 4"
	}
	p.Leaf("line", tip, "x1", x.String(), "y1", y1.String(), "x2", x.String(), "y2", y2.String(),
		"stroke", uprightColour(means), "stroke-width", width, "stroke-dasharray", dash)
}

func uprightColour(means string) string {
	switch means {
	case uprightViolation:
		return alarm
	case uprightFocus:
		return ink
	}
	return grey
}

// sample draws an entry of the legend as it is drawn in the plot.
func (p *painter) sample(s sample) {
	x, y := s.X, s.Y
	switch s.Shows {
	case sampleArrow:
		p.sampleArrow(x, y, p.l.Kinds[s.Kind])
	case sampleEnd:
		p.line(x, y, x+20*pixel, y, "stroke", grey, "stroke-width", "1.4")
		if s.Means == endLost {
			p.cross(x+20*pixel, y, 4*pixel, grey, "2")
		} else {
			p.Leaf("circle", "", "cx", (x + 22*pixel).String(), "cy", y.String(), "r", "2.5", "fill", paper, "stroke", grey)
		}
	case sampleCopy:
		p.text(x+18*pixel, y+4*pixel, "²", "fill", ink, "font-weight", "bold", "text-anchor", "middle")
	case sampleBar:
		high := 12 * pixel
		if s.Means == barWaiting {
			high = 8 * pixel
		}
		p.bar(s.Means, "", x, y-high/2, 36*pixel, high)
	case sampleMark:
		if s.Means == markViolation {
			p.warning(x+18*pixel, y)
			return
		}
		p.mark(s.Means, "", x+18*pixel, y)
	case sampleUpright:
		p.upright(s.Means, "", x+18*pixel, y-8*pixel, y+8*pixel)
	}
}

// sampleArrow draws an arrow of a kind, with a head that occurs in this picture.
func (p *painter) sampleArrow(x, y length, k KindStyle) {
	for _, w := range weights() {
		for _, a := range p.l.Arrows {
			if a.Relation == w.relation && p.l.Kinds[a.Kind] == k {
				p.line(x, y, x+39*pixel, y, "stroke", k.Colour, "stroke-width", either(k.Heavy, w.heavy, w.stroke), "stroke-dasharray", k.Dash,
					"marker-end", "url(#"+headID(k, w)+")")
				return
			}
		}
	}
}
