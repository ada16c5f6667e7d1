package main

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// MaxEvents is how many events are kept: more than anybody can look at, and as
// much as fits into memory without thinking about it.
const MaxEvents = 500_000

// A Recorder keeps what happens in a run, and makes files of it.
type Recorder struct {
	trace.Trace
	Story  func(t *trace.Trace) string // how it is told as text, if not as a diagram
	missed bool                        // there were more events than are kept
	ended  string                      // how far the run was when it was interrupted, if it was
}

// NewRecorder returns a recorder for a run of an algorithm.
func NewRecorder(nodes int, spec algorithm.Spec) *Recorder {
	return &Recorder{Trace: trace.Trace{N: nodes, Title: spec.Title, Algorithm: spec.Name, Kinds: spec.Kinds, Unit: scenario.T}}
}

// Observe keeps an event.
func (r *Recorder) Observe(e trace.Event) {
	if len(r.Events) == MaxEvents {
		r.missed = true
		return
	}
	r.Events = append(r.Events, e)
}

// Interrupted notes that the run was interrupted when it was so far; empty means
// that it was not. All files say so.
func (r *Recorder) Interrupted(after string) { r.ended = after }

// kept returns the trace as it is to be written. Where it ends early, the title
// and a note at this process, or nowhere, say so.
func (r *Recorder) kept(at algorithm.ID) *trace.Trace {
	t := r.Trace
	if r.ended == "" {
		return &t
	}
	t.Title += ", interrupted after " + r.ended
	note := trace.Event{Kind: trace.Note, Proc: at, Peer: algorithm.None, Name: "the run was interrupted after " + r.ended}
	if n := len(t.Events); n > 0 {
		note.Step, note.At = t.Events[n-1].Step+1, t.Events[n-1].At
	}
	if r.missed {
		note.Name += fmt.Sprintf("; what came after the first %d events was not kept", MaxEvents)
	}
	t.Events = append(slices.Clip(t.Events), note)
	return &t
}

// Files returns the files of a scene. They are made when the run is over.
func (r *Recorder) Files(s *Scene) ([]tellFile, error) {
	return s.Files(r.N, r.Story, func(at algorithm.ID) (*trace.Trace, error) {
		if r.missed && r.ended == "" { // of a run that came to its end it must hold everything
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", MaxEvents)
		}
		return r.kept(at), nil
	})
}
