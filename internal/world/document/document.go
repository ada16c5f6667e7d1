package document

import (
	"encoding/json"

	"github.com/stile-lock/stile/trace"
)

// A Document is all that there is to show of a scenario: what happened, what
// each process remembered and why it waited after every event, and what came of
// it. It is made of the text by [Run], and of nothing else.
//
// Processes and events are counted from 0, lines from 1. A cursor is a number
// of events: at cursor 3 the first three have happened.
//
// The JSON keys are part of what pages rely on: add to them, never change them.
type Document struct {
	Error *Error `json:"error,omitempty"` // if there is one, nothing else is filled in

	Title     string    `json:"title"`
	Kind      string    `json:"kind"` // of its family: lock, election or transactions; or one of those below
	Algorithm Algorithm `json:"algorithm"`
	Names     []string  `json:"names"` // of the lanes, in order: site 1 and so on if there are sites, then P1 and so on
	Steps     bool      `json:"steps"` // the lines are done in order, and nothing happens by itself
	Unit      int64     `json:"unit"`  // ticks in one unit of time; 1 in steps
	Network   string    `json:"network"`
	Badges    []string  `json:"badges"` // what the scenario does that the algorithm does not promise to bear

	Kinds  []trace.KindStyle `json:"kinds"` // of messages
	Events []Event           `json:"events"`
	Ended  int               `json:"ended"` // events from this one on are the verdict when the run was over
	Lines  []LineEvents      `json:"lines"` // the lines of the schedule, as they are in the text, and what came of each
	Layout *trace.Layout     `json:"layout"`

	Keys   []Key      `json:"keys"`   // key frames; the first is at cursor 0
	Deltas []Delta    `json:"deltas"` // what changes, in order
	Scene  Scene      `json:"scene"`
	Graph  []WaitsFor `json:"graph,omitempty"` // of transactions, and of a graph of resources

	Measures   []Measure   `json:"measures"`
	Properties []Property  `json:"properties"`
	Violations []Violation `json:"violations"`
	Expects    []Expect    `json:"expects"`

	SVG string          `json:"svg,omitempty"` // of a graph of resources: its picture
	End json.RawMessage `json:"end"`           // what 'stile replay --json' prints
	Cut *Cut            `json:"cut,omitempty"`

	Early string `json:"early,omitempty"` // if the run ended before the time that the text gives it: when, and why
}

// What a Document can be about, besides one group of a family.
const (
	KindSections = "sections" // several critical sections side by side
	KindGraph    = "graph"    // resources: nothing runs, and the events are how it is reduced
)

// An Error says what is wrong with a text, and where.
type Error struct {
	Line int    `json:"line"` // 0 if it is not about one
	Col  int    `json:"col"`  // 0 if it is about the whole line
	Text string `json:"text"`
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// An Algorithm is what people should know of the algorithm that runs.
type Algorithm struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Authors string `json:"authors"`
	Year    int    `json:"year"`
	Paper   string `json:"paper"`
	Wrong   string `json:"wrong"`
	Weaker  string `json:"weaker"`
	Fixed   string `json:"fixed"`
	Network string `json:"network"`         // the weakest that it is correct on
	Deaths  bool   `json:"deaths"`          // it is made for them: an election, or a lock that survives some
	Calls   string `json:"calls,omitempty"` // what a process does that asks, where that is no request that it waits for
}

// An Event is a trace.Event for a page, or of a graph of resources a step by which
// it is reduced. Proc and Peer are -1 if there is none.
type Event struct {
	At      int64       `json:"at"`
	Kind    string      `json:"kind"`
	Proc    int         `json:"proc"`
	Peer    int         `json:"peer"`
	Msg     int         `json:"msg,omitempty"`     // the number of the message, from 1 in the order of sending; 0 if there is none
	Name    string      `json:"name,omitempty"`    // the kind of the message, the property broken, or a note
	Fields  [][2]string `json:"fields,omitempty"`  // what the message says
	Section string      `json:"section,omitempty"` // if there are several
	Line    int         `json:"line,omitempty"`    // the line that made it happen; 0 if it happened by itself
	Part    bool        `json:"part,omitempty"`    // it is a part of the same step as the event before it
	Text    string      `json:"text"`              // the same in a sentence
}

// LineEvents are the events that a line of the schedule came to: those from
// From to before To. A line that changes nothing visible has none.
type LineEvents struct {
	Line int `json:"line"`
	From int `json:"from"`
	To   int `json:"to"`
}

// A Key is how everything is at a cursor.
type Key struct {
	Event  int           `json:"event"`            // the cursor
	States [][][2]string `json:"states"`           // of each lane, its fields
	Status []string      `json:"status"`           // of each lane
	Waits  []string      `json:"waits"`            // of each lane why it waits; empty if it does not
	Timers [][]Timer     `json:"timers,omitempty"` // of each lane those that run; nothing if none does
}

// A Timer is one that runs: a line, or a deed, can let it run out now.
type Timer struct {
	Timer   int    `json:"timer"`
	Section string `json:"section,omitempty"` // if there are several
}

// A Delta is what changes when a cursor comes to Event: the last event before it
// has just happened. Fields are set, or added behind the others; one whose value
// is null is gone.
type Delta struct {
	Event  int          `json:"event"`
	Proc   int          `json:"proc"`
	Set    [][2]*string `json:"set,omitempty"`
	Status string       `json:"status,omitempty"` // if it changes
	Wait   *string      `json:"wait,omitempty"`   // if it changes; empty if it waits no more
	Timers *[]Timer     `json:"timers,omitempty"` // if they change: all that run now
}

// The status of a process.
const (
	Idle    = "idle"
	Waiting = "waiting"
	Inside  = "inside"
	Crashed = "crashed"
	Paused  = "paused"
	Leading = "leading" // it takes itself for the leader
	Follows = "follows" // it knows another as its leader
	Ended   = "ended"   // graph of resources: it has got what it asked for, and given everything back
)

// A Scene is the algorithm's own picture.
type Scene struct {
	Shape  string  `json:"shape"`  // as algorithm.Shape has it, or sites, or resources
	Title  string  `json:"title"`  // what the picture shows, in a few words
	Places []Place `json:"places"` // of each lane
	Links  []Link  `json:"links"`
	Groups []Group `json:"groups"` // whom each asks, the sections, or what is at each site

	Locks     []Place  `json:"locks,omitempty"`     // where locks are, if there are sites, or resources
	LockNames []string `json:"locknames,omitempty"` // and what they are called
	Units     []int    `json:"units,omitempty"`     // of a graph of resources: how many there are of each

	// The names of fields of the states.
	Pointer string   `json:"pointer,omitempty"` // an arrow to a process
	Next    string   `json:"next,omitempty"`    // another arrow, to who comes after it
	Queue   string   `json:"queue,omitempty"`   // who waits at this process
	Token   string   `json:"token,omitempty"`   // it has the token, unless its value is no
	Awaited []string `json:"awaited,omitempty"` // from whom it still needs something: the first of these that names somebody
	Got     string   `json:"got,omitempty"`     // whose answers it has
	Votes   string   `json:"votes,omitempty"`   // whom it has voted for
	Number  string   `json:"number,omitempty"`  // a ticket, a flag, or a round
	Members string   `json:"members,omitempty"` // who takes part, if that changes
	Fresh   string   `json:"fresh,omitempty"`   // if yes, it is new and takes part in nothing yet
}

// A Place is where a lane is in the picture, both from 0 to 1, y downwards.
type Place struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// A Link is a line between two lanes.
type Link struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Group is lanes that belong together. At a site, Procs and Locks are what is
// there.
type Group struct {
	Name    string `json:"name"`
	Members []int  `json:"members"`
	Procs   []int  `json:"procs,omitempty"`
	Locks   []int  `json:"locks,omitempty"`
}

// WaitsFor is who waits for whom from a cursor on.
type WaitsFor struct {
	Event  int     `json:"event"`
	Edges  []Edge  `json:"edges"`
	Cycles [][]int `json:"cycles"`
}

// An Edge says that a process waits for another one, and for which lock.
type Edge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label"`
}

// A Measure is something that was counted, beside what theory says of it.
type Measure struct {
	Name    string `json:"name"`
	Here    string `json:"here"`
	Theory  string `json:"theory"`  // empty if it says nothing; a condition and a colon if the run does not meet it and only the formula is told
	Formula string `json:"formula"` // in N
	Fits    bool   `json:"fits"`    // theory says nothing, or allows what was counted
}

// A Property is something that the run is judged by.
type Property struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Event int    `json:"event"` // the event that broke it, or that shows what it leaves open; -1 if there is none
	Text  string `json:"text"`  // what it means, or how it broke
}

// A Violation is one way in which the run broke a property.
type Violation struct {
	Event    int    `json:"event"` // the event that says so
	Property string `json:"property"`
	Text     string `json:"text"`
}

// An Expect is a line that says what is expected, and whether it came so.
type Expect struct {
	Line int    `json:"line"` // 0 for what is expected without being said
	OK   bool   `json:"ok"`
	Want string `json:"want"`
	Got  string `json:"got"` // if it came otherwise
}

// A Cut says that the run was too long to show all of it.
type Cut struct {
	Events int    `json:"events"` // how many are shown
	Text   string `json:"text"`   // what to do
}
