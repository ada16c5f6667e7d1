package trace

import (
	"errors"
	"fmt"
	"math"

	"github.com/stile-lock/stile/internal/draw"
)

// Options say which part of a trace a picture shows, and how.
type Options struct {
	From, To float64    // range of times to show, in units of time (T) or steps; To 0 is the end, or what is legible
	Focus    *int       // step whose past, future and concurrent events are distinguished; nil is none
	Scale    float64    // pixels per unit of time; 0 chooses
	Labels   LabelStyle // how much is written beside the arrows
	Clocks   bool       // whether to show the logical clocks of the processes
	Plain    bool       // for very long runs: no words, no tooltips, and arrows may coincide
}

// A LabelStyle is how much is written beside the arrows.
type LabelStyle uint8

// The label styles.
const (
	LabelsAuto  LabelStyle = iota // as much as there is room for
	LabelsFull                    // kind and stamp
	LabelsShort                   // a letter for the kind, and the stamp if there is room
	LabelsNone
)

// maxScale keeps lengths in range.
const maxScale = 1e6

// Check returns an error that says what is wrong with options for a picture of this
// trace.
func (o Options) Check(t *Trace) error {
	if bad(o.From) || bad(o.To) || bad(o.Scale) || o.Scale > maxScale {
		return fmt.Errorf("a picture from %g to %g with %g pixels per unit: want numbers from 0, and at most %g pixels", o.From, o.To, o.Scale, maxScale)
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

// checkRange returns an error that says what is wrong with a part of the run.
func (t *Trace) checkRange(from, to float64) error {
	if from == 0 && to == 0 {
		return nil
	}
	if len(t.Events) == 0 {
		return errors.New("nothing happened in this part of the run")
	}
	whole := "the run goes from 0 to " + t.shown(t.end()) + t.unitName()
	// The end of the run is rounded when it is shown, and still means the end.
	end := float64(t.end()+t.unit()/1000) / float64(t.unit())
	switch {
	case to != 0 && to <= from:
		return fmt.Errorf("a picture from %g to %g: the end must be after the beginning; %s", from, to, whole)
	case from >= end:
		return fmt.Errorf("a picture from %g begins after the end: %s", from, whole)
	case to > end:
		return fmt.Errorf("a picture from %g to %g ends after the end: %s", from, to, whole)
	}
	return nil
}

// ticks converts units of time to ticks, at most those of the run.
func (t *Trace) ticks(units float64) int64 {
	v := math.Round(units * float64(t.unit()))
	if !(v > 0) { // also if it is not a number
		return 0
	}
	if v >= float64(t.end()) {
		return t.end()
	}
	return int64(v)
}

// end returns the time of the last event.
func (t *Trace) end() int64 {
	if n := len(t.Events); n > 0 {
		return t.Events[n-1].At
	}
	return 0
}

// unitName returns the text after a time.
func (t *Trace) unitName() string {
	if t.timed() {
		return " " + either(t.Called != "", draw.Clean(t.Called), "T")
	}
	return " steps"
}
