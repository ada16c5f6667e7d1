package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A traceOutput is what a command is asked to write of what happened: a picture, the
// events, and which part of the run they show.
type traceOutput struct {
	svg, trace string
	prints     bool                              // the command prints a diagram anyway
	closeup    func(t *trace.Trace) *trace.Trace // what a picture shows unless a part was asked for; nil shows all
	part       trace.Options
	partial    bool // it was asked for a part
	ends       bool // at some time
}

// traceFormats says in the help of --trace what it can write.
const traceFormats = ".json is JSON, .log or .shiviz a log for ShiViz, .svg a space-time diagram, .txt the same as text"

// define defines --svg, --trace, --from, --to and --clocks. --trace may be what also ends so.
func (s *traceOutput) define(fs *pflag.FlagSet, also ...string) {
	fs.Var(outputFileFlag(&s.svg, ".svg"), "svg", "write a space-time diagram to this `FILE`")
	s.defineTrace(fs, also...)
	s.definePart(fs)
}

// defineTrace defines --trace.
func (s *traceOutput) defineTrace(fs *pflag.FlagSet, also ...string) {
	fs.Var(outputFileFlag(&s.trace, append(also, ".json", ".log", ".shiviz", ".svg", ".txt")...), "trace", "write what happened to this `FILE`: "+traceFormats)
}

// definePart defines --from and --to, and what else there is to say of a diagram.
func (s *traceOutput) definePart(fs *pflag.FlagSet) {
	s.defineWindow(fs, "T or steps")
	fs.BoolVar(&s.part.Clocks, "clocks", false, "write Lamport's clock and the vector clock beside what happens in a diagram")
}

// defineWindow defines --from and --to, times in these units.
func (s *traceOutput) defineWindow(fs *pflag.FlagSet, units string) {
	fs.Var(momentFlag{&s.part.From, &s.partial}, "from", "where the diagram begins, in "+units+" (default where there is something to see)")
	fs.Var(momentFlag{&s.part.To, &s.ends}, "to", "where it ends (default when it can still be read)")
	for _, flag := range []string{"from", "to"} {
		fs.Lookup(flag).DefValue = ""
	}
}

// setDefaultWindow lets a diagram show this part, unless one was asked for.
func (s *traceOutput) setDefaultWindow(from, to float64) {
	if s.whole() {
		s.part.From, s.part.To = from, to
	}
}

// textOptions returns how a diagram is printed.
func (s *traceOutput) textOptions() trace.TextOptions {
	return trace.TextOptions{Width: screenWidth, Clocks: s.part.Clocks}
}

// A momentFlag is a time as people write it.
type momentFlag struct {
	to    *float64
	given *bool
}

func (m momentFlag) Set(s string) error {
	ticks, err := scenario.ParseTime(s)
	if err != nil {
		return fmt.Errorf("want a time from 0 to %d, such as 2 or 0.5", scenario.MaxTime)
	}
	*m.to, *m.given = float64(ticks)/scenario.T, true
	return nil
}

func (m momentFlag) String() string { return "" }

func (m momentFlag) Type() string { return "TIME" }

// requested reports whether anything is to be written.
func (s *traceOutput) requested() bool { return s.svg+s.trace != "" }

// whole reports whether no part of the run was asked for.
func (s *traceOutput) whole() bool { return !s.partial && !s.ends }

// files returns the files that are asked for of so many processes. They are made when the run is over:
// of returns what happened, or nil if there is nothing to write; what has no
// process, it may put at the one that it is given, if that is not None. Text is
// how it is told as text, if not as a diagram.
func (s *traceOutput) files(n int, text func(t *trace.Trace) string, of func(at algorithm.ID) (*trace.Trace, error)) ([]outputFile, error) {
	if s.ends && s.part.To <= s.part.From {
		return nil, fmt.Errorf("--from %g --to %g: the end must come after the beginning", s.part.From, s.part.To)
	}
	var files []outputFile
	if s.svg != "" {
		files = append(files, s.file("svg", s.svg, of, s.draw))
	}
	form, partial := s.form(text)
	if s.svg == "" && !partial && !s.whole() {
		return nil, fmt.Errorf("--from and --to say which part a diagram shows, and there is none: give --svg, or leave them out")
	}
	if s.part.Clocks {
		if err := trace.CheckClocks(n); err != nil {
			return nil, fmt.Errorf("--clocks: %w", err)
		}
		if s.svg == "" && !partial && !s.prints {
			return nil, fmt.Errorf("--clocks writes clocks into a diagram, and there is none: give --trace FILE.svg, or leave it out")
		}
	}
	if s.trace == "" {
		return files, nil
	}
	at := algorithm.None
	if ext := lowerExt(s.trace); ext == ".log" || ext == ".shiviz" {
		at = 0 // a log has nothing that is nowhere
	}
	return append(files, s.file("trace", s.trace, func(algorithm.ID) (*trace.Trace, error) { return of(at) }, form)), nil
}

// file returns a file that is made of what happened.
func (s *traceOutput) file(flag, path string, of func(at algorithm.ID) (*trace.Trace, error), form traceEncoder) outputFile {
	f := outputFile{flag: flag, path: path, note: new(string)}
	f.content = func() ([]byte, error) {
		t, err := of(algorithm.None)
		if err != nil || t == nil {
			return nil, err
		}
		data, note, err := form(t)
		*f.note = note
		return data, err
	}
	return f
}

// A traceEncoder makes what is written of a trace, and says what part of it that is.
type traceEncoder func(t *trace.Trace) (data []byte, part string, err error)

// form returns how --trace is written, and whether that is a diagram, of which
// there may be a part.
func (s *traceOutput) form(text func(t *trace.Trace) string) (form traceEncoder, partial bool) {
	switch lowerExt(s.trace) {
	case ".json":
		return func(t *trace.Trace) ([]byte, string, error) {
			data, err := t.JSON()
			return data, "", err
		}, false
	case ".log", ".shiviz":
		return func(t *trace.Trace) ([]byte, string, error) { return []byte(t.ShiViz()), "", nil }, false
	case ".svg":
		return s.draw, true
	case ".txt":
		if text != nil {
			return func(t *trace.Trace) ([]byte, string, error) { return []byte(text(t)), "", nil }, false
		}
		return func(t *trace.Trace) ([]byte, string, error) {
			if err := s.part.Check(t); err != nil {
				return nil, "", err
			}
			return []byte(t.Text(trace.TextOptions{From: s.part.From, To: s.part.To, Clocks: s.part.Clocks})), "", nil
		}, true
	}
	return nil, false // the flag knows no other
}

// draw makes a picture.
func (s *traceOutput) draw(t *trace.Trace) ([]byte, string, error) {
	if s.closeup != nil && s.whole() {
		t = s.closeup(t)
	}
	l, err := t.Layout(s.part)
	if err != nil {
		return nil, "", err
	}
	return []byte(l.SVG()), l.Window.Part, nil
}

func lowerExt(path string) string { return strings.ToLower(filepath.Ext(path)) }

// pictureFile returns the file that a flag asks for, or none if it is not given.
func pictureFile(flag, path string, draw func() string) []outputFile {
	if path == "" {
		return nil
	}
	return []outputFile{{flag: flag, path: path, content: func() ([]byte, error) { return []byte(draw()), nil }}}
}

// maxEvents is how many events are kept: more than anybody can look at, and as
// much as fits into memory without thinking about it.
const maxEvents = 500_000

// A recorder keeps what happens in a run, and makes files of it.
type recorder struct {
	trace.Trace
	story  func(t *trace.Trace) string // how it is told as text, if not as a diagram
	missed bool                        // there were more events than are kept
	ended  string                      // how far the run was when it was interrupted, if it was
}

// newRecorder returns a recorder for a run of an algorithm.
func newRecorder(nodes int, spec algorithm.Spec) *recorder {
	return &recorder{Trace: trace.Trace{N: nodes, Title: spec.Title, Algorithm: spec.Name, Kinds: spec.Kinds, Unit: scenario.T}}
}

// observe keeps an event.
func (r *recorder) observe(e trace.Event) {
	if len(r.Events) == maxEvents {
		r.missed = true
		return
	}
	r.Events = append(r.Events, e)
}

// interrupted notes that the run was interrupted when it was so far; empty means
// that it was not. All files say so.
func (r *recorder) interrupted(after string) { r.ended = after }

// kept returns the trace as it is to be written. Where it ends early, the title
// and a note at this process, or nowhere, say so.
func (r *recorder) kept(at algorithm.ID) *trace.Trace {
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
		note.Name += fmt.Sprintf("; what came after the first %d events was not kept", maxEvents)
	}
	t.Events = append(slices.Clip(t.Events), note)
	return &t
}

// files returns the files of a scene. They are made when the run is over.
func (r *recorder) files(s *traceOutput) ([]outputFile, error) {
	return s.files(r.N, r.story, func(at algorithm.ID) (*trace.Trace, error) {
		if r.missed && r.ended == "" { // of a run that came to its end it must hold everything
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave --trace out", maxEvents)
		}
		return r.kept(at), nil
	})
}
