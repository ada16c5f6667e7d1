package tell

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// MaxEvents is how many events are kept: more than anybody can look at, and as
// much as fits into memory without thinking about it.
const MaxEvents = 500_000

// A Recorder keeps what happens in a run, and makes files of it.
type Recorder struct {
	trace.Trace
	missed bool   // there were more events than are kept
	ended  string // how far the run was when it was interrupted, if it was
}

// NewRecorder returns a recorder for a run of an algorithm.
func NewRecorder(nodes int, spec core.Spec) *Recorder {
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
func (r *Recorder) kept(at core.ID) *trace.Trace {
	t := r.Trace
	if r.ended == "" {
		return &t
	}
	t.Title += ", interrupted after " + r.ended
	note := trace.Event{Kind: trace.Note, Proc: at, Peer: core.None, Name: "the run was interrupted after " + r.ended}
	if n := len(t.Events); n > 0 {
		note.Step, note.At = t.Events[n-1].Step+1, t.Events[n-1].At
	}
	if r.missed {
		note.Name += fmt.Sprintf("; what came after the first %d events was not kept", MaxEvents)
	}
	t.Events = append(slices.Clip(t.Events), note)
	return &t
}

// Files returns the files that the flags --svg and --trace ask for. They are
// made when the run is over.
func (r *Recorder) Files(svg, events string) ([]File, error) {
	files := Picture("svg", svg, func() string { return r.kept(core.None).SVG(trace.SVGOptions{}) })
	if events == "" {
		return files, nil
	}
	form, err := r.form(events)
	if err != nil {
		return nil, err
	}
	return append(files, r.file(events, form)), nil
}

// Story returns the file of this name that a function of the trace makes.
func (r *Recorder) Story(path string, tell func(t *trace.Trace) string) File {
	return r.file(path, func() ([]byte, error) { return []byte(tell(r.kept(core.None))), nil })
}

// file returns the file that --trace asks for. Of a run that came to its end it
// must hold everything.
func (r *Recorder) file(path string, form func() ([]byte, error)) File {
	return File{"trace", path, func() ([]byte, error) {
		if r.missed && r.ended == "" {
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", MaxEvents)
		}
		return form()
	}}
}

// form returns what a file of this name is to contain.
func (r *Recorder) form(path string) (func() ([]byte, error), error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return func() ([]byte, error) { return r.kept(core.None).JSON() }, nil
	case ".log", ".shiviz": // has no title, and nothing that is nowhere
		return func() ([]byte, error) { return []byte(r.kept(0).ShiViz()), nil }, nil
	case ".txt":
		return func() ([]byte, error) { return []byte(r.kept(core.None).Text(trace.TextOptions{})), nil }, nil
	}
	return nil, fmt.Errorf("--trace %q: the name must end in .json, .log or .shiviz (for ShiViz), or .txt (a diagram)", path)
}

// Picture returns the file that a flag asks for, or none if it is not given.
func Picture(flag, path string, draw func() string) []File {
	if path == "" {
		return nil
	}
	return []File{{flag, path, func() ([]byte, error) { return []byte(draw()), nil }}}
}
