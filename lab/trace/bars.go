package trace

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
)

// A span is a time during which a lane does not change.
type span struct {
	lane
	proc     algorithm.ID
	name     string // what it waits for or has, if that has a name
	from, to int64
	open     bool // whether it goes on after the end of the trace
	entry    int  // number of the entry in the run, if it is one
}

// spans returns the state of each lane from event to event.
func (t *Trace) spans() []span {
	var all []span
	now := make([]span, t.N)
	entries := 0
	for p, l := range t.lanes() {
		now[p] = span{lane: l, proc: algorithm.ID(p)}
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == Enter {
			entries++
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
		entry := s.entry
		if e.Kind == Enter {
			entry = entries
		}
		*s = span{lane: next, proc: e.Proc, name: draw.Clean(e.Name), from: e.At, entry: entry}
		if e.Section != "" || s.lane.name() != "" {
			s.name = s.lane.name()
		}
	}
	for _, s := range now {
		s.to, s.open = t.end(), true
		all = append(all, s)
	}
	return all
}

// lives finds where processes are alive.
func (p *plan) lives() {
	for _, s := range p.spans {
		x1, x2 := p.x(s.from), p.x(s.to)
		if s.from == 0 {
			x1 = 0
		}
		if s.open {
			x2 = p.l.Page.Plot
		}
		x1, x2 = max(x1, 0), min(x2, p.l.Page.Plot)
		if s.down || x1 >= x2 {
			continue
		}
		p.l.Lives = append(p.l.Lives, life{int(s.proc), s.from, s.to, x1, x2, s.paused})
	}
}

// bars finds where processes wait and where they are inside, and where two are that must
// not be.
func (p *plan) bars() {
	pitch := p.l.Page.Pitch
	for _, s := range p.spans {
		switch s.phase {
		case waiting:
			p.bar(s, barWaiting, min(8*pixel, pitch/3), "waits"+after(" for ", s.name), s.name)
		case inside:
			p.bar(s, barInside, min(18*pixel, pitch*2/3), p.insideWords(s), p.insideNames(s)...)
		}
	}
	for _, i := range p.shown {
		if e := &p.t.Events[i]; e.Kind == Violation && e.Name == "mutual-exclusion" && p.t.has(e.Proc) && p.t.has(e.Peer) {
			p.broken(e)
		}
	}
}

func (p *plan) insideWords(s span) string {
	switch {
	case p.t.Inside != "":
		return "holds " + s.name
	case s.has != "":
		return "is inside " + s.has + after(" and waits for ", s.wants)
	}
	return "is inside"
}

// insideNames returns the possible texts on a bar of a process inside, the best first.
func (p *plan) insideNames(s span) []string {
	switch {
	case p.t.Inside != "":
		return []string{s.name}
	case s.wants != "" && s.has != "":
		return []string{s.has + ", wants " + s.wants, s.has}
	case s.has != "":
		return []string{s.has}
	case s.entry > 0:
		return []string{fmt.Sprintf("CS #%d", s.entry), "CS"}
	}
	return []string{"CS"}
}

// bar adds a bar, if it is in the window. One of the names is written on it if there is
// room.
func (p *plan) bar(s span, means string, height length, what string, names ...string) {
	b := strip{
		Means: means, Lane: int(s.proc), From: s.from, To: s.to, Open: s.open, X1: p.x(s.from), X2: p.x(s.to), Height: height,
		Tip: fmt.Sprintf("%s %s from %s to %s", p.t.laneName(s.proc), what, p.t.shown(s.from), p.t.shown(s.to)),
	}
	if means == barInside {
		b.Entry = s.entry
		b.X2 = max(b.X2, b.X1+4*pixel)
	}
	if s.open {
		b.X2 += margin - 2*pixel
		b.Tip += ", when the run ends"
	}
	if b.X2 < 0 || b.X1 > p.l.Page.Plot || means == barWaiting && s.from == s.to && !s.open {
		return
	}
	b.X1, b.X2 = max(b.X1, -10*pixel), min(max(b.X2, b.X1+pixel), p.l.Page.Plot+10*pixel)
	p.l.Bars = append(p.l.Bars, b)
	p.barNames = append(p.barNames, names)
}

// broken marks the time during which both processes of a violation are inside.
func (p *plan) broken(e *Event) {
	in := func(id algorithm.ID) *span {
		i := slices.IndexFunc(p.spans, func(s span) bool {
			return s.proc == id && s.phase == inside && s.from <= e.At && e.At <= s.to && (s.to > e.At || s.open)
		})
		if i < 0 {
			return nil
		}
		return &p.spans[i]
	}
	a, b := in(e.Proc), in(e.Peer)
	if a == nil || b == nil {
		return
	}
	for _, s := range []*span{a, b} {
		both := *s
		both.from, both.to = e.At, min(a.to, b.to)
		both.open = a.open && b.open
		p.bar(both, barBroken, min(24*pixel, p.l.Page.Pitch*3/4), "is inside together with another process, a violation,")
	}
}

// dots finds the moments of the processes.
func (p *plan) dots() {
	type place struct {
		proc algorithm.ID
		x    length
	}
	rank := []string{"", relationConcurrent, relationFuture, relationPast, relationFocus}
	at := make(map[place]int) // index in Dots
	for _, i := range p.shown {
		e := &p.t.Events[i]
		if p.t.owner(e) == algorithm.None || e.Kind == Violation || e.Kind == Note || e.Kind == Crash {
			continue
		}
		here := place{e.Proc, p.x(e.At)}
		j, ok := at[here]
		if !ok {
			j = len(p.l.Dots)
			at[here] = j
			p.l.Dots = append(p.l.Dots, dot{At: p.on(e.Proc, e.At)})
		}
		d := &p.l.Dots[j]
		d.Steps = append(d.Steps, e.Step)
		tip := p.tip(e)
		if d.Clock = p.clocks[i]; d.Clock != nil {
			tip += " Clock " + d.Clock.String() + "."
		}
		d.Tip = lines(d.Tip, tip)
		if r := p.relation(i); slices.Index(rank, r) > slices.Index(rank, d.Relation) {
			d.Relation = r
		}
	}
}

// tip describes an event, with its time, as a tooltip.
func (p *plan) tip(e *Event) string {
	if p.o.Plain {
		return ""
	}
	if !p.t.timed() {
		return fmt.Sprintf("step %d: %s", e.Step, p.t.Sentence(e))
	}
	return fmt.Sprintf("%s: %s", decimal(e.At, p.t.unit()), p.t.Sentence(e))
}
