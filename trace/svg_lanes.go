package trace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/core"
)

// titleRow is the height of a line of the title, in pixels.
const titleRow = 19

// titleLines breaks the title into lines of at most that width.
func (t *Trace) titleLines(width int) []string {
	title := t.Title
	if title == "" {
		title = t.Algorithm
	}
	const letter = 9 * pixel // of bold type, guessed high
	lines := []string{""}
	for word := range strings.FieldsSeq(clean(title)) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case (utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word))*letter > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// heading writes the title, and what part of the run is shown.
func (p *picture) heading() {
	for i, line := range p.title {
		p.text(14*pixel, (24+titleRow*i)*pixel, line, "font-size", "15", "font-weight", "bold", "fill", ink)
	}
	if !p.window.cut {
		return
	}
	u := ""
	if p.t.timed() {
		u = " T"
	}
	n := len(p.t.Events)
	p.text(14*pixel, p.noteAt, fmt.Sprintf("part of a longer run: %s to %s of %s%s, %d of %d events",
		p.t.shown(p.window.from), p.t.shown(p.window.to), p.t.shown(p.t.Events[n-1].At), u, p.window.shown, n),
		"fill", grey)
}

// labels writes the names of the processes.
func (p *picture) labels() {
	for id := range core.ID(p.t.N) {
		p.text(14*pixel, p.y(id)+4*pixel, p.t.laneName(id), "fill", ink)
	}
}

// A span is a time during which a lane is the same.
type span struct {
	lane
	proc     core.ID
	name     string // what it waits for or has, if that has a name
	from, to int64
	open     bool // it goes on after the end of the trace
	broken   bool // somebody else was inside too
}

// spans returns what each lane is like from event to event.
func (t *Trace) spans() []span {
	var all []span
	now := make([]span, t.N)
	for p, l := range t.lanes() {
		now[p] = span{lane: l, proc: core.ID(p)}
	}
	var end int64
	for i := range t.Events {
		e := &t.Events[i]
		end = e.At
		if e.Kind == Violation && e.Name == "mutual-exclusion" {
			for _, id := range []core.ID{e.Proc, e.Peer} {
				if t.has(id) && now[id].phase == inside {
					now[id].broken = true
				}
			}
		}
		if !t.has(e.Proc) {
			continue
		}
		s := &now[e.Proc]
		was := s.lane
		next := was
		if next.happen(e); next == was {
			continue
		}
		s.to = e.At
		all = append(all, *s)
		*s = span{lane: next, proc: e.Proc, name: clean(e.Name), from: e.At, broken: s.broken && next.phase == inside}
		if e.Section != "" || s.lane.name() != "" {
			s.name = s.lane.name()
		}
	}
	for _, s := range now {
		s.to, s.open = end, true
		all = append(all, s)
	}
	return all
}

// lanes draws the line of each process, where it lives.
func (p *picture) lanes() {
	p.open("g", "stroke", faint, "stroke-width", "1.2")
	for _, s := range p.t.spans() {
		x1, x2 := p.x(s.from), p.x(s.to)
		if s.from == 0 {
			x1 = min(x1, 0)
		}
		if s.open {
			x2 = max(x2, p.plot)
		}
		if s.down || x2 < 0 || x1 > p.plot || x1 == x2 {
			continue
		}
		dash := ""
		if s.paused {
			dash = "2 4"
		}
		p.leaf("line", "", "x1", px(x1), "y1", px(p.y(s.proc)), "x2", px(x2), "y2", px(p.y(s.proc)), "stroke-dasharray", dash)
	}
	p.closeTag("g")
}

// extent returns where the bar of a span begins and ends.
func (p *picture) extent(s span) (x1, x2 int) {
	x1, x2 = p.x(s.from), p.x(s.to)
	if s.open {
		x2 += 12 * pixel
	}
	return x1, x2
}

// phases draws where processes wait and where they are inside.
func (p *picture) phases() {
	wait, in := min(8*pixel, p.pitch/3), min(18*pixel, p.pitch*2/3)
	for _, s := range p.bars {
		x1, x2 := p.extent(s)
		y := p.y(s.proc)
		if s.phase == waiting {
			p.bar(s, x1, x2, wait, lightWait, amber, "waits"+after(" for ", s.name))
			if x, ok := p.gap(s.proc, max(x1, 0), min(x2, p.plot), s.name); ok && in >= 14*pixel && s.name != "" {
				p.text(x, y-7*pixel, s.name, "fill", amber, "font-size", "11", "text-anchor", "middle")
			}
			continue
		}
		colour, word, does := green, "CS", "is inside"
		if s.broken {
			colour = alarm
		}
		switch {
		case p.t.Inside != "":
			word, does = s.name, "has "+s.name
		case s.has != "":
			word, does = s.has, "is inside "+s.has+after(" and waits for ", s.wants)
		}
		x2 = max(x2, x1+4*pixel)
		p.bar(s, x1, x2, in, colour, "", does)
		if x, ok := p.gap(s.proc, max(x1, 0), min(x2, p.plot), word); ok && in >= 14*pixel && word != "" {
			p.text(x, y+4*pixel, word, "fill", "#ffffff", "font-weight", "bold", "text-anchor", "middle")
		}
	}
}

// gap returns the middle of the widest part of a bar that no dot covers. ok is
// false if the word does not fit there.
func (p *picture) gap(id core.ID, lo, hi int, word string) (x int, ok bool) {
	at, wide := lo, 0
	try := func(end int) {
		if end-at > wide {
			x, wide = (at+end)/2, end-at
		}
		at = end
	}
	for i := range p.t.Events {
		e := &p.t.Events[i]
		if e.Proc == id && e.At > p.window.from && p.x(e.At) > lo && p.x(e.At) < hi {
			try(p.x(e.At))
		}
	}
	try(hi)
	return x, wide >= textWidth(word)+7*pixel
}

func (p *picture) bar(s span, x1, x2, height int, fill, stroke, what string) {
	p.leaf("rect", fmt.Sprintf("%s %s from %s to %s", p.t.laneName(s.proc), what, p.t.shown(s.from), p.t.shown(s.to)),
		"x", px(x1), "y", px(p.y(s.proc)-height/2), "width", px(max(x2-x1, pixel)), "height", px(height),
		"rx", px(min(3*pixel, height/2)), "fill", fill, "stroke", stroke)
}

// dots draws the events of the processes.
func (p *picture) dots() {
	type place struct {
		proc core.ID
		x    int
	}
	best := make(map[place]relation)
	shown := func(e *Event) bool {
		return p.t.owner(e) != core.None && e.Kind != Violation && e.Kind != Note && e.Kind != Crash &&
			e.At >= p.window.from && e.At <= p.window.to
	}
	for i := range p.t.Events {
		if e := &p.t.Events[i]; shown(e) {
			at := place{e.Proc, p.x(e.At)}
			best[at] = max(best[at], p.relation(i))
		}
	}
	done := make(map[place]bool)
	for i := range p.t.Events {
		e := &p.t.Events[i]
		at := place{e.Proc, p.x(e.At)}
		if r := p.relation(i); shown(e) && !done[at] && r == best[at] {
			done[at] = true
			p.dot(at.x, p.y(e.Proc), r, p.tip(e))
		}
	}
}

func (p *picture) dot(x, y int, r relation, tip string) {
	radius, fill, stroke := "3.5", ink, ""
	switch r {
	case future:
		fill, stroke = "#ffffff", ink
	case concurrent:
		fill = "#b9b9c4"
	case focused:
		radius, fill = "6", purple
	}
	p.leaf("circle", tip, "cx", px(x), "cy", px(y), "r", radius, "fill", fill, "stroke", stroke, "stroke-width", "1.3")
}
