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
	missed bool // there were more events than are kept
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
	if events == "" {
		return files, nil
	}
	form, err := r.form(events)
	if err != nil {
		return nil, err
	}
	return append(files, File{"trace", events, func() ([]byte, error) {
		if r.missed {
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", MaxEvents)
		}
		return form()
	}}), nil
}

// form returns what a file of this name is to contain.
func (r *Recorder) form(path string) (func() ([]byte, error), error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return r.JSON, nil
	case ".log", ".shiviz":
		return func() ([]byte, error) { return []byte(r.ShiViz()), nil }, nil
	case ".txt":
		return func() ([]byte, error) { return []byte(r.Text(trace.TextOptions{})), nil }, nil
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
