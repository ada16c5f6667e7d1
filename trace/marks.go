package trace

import (
	"fmt"
	"strings"
)

// A remark is a mark with the word that goes beside it.
type remark struct {
	means, word string
}

// remark returns the mark of an event of a process, if it has one.
func (t *Trace) remark(e *Event) (r remark, ok bool) {
	name := clean(e.Name)
	switch e.Kind {
	case Crash:
		return remark{MarkCrash, "crash"}, true
	case Restart:
		return remark{MarkRestart, "recovers"}, true
	case Pause:
		return remark{MarkPause, "pause"}, true
	case Resume:
		return remark{MarkResume, "goes on"}, true
	case Suspect:
		return remark{MarkSuspect, "suspects " + t.laneName(e.Peer)}, true
	case Trust:
		return remark{MarkTrust, "trusts " + t.laneName(e.Peer)}, true
	case Expire:
		return remark{MarkTimer, ""}, true
	case Lead:
		return remark{MarkLead, "leads"}, e.Proc == e.Peer
	case Abort:
		return remark{MarkAbort, "chooses " + t.laneName(e.Peer)}, true
	case Deny:
		return remark{MarkDenied, either(name != "", name, "refused")}, true
	case Exit:
		return remark{MarkEnded, name}, name != ""
	case Note:
		return remark{MarkNote, strings.TrimPrefix(name, t.laneName(e.Proc)+" ")}, true
	case Violation:
		return remark{MarkViolation, ""}, true
	}
	return remark{}, false
}

// marks finds what must not be overlooked at a lane. Marks at one moment are stacked.
func (p *plan) marks() {
	high := make(map[Point]Length)
	for _, i := range p.shown {
		e := &p.t.Events[i]
		if !p.t.has(e.Proc) {
			continue
		}
		r, ok := p.t.remark(e)
		if !ok {
			continue
		}
		at := p.on(e.Proc, e.At)
		lane := at
		at.DY -= high[lane]
		if r.means == MarkViolation {
			at.DY = 0 // a ring around all others
		} else {
			high[lane] += 13 * pixel
		}
		m := Mark{Means: r.means, At: at, Tip: p.tip(e)}
		if r.word != "" {
			m.Label = &Label{Text: r.word} // placed later
		}
		p.l.Marks = append(p.l.Marks, m)
	}
}

// uprights finds what concerns all lanes. Each violation has its line, and the first says
// what is violated.
func (p *plan) uprights() {
	first, violations := -1, 0
	for _, i := range p.shown {
		e := &p.t.Events[i]
		words := strings.TrimSuffix(p.t.Sentence(e), ".")
		switch {
		case e.Kind == Partition:
			p.upright(e, UprightCut, "cut"+after(": ", clean(e.Name)))
		case e.Kind == Heal:
			p.upright(e, UprightHealed, "healed")
		case p.t.placelessNote(i):
			p.upright(e, UprightNote, words)
		case e.Kind == Violation:
			if violations++; violations == 1 {
				first = len(p.l.Uprights)
			} else {
				words = ""
			}
			p.upright(e, UprightViolation, words)
		}
	}
	if violations > 1 {
		p.l.Uprights[first].Label.Text += fmt.Sprintf(" (and %d more)", violations-1)
	}
	if p.focus >= 0 {
		e := &p.t.Events[p.focus]
		p.upright(e, UprightFocus, fmt.Sprintf("step %d · past solid · future outlined · concurrent faded", e.Step))
	}
}

// upright adds a line through all lanes. Its words are placed later.
func (p *plan) upright(e *Event, means, words string) {
	u := Upright{Means: means, At: e.At, X: p.x(e.At), Tip: p.tip(e), Y1: p.l.Page.Top - 30*pixel, Y2: p.l.Page.Axis - 6*pixel}
	if words != "" {
		u.Label = &Label{Text: words}
	}
	p.l.Uprights = append(p.l.Uprights, u)
}
