package lab

import (
	"errors"
	"slices"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
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
// In a timed schedule the line gets a time after the last event before the
// cursor, and no later than the next one; what else happens at the time of that
// last event happens first. In steps it comes behind the line that is shown.
// What has happened by then is not changed. Later lines that cannot happen any
// more are taken out, and a run that was to be over by then goes on for longer.
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
	a := &actor{spec: spec, sc: sc, deed: d, text: text}
	if err := a.place(event, o); err != nil {
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
	spec   core.Spec
	sc     *scenario.Scenario
	deed   Deed
	text   string
	past   []trace.Event // what has happened when the line does
	now    moment
	action scenario.Action
}

// A moment is between two steps of a run.
type moment struct {
	events   int   // how many have happened
	lines    int   // and how many lines
	last     int64 // when the last event was; -1 if there is none
	line     int64 // when the last line was; -1 if there is none
	due      int64 // when the next thing is due; -1 if nothing is
	underWay []sim.Passage
	timers   []sim.Alarm
}

// time returns that of a line which comes next.
func (m *moment) time() int64 {
	if m.line > m.last && m.line == m.due {
		return m.line // a line that shows nothing comes first
	}
	return nicest(max(m.last, m.line), m.due)
}

// place finds the moment of the line: the first at which so many events have
// happened, nothing more is due at the same time, and no line that shows nothing
// comes next. The run is not followed any further.
func (a *actor) place(event int, o Options) error {
	found, at := false, times(a.sc)
	m := moment{last: -1, line: -1}
	back, err := sim.Replay(a.spec, a.sc, sim.ReplayOptions{Until: MaxEvents, Over: o.Over, Brief: true, Watch: func(s *sim.Step) bool {
		if s.Line > 0 {
			m.lines, m.line = m.lines+1, at[s.Line]
		}
		n := len(s.Events)
		if n > 0 {
			m.last = s.Events[n-1].At
		}
		m.events, m.due = s.From+n, s.Due
		switch {
		case found && (s.Line == 0 || n > 0):
			return n == 0
		case m.events < event || !a.sc.Steps && m.events > 0 && m.due == m.last:
			return true
		}
		found, a.now = true, m
		a.now.underWay, a.now.timers = s.UnderWay(), s.Timers()
		return true
	}})
	if err != nil {
		return err
	}
	if !found && back.Stopped {
		return errLong
	}
	if !found { // the cursor is at the verdict, or beyond
		a.now = m
		a.now.underWay, a.now.timers = back.UnderWay, back.Timers
	}
	a.past = back.Events[:a.now.events]
	if !a.sc.Steps {
		a.action.At = a.now.time()
	}
	if a.sc.Until > 0 && a.action.At > a.sc.Until {
		a.extend()
	}
	return nil
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

// times returns when each line is due, by its number.
func times(sc *scenario.Scenario) map[int]int64 {
	at := make(map[int]int64, len(sc.Actions))
	for _, x := range sc.Actions {
		at[x.Line] = x.At
	}
	return at
}

// nicest returns the time after one moment, and not after another unless that is
// below 0, that is easiest to read: 7.1 after 7, with as many decimals as it
// needs.
func nicest(after, latest int64) int64 {
	if after < 0 {
		return 0
	}
	for grain := int64(scenario.T / 10); grain > 1; grain /= 10 {
		if at := (after/grain + 1) * grain; latest < 0 || at <= latest {
			return at
		}
	}
	return after + 1
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
