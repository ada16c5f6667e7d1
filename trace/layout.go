package trace

// A Layout is a space-time diagram as numbers and words: where every lane, bar, arrow,
// label and mark goes. It is computed only from a trace and Options, and a renderer
// computes no positions of its own: [Layout.SVG] is one, and a page that draws on a
// canvas can be another.
//
// Time runs right, and lanes lie below each other. There are two kinds of coordinates:
//
//   - A [Point] is in the plot: x is measured from where the plot begins, and the height
//     is a lane and a distance below it. On the page that is (page.left + x, page.top +
//     lane*page.pitch + dy); see [Layout.XY].
//   - Anything with its own x and y (words, legend) is measured from the upper left
//     corner of the page.
//
// The x of a moment follows from the formula in [Window]. To zoom, request another Layout
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
	Page     Page        `json:"page"`
	Window   Window      `json:"window"`
	Title    []Words     `json:"title"`    // lines of the title, at the top
	Part     Words       `json:"part"`     // the sentence of Window.Part, below the title
	Footer   []Words     `json:"footer"`   // further remarks, below the legend
	Lanes    []LaneName  `json:"lanes"`    // one for each process, in order
	Kinds    []KindStyle `json:"kinds"`    // message kinds of the run
	Lives    []Life      `json:"lives"`    // when processes are alive
	Bars     []Bar       `json:"bars"`     // when they wait and are inside
	Uprights []Upright   `json:"uprights"` // lines through all lanes: cuts, violations, the focus
	Arrows   []Arrow     `json:"arrows"`   // the messages
	Dots     []Dot       `json:"dots"`     // moments at which processes did something
	Marks    []Mark      `json:"marks"`    // what must not be overlooked
	Ticks    []AxisTick  `json:"ticks"`    // ticks of the time axis
	Axis     Words       `json:"axis"`     // unit of the axis
	Legend   []Sample    `json:"legend"`   // explanations of what occurs in the picture
	LeftOut  int         `json:"leftout"`  // number of arrow labels that found no room
}

// A Page holds the dimensions on which all positions are based.
type Page struct {
	Width  Length `json:"width"`  // width of the whole picture
	Height Length `json:"height"` // height of the whole picture
	Left   Length `json:"left"`   // from the left edge to where the plot begins
	Plot   Length `json:"plot"`   // width of the plot; what reaches beyond it is not shown
	Top    Length `json:"top"`    // from the upper edge to the first lane
	Pitch  Length `json:"pitch"`  // from lane to lane
	Axis   Length `json:"axis"`   // from the upper edge to the time axis
}

// A Point is a place in the plot.
type Point struct {
	X    Length `json:"x"`    // to the right of where the plot begins
	Lane int    `json:"lane"` // a lane, from 0
	DY   Length `json:"dy"`   // distance below that lane
}

// An Offset is a distance on paper, to the right and down.
type Offset struct {
	X Length `json:"x"`
	Y Length `json:"y"`
}

// Words are a text at a position on the page.
type Words struct {
	Text string `json:"text"`
	X    Length `json:"x"` // where it begins
	Y    Length `json:"y"` // its baseline
}

// A Label is a text in the plot.
type Label struct {
	Text   string `json:"text"`
	At     Point  `json:"at"`            // on its baseline
	Anchor string `json:"anchor"`        // end of the text that is there: start, middle or end
	Size   Length `json:"size"`          // font size
	Box    *Box   `json:"box,omitempty"` // box drawn behind it, with round ends, if it lies on an arrow
}

// A Box is a part of the plot.
type Box struct {
	At   Point  `json:"at"` // its upper left corner
	Wide Length `json:"wide"`
	High Length `json:"high"`
}

// A LaneName is the name of a lane.
type LaneName struct {
	Text string `json:"text"`
	X    Length `json:"x"` // from the left edge of the page
	Lane int    `json:"lane"`
	DY   Length `json:"dy"` // from the lane down to the baseline
}

// A Life is a time during which a process is alive, and runs or is paused.
type Life struct {
	Lane   int    `json:"lane"`
	From   int64  `json:"from"` // ticks
	To     int64  `json:"to"`
	X1     Length `json:"x1"`
	X2     Length `json:"x2"`
	Paused bool   `json:"paused"`
}

// The meanings of a Bar.
const (
	BarWaiting = "waiting"
	BarInside  = "inside"
	BarBroken  = "broken" // drawn over BarInside: another process is inside too
)

// A Bar is a time during which a process waits or is inside.
type Bar struct {
	Means  string `json:"means"` // BarWaiting, BarInside or BarBroken
	Lane   int    `json:"lane"`
	From   int64  `json:"from"` // ticks
	To     int64  `json:"to"`   // ticks; the end of the run if it goes on
	Open   bool   `json:"open"` // whether it goes on after the end of the run
	X1     Length `json:"x1"`
	X2     Length `json:"x2"`
	Height Length `json:"height"` // half of it above the lane
	Entry  int    `json:"entry"`  // BarInside: number of the entry in the run, from 1
	Label  *Label `json:"label,omitempty"`
	Tip    string `json:"tip"` // the same in a sentence
}

// The ends of an Arrow.
const (
	EndArrives = "arrives" // it has a head
	EndLost    = "lost"    // it ends in a cross
	EndOpen    = "open"    // it is still in flight when the run ends, and has no head
)

// The relations of an event or message to the event in focus.
const (
	RelationPast       = "past"
	RelationFuture     = "future"
	RelationConcurrent = "concurrent"
	RelationFocus      = "focus"
)

// An Arrow is one message.
type Arrow struct {
	Message  int      `json:"message"`  // number of the message
	Kind     int      `json:"kind"`     // index in Layout.Kinds
	Sent     int64    `json:"sent"`     // ticks; -1 if it was sent before the trace begins
	Ended    int64    `json:"ended"`    // ticks; -1 if it has not ended
	From     Point    `json:"from"`     // at the edge of the plot if it was sent before the window
	To       Point    `json:"to"`       // at the edge of the plot if it ends after the window
	Bend     []Offset `json:"bend"`     // none: a straight line; one: a quadratic curve, with the control point this far from the middle between From and To; two: a cubic curve, with the control points this far from From and from To
	End      string   `json:"end"`      // EndArrives, EndLost or EndOpen
	Copy     bool     `json:"copy"`     // whether the network made it
	Relation string   `json:"relation"` // RelationPast, RelationFuture, RelationConcurrent; empty without a focus
	Label    *Label   `json:"label,omitempty"`
	Tip      string   `json:"tip"` // tooltip
}

// A Dot is a moment at which a process did something.
type Dot struct {
	At       Point  `json:"at"`
	Steps    []int  `json:"steps"`           // Event.Step of all that it did at that moment
	Relation string `json:"relation"`        // empty without a focus
	Tip      string `json:"tip"`             // what it did, a sentence on each line
	Clock    *Clock `json:"clock,omitempty"` // its logical clocks after that, if they are shown
	Label    *Label `json:"label,omitempty"` // the same in words, if there is room
}

// The meanings of a Mark.
const (
	MarkCrash     = "crash"
	MarkRestart   = "restart"
	MarkPause     = "pause"
	MarkResume    = "resume"
	MarkSuspect   = "suspect"
	MarkTrust     = "trust"
	MarkTimer     = "timer"
	MarkLead      = "lead"
	MarkDenied    = "denied"
	MarkEnded     = "ended" // end of a transaction
	MarkAbort     = "abort"
	MarkNote      = "note"
	MarkViolation = "violation"
)

// A Mark is one thing that happened to a process and has a sign of its own.
type Mark struct {
	Means string `json:"means"`
	At    Point  `json:"at"`
	Label *Label `json:"label,omitempty"`
	Tip   string `json:"tip"`
}

// The meanings of an Upright.
const (
	UprightCut       = "cut"
	UprightHealed    = "healed"
	UprightViolation = "violation"
	UprightFocus     = "focus"
	UprightNote      = "note"
)

// An Upright is a line through all lanes.
type Upright struct {
	Means string `json:"means"`
	At    int64  `json:"at"` // ticks
	X     Length `json:"x"`  // to the right of where the plot begins
	Y1    Length `json:"y1"` // from the upper edge of the page
	Y2    Length `json:"y2"`
	Label *Label `json:"label,omitempty"`
	Tip   string `json:"tip"`
}

// An AxisTick is a round time on the axis.
type AxisTick struct {
	At   int64  `json:"at"` // ticks
	X    Length `json:"x"`  // to the right of where the plot begins
	Text string `json:"text"`
}

// The things that a Sample can show.
const (
	SampleArrow   = "arrow"   // a message of a kind
	SampleEnd     = "end"     // how an arrow can end
	SampleCopy    = "copy"    // the word beside a copy
	SampleBar     = "bar"     // a bar
	SampleMark    = "mark"    // a mark
	SampleUpright = "upright" // a line through all lanes
)

// A Sample is one entry of the legend: a picture 36 pixels wide, and words.
type Sample struct {
	Shows string `json:"shows"`           // SampleArrow and so on
	Means string `json:"means,omitempty"` // the end, bar, mark or upright
	Kind  int    `json:"kind"`            // SampleArrow: index in Layout.Kinds; -1 otherwise
	Text  string `json:"text"`
	X     Length `json:"x"` // where the picture begins
	Y     Length `json:"y"` // its middle
	TextX Length `json:"textx"`
	TextY Length `json:"texty"` // baseline of the words
}

// XY returns the position of a point of the plot on the page.
func (l *Layout) XY(p Point) (x, y Length) { return l.Page.Left + p.X, l.Y(p) }

// Y returns the distance of a point below the upper edge of the page.
func (l *Layout) Y(p Point) Length { return l.Page.Top + Length(p.Lane)*l.Page.Pitch + p.DY }

// Path returns the control points of an arrow in the plot, with heights measured from the
// upper edge of the page: two for a line, three for a quadratic curve, four for a cubic
// one.
func (l *Layout) Path(a *Arrow) []Offset {
	return bent(Offset{a.From.X, l.Y(a.From)}, Offset{a.To.X, l.Y(a.To)}, a.Bend)
}

// bent returns the control points of a curve.
func bent(from, to Offset, bend []Offset) []Offset {
	switch len(bend) {
	case 1:
		return []Offset{from, {(from.X+to.X)/2 + bend[0].X, (from.Y+to.Y)/2 + bend[0].Y}, to}
	case 2:
		return []Offset{from, {from.X + bend[0].X, from.Y + bend[0].Y}, {to.X + bend[1].X, to.Y + bend[1].Y}, to}
	}
	return []Offset{from, to}
}
