package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Options control how a text is run.
type Options struct {
	// Specs finds an algorithm by name; nil means the catalog. A module with an algorithm
	// of its own supplies its own function: see the example.
	Specs func(name string, o algorithm.Options) (algorithm.Spec, error)

	// Over, if not nil, is called repeatedly to ask whether time is up. That is then an
	// error: a part of the run would be another one on each machine.
	Over func() bool

	File    string // name of the text in results
	Spacing string // ByEvent or ByTime; empty means ByTime
}

// Spacing of events in the space-time diagram.
const (
	ByEvent = "event" // all steps equally far apart
	ByTime  = "time"  // in proportion to time
)

// Limits of a document. A run that is longer is shown up to them, which is the same part
// everywhere.
const (
	MaxText   = 1 << 20 // bytes of text
	MaxLanes  = 400     // processes and sites
	MaxEvents = 200_000
	maxBytes  = 15 << 20 // approximate size of events and states
)

// Run runs the text of a scenario, or examines that of a graph of resources. It never
// fails: the document reports what is wrong with the text.
func Run(text string, o Options) *Document { return run(text, o, layout) }

// A drawer draws a space-time diagram.
type drawer func(t *trace.Trace, events []Event, o Options) (*trace.Layout, error)

// undrawn draws nothing: the diagram takes most of the time.
func undrawn(*trace.Trace, []Event, Options) (*trace.Layout, error) { return &trace.Layout{}, nil }

func run(text string, o Options, draw drawer) *Document {
	if scenario.IsGraph(text) {
		g, err := parseGraph(text, o)
		if err != nil {
			return &Document{Error: located(err)}
		}
		return runGraph(g)
	}
	sc, err := parse(text, o)
	if err != nil {
		return &Document{Error: located(err)}
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return &Document{Error: located(err)}
	}
	r := newRecorder(sc, spec)
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{Until: MaxEvents, Watch: r.watch, Over: o.Over, Explain: true})
	if err == nil && back.Stopped && o.Over != nil && o.Over() {
		err = errSlow
	}
	if err != nil {
		return &Document{Error: located(err)}
	}
	d, err := r.document(back, o, draw)
	if err != nil {
		return &Document{Error: located(err)}
	}
	return d
}

// errSlow is returned if time is up before a run is over.
var errSlow = errors.New("the run takes too long here: add a line such as until 50, use fewer processes, or run it with 'stile-lab replay'")

// checkSize rejects a text that is too large to show.
func checkSize(text string) error {
	if len(text) > MaxText {
		return fmt.Errorf("the scenario has %d bytes, and at most %d can be shown: use 'stile-lab replay' for longer ones", len(text), MaxText)
	}
	return nil
}

// parse reads a scenario, and rejects one that is too large to show.
func parse(text string, o Options) (*scenario.Scenario, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}
	sc, err := scenario.Parse(o.File, text)
	if err != nil {
		return nil, err
	}
	if n := sc.Processes + sc.Sites; n > MaxLanes {
		return nil, fmt.Errorf("%d processes, and at most %d can be shown: use fewer, or run it with 'stile-lab replay'", n, MaxLanes)
	}
	return sc, nil
}

// Parse reads a scenario as Run does, within the same limits. An error is an [Error].
func Parse(text string, o Options) (*scenario.Scenario, error) {
	sc, err := parse(text, o)
	if err != nil {
		return nil, located(err)
	}
	return sc, nil
}

// Spec finds an algorithm by name.
func (o Options) Spec(name string, with algorithm.Options) (algorithm.Spec, error) {
	if o.Specs == nil {
		return catalog.Make(name, with)
	}
	return o.Specs(name, with)
}

// SpecOf returns the algorithm that a scenario runs, or its method against deadlocks if
// there are sites. Find is as in Options. An error names the line it concerns, if known.
func SpecOf(sc *scenario.Scenario, find func(name string, o algorithm.Options) (algorithm.Spec, error)) (algorithm.Spec, error) {
	bare := *sc
	bare.File = "" // it is named once
	spec, err := acceptable(&bare, find)
	if err == nil {
		return spec, nil
	}
	err = blamed(&bare, find, err)
	if sc.File != "" {
		err = fmt.Errorf("%s: %w", sc.File, err)
	}
	return algorithm.Spec{}, err
}

// specOf is SpecOf without the check of the number of processes.
func specOf(sc *scenario.Scenario, find finder) (algorithm.Spec, error) {
	spec, err := Options{Specs: find}.Spec(sc.Algorithm, sc.Options)
	_, noMethod := deadlock.Find(sc.Algorithm)
	switch {
	case sc.Transacts() && err == nil:
		err = fmt.Errorf("%s is not a method against deadlocks, but there are sites: remove the site lines, or choose a method such as wait-die", sc.Algorithm)
	case sc.Transacts():
		return sim.SiteSpec(sc)
	case err == nil:
		return spec, nil
	case noMethod == nil:
		err = fmt.Errorf("%s is a method against deadlocks, whose transactions run at sites: add lines such as site 1 P1 L1", sc.Algorithm)
	}
	return algorithm.Spec{}, err
}

// located adds the position of an error, if known.
func located(err error) *Error {
	var syntax *scenario.Error
	var line *sim.LineError
	switch {
	case errors.As(err, &syntax):
		return &Error{syntax.Line, syntax.Col, syntax.Msg}
	case errors.As(err, &line):
		return &Error{line.Line, 0, line.Err.Error()}
	}
	return &Error{Text: err.Error()}
}

// Encode writes JSON as all calls do: on one line, with angle brackets unescaped.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// JSON writes the document.
func (d *Document) JSON() ([]byte, error) { return Encode(d) }
