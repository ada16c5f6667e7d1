package trace

// A Layout is a space-time diagram as numbers and words: where every lane, bar, arrow,
// label and mark goes. It is computed only from a trace and Options, and a renderer
// computes no positions of its own: [Layout.SVG] is one, and a page that draws on a
// canvas can be another.
//
// Time runs right, and lanes lie below each other. There are two kinds of coordinates:
//
//   - A [point] is in the plot: x is measured from where the plot begins, and the height
//     is a lane and a distance below it. On the page that is (page.left + x, page.top +
//     lane*page.pitch + dy).
//   - Anything with its own x and y (words, legend) is measured from the upper left
//     corner of the page.
//
// The x of a moment follows from the formula in [window]. To zoom, request another Layout
// with Options.Scale, or move the ends of arrows, bars and marks by their times and leave
// all offsets (dy, bends) unchanged: those are distances on paper, not in time.
//
// Arrows are bent in the order in which messages end, and labels find their places in the
// order of time, so later events move nothing that was already there, as long as Scale
// and Labels are fixed.
//
// The JSON keys are part of the public interface: add to them, never change them. Lengths
// are in pixels there, with one decimal; times in ticks.
type Layout struct {
	Page     page        `json:"page"`
	Window   window      `json:"window"`
	Title    []caption   `json:"title"`    // lines of the title, at the top
	Part     caption     `json:"part"`     // the sentence of window.Part, below the title
	Footer   []caption   `json:"footer"`   // further remarks, below the legend
	Lanes    []laneName  `json:"lanes"`    // one for each process, in order
	Kinds    []KindStyle `json:"kinds"`    // message kinds of the run
	Lives    []life      `json:"lives"`    // when processes are alive
	Bars     []strip     `json:"bars"`     // when they wait and are inside
	Uprights []upright   `json:"uprights"` // lines through all lanes: cuts, violations, the focus
	Arrows   []arrow     `json:"arrows"`   // the messages
	Dots     []dot       `json:"dots"`     // moments at which processes did something
	Marks    []sign      `json:"marks"`    // what must not be overlooked
	Ticks    []axisTick  `json:"ticks"`    // ticks of the time axis
	Axis     caption     `json:"axis"`     // unit of the axis
	Legend   []sample    `json:"legend"`   // explanations of what occurs in the picture
	LeftOut  int         `json:"leftout"`  // number of arrow labels that found no room
}

// A page holds the dimensions on which all positions are based.
type page struct {
	Width  length `json:"width"`  // width of the whole picture
	Height length `json:"height"` // height of the whole picture
	Left   length `json:"left"`   // from the left edge to where the plot begins
	Plot   length `json:"plot"`   // width of the plot; what reaches beyond it is not shown
	Top    length `json:"top"`    // from the upper edge to the first lane
	Pitch  length `json:"pitch"`  // from lane to lane
	Axis   length `json:"axis"`   // from the upper edge to the time axis
}

// A point is a place in the plot.
type point struct {
	X    length `json:"x"`    // to the right of where the plot begins
	Lane int    `json:"lane"` // a lane, from 0
	DY   length `json:"dy"`   // distance below that lane
}

// An offset is a distance on paper, to the right and down.
type offset struct {
	X length `json:"x"`
	Y length `json:"y"`
}

// caption are a text at a position on the page.
type caption struct {
	Text string `json:"text"`
	X    length `json:"x"` // where it begins
	Y    length `json:"y"` // its baseline
}

// A label is a text in the plot.
type label struct {
	Text   string `json:"text"`
	At     point  `json:"at"`            // on its baseline
	Anchor string `json:"anchor"`        // end of the text that is there: start, middle or end
	Size   length `json:"size"`          // font size
	Box    *frame `json:"box,omitempty"` // box drawn behind it, with round ends, if it lies on an arrow
}

// A frame is a part of the plot.
type frame struct {
	At   point  `json:"at"` // its upper left corner
	Wide length `json:"wide"`
	High length `json:"high"`
}

// A laneName is the name of a lane.
type laneName struct {
	Text string `json:"text"`
	X    length `json:"x"` // from the left edge of the page
	Lane int    `json:"lane"`
	DY   length `json:"dy"` // from the lane down to the baseline
}

// A life is a time during which a process is alive, and runs or is paused.
type life struct {
	Lane   int    `json:"lane"`
	From   int64  `json:"from"` // ticks
	To     int64  `json:"to"`
	X1     length `json:"x1"`
	X2     length `json:"x2"`
	Paused bool   `json:"paused"`
}

// The meanings of a strip.
const (
	barWaiting = "waiting"
	barInside  = "inside"
	barBroken  = "broken" // drawn over barInside: another process is inside too
)

// A strip is a time during which a process waits or is inside.
type strip struct {
	Means  string `json:"means"` // barWaiting, barInside or barBroken
	Lane   int    `json:"lane"`
	From   int64  `json:"from"` // ticks
	To     int64  `json:"to"`   // ticks; the end of the run if it goes on
	Open   bool   `json:"open"` // whether it goes on after the end of the run
	X1     length `json:"x1"`
	X2     length `json:"x2"`
	Height length `json:"height"` // half of it above the lane
	Entry  int    `json:"entry"`  // barInside: number of the entry in the run, from 1
	Label  *label `json:"label,omitempty"`
	Tip    string `json:"tip"` // the same in a sentence
}

// The ends of an arrow.
const (
	endArrives = "arrives" // it has a head
	endLost    = "lost"    // it ends in a cross
	endOpen    = "open"    // it is still in flight when the run ends, and has no head
)

// The relations of an event or message to the event in focus.
const (
	relationPast       = "past"
	relationFuture     = "future"
	relationConcurrent = "concurrent"
	relationFocus      = "focus"
)

// An arrow is one message.
type arrow struct {
	Message  int      `json:"message"`  // number of the message
	Kind     int      `json:"kind"`     // index in Layout.Kinds
	Sent     int64    `json:"sent"`     // ticks; -1 if it was sent before the trace begins
	Ended    int64    `json:"ended"`    // ticks; -1 if it has not ended
	From     point    `json:"from"`     // at the edge of the plot if it was sent before the window
	To       point    `json:"to"`       // at the edge of the plot if it ends after the window
	Bend     []offset `json:"bend"`     // none: a straight line; one: a quadratic curve, with the control point this far from the middle between From and To; two: a cubic curve, with the control points this far from From and from To
	End      string   `json:"end"`      // endArrives, endLost or endOpen
	Copy     bool     `json:"copy"`     // whether the network made it
	Relation string   `json:"relation"` // relationPast, relationFuture, relationConcurrent; empty without a focus
	Label    *label   `json:"label,omitempty"`
	Tip      string   `json:"tip"` // tooltip
}

// A dot is a moment at which a process did something.
type dot struct {
	At       point  `json:"at"`
	Steps    []int  `json:"steps"`           // Event.Step of all that it did at that moment
	Relation string `json:"relation"`        // empty without a focus
	Tip      string `json:"tip"`             // what it did, a sentence on each line
	Clock    *Clock `json:"clock,omitempty"` // its logical clocks after that, if they are shown
	Label    *label `json:"label,omitempty"` // the same in words, if there is room
}

// The meanings of a sign.
const (
	markCrash     = "crash"
	markRestart   = "restart"
	markPause     = "pause"
	markResume    = "resume"
	markSuspect   = "suspect"
	markTrust     = "trust"
	markTimer     = "timer"
	markLead      = "lead"
	markDenied    = "denied"
	markEnded     = "ended" // end of a transaction
	markAbort     = "abort"
	markNote      = "note"
	markViolation = "violation"
)

// A sign is one thing that happened to a process and has a sign of its own.
type sign struct {
	Means string `json:"means"`
	At    point  `json:"at"`
	Label *label `json:"label,omitempty"`
	Tip   string `json:"tip"`
}

// The meanings of an upright.
const (
	uprightCut       = "cut"
	uprightHealed    = "healed"
	uprightViolation = "violation"
	uprightFocus     = "focus"
	uprightNote      = "note"
)

// An upright is a line through all lanes.
type upright struct {
	Means string `json:"means"`
	At    int64  `json:"at"` // ticks
	X     length `json:"x"`  // to the right of where the plot begins
	Y1    length `json:"y1"` // from the upper edge of the page
	Y2    length `json:"y2"`
	Label *label `json:"label,omitempty"`
	Tip   string `json:"tip"`
}

// An axisTick is a round time on the axis.
type axisTick struct {
	At   int64  `json:"at"` // ticks
	X    length `json:"x"`  // to the right of where the plot begins
	Text string `json:"text"`
}

// The things that a sample can show.
const (
	sampleArrow   = "arrow"   // a message of a kind
	sampleEnd     = "end"     // how an arrow can end
	sampleCopy    = "copy"    // the word beside a copy
	sampleBar     = "bar"     // a bar
	sampleMark    = "mark"    // a mark
	sampleUpright = "upright" // a line through all lanes
)

// A sample is one entry of the legend: a picture 36 pixels wide, and words.
type sample struct {
	Shows string `json:"shows"`           // sampleArrow and so on
	Means string `json:"means,omitempty"` // the end, bar, mark or upright
	Kind  int    `json:"kind"`            // sampleArrow: index in Layout.Kinds; -1 otherwise
	Text  string `json:"text"`
	X     length `json:"x"` // where the picture begins
	Y     length `json:"y"` // its middle
	TextX length `json:"textx"`
	TextY length `json:"texty"` // baseline of the words
}

// y returns the distance of a point below the upper edge of the page.
func (l *Layout) y(p point) length { return l.Page.Top + length(p.Lane)*l.Page.Pitch + p.DY }

// path returns the control points of an arrow in the plot, with heights measured from the
// upper edge of the page: two for a line, three for a quadratic curve, four for a cubic
// one.
func (l *Layout) path(a *arrow) []offset {
	return bent(offset{a.From.X, l.y(a.From)}, offset{a.To.X, l.y(a.To)}, a.Bend)
}

// bent returns the control points of a curve.
func bent(from, to offset, bend []offset) []offset {
	switch len(bend) {
	case 1:
		return []offset{from, {(from.X+to.X)/2 + bend[0].X, (from.Y+to.Y)/2 + bend[0].Y}, to}
	case 2:
		return []offset{from, {from.X + bend[0].X, from.Y + bend[0].Y}, {to.X + bend[1].X, to.Y + bend[1].Y}, to}
	}
	return []offset{from, to}
}
