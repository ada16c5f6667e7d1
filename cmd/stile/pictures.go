package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// maxEvents is how many events are kept: more than anybody can look at, and as
// much as fits into memory without thinking about it.
const maxEvents = 500_000

// A recorder keeps what happens in a run, and makes files of it.
type recorder struct {
	trace.Trace
	missed bool // there were more events than are kept
}

func newRecorder(nodes int, title, algorithm string, kinds []string) *recorder {
	return &recorder{Trace: trace.Trace{N: nodes, Title: title, Algorithm: algorithm, Kinds: kinds, Unit: scenario.T}}
}

func (r *recorder) observe(e trace.Event) {
	if len(r.Events) == maxEvents {
		r.missed = true
		return
	}
	r.Events = append(r.Events, e)
}

// outputs returns the files that the flags --svg and --trace ask for. They are
// made when the run is over.
func (r *recorder) outputs(svg, events string) ([]output, error) {
	var all []output
	if svg != "" {
		all = append(all, output{"svg", svg, func() ([]byte, error) {
			return []byte(r.SVG(trace.SVGOptions{})), nil
		}})
	}
	if events != "" {
		form, err := r.form(events)
		if err != nil {
			return nil, err
		}
		all = append(all, output{"trace", events, func() ([]byte, error) {
			if r.missed {
				return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", maxEvents)
			}
			return form()
		}})
	}
	return all, checkAll(all)
}

// form returns what a file of this name is to contain.
func (r *recorder) form(path string) (func() ([]byte, error), error) {
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
