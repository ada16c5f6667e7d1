package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/draw"
)

// titleLines breaks the title into lines of at most the given width.
func (t *Trace) titleLines(width length) []string {
	title := t.Title
	if title == "" {
		title = t.Algorithm
	}
	return broken(title, 9*pixel, width) // in bold type, estimated high
}

// broken breaks words into lines of at most the given width, of letters of that width.
func broken(words string, letter, width length) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(draw.Clean(words)) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case length(utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word))*letter > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// axis finds round times.
func (p *plan) axis() {
	w := &p.l.Window
	step := w.tickStep()
	for at := (w.From + step - 1) / step * step; at <= w.To; at += step {
		p.l.Ticks = append(p.l.Ticks, axisTick{at, p.x(at), decimal(at, w.Unit)})
	}
	name := "step"
	if p.t.timed() {
		name = "time (" + p.t.unitName()[1:] + ")"
	}
	p.l.Axis = caption{name, edge * pixel, p.l.Page.Axis + 18*pixel}
}

// tickStep returns 1, 2 or 5 times a power of ten, in ticks, such that numbers do not
// overlap.
func (w *window) tickStep() int64 {
	const apart = 70 * pixel
	for power := int64(1); power <= maxTicks/10; power *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if (w.To-w.From)/(m*power) <= int64(max(w.Room, 0)/apart) {
				return m * power
			}
		}
	}
	return maxTicks
}

// close adds what is below the axis, which completes the page.
func (p *plan) close() {
	y := p.legend(p.l.Page.Axis + 44*pixel)
	if slices.ContainsFunc(p.l.Dots, func(d dot) bool { return d.Clock != nil }) {
		p.l.Footer = append(p.l.Footer, caption{"at a dot: Lamport's clock, and the vector clock, which counts the known events of each process", edge * pixel, y + 4*pixel})
		y += 20 * pixel
	}
	for i, remark := range p.remarks {
		for _, line := range broken(fmt.Sprintf("%s %s", remarkMark(i), remark), 7*pixel, p.l.Page.Width-2*edge*pixel) {
			p.l.Footer = append(p.l.Footer, caption{line, edge * pixel, y + 4*pixel})
			y += 17 * pixel
		}
	}
	if n := p.l.LeftOut; n > 0 {
		words := fmt.Sprintf("%d labels omitted for lack of room", n)
		if n == 1 {
			words = "1 label omitted for lack of room"
		}
		p.l.Footer = append(p.l.Footer, caption{words + ": point at an arrow or a sign to read it", edge * pixel, y + 4*pixel})
		y += 20 * pixel
	}
	p.l.Page.Height = y - 6*pixel
}
