package document

import (
	"encoding/json"

	"github.com/stile-lock/stile/lab/trace"
)

// A Document is everything there is to show of a scenario: what happened, what each process
// remembered and why it waited after every event, and the outcome. [Run] makes it from the
// text, and from nothing else.
//
// Processes and events are counted from 0, lines from 1. A cursor is a number of events: at
// cursor 3 the first three have happened.
//
// Pages rely on the JSON keys: add keys, never change them.
type Document struct {
	Error *Error `json:"error,omitempty"` // if set, nothing else is filled in

	Title     string    `json:"title"`
	Kind      string    `json:"kind"` // the family's kind: lock, election or transactions; or one of those below
	Algorithm Algorithm `json:"algorithm"`
	Names     []string  `json:"names"` // names of the lanes, in order: first any sites (site 1, ...), then processes (P1, ...)
	Steps     bool      `json:"steps"` // lines run in order, and nothing happens by itself
	Unit      int64     `json:"unit"`  // ticks in one unit of time; 1 in steps
	Network   string    `json:"network"`
	Badges    []string  `json:"badges"` // what the scenario does that the algorithm does not promise to tolerate

	Kinds  []trace.KindStyle `json:"kinds"` // kinds of messages
	Events []Event           `json:"events"`
	Ended  int               `json:"ended"` // first event of the verdict at the end of the run
	Lines  []LineEvents      `json:"lines"` // lines of the schedule, as in the text, and the events of each
	Layout *trace.Layout     `json:"layout"`

	Keys   []Key      `json:"keys"`   // key frames; the first is at cursor 0
	Deltas []Delta    `json:"deltas"` // changes, in order
	Scene  Scene      `json:"scene"`
	Graph  []WaitsFor `json:"graph,omitempty"` // for transactions and graphs of resources

	Measures   []Measure   `json:"measures"`
	Properties []Property  `json:"properties"`
	Violations []Violation `json:"violations"`
	Expects    []Expect    `json:"expects"`

	SVG string          `json:"svg,omitempty"` // picture of a graph of resources
	End json.RawMessage `json:"end"`           // output of 'stile-lab replay --json'
	Cut *Cut            `json:"cut,omitempty"`

	Captions []Caption `json:"captions,omitempty"` // text for the audience, in the order of the run

	Accounts []Account `json:"accounts,omitempty"` // the shared account, if processes deposit something; the first is at cursor 0

	Early string `json:"early,omitempty"` // when and why the run ended, if before the time that the text gives it
}

// What a Document can be about, other than one group of a family.
const (
	KindSections = "sections" // several critical sections side by side
	KindGraph    = "graph"    // a graph of resources: nothing runs; the events are the steps that reduce it
)

// An Error says what is wrong with a text, and where.
type Error struct {
	Line int    `json:"line"` // 0 if it concerns no single line
	Col  int    `json:"col"`  // 0 if it concerns the whole line
	Text string `json:"text"`
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// An Algorithm is what a user should know about the algorithm that runs.
type Algorithm struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Authors string `json:"authors"`
	Year    int    `json:"year"`
	Paper   string `json:"paper"`
	Wrong   string `json:"wrong"`
	Weaker  string `json:"weaker"`
	Fixed   string `json:"fixed"`
	Network string `json:"network"`         // weakest network on which it is correct
	Deaths  bool   `json:"deaths"`          // made for crashes: an election, or a lock that survives some
	Calls   string `json:"calls,omitempty"` // what a process that asks does, if not a request that it waits for

	Rules [][2]string `json:"rules,omitempty"` // its rules: the number and the text of each
}

// An Event is a trace.Event for a page or, in a graph of resources, a step that reduces the
// graph. Proc and Peer are -1 if there is none.
type Event struct {
	At      int64       `json:"at"`
	Kind    string      `json:"kind"`
	Proc    int         `json:"proc"`
	Peer    int         `json:"peer"`
	Msg     int         `json:"msg,omitempty"`     // message number, from 1 in the order of sending; 0 if there is none
	Name    string      `json:"name,omitempty"`    // kind of message, violated property, or note
	Fields  [][2]string `json:"fields,omitempty"`  // fields of the message
	Section string      `json:"section,omitempty"` // if there are several
	Line    int         `json:"line,omitempty"`    // line that caused it; 0 if it happened by itself
	Part    bool        `json:"part,omitempty"`    // part of the same step as the event before it
	Text    string      `json:"text"`              // the event as a sentence
	Why     [][2]string `json:"why,omitempty"`     // why the process does what follows: the number of a rule, and a sentence
}

// LineEvents are the events that a line of the schedule caused: from From up to, but not
// including, To. A line that changes nothing visible has none.
type LineEvents struct {
	Line int `json:"line"`
	From int `json:"from"`
	To   int `json:"to"`
}

// A Key is the complete state at a cursor.
type Key struct {
	Event  int           `json:"event"`            // the cursor
	States [][][2]string `json:"states"`           // fields of each lane
	Status []string      `json:"status"`           // status of each lane
	Waits  []string      `json:"waits"`            // why each lane waits; empty if it does not
	Timers [][]Timer     `json:"timers,omitempty"` // running timers of each lane; absent if no timer runs
}

// A Timer is a running timer: a line, or a user action, can let it expire now.
type Timer struct {
	Timer   int    `json:"timer"`
	Section string `json:"section,omitempty"` // if there are several
}

// A Delta is what changes when the cursor reaches Event: the last event before the cursor
// has just happened. Fields are set, or appended; a null value removes a field.
type Delta struct {
	Event  int          `json:"event"`
	Proc   int          `json:"proc"`
	Set    [][2]*string `json:"set,omitempty"`
	Status string       `json:"status,omitempty"` // if it changes
	Wait   *string      `json:"wait,omitempty"`   // if it changes; empty if it no longer waits
	Timers *[]Timer     `json:"timers,omitempty"` // if they change: all that run now
}

// The status of a process.
const (
	Idle    = "idle"
	Waiting = "waiting"
	Inside  = "inside"
	Crashed = "crashed"
	Paused  = "paused"
	Leading = "leading" // considers itself the leader
	Follows = "follows" // knows another process as its leader
	Ended   = "ended"   // graph of resources: has received what it asked for, and returned everything
)

// A Scene is the algorithm's own picture.
type Scene struct {
	Shape  string  `json:"shape"`  // as in algorithm.Shape, or sites, or resources
	Title  string  `json:"title"`  // what the picture shows, in a few words
	Places []Place `json:"places"` // place of each lane
	Links  []Link  `json:"links"`
	Groups []Group `json:"groups"` // request sets, sections, or contents of each site

	Locks     []Place  `json:"locks,omitempty"`     // places of locks, if there are sites, or of resources
	LockNames []string `json:"locknames,omitempty"` // their names
	Units     []int    `json:"units,omitempty"`     // graph of resources: units of each

	// Names of state fields.
	Pointer string   `json:"pointer,omitempty"` // an arrow to a process
	Next    string   `json:"next,omitempty"`    // another arrow, to its successor
	Queue   string   `json:"queue,omitempty"`   // processes that wait at this one
	Token   string   `json:"token,omitempty"`   // holds the token, unless the value is no
	Awaited []string `json:"awaited,omitempty"` // processes it still needs something from: the first of these fields that names any
	Got     string   `json:"got,omitempty"`     // processes whose answers it has
	Votes   string   `json:"votes,omitempty"`   // candidates it has voted for
	Number  string   `json:"number,omitempty"`  // ticket, flag, or round
	Stamp   string   `json:"stamp,omitempty"`   // time of its own request
	Stamps  string   `json:"stamps,omitempty"`  // times of all requests, by process; 0 is none
	Members string   `json:"members,omitempty"` // participants, if they change
	Fresh   string   `json:"fresh,omitempty"`   // if yes, it is new and does not take part in anything yet
}

// A Place is the position of a lane in the picture: x and y from 0 to 1, y downwards.
type Place struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// A Link is a line between two lanes.
type Link struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Group is a set of lanes that belong together. For a site, Procs and Locks are the
// processes and locks at it.
type Group struct {
	Name    string `json:"name"`
	Members []int  `json:"members"`
	Procs   []int  `json:"procs,omitempty"`
	Locks   []int  `json:"locks,omitempty"`
}

// WaitsFor is the wait-for graph from a cursor on.
type WaitsFor struct {
	Event  int     `json:"event"`
	Edges  []Edge  `json:"edges"`
	Cycles [][]int `json:"cycles"`
}

// An Edge says that one process waits for another, and for which lock.
type Edge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label"`
}

// A Measure is a counted quantity next to what theory predicts.
type Measure struct {
	Name    string `json:"name"`
	Here    string `json:"here"`
	Theory  string `json:"theory"`  // empty if theory says nothing; a condition and a colon if the run does not meet it and only the formula applies
	Formula string `json:"formula"` // in N
	Fits    bool   `json:"fits"`    // theory says nothing, or allows the counted value
}

// A Property is a property that the run is judged by.
type Property struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Event int    `json:"event"` // event that violated it, or that shows what it leaves open; -1 if there is none
	Text  string `json:"text"`  // its meaning, or how it was violated
}

// A Violation is one way in which the run violated a property.
type Violation struct {
	Event    int    `json:"event"` // event that reports it
	Property string `json:"property"`
	Text     string `json:"text"`
}

// An Expect is an expectation, and whether it was met.
type Expect struct {
	Line int    `json:"line"` // 0 for an expectation that has no line
	OK   bool   `json:"ok"`
	Want string `json:"want"`
	Got  string `json:"got"` // actual outcome, if it differs
}

// A Caption is text for the audience from a cursor on, until the next one.
type Caption struct {
	Event int    `json:"event"` // the cursor
	Text  string `json:"text"`
	Line  int    `json:"line"` // 0 if it has none
}

// A Cut says that the run was too long to show in full.
type Cut struct {
	Events int    `json:"events"` // number of events shown
	Text   string `json:"text"`   // what to do
}
