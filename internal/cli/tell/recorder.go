package tell

import (
	"fmt"
	"path/filepath"
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
	Story  func(t *trace.Trace) string // how it is told as text, if not as a diagram
	missed bool                        // there were more events than are kept
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

// Files returns the files that the flags --svg and --trace ask for. They are
// made when the run is over.
func (r *Recorder) Files(svg, events string) ([]File, error) {
	files := Picture("svg", svg, func() string { return r.SVG(trace.SVGOptions{}) })
	trail, err := Trail(events, r.Story, func() (*trace.Trace, error) {
		if r.missed {
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", MaxEvents)
		}
		return &r.Trace, nil
	})
	return append(files, trail...), err
}

// Trails says in the help of --trace what it can write.
const Trails = ".json is JSON, .log or .shiviz a log for ShiViz, .svg a space-time diagram, .txt the same as text"

// Trail returns the file that --trace asks for, or none if it is not given: what
// happened, in the form that the name of the file says. Text is how it is told
// as text, if not as a diagram. If there is no trace in the end, nothing is
// written.
func Trail(path string, text func(t *trace.Trace) string, of func() (*trace.Trace, error)) ([]File, error) {
	if path == "" {
		return nil, nil
	}
	if text == nil {
		text = func(t *trace.Trace) string { return t.Text(trace.TextOptions{}) }
	}
	form := func(t *trace.Trace) ([]byte, error) { return []byte(text(t)), nil }
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		form = (*trace.Trace).JSON
	case ".log", ".shiviz":
		form = func(t *trace.Trace) ([]byte, error) { return []byte(t.ShiViz()), nil }
	case ".svg":
		form = func(t *trace.Trace) ([]byte, error) { return []byte(t.SVG(trace.SVGOptions{})), nil }
	case ".txt":
	default:
		return nil, fmt.Errorf("--trace %q: the name must end in .json, .log or .shiviz (for ShiViz), .svg (a diagram) or .txt (the same as text)", path)
	}
	return []File{{"trace", path, func() ([]byte, error) {
		t, err := of()
		if err != nil || t == nil {
			return nil, err
		}
		return form(t)
	}}}, nil
}

// Picture returns the file that a flag asks for, or none if it is not given.
func Picture(flag, path string, draw func() string) []File {
	if path == "" {
		return nil
	}
	return []File{{flag, path, func() ([]byte, error) { return []byte(draw()), nil }}}
}
