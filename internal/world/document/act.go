package document

import (
	"errors"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A Deed is what somebody at the page wants to happen now. Processes and sites
// are lanes, counted from 0 as in a Document.
type Deed struct {
	Verb    string  `json:"verb"`              // ask, leave, crash, ...: see Act
	Proc    int     `json:"proc"`              // who
	To      int     `json:"to,omitempty"`      // suspect, trust, tell: whom
	Msg     int     `json:"msg,omitempty"`     // deliver, overtake, drop, duplicate, delay, reorder: the number of the message
	By      float64 `json:"by,omitempty"`      // delay: how much longer, in T
	For     float64 `json:"for,omitempty"`     // ask, take: how long it stays, in T; 0 means as the scenario says
	Section string  `json:"section,omitempty"` // ask, leave, expire: which, if there are several
	Parts   [][]int `json:"parts,omitempty"`   // partition: who hears whom
	Timer   *int    `json:"timer,omitempty"`   // expire: which; the first that runs if it says nothing
	Locks   []int   `json:"locks,omitempty"`   // take: which, from 0, in this order; of a graph of resources: which resource
}

// An Edit is what a deed comes to: another text.
type Edit struct {
	Text  string `json:"text"`
	Line  int    `json:"line"`          // the line that was added
	Event int    `json:"event"`         // the cursor after it
	Cut   int    `json:"cut,omitempty"` // how many later lines were taken out, since they cannot happen any more
}

// Act says which line a deed at a cursor is, and puts it where it belongs.
//
// The verbs are ask, leave, start, crash, restart, pause, resume, suspect,
// trust, tell and expire; deliver, overtake, drop, duplicate, delay and reorder
// of a message under way; partition and heal; take and go of a transaction. Of a
// graph of resources they are ask, withdraw, grant and release, of one unit.
//
// The line is done when the events before the cursor have happened, and before
// anything else that can be seen: of the lines of its time it comes behind those
// that are done by then, and before the others. All that one line does is one
// step, behind which it comes. Only what a timed schedule lets
// happen by itself at the very time of the last event, if that happened by itself
// too, comes first: a line cannot come between them. What has happened by then is
// not changed. Later lines that cannot happen any more are taken out, and a run
// that was to be over by then goes on for longer.
//
// An error says why the deed cannot be done.
func Act(text string, o Options, event int, d Deed) (*Edit, error) {
	sc, err := parse(text, o)
	if err != nil {
		return nil, located(err)
	}
	if sc.IsGraph() {
		return actGraph(text, sc, d, o)
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return nil, located(err)
	}
	a := &actor{spec: spec, sc: sc, deed: d, text: text, event: event}
	if err := a.place(o); err != nil {
		return nil, located(err)
	}
	if err := a.choose(); err != nil {
		return nil, err
	}
	e, err := a.write(o)
	if errors.Is(err, errPast) && a.action.Kind == scenario.Leave && !sc.Steps {
		a.action.Now = true // else its earlier stays would wait for this line
		e, err = a.write(o)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// An actor turns a deed into a line.
type actor struct {
	spec   algorithm.Spec
	sc     *scenario.Scenario
	deed   Deed
	text   string
	event  int           // the cursor
	past   []trace.Event // what has happened when the line does
	now    moment
	action scenario.Action
}

// longer is how much longer a run may go on, in T, that was to be over by the time
// of a deed.
const longer = 5

// extend puts a later time into the line that says when the run ends.
func (a *actor) extend() {
	end := (a.action.At/scenario.T + longer) * scenario.T
	lines := strings.Split(a.text, "\n")
	for i, s := range lines {
		if words := strings.Fields(s); len(words) > 1 && words[0] == "until" {
			lines[i] = strings.Replace(s, words[1], scenario.FormatTime(end), 1)
		}
	}
	a.text, a.sc.Until = strings.Join(lines, "\n"), end
}

// errLong is told if a run does not come to the cursor, or to the line.
var errLong = errors.New("the run takes too long to get there: end it earlier by a line such as until 50, or have fewer processes")

// errPast is told if a line would change what has happened.
var errPast = errors.New("this would change what has happened before: step back, or write the line by hand")

// samePast reports whether a run begins with these events, but for the numbers of
// messages.
func samePast(past, now []trace.Event) bool {
	n := len(past)
	if len(now) < n {
		return false
	}
	numbers, others := renumber(past), renumber(now[:n])
	for i := range n {
		a, b := &past[i], &now[i]
		if numbers[a.Msg] != others[b.Msg] || a.At != b.At || a.Kind != b.Kind || a.Proc != b.Proc || a.Peer != b.Peer || a.Name != b.Name || a.Section != b.Section || !slices.Equal(a.Fields, b.Fields) {
			return false
		}
	}
	return true
}
