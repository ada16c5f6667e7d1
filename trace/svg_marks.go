package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// marks draws what must not be overlooked: crashes, violations, the focus.
func (p *picture) marks() {
	violations := 0
	var first *Event
	for i := range p.t.Events {
		e := &p.t.Events[i]
		if e.At < p.window.from || e.At > p.window.to {
			continue
		}
		x := p.x(e.At)
		switch {
		case e.Kind == Crash && p.t.has(e.Proc):
			p.cross(x, p.y(e.Proc), 6*pixel, ink, "2.5")
			p.below(e, x, "crash", ink)
		case e.Kind == Restart && p.t.has(e.Proc):
			p.beside(e, x, "back", ink)
		case e.Kind == Lead && e.Proc == e.Peer && p.t.has(e.Proc):
			p.below(e, x, "leads", green)
		case (e.Kind == Deny || e.Kind == Exit) && e.Name != "" && p.t.has(e.Proc):
			p.ending(e, x)
		case e.Kind == Pause && p.t.has(e.Proc):
			p.beside(e, x, "pause", grey)
		case e.Kind == Violation:
			violations++
			if first == nil {
				first = e
			}
			if p.t.has(e.Proc) {
				p.leaf("circle", p.tip(e), "cx", px(x), "cy", px(p.y(e.Proc)), "r", "9", "fill", "none", "stroke", alarm, "stroke-width", "2.5")
			}
		}
	}
	if first != nil {
		words := strings.TrimSuffix(p.t.sentence(first), ".")
		if violations > 1 {
			words += fmt.Sprintf(" (and %d more)", violations-1)
		}
		p.upright(p.x(first.At), alarm, "3 3", "")
		p.words(p.x(first.At), p.top-24*pixel, words, alarm)
	}
	if p.focus >= 0 {
		e := &p.t.Events[p.focus]
		y := p.top - 24*pixel
		if first != nil {
			y -= wordsRow
		}
		p.upright(p.x(e.At), ink, "2 3", "")
		p.words(p.x(e.At), y, fmt.Sprintf("step %d · past solid · future outlined · concurrent faded", e.Step), ink)
	}
}

// ending writes how a transaction ended, below the end of its bar.
func (p *picture) ending(e *Event, x int) {
	colour := green
	if e.Kind == Deny {
		colour = alarm
		p.cross(x, p.y(e.Proc), 5*pixel, colour, "2.5")
	}
	p.below(e, x, clean(e.Name), colour)
}

// beside writes a word above a lane, beside an event.
func (p *picture) beside(e *Event, x int, word, colour string) {
	at, anchor := x+5*pixel, "start"
	if at+textWidth(word) > p.plot {
		at, anchor = x-5*pixel, "end"
	}
	p.text(at, p.y(e.Proc)-6*pixel, word, "fill", colour, "font-size", "11", "text-anchor", anchor)
}

// below writes a word below a lane, unless lanes are too close for it.
func (p *picture) below(e *Event, x int, word, colour string) {
	if p.pitch < 30*pixel {
		return
	}
	at, anchor := x, "middle"
	switch half := textWidth(word) / 2; {
	case x+half > p.plot:
		at, anchor = p.plot-pixel, "end"
	case x < half:
		at, anchor = pixel, "start"
	}
	p.text(at, p.y(e.Proc)+min(19*pixel, p.pitch*3/5), word, "fill", colour, "font-size", "11", "text-anchor", anchor)
}

// cuts draws when the network was cut and whole again.
func (p *picture) cuts() {
	for i := range p.t.Events {
		e := &p.t.Events[i]
		if e.Kind != Partition && e.Kind != Heal || e.At < p.window.from || e.At > p.window.to {
			continue
		}
		word := "cut"
		if e.Kind == Heal {
			word = "healed"
		}
		p.upright(p.x(e.At), grey, "6 4", p.tip(e))
		p.words(p.x(e.At), p.axis-9*pixel, word, grey)
	}
}

// upright draws a line through all lanes.
func (p *picture) upright(x int, colour, dash, tip string) {
	p.leaf("line", tip, "x1", px(x), "y1", px(p.top-34*pixel), "x2", px(x), "y2", px(p.axis-6*pixel),
		"stroke", colour, "stroke-dasharray", dash)
}

// words writes a remark beside an upright line, on the side where it fits.
func (p *picture) words(x, y int, words, colour string) {
	at, anchor := x+6*pixel, "start"
	long := textWidth(words)
	if at+long > p.plot {
		at, anchor = x-6*pixel, "end"
	}
	if anchor == "end" && at < long {
		at, anchor = p.plot/2, "middle"
	}
	p.text(at, y, words, "fill", colour, "text-anchor", anchor,
		"stroke", "#ffffff", "stroke-width", "3", "paint-order", "stroke")
}

// textWidth guesses how wide words are: fonts differ, so it guesses high.
func textWidth(words string) int {
	wide := 0
	for _, r := range words {
		if wide += 65; unicode.IsUpper(r) {
			wide += 30
		}
	}
	return wide
}

// timeAxis draws the axis, with marks at round times.
func (p *picture) timeAxis() {
	p.open("g", "stroke", grey, "stroke-width", "1")
	p.leaf("line", "", "x1", px(p.left), "y1", px(p.axis), "x2", px(p.left+p.plot), "y2", px(p.axis))
	step := p.tickStep()
	var at []int64
	for v := (p.window.from + step - 1) / step * step; v <= p.window.to; v += step {
		at = append(at, v)
		x := px(p.left + p.x(v))
		p.leaf("line", "", "x1", x, "y1", px(p.axis), "x2", x, "y2", px(p.axis+5*pixel))
	}
	p.closeTag("g")
	p.open("g", "fill", grey, "font-size", "11", "text-anchor", "middle")
	for _, v := range at {
		p.text(p.left+p.x(v), p.axis+18*pixel, decimal(v, p.t.unit()))
	}
	p.closeTag("g")
	name := "step"
	if p.t.timed() {
		name = "time (T)"
	}
	p.text(14*pixel, p.axis+18*pixel, name, "fill", grey, "font-size", "11")
}

// tickStep returns 1, 2 or 5 times a power of ten, in ticks, so that numbers do
// not run into each other.
func (p *picture) tickStep() int64 {
	const apart = 70 * pixel
	room := int64(p.plot - 2*margin)
	for power := int64(1); power <= maxTicks/10; power *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if (p.window.to-p.window.from)/(m*power) <= room/apart {
				return m * power
			}
		}
	}
	return maxTicks
}

// A sample is one thing that the legend explains.
type sample struct {
	words string
	draw  func(x, y int)
}

// samples lists what is in the picture and needs a word.
func (p *picture) samples() []sample {
	var all []sample
	for i, k := range p.kinds {
		if slices.ContainsFunc(p.drawn, func(a arrow) bool { return a.kind == k }) {
			all = append(all, sample{k, func(x, y int) { p.sampleArrow(x, y, p.styles[i]) }})
		}
	}
	if slices.ContainsFunc(p.drawn, func(a arrow) bool { return a.lost }) {
		all = append(all, sample{"lost", func(x, y int) { p.cross(x+18*pixel, y, 4*pixel, grey, "2") }})
	}
	shows := func(what phase) bool {
		return slices.ContainsFunc(p.bars, func(s span) bool { return s.phase == what })
	}
	if shows(waiting) {
		all = append(all, sample{either(p.t.Waiting != "", clean(p.t.Waiting), "waiting"), func(x, y int) {
			p.leaf("rect", "", "x", px(x), "y", px(y-4*pixel), "width", "36", "height", "8", "rx", "3", "fill", lightWait, "stroke", amber)
		}})
	}
	colour := alarm // if nobody was inside alone
	if slices.ContainsFunc(p.bars, func(s span) bool { return s.phase == inside && !s.broken }) {
		colour = green
	}
	if shows(inside) {
		all = append(all, sample{either(p.t.Inside != "", clean(p.t.Inside), "critical section"), func(x, y int) {
			p.leaf("rect", "", "x", px(x), "y", px(y-6*pixel), "width", "36", "height", "12", "rx", "3", "fill", colour)
		}})
	}
	return all
}

func (p *picture) uses(what func(e *Event) bool) bool {
	return slices.ContainsFunc(p.t.Events, func(e Event) bool { return what(&e) })
}

func (p *picture) sampleArrow(x, y int, s style) {
	w := weight{name: "u", stroke: "1.6"}
	if p.focus >= 0 {
		w = weight{name: "f", stroke: "1.2"}
	}
	p.leaf("line", "", "x1", px(x), "y1", px(y), "x2", px(x+39*pixel), "y2", px(y), "stroke", s.colour,
		"stroke-width", w.stroke, "stroke-dasharray", s.dash, "marker-end", "url(#"+headID(s, w)+")")
}

// legend draws the samples, in as many rows as they need.
func (p *picture) legend() {
	y := p.axis + 44*pixel
	p.legendPlaces(func(s sample, x, row int) {
		at := y + row*20*pixel
		s.draw(x, at)
		p.text(x+44*pixel, at+4*pixel, s.words, "fill", ink)
	})
}

func (p *picture) legendRows() int {
	rows := 0
	p.legendPlaces(func(_ sample, _, row int) { rows = row + 1 })
	return rows
}

func (p *picture) legendPlaces(at func(s sample, x, row int)) {
	x, row := p.left, 0
	for _, s := range p.samples() {
		wide := 44*pixel + textWidth(s.words) + 24*pixel
		if x > p.left && x+wide > p.width {
			x, row = p.left, row+1
		}
		at(s, x, row)
		x += wide
	}
}
