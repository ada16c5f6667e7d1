package document

import (
	"errors"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A UserAction is an action that the user of the page wants to happen now. Processes and sites
// are lanes, counted from 0 as in a Document.
type UserAction struct {
	Verb    string  `json:"verb"`              // ask, leave, crash, ...: see Act
	Proc    int     `json:"proc"`              // lane that acts
	To      int     `json:"to,omitempty"`      // suspect, trust, tell: lane concerned
	Msg     int     `json:"msg,omitempty"`     // deliver, overtake, drop, duplicate, delay, reorder: message number
	By      float64 `json:"by,omitempty"`      // delay: additional delay, in T
	For     float64 `json:"for,omitempty"`     // ask, take: length of the stay, in T; 0 means as in the scenario
	Section string  `json:"section,omitempty"` // ask, leave, expire: section name, if there are several
	Parts   [][]int `json:"parts,omitempty"`   // partition: groups of lanes that can communicate
	Timer   *int    `json:"timer,omitempty"`   // expire: timer number; by default the first one running
	Locks   []int   `json:"locks,omitempty"`   // take: locks, from 0, in this order; in a graph of resources: the resource
}

// An Edit is the result of a user action: the new text.
type Edit struct {
	Text  string `json:"text"`
	Line  int    `json:"line"`          // number of the added line
	Event int    `json:"event"`         // cursor after that line
	Cut   int    `json:"cut,omitempty"` // number of later lines removed because they can no longer happen
}

// Act turns a user action at a cursor into a line, and inserts it where it belongs.
//
// The verbs are ask, leave, start, crash, restart, pause, resume, suspect, trust, tell and
// expire; deliver, overtake, drop, duplicate, delay and reorder for a message in flight;
// partition and heal; take and go for a transaction. In a graph of resources they are ask,
// withdraw, grant and release, for one unit.
//
// The line runs once the events before the cursor have happened, and before any other
// visible event: among the lines of the same time it follows those that have run by then
// and precedes the others. Everything that one line does is a single step; the new line
// comes after the whole step. There is one exception: in a timed schedule, if the last
// event happened by itself, everything else that happens by itself at the same time comes
// first, because no line can come between them. Act never changes what has happened by
// then. It removes later lines that can no longer happen, and extends a run that would have
// ended by then.
//
// An error says why the action is impossible.
func Act(text string, o Options, event int, d UserAction) (*Edit, error) {
	if scenario.IsGraph(text) {
		return actGraph(text, d, o)
	}
	sc, err := parse(text, o)
	if err != nil {
		return nil, located(err)
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return nil, located(err)
	}
	a := &actor{spec: spec, sc: sc, user: d, text: text, event: event}
	if err := a.place(o); err != nil {
		return nil, located(err)
	}
	if err := a.choose(); err != nil {
		return nil, err
	}
	e, err := a.write(o)
	if errors.Is(err, errPast) && a.action.Kind == script.Leave && !sc.Steps {
		a.action.Now = true // otherwise its earlier stays would wait for this line
		e, err = a.write(o)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// An actor turns a user action into a line.
type actor struct {
	spec   algorithm.Spec
	sc     *scenario.Scenario
	user   UserAction
	text   string
	event  int           // the cursor
	past   []trace.Event // events before the line
	now    moment
	action script.Action
}

// longer is the extension, in T, of a run that would have ended by the time of a user action.
const longer = 5

// extend writes a later time into the line that says when the run ends.
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

// errLong is returned if a run does not reach the cursor, or the line.
var errLong = errors.New("the run takes too long to get there: add a line such as until 50, or use fewer processes")

// errPast is returned if a line would change what has already happened.
var errPast = errors.New("this would change the past: step back, or write the line yourself")

// samePast reports whether a run begins with these events, ignoring message numbers.
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
