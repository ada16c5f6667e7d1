package trace

import (
	"errors"
	"fmt"
	"math"
)

// Options say what part of a trace a picture shows, and how.
type Options struct {
	From, To float64    // only what happened between these times, in units of time (T) or steps; To 0 is the end, or what can be read
	Focus    *int       // the step whose past, future and concurrent events are told apart; nil is none
	Scale    float64    // pixels for one unit of time; 0 chooses
	Labels   LabelStyle // how much is written beside the arrows
	Clocks   bool       // the logical clocks of what the processes do, too
	Plain    bool       // for very long runs: no words beside anything, no tips, and arrows may lie on each other
}

// A LabelStyle says how much is written beside the arrows.
type LabelStyle uint8

// How much is written beside the arrows.
const (
	LabelsAuto  LabelStyle = iota // as much as there is room for
	LabelsFull                    // kind and stamp
	LabelsShort                   // a letter for the kind, and the stamp if there is room
	LabelsNone
)

// maxScale keeps lengths in range.
const maxScale = 1e6

// Check reports what is wrong with options for a picture of this trace.
func (o Options) Check(t *Trace) error {
	if bad(o.From) || bad(o.To) || bad(o.Scale) || o.Scale > maxScale {
		return fmt.Errorf("a picture from %g to %g with %g pixels a unit: want numbers from 0 on, and at most %g pixels", o.From, o.To, o.Scale, maxScale)
	}
	if o.Labels > LabelsNone {
		return fmt.Errorf("labels of style %d: want 0 to %d", o.Labels, LabelsNone)
	}
	if err := CheckClocks(t.N); o.Clocks && err != nil {
		return err
	}
	return t.checkRange(o.From, o.To)
}

func bad(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) || f < 0 }

// checkRange reports what is wrong with a part of the run.
func (t *Trace) checkRange(from, to float64) error {
	if from == 0 && to == 0 {
		return nil
	}
	if len(t.Events) == 0 {
		return errors.New("a part of the run is asked for, but nothing happened in it")
	}
	whole := "the run goes from 0 to " + t.shown(t.end()) + t.unitName()
	// What is shown as the end of the run is rounded, and still means the end.
	end := float64(t.end()+t.unit()/1000) / float64(t.unit())
	switch {
	case to != 0 && to <= from:
		return fmt.Errorf("a picture from %g to %g: its end must come after its beginning; %s", from, to, whole)
	case from >= end:
		return fmt.Errorf("a picture from %g on begins after the end: %s", from, whole)
	case to > end:
		return fmt.Errorf("a picture from %g to %g ends after the end: %s", from, to, whole)
	}
	return nil
}

// ticks turns units of time into ticks, those of the run at most.
func (t *Trace) ticks(units float64) int64 {
	v := math.Round(units * float64(t.unit()))
	if !(v > 0) { // not a number, too
		return 0
	}
	if v >= float64(t.end()) {
		return t.end()
	}
	return int64(v)
}

// end returns when the last event was.
func (t *Trace) end() int64 {
	if n := len(t.Events); n > 0 {
		return t.Events[n-1].At
	}
	return 0
}

// unitName returns what is written behind a time.
func (t *Trace) unitName() string {
	if t.timed() {
		return " " + either(t.Called != "", clean(t.Called), "T")
	}
	return " steps"
}
