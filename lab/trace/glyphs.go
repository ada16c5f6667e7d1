package trace

import (
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// glyph returns the character of a lane while nothing happens at it.
func (l lane) glyph() rune {
	switch {
	case l.down:
		return ' '
	case l.paused:
		return '‖'
	case l.phase == waiting:
		return '┃'
	case l.phase == inside:
		return '█'
	}
	return '┊'
}

// lanes draws the lanes of a row, with its mark and its arrow.
func (w *textWriter) lanes(r row) string {
	cells := []rune(strings.Repeat(" ", w.pitch*w.t.N))
	for p, l := range w.now {
		cells[p*w.pitch] = l.glyph()
	}
	if from, to, lost, ok := w.t.arrow(r); ok {
		w.drawArrow(cells, from, to, lost)
	}
	if p := w.t.Events[r.lo].Proc; w.t.has(p) && w.t.Events[r.lo].Kind != Drop {
		cells[int(p)*w.pitch] = w.mark(r, p)
	}
	return string(cells)
}

// between draws the lanes of the continuation lines of a row.
func (w *textWriter) between(r row) string {
	cells := []rune(strings.Repeat(" ", w.pitch*w.t.N))
	for p, l := range w.now {
		if int(w.t.Events[r.lo].Proc) == p {
			for i := r.lo; i < r.hi; i++ {
				l.happen(&w.t.Events[i])
			}
		}
		cells[p*w.pitch] = l.glyph()
	}
	return string(cells)
}

// mark returns the character at the process that does something.
func (w *textWriter) mark(r row, p algorithm.ID) rune {
	was := w.now[p].phase
	l := w.now[p]
	mark := '●'
	for i := r.lo; i < r.hi; i++ {
		e := &w.t.Events[i]
		l.happen(e)
		switch e.Kind {
		case Ask:
			mark = '○'
		case Crash:
			return '✗'
		case Deny:
			mark = '×'
		case Pause, Resume:
			mark = '‖'
		}
	}
	switch {
	case was != inside && l.phase == inside:
		return '▄' // the bar begins
	case was == inside && l.phase != inside:
		return '▀' // the bar ends
	case was == inside:
		return '█'
	}
	return mark
}

// drawArrow draws a message from lane to lane.
func (w *textWriter) drawArrow(cells []rune, from, to algorithm.ID, lost bool) {
	a, b := int(from)*w.pitch, int(to)*w.pitch
	if a == b {
		return
	}
	step, head, idleTail, waitingTail := 1, '►', '├', '┠'
	if b < a {
		step, head, idleTail, waitingTail = -1, '◄', '┤', '┨'
	}
	if lost {
		head = '✗'
	}
	switch cells[a] {
	case '┊':
		cells[a] = idleTail
	case '┃':
		cells[a] = waitingTail
	}
	for x := a + step; x != b; x += step {
		switch cells[x] {
		case ' ':
			cells[x] = '─'
		case '┊':
			cells[x] = '┼'
		case '┃':
			cells[x] = '╂'
		}
	}
	cells[b-step] = head
}
