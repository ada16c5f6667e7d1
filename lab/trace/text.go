package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/words"
)

// TextOptions say how much of a trace is written, and how.
type TextOptions struct {
	Width    int     // columns; 0 is 80
	MaxRows  int     // maximum number of rows, beyond which the middle is left out; 0 is no limit
	From, To float64 // range of times to show, in units of time (T) or steps; To 0 is the end
	Fields   bool    // whether to show the fields of messages
	Clocks   bool    // whether to show logical clocks, if there are no more processes than maxClocks
	Why      bool    // whether to show the reasons for what processes do, if they were recorded
	ASCII    bool    // whether to write no byte above 127, for terminals limited to ASCII
}

// shows reports whether an event at the given tick is written.
func (o *TextOptions) shows(t *Trace, at int64) bool {
	return at >= t.ticks(o.From) && (o.To == 0 || at <= t.ticks(o.To))
}

// textLanes is the largest group that is drawn with a lane for each process.
const textLanes = 8

// Text draws the trace as a space-time diagram, or lists what happened if there are too
// many processes for that. Time runs down. A row is what one process did at one moment;
// the arrow of a message is drawn where it arrives.
func (t *Trace) Text(o TextOptions) string {
	if o.Width == 0 {
		o.Width = 80
	}
	w := &textWriter{t: t, o: o, now: t.lanes(), drawn: t.N <= textLanes}
	w.measure()
	all := t.rows()
	w.clockColumn(all)
	w.header()
	var rows []textRow
	for k, r := range all {
		if e := &t.Events[r.lo]; o.shows(t, e.At) {
			rows = append(rows, textRow{w.row(r, w.clocks[k]), e.Kind == Violation})
			w.last, w.any = e.At, true
		}
		for i := r.lo; i < r.hi; i++ {
			if e := &t.Events[i]; t.has(e.Proc) {
				w.now[e.Proc].happen(e)
			}
		}
	}
	if len(rows) == 0 {
		w.line("nothing happened")
	}
	w.cut(rows)
	return w.b.String()
}

// Story tells the trace in plain sentences, one line for each event.
func (t *Trace) Story(o TextOptions) string {
	if o.Width == 0 {
		o.Width = 80
	}
	w := &textWriter{t: t, o: o}
	w.measure()
	var rows []textRow
	for i := range t.Events {
		e := &t.Events[i]
		if !o.shows(t, e.At) {
			continue
		}
		lines := []string{fmt.Sprintf("%*s  %s", w.time-2, w.when(e.At), t.Sentence(e))}
		for _, s := range w.reasons(row{i, i + 1}, w.o.Width-w.time) {
			lines = append(lines, strings.Repeat(" ", w.time)+s)
		}
		rows = append(rows, textRow{lines, e.Kind == Violation})
	}
	w.cut(rows)
	return w.b.String()
}

// A textRow is a row as written, which may take more than one line.
type textRow struct {
	lines     []string
	violation bool
}

type textWriter struct {
	t     *Trace
	o     TextOptions
	b     strings.Builder
	now   []lane
	last  int64 // time of the previous row
	any   bool  // whether there was one
	drawn bool  // whether with lanes
	pitch int   // from lane to lane

	clocks []*Clock // clocks of the rows, if they are shown
	wide   int      // width of the column of clocks; 0 if they are not shown

	time     int // width of the column of times
	decimals int // decimals of times
}

// measure chooses the widths of the columns.
func (w *textWriter) measure() {
	w.time = len("time")
	for i := range w.t.Events {
		_, decimals, _ := strings.Cut(w.t.shown(w.t.Events[i].At), ".")
		w.decimals = max(w.decimals, len(decimals))
	}
	if n := len(w.t.Events); n > 0 {
		w.time = max(w.time, len(w.when(w.t.Events[n-1].At)))
	}
	w.time += 3
	w.pitch = 4
	if w.t.N <= 4 {
		w.pitch = 6
	} else if w.t.N <= 6 {
		w.pitch = 5
	}
	for _, name := range w.t.Names {
		w.pitch = max(w.pitch, utf8.RuneCountInString(draw.Clean(name))+1)
	}
}

// when formats a time, always with the same number of decimals.
func (w *textWriter) when(at int64) string {
	s := w.t.shown(at)
	if w.decimals == 0 {
		return s
	}
	whole, decimals, _ := strings.Cut(s, ".")
	return whole + "." + decimals + strings.Repeat("0", w.decimals-len(decimals))
}

func (w *textWriter) header() {
	if w.t.Title != "" {
		w.line(draw.Clean(w.t.Title))
		w.line("")
	}
	unit := "step"
	if w.t.timed() {
		unit = "time"
	}
	if !w.drawn {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", w.time-2, unit)
	b.WriteString("  ")
	for p := range algorithm.ID(w.t.N) {
		fmt.Fprintf(&b, "%-*s", w.pitch, w.t.laneName(p))
	}
	if w.wide > 0 {
		fmt.Fprintf(&b, "%-*s", w.wide, "clock")
	}
	legend := "   ┊ idle   ┃ waiting   █ inside"
	if w.wide > 0 {
		legend = legend[2:] // the column before ends in blanks
	}
	if utf8.RuneCountInString(b.String()+legend) <= w.o.Width || w.wide == 0 {
		b.WriteString(legend)
	}
	w.line(b.String())
}

func (w *textWriter) line(s string) {
	if w.o.ASCII {
		s = words.ASCII(s)
	}
	w.b.WriteString(strings.TrimRight(s, " "))
	w.b.WriteByte('\n')
}

// cut writes the rows. If they are too many it leaves out the middle; but the first
// violation is always there, with what led to it.
func (w *textWriter) cut(rows []textRow) {
	head, from, to := len(rows), len(rows), len(rows)
	if m := w.o.MaxRows; m > 0 && len(rows) > m {
		head = (m + 1) / 2
		from = len(rows) - m/2
		v := slices.IndexFunc(rows, func(r textRow) bool { return r.violation })
		if v >= head && v < from {
			to = v + 1
			from = max(head, to-m/2)
		}
	}
	w.write(rows[:head])
	w.leftOut(from - head)
	w.write(rows[from:to])
	w.leftOut(len(rows) - to)
}

func (w *textWriter) write(rows []textRow) {
	for _, r := range rows {
		for _, l := range r.lines {
			w.line(l)
		}
	}
}

func (w *textWriter) leftOut(n int) {
	if n > 0 {
		w.line(fmt.Sprintf("%*s  ... %d rows omitted ...", w.time-2, "", n))
	}
}

// row writes one row, on more than one line if its words need them.
func (w *textWriter) row(r row, c *Clock) []string {
	t := w.t
	e := &t.Events[r.lo]
	at := ""
	if !w.any || e.At != w.last {
		at = w.when(e.At)
	}
	at = fmt.Sprintf("%*s  ", w.time-2, at)
	if e.Kind == Violation {
		return w.banner(at, e)
	}
	indent := w.time + 2
	if w.drawn {
		indent = w.time + w.pitch*t.N
	}
	indent += w.wide
	words := append(wrap(w.plain(t.phrases(r, w.o.Fields)), w.o.Width-indent), w.reasons(r, w.o.Width-indent)...)
	lines := make([]string, len(words))
	for i, s := range words {
		var lanes string
		switch {
		case !w.drawn && i == 0 && t.has(e.Proc) && e.Kind != Drop:
			lanes = string(w.mark(r, e.Proc)) + " "
		case !w.drawn:
			lanes = "  "
		case i == 0:
			lanes = w.lanes(r)
		default:
			lanes = w.between(r)
		}
		lines[i] = at + lanes + w.clock(c) + s
		c = nil
		at = strings.Repeat(" ", w.time)
	}
	return lines
}

// reasons returns the reasons for what happens in a row, each indented, with the number of
// its rule.
func (w *textWriter) reasons(r row, width int) []string {
	var lines []string
	for i := r.lo; i < r.hi && w.o.Why; i++ {
		for _, y := range w.t.Events[i].Why {
			for _, s := range wrap([]string{draw.Clean(y.Rule + ": " + y.Text)}, width-2) {
				lines = append(lines, "  "+s)
			}
		}
	}
	return lines
}

// banner makes a violation stand out.
func (w *textWriter) banner(at string, e *Event) []string {
	text := strings.TrimSuffix(w.t.Sentence(e), ".")
	var lines []string
	for _, s := range wrap([]string{text}, w.o.Width-w.time-4) {
		lines = append(lines, at+"▓▓▓ "+s)
		at = strings.Repeat(" ", w.time)
	}
	return lines
}

// wrap fills lines of a width with phrases, the separator between them.
func wrap(phrases []string, width int) []string {
	width = max(width, 12)
	lines := []string{""}
	add := func(word, sep string) {
		last := &lines[len(lines)-1]
		if *last != "" && utf8.RuneCountInString(*last+sep+word) > width {
			lines = append(lines, "  "+word)
			return
		}
		if *last == "" {
			sep = ""
		}
		*last += sep + word
	}
	for _, p := range phrases {
		if utf8.RuneCountInString(p) <= width-2 {
			add(p, " · ")
			continue
		}
		for i, word := range strings.Fields(p) {
			if i == 0 {
				add(word, " · ")
			} else {
				add(word, " ")
			}
		}
	}
	return lines
}
