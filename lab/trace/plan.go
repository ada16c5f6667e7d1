package trace

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
)

// Layout computes where everything in a picture of the trace goes. A run too long to be
// legible is cut to a part of it: around the focus or the first violation, or else from a
// request until some processes have entered. window.Part says which part it is. The error
// says what is wrong with the options.
func (t *Trace) Layout(o Options) (*Layout, error) {
	if err := o.Check(t); err != nil {
		return nil, err
	}
	return t.layout(o), nil
}

// SVG draws the trace as a space-time diagram, time running right: a lane for each
// process, bars where it waits and where it is inside, arrows in the style of the message
// kind. It renders a [Layout]; of a range that is partly outside the run it renders what
// is inside.
func (t *Trace) SVG(o Options) string { return t.layout(o).SVG() }

func (t *Trace) layout(o Options) *Layout {
	p := &plan{t: t, o: o, l: &Layout{}, focus: -1}
	if o.Focus != nil {
		p.focus = slices.IndexFunc(t.Events, func(e Event) bool { return e.Step == *o.Focus })
	}
	if p.focus >= 0 {
		p.order = t.Causality()
	}
	p.l.Window = t.window(o, p.focus)
	p.clocks = make([]*Clock, len(t.Events))
	if o.Clocks && CheckClocks(t.N) == nil {
		rows := t.rows()
		for k, c := range t.clocks(rows) {
			for i := rows[k].lo; i < rows[k].hi; i++ {
				p.clocks[i] = c
			}
		}
	}
	p.kinds = t.kinds()
	p.l.Kinds = kindStyles(p.kinds)
	p.find()
	p.frame()
	p.arrows()
	p.lives()
	p.bars()
	p.dots()
	p.marks()
	p.uprights()
	if o.Plain {
		p.wordless()
	} else {
		p.labels()
	}
	p.axis()
	p.close()
	return p.l
}

// A plan is a layout under construction.
type plan struct {
	t        *Trace
	o        Options
	l        *Layout
	focus    int        // index of the event in focus, or -1
	order    *Causality // happened-before, if there is a focus
	shown    []int      // the events in the window
	kinds    []string   // message kinds
	barNames [][]string // possible texts on each bar
	spans    []span     // state of each lane from event to event
	paper    placer     // what is occupied on the page
	remarks  []string   // if there are several: listed below, and numbered above
	letters  bool       // whether arrows are labelled by letters
	clocks   []*Clock   // clocks of the events, if they are shown
}

// find collects what is in the window.
func (p *plan) find() {
	for i := range p.t.Events {
		if p.l.Window.shows(p.t.Events[i].At) {
			p.shown = append(p.shown, i)
		}
	}
	p.spans = p.t.spans()
}

// some reports whether an event of one of the given kinds is in the window.
func (p *plan) some(kinds ...Kind) bool {
	return slices.ContainsFunc(p.shown, func(i int) bool { return slices.Contains(kinds, p.t.Events[i].Kind) })
}

func (p *plan) x(at int64) length { return p.l.Window.x(at) }

// on returns the point of a time on a lane.
func (p *plan) on(id algorithm.ID, at int64) point { return point{X: p.x(at), Lane: int(id)} }

// Sizes of the page, in pixels.
const (
	edge      = 14 // from the left edge to words
	titleHigh = 19 // from line to line of the title
	wordsHigh = 16 // from row to row of words above and below the lanes
)

// frame chooses the dimensions of the page, and where the title goes.
func (p *plan) frame() {
	g := &p.l.Page
	g.Left = length(48+9*len(strconv.Itoa(p.t.N))) * pixel
	for _, name := range p.t.Names {
		g.Left = max(g.Left, length(28+8*utf8.RuneCountInString(name))*pixel)
	}
	g.Plot = p.l.Window.Room + 2*margin
	g.Width = g.Left + g.Plot + 16*pixel
	g.Pitch = 44 * pixel
	if p.t.N > 40 {
		g.Pitch = 16 * pixel
	} else if p.t.N > 12 {
		g.Pitch = 30 * pixel
	}
	y := 24 * pixel
	for _, line := range p.t.titleLines(g.Width - 2*edge*pixel) {
		p.l.Title = append(p.l.Title, caption{line, edge * pixel, y})
		y += titleHigh * pixel
	}
	p.l.Part = caption{p.l.Window.Part, edge * pixel, y}
	g.Top = y + length(20+wordsHigh*p.rowsAbove())*pixel
	below := 32
	if p.some(Partition, Heal) {
		below += wordsHigh
	}
	g.Axis = g.Top + length(max(p.t.N-1, 0))*g.Pitch + length(below)*pixel
	for id := range algorithm.ID(p.t.N) {
		p.l.Lanes = append(p.l.Lanes, laneName{p.t.laneName(id), edge * pixel, int(id), 4 * pixel})
	}
}

// rowsAbove returns the number of rows of words above the lanes.
func (p *plan) rowsAbove() int {
	rows := 1
	if p.some(Violation) {
		rows++
	}
	if p.focus >= 0 {
		rows++
	}
	if slices.ContainsFunc(p.shown, func(i int) bool { return p.t.placelessNote(i) }) {
		rows++
	}
	return rows
}

// placelessNote reports whether an event is a note that belongs to no process.
func (t *Trace) placelessNote(i int) bool {
	return t.Events[i].Kind == Note && !t.has(t.Events[i].Proc)
}

// relation returns the relation of event i to the focus.
func (p *plan) relation(i int) string {
	switch {
	case p.focus < 0:
		return ""
	case i == p.focus:
		return relationFocus
	case p.order.HappenedBefore(i, p.focus):
		return relationPast
	case p.order.HappenedBefore(p.focus, i):
		return relationFuture
	}
	return relationConcurrent
}
