package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/core"
)

// SVGOptions say what part of a trace is drawn, and how.
type SVGOptions struct {
	From, To int64 // only what happened between these ticks; To 0 is the end, or what can be read
	Focus    *int  // the step whose past, future and concurrent events are told apart; nil is none
}

// SVG draws the trace as a space-time diagram, time running right: a lane for
// each process, bars where it waits and where it is inside, arrows coloured by
// the kind of message. A run too long to be read is cut to a part of it, the
// beginning or what is around the focus or the first violation, and says so.
func (t *Trace) SVG(o SVGOptions) string {
	p := &picture{t: t, focus: -1, kinds: t.kinds()}
	p.styles = assignStyles(p.kinds)
	if o.Focus != nil {
		p.focus = slices.IndexFunc(t.Events, func(e Event) bool { return e.Step == *o.Focus })
	}
	if p.focus >= 0 {
		p.order = t.Causality()
	}
	p.window = t.window(o, p.focus)
	p.layout()

	p.open("svg", "xmlns", "http://www.w3.org/2000/svg", "width", px(p.width), "height", px(p.height),
		"viewBox", "0 0 "+px(p.width)+" "+px(p.height), "font-family", fonts, "font-size", "12")
	p.leaf("rect", "", "width", "100%", "height", "100%", "fill", "#ffffff")
	p.arrowheads()
	p.heading()
	p.labels()
	p.open("svg", "x", px(p.left), "y", "0", "width", px(p.plot), "height", px(p.axis+2*pixel), "overflow", "hidden")
	p.lanes()
	p.phases()
	p.cuts()
	p.messages()
	p.dots()
	p.marks()
	p.closeTag("svg")
	p.timeAxis()
	p.legend()
	p.closeTag("svg")
	return p.b.String()
}

const fonts = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

// The colours, told apart by most colour-blind readers too.
const (
	ink       = "#1a1a1a"
	faint     = "#c9c9d2"
	grey      = "#6b7280"
	green     = "#007a55"
	amber     = "#b86e00"
	purple    = "#8b3a74"
	alarm     = "#c8102e"
	lightWait = "#fff3dc"
)

// pixel is one pixel in the units that coordinates are counted in, tenths, so
// that all arithmetic is on whole numbers and rounds alike everywhere.
const pixel = 10

// px writes a length in pixels.
func px(tenths int) string {
	if tenths < 0 {
		return "-" + px(-tenths)
	}
	return decimal(int64(tenths), pixel)
}

// wordsRow is the height of a row of words above the lanes.
const wordsRow = 16 * pixel

// A picture is a diagram being drawn.
type picture struct {
	t      *Trace
	b      strings.Builder
	window window
	kinds  []string
	styles []style
	order  *Causality // if there is a focus
	focus  int        // index of the event in focus, or -1

	width, height int      // of the whole
	left, plot    int      // where the lanes begin, and how long they are
	top, pitch    int      // where the first lane is, and from lane to lane
	axis          int      // where the time axis is
	noteAt        int      // where the part that is shown is told; 0 if it is all
	title         []string // in lines that fit
	drawn         []arrow  // the messages
	bars          []span   // where processes wait or are inside
}

// layout decides where everything goes.
func (p *picture) layout() {
	p.left = (48 + 9*len(strconv.Itoa(p.t.N))) * pixel
	for _, name := range p.t.Names {
		p.left = max(p.left, (28+8*len(name))*pixel)
	}
	p.plot = p.window.width
	p.width = p.left + p.plot + 16*pixel
	p.pitch = 44 * pixel
	if p.t.N > 40 {
		p.pitch = 16 * pixel
	} else if p.t.N > 12 {
		p.pitch = 30 * pixel
	}
	p.title = p.t.titleLines(p.width - 28*pixel)
	p.top = (15 + titleRow*len(p.title)) * pixel
	if p.window.cut {
		p.noteAt = p.top + 8*pixel
		p.top += 18 * pixel
	}
	p.top += 32 * pixel // room for words above the lanes
	if p.focus >= 0 && p.uses(func(e *Event) bool { return e.Kind == Violation }) {
		p.top += wordsRow
	}
	p.look()
	p.axis = p.top + (p.t.N-1)*p.pitch + 32*pixel
	p.height = p.axis + 38*pixel + p.legendRows()*20*pixel
}

// look finds what is in the picture.
func (p *picture) look() {
	p.drawn = p.arrows()
	for _, s := range p.t.spans() {
		if x1, x2 := p.extent(s); s.phase != idle && x2 >= 0 && x1 <= p.plot {
			p.bars = append(p.bars, s)
		}
	}
}

func (p *picture) y(id core.ID) int { return p.top + int(id)*p.pitch }

func (p *picture) x(at int64) int { return p.window.x(at) }

// open writes the start of an element with its attributes, name and value in
// turn; one with an empty value is left out.
func (p *picture) open(name string, attrs ...string) {
	p.tag(name, attrs)
	p.b.WriteString(">\n")
}

func (p *picture) closeTag(name string) { p.b.WriteString("</" + name + ">\n") }

// leaf writes an element that holds only a title, which browsers show as a tip.
func (p *picture) leaf(name, tip string, attrs ...string) {
	p.tag(name, attrs)
	if tip == "" {
		p.b.WriteString("/>\n")
		return
	}
	p.b.WriteString("><title>" + escape(tip) + "</title></" + name + ">\n")
}

// text writes words at a place.
func (p *picture) text(x, y int, words string, attrs ...string) {
	p.tag("text", append([]string{"x", px(x), "y", px(y)}, attrs...))
	p.b.WriteString(">" + escape(words) + "</text>\n")
}

func (p *picture) tag(name string, attrs []string) {
	p.b.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			p.b.WriteString(" " + attrs[i] + `="` + escape(attrs[i+1]) + `"`)
		}
	}
}

// escape makes text safe inside XML.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean(s))
}

// tip tells an event, with its time, for whoever points at it.
func (p *picture) tip(e *Event) string {
	if !p.t.timed() {
		return fmt.Sprintf("step %d: %s", e.Step, p.t.sentence(e))
	}
	return fmt.Sprintf("%s: %s", decimal(e.At, p.t.unit()), p.t.sentence(e))
}
