package trace

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/draw"
)

// A remark is a mark with the word that goes beside it.
type remark struct {
	means, word string
}

// remark returns the mark of an event of a process, if it has one.
func (t *Trace) remark(e *Event) (r remark, ok bool) {
	name := draw.Clean(e.Name)
	switch e.Kind {
	case Crash:
		return remark{markCrash, "crash"}, true
	case Restart:
		return remark{markRestart, "recovers"}, true
	case Pause:
		return remark{markPause, "pause"}, true
	case Resume:
		return remark{markResume, "resume"}, true
	case Suspect:
		return remark{markSuspect, "suspects " + t.laneName(e.Peer)}, true
	case Trust:
		return remark{markTrust, "trusts " + t.laneName(e.Peer)}, true
	case Expire:
		return remark{markTimer, ""}, true
	case Lead:
		return remark{markLead, "leads"}, e.Proc == e.Peer
	case Abort:
		return remark{markAbort, "chooses " + t.laneName(e.Peer)}, true
	case Deny:
		return remark{markDenied, either(name != "", name, "refused")}, true
	case Exit:
		return remark{markEnded, name}, name != ""
	case Note:
		return remark{markNote, strings.TrimPrefix(name, t.laneName(e.Proc)+" ")}, true
	case Violation:
		return remark{markViolation, ""}, true
	}
	return remark{}, false
}

// marks finds what must not be overlooked at a lane. Marks at one moment are stacked.
func (p *plan) marks() {
	high := make(map[point]length)
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
		if r.means == markViolation {
			at.DY = 0 // a ring around all others
		} else {
			high[lane] += 13 * pixel
		}
		m := sign{Means: r.means, At: at, Tip: p.tip(e)}
		if r.word != "" {
			m.Label = &label{Text: r.word} // placed later
		}
		p.l.Marks = append(p.l.Marks, m)
	}
}

// uprights finds what concerns all lanes. Each violation has its line, and the first says
// what is violated.
func (p *plan) uprights() {
	first, violations, notes := -1, 0, 0
	for _, i := range p.shown {
		if p.t.placelessNote(i) {
			notes++
		}
	}
	several := notes > 1 // one has room above the lanes
	for _, i := range p.shown {
		e := &p.t.Events[i]
		words := strings.TrimSuffix(p.t.Sentence(e), ".")
		switch {
		case e.Kind == Partition:
			p.upright(e, uprightCut, "cut"+after(": ", draw.Clean(e.Name)))
		case e.Kind == Heal:
			p.upright(e, uprightHealed, "healed")
		case p.t.placelessNote(i) && several:
			p.remark(e)
		case p.t.placelessNote(i):
			p.upright(e, uprightNote, words)
		case e.Kind == Violation:
			if violations++; violations == 1 {
				first = len(p.l.Uprights)
			} else {
				words = ""
			}
			p.upright(e, uprightViolation, words)
		}
	}
	if violations > 1 {
		p.l.Uprights[first].Label.Text += fmt.Sprintf(" (and %d more)", violations-1)
	}
	if p.focus >= 0 {
		e := &p.t.Events[p.focus]
		p.upright(e, uprightFocus, fmt.Sprintf("step %d · past solid · future outlined · concurrent faded", e.Step))
	}
}

// remark adds the number of a remark: to the line of the one before it, if that is at the
// same time.
func (p *plan) remark(e *Event) {
	mark := remarkMark(len(p.remarks))
	p.remarks = append(p.remarks, draw.Clean(e.Name))
	if k := len(p.l.Uprights) - 1; k >= 0 && p.l.Uprights[k].Means == uprightNote && p.l.Uprights[k].At == e.At {
		last := &p.l.Uprights[k]
		last.Label.Text += " " + mark
		last.Tip += "\n" + p.tip(e)
		return
	}
	p.upright(e, uprightNote, mark)
}

// remarkMark returns the number of a remark, from 1, as it is written.
func remarkMark(i int) string { return fmt.Sprintf("[%d]", i+1) }

// upright adds a line through all lanes. Its words are placed later.
func (p *plan) upright(e *Event, means, words string) {
	u := upright{Means: means, At: e.At, X: p.x(e.At), Tip: p.tip(e), Y1: p.l.Page.Top - 30*pixel, Y2: p.l.Page.Axis - 6*pixel}
	if words != "" {
		u.Label = &label{Text: words}
	}
	p.l.Uprights = append(p.l.Uprights, u)
}
