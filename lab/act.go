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
	Locks   []int   `json:"locks,omitempty"`   // take: which, from 0, in this order
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
// of a message under way; partition and heal; take and go of a transaction.
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
		return nil, errors.New("this is a graph of resources, in which nothing happens: write its lines by hand")
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return nil, located(err)
	}
	a := &actor{spec: spec, sc: sc, deed: d, text: text}
	if a.was, err = play(spec, sc); err != nil {
		return nil, located(err)
	}
	a.place(event)
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
	was    *played
	past   int // how many events have happened when the line does
	count  int // steps: behind how many actions it comes
	action scenario.Action
}

// Played is what an actor knows of a run.
type played struct {
	back  *sim.Playback
	lines []LineEvents
}

// play runs a scenario.
func play(spec core.Spec, sc *scenario.Scenario) (*played, error) {
	p := &played{}
	var err error
	p.back, err = sim.Replay(spec, sc, sim.ReplayOptions{Until: MaxEvents, Watch: func(s *sim.Step) bool {
		if s.Line > 0 {
			p.lines = append(p.lines, LineEvents{s.Line, s.From, s.From + len(s.Events)})
		}
		return true
	}})
	return p, err
}

// place finds the moment of the line.
func (a *actor) place(event int) {
	events := a.was.back.Events[:a.was.back.Ended]
	a.past = min(max(event, 0), len(events))
	if a.sc.Steps {
		a.behind()
		return
	}
	before := int64(-1) // the last moment that is over
	if a.past > 0 {
		before = events[a.past-1].At
	}
	for a.past < len(events) && events[a.past].At == before {
		a.past++
	}
	latest := int64(-1)
	if a.past < len(events) {
		latest = events[a.past].At
	}
	// Lines that show nothing come first, too.
	silent := before
	for _, l := range a.was.lines {
		if at := a.timeOf(l.Line); l.From == l.To && l.From == a.past && (latest < 0 || at <= latest) {
			silent = max(silent, at)
		}
	}
	if latest < 0 || silent < latest {
		before = silent
	}
	a.action.At = nicest(before, latest)
	if a.sc.Until > 0 && a.action.At > a.sc.Until {
		a.extend()
	}
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
			lines[i] = "until " + scenario.FormatTime(end)
		}
	}
	a.text, a.sc.Until = strings.Join(lines, "\n"), end
}

// timeOf returns the time of a line.
func (a *actor) timeOf(line int) int64 {
	for _, x := range a.sc.Actions {
		if x.Line == line {
			return x.At
		}
	}
	return -1
}

// behind finds behind which action of a schedule in steps the line comes.
func (a *actor) behind() {
	for _, l := range a.was.lines {
		if l.From < a.past || l.From == l.To && l.From == a.past {
			a.count++
			a.past = max(a.past, l.To)
		}
	}
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

// until returns what is so just before the line.
func (a *actor) until() (*sim.Playback, error) {
	sc := *a.sc
	if sc.Expect = nil; sc.Steps {
		sc.Actions = sc.Actions[:min(a.count, len(sc.Actions))]
	} else if sc.Until = a.action.At - 1; sc.Until < 1 {
		return &sim.Playback{}, nil
	}
	return sim.Replay(a.spec, &sc, sim.ReplayOptions{Until: MaxEvents})
}

// errPast is told if a line would change what has happened.
var errPast = errors.New("this would change what has happened before: step back, or write the line by hand")

// samePast reports whether the first events of two runs are the same, but for
// the numbers of messages.
func samePast(one, other []trace.Event, n int) bool {
	if len(one) < n || len(other) < n {
		return false
	}
	numbers, others := renumber(one[:n]), renumber(other[:n])
	for i := range n {
		a, b := one[i], other[i]
		if numbers[a.Msg] != others[b.Msg] || a.At != b.At || a.Kind != b.Kind || a.Proc != b.Proc || a.Peer != b.Peer || a.Name != b.Name || a.Section != b.Section || !slices.Equal(a.Fields, b.Fields) {
			return false
		}
	}
	return true
}
