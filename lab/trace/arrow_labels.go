package trace

import (
	"strings"

	"github.com/stile-lock/stile/internal/draw"
)

// A form is one way to label an arrow.
type form struct {
	places []label // possible places, the best first
	most   int     // most arrows that may pass through it
}

// arrowLabels writes beside the arrows what they are: in full if there is room for all,
// otherwise with a letter for the kind.
func (p *plan) arrowLabels() {
	style := p.o.Labels
	many := len(p.l.Arrows)
	if style == LabelsNone {
		return
	}
	if style == LabelsFull || style == LabelsAuto && many <= fullArrows {
		before := p.paper.copy()
		left := p.labelArrows(func(a *arrow, e *Event) []form {
			f := p.beside(a, p.t.caption(e, false))
			if many <= fewArrows {
				f.most = anyTraffic
			}
			return []form{f}
		}, nil)
		if left == 0 || style == LabelsFull {
			p.l.LeftOut += left
			return
		}
		p.paper = before
	}
	p.letters = true
	stamped := p.stampsFirst(many)
	p.l.LeftOut += p.labelArrows(func(a *arrow, e *Event) []form {
		letter := p.l.Kinds[a.Kind].Letter
		var forms []form
		if stamp := p.t.stamp(e); stamp != "" && many <= stampArrows {
			forms = append(forms, p.beside(a, p.stampWords(a, e)))
		}
		return append(forms, p.upon(a, letter))
	}, stamped)
}

// stampWords returns a letter for the kind of a message, and its stamp.
func (p *plan) stampWords(a *arrow, e *Event) string {
	return strings.TrimSpace(draw.Clean(e.Section) + " " + p.l.Kinds[a.Kind].Letter + " " + p.t.stamp(e))
}

// stampsFirst labels one arrow for each stamp, before all others take the room: which request
// goes first is decided by stamps. Where there is no room beside an arrow, the stamp lies upon
// it. It returns the arrows that it has labelled.
func (p *plan) stampsFirst(many int) map[int]bool {
	done := map[int]bool{}
	if many > stampArrows {
		return done
	}
	about := p.messages()
	var order []string
	with := map[string][]int{} // arrows of each stamp
	for i := range p.l.Arrows {
		e := about[p.l.Arrows[i].Message]
		if p.t.stamp(e) == "" {
			continue
		}
		words := p.stampWords(&p.l.Arrows[i], e)
		if with[words] == nil {
			order = append(order, words)
		}
		with[words] = append(with[words], i)
	}
	for _, words := range order {
		if i, l := p.firstPlace(with[words], words); l != nil {
			p.l.Arrows[i].Label, done[i] = l, true
		}
	}
	return done
}

// firstPlace returns a label for one of several arrows: beside one if there is room, and upon
// one otherwise.
func (p *plan) firstPlace(arrows []int, words string) (which int, at *label) {
	for _, form := range []func(a *arrow, words string) form{p.beside, p.upon} {
		for _, i := range arrows {
			f := form(&p.l.Arrows[i], words)
			var l label
			if p.put(&l, f.places, f.most) {
				return i, &l
			}
		}
	}
	return -1, nil
}

// labelArrows gives each arrow the first form of its label that has a place, except those that
// have one, and returns how many have none.
func (p *plan) labelArrows(forms func(a *arrow, e *Event) []form, except map[int]bool) (left int) {
	about := p.messages()
	for i := range p.l.Arrows {
		if except[i] {
			continue
		}
		a := &p.l.Arrows[i]
		a.Label = nil
		for _, f := range forms(a, about[a.Message]) {
			var l label
			if p.put(&l, f.places, f.most) {
				a.Label = &l
				break
			}
		}
		if a.Label == nil {
			left++
		}
	}
	return left
}

// messages returns an event of each message, which says what it is.
func (p *plan) messages() map[int]*Event {
	about := make(map[int]*Event)
	for i := range p.t.Events {
		if e := &p.t.Events[i]; e.Kind.message() {
			about[e.Msg] = e
		}
	}
	return about
}

// sixteenths lists the positions of a label along an arrow, the best first.
var sixteenths = [...]int{8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13}

// beside returns the places for words to the right and left of an arrow.
func (p *plan) beside(a *arrow, words string) form {
	c := along(p.l.path(a))
	if a.Copy {
		words += " copy"
	}
	var places []label
	for _, i := range sixteenths {
		for _, side := range []struct {
			dx, dy length
			anchor string
		}{{5 * pixel, 3 * pixel, "start"}, {-5 * pixel, 3 * pixel, "end"}, {3 * pixel, -4 * pixel, "start"}, {-3 * pixel, -4 * pixel, "end"}, {3 * pixel, 11 * pixel, "start"}, {-3 * pixel, 11 * pixel, "end"}} {
			places = append(places, label{
				Text: words, At: point{c[i].X + side.dx, a.From.Lane, c[i].Y + side.dy - p.l.y(point{Lane: a.From.Lane})},
				Anchor: side.anchor, Size: arrowType,
			})
		}
	}
	return form{places, someTraffic}
}

// upon returns the places for a letter on an arrow.
func (p *plan) upon(a *arrow, letter string) form {
	c := along(p.l.path(a))
	if a.Copy {
		letter += "²"
	}
	var places []label
	for _, i := range sixteenths {
		at := point{c[i].X, a.From.Lane, c[i].Y - p.l.y(point{Lane: a.From.Lane})}
		wide, high := textWidth(letter, arrowType)+6*pixel, 13*pixel
		places = append(places, label{
			Text: letter, At: point{at.X, at.Lane, at.DY + 3*pixel + pixel/2}, Anchor: "middle", Size: arrowType,
			Box: &frame{point{at.X - wide/2, at.Lane, at.DY - high/2}, wide, high},
		})
	}
	return form{places, anyTraffic}
}
