package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A traceOutput holds the flags for files that show a run: a diagram, the events, and
// which part of the run they show.
type traceOutput struct {
	svg, trace string
	prints     bool                              // the command prints a diagram anyway
	closeup    func(t *trace.Trace) *trace.Trace // the part to draw unless one was requested; nil draws all
	part       trace.Options
	why        bool // --why: whether the run's reasons are recorded and shown
	partial    bool // --from was given
	ends       bool // --to was given
}

// traceFormats describes the formats of --trace in its help.
const traceFormats = ".json for JSON, .log or .shiviz for a ShiViz log, .svg for a space-time diagram, .txt for the same as text"

// define defines --svg, --trace, --from, --to and --clocks. also lists more extensions
// for --trace.
func (s *traceOutput) define(fs *pflag.FlagSet, also ...string) {
	fs.Var(terminal.OutputFileFlag(&s.svg, ".svg"), "svg", "SVG `FILE` for a space-time diagram")
	s.defineTrace(fs, also...)
	s.definePart(fs)
}

// defineTrace defines --trace.
func (s *traceOutput) defineTrace(fs *pflag.FlagSet, also ...string) {
	fs.Var(terminal.OutputFileFlag(&s.trace, append(also, ".json", ".log", ".shiviz", ".svg", ".txt")...), "trace", "`FILE` for the trace: "+traceFormats)
}

// definePart defines the flags that say what diagrams show: --from, --to and --clocks.
func (s *traceOutput) definePart(fs *pflag.FlagSet) {
	s.defineWindow(fs, "T or steps")
	fs.BoolVar(&s.part.Clocks, "clocks", false, "show Lamport clocks and vector clocks beside events in a diagram")
}

// defineWhy defines --why.
func (s *traceOutput) defineWhy(fs *pflag.FlagSet) {
	fs.BoolVar(&s.why, "why", false, "say why each process does what it does, by the rules of its algorithm")
}

// checkWhy refuses --why where only a trace shows reasons, and none is written.
func (s *traceOutput) checkWhy() error {
	if s.why && s.trace == "" {
		return errors.New("--why has no effect without a trace: give --trace FILE.txt or FILE.json too")
	}
	return nil
}

// defineWindow defines --from and --to, in these units.
func (s *traceOutput) defineWindow(fs *pflag.FlagSet, units string) {
	fs.Var(momentFlag{&s.part.From, &s.partial}, "from", "start of the diagram, in "+units+" (default where events begin)")
	fs.Var(momentFlag{&s.part.To, &s.ends}, "to", "end of the diagram (default as far as it is readable)")
	for _, flag := range []string{"from", "to"} {
		fs.Lookup(flag).DefValue = ""
	}
}

// setDefaultWindow makes diagrams show this part, unless one was requested.
func (s *traceOutput) setDefaultWindow(from, to float64) {
	if s.whole() {
		s.part.From, s.part.To = from, to
	}
}

// textOptions returns the options of a printed diagram.
func (s *traceOutput) textOptions() trace.TextOptions {
	return trace.TextOptions{Width: terminal.ScreenWidth, Clocks: s.part.Clocks, Why: s.why}
}

// A momentFlag takes a time of a run.
type momentFlag struct {
	to    *float64
	given *bool
}

func (m momentFlag) Set(s string) error {
	ticks, err := scenario.ParseTime(s)
	if err != nil {
		return fmt.Errorf("must be a time from 0 to %d, such as 2 or 0.5", script.MaxTime)
	}
	*m.to, *m.given = float64(ticks)/scenario.T, true
	return nil
}

func (m momentFlag) String() string { return "" }

func (m momentFlag) Type() string { return "TIME" }

// requested reports whether any file was requested.
func (s *traceOutput) requested() bool { return s.svg+s.trace != "" }

// whole reports whether no part of the run was requested.
func (s *traceOutput) whole() bool { return !s.partial && !s.ends }

// files returns the requested files of a run of n processes. They are made when the
// run is over: of returns the trace, or nil if there is nothing to write. If at is not
// None, of may place notes that belong to no process there. text formats the trace as
// text; nil means a diagram.
func (s *traceOutput) files(n int, text func(t *trace.Trace) string, of func(at algorithm.ID) (*trace.Trace, error)) ([]terminal.OutputFile, error) {
	if s.ends && s.part.To <= s.part.From {
		return nil, fmt.Errorf("--from %g --to %g: the end must come after the start", s.part.From, s.part.To)
	}
	var files []terminal.OutputFile
	if s.svg != "" {
		files = append(files, s.file("svg", s.svg, of, s.draw))
	}
	form, partial := s.form(text)
	if s.svg == "" && !partial && !s.whole() {
		return nil, fmt.Errorf("--from and --to apply only to diagrams: give --svg, or leave them out")
	}
	if s.part.Clocks {
		if err := trace.CheckClocks(n); err != nil {
			return nil, fmt.Errorf("--clocks: %w", err)
		}
		if s.svg == "" && !partial && !s.prints {
			return nil, fmt.Errorf("--clocks applies only to diagrams: give --trace FILE.svg, or leave it out")
		}
	}
	if s.trace == "" {
		return files, nil
	}
	at := algorithm.None
	if ext := lowerExt(s.trace); ext == ".log" || ext == ".shiviz" {
		at = 0 // in a log everything belongs to a process
	}
	return append(files, s.file("trace", s.trace, func(algorithm.ID) (*trace.Trace, error) { return of(at) }, form)), nil
}

// file returns a file that shows the trace.
func (s *traceOutput) file(flag, path string, of func(at algorithm.ID) (*trace.Trace, error), form traceEncoder) terminal.OutputFile {
	f := terminal.OutputFile{Flag: flag, Path: path, Note: new(string)}
	f.Content = func() ([]byte, error) {
		t, err := of(algorithm.None)
		if err != nil || t == nil {
			return nil, err
		}
		data, note, err := form(t)
		*f.Note = note
		return data, err
	}
	return f
}

// A traceEncoder encodes a trace, and says which part of it the data shows.
type traceEncoder func(t *trace.Trace) (data []byte, part string, err error)

// form returns the encoder for --trace, and whether it draws a diagram that can show a
// part of the run.
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
			return []byte(t.Text(trace.TextOptions{From: s.part.From, To: s.part.To, Clocks: s.part.Clocks, Why: s.why})), "", nil
		}, true
	}
	return nil, false // the flag allows no other
}

// draw draws a diagram.
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

// maxEvents is the number of events that are kept: more than anyone can look at, and
// few enough for any machine's memory.
const maxEvents = 500_000

// A recorder keeps the events of a run and makes files of them.
type recorder struct {
	trace.Trace
	story  func(t *trace.Trace) string // formats it as text; nil means a diagram
	missed bool                        // there were more than maxEvents
	ended  string                      // progress when the run was interrupted, if it was
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

// explain keeps the reasons for a step, with the last event.
func (r *recorder) explain(why []trace.Why) {
	if n := len(r.Events); n > 0 && !r.missed {
		r.Events[n-1].Why = append(r.Events[n-1].Why, why...)
	}
}

// interrupted notes that the run was interrupted at this point, if it is not empty.
// All files say so.
func (r *recorder) interrupted(after string) { r.ended = after }

// kept returns the trace to write. If it ends early, the title and a note at this
// process say so.
func (r *recorder) kept(at algorithm.ID) *trace.Trace {
	t := r.Trace
	if r.ended == "" {
		return &t
	}
	t.Title += ", interrupted after " + r.ended
	note := trace.Event{Kind: trace.Note, Proc: at, Peer: algorithm.None, Name: "run interrupted after " + r.ended}
	if n := len(t.Events); n > 0 {
		note.Step, note.At = t.Events[n-1].Step+1, t.Events[n-1].At
	}
	if r.missed {
		note.Name += fmt.Sprintf("; only the first %d events were kept", maxEvents)
	}
	t.Events = append(slices.Clip(t.Events), note)
	return &t
}

// files returns the requested files. They are made when the run is over.
func (r *recorder) files(s *traceOutput) ([]terminal.OutputFile, error) {
	return s.files(r.N, r.story, func(at algorithm.ID) (*trace.Trace, error) {
		if r.missed && r.ended == "" { // the trace of a finished run must be complete
			return nil, fmt.Errorf("the run has more than %d events: make it shorter, or leave out --trace", maxEvents)
		}
		return r.kept(at), nil
	})
}

// watchRun returns a sim.Watch that shows how many things are done, and ends the run when
// the user interrupts.
func watchRun(l *terminal.Progress, things string) sim.Watch {
	return func(p sim.Progress) bool {
		l.Show("%s", runProgress(p, things))
		return l.On()
	}
}

// runProgress says how many things are done.
func runProgress(p sim.Progress, things string) string {
	if p.Of > 0 {
		return fmt.Sprintf("%s of %s %s, %s events", words.Grouped(p.Done), words.Grouped(p.Of), things, words.Grouped(p.Events))
	}
	return words.Grouped(p.Events) + " events"
}
