package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A Scene is what a command is asked to write of what happened: a picture, the
// events, and which part of the run they show.
type Scene struct {
	SVG, Trace string
	Prints     bool                              // the command prints a diagram anyway
	Closeup    func(t *trace.Trace) *trace.Trace // what a picture shows unless a part was asked for; nil shows all
	part       trace.Options
	partial    bool // it was asked for a part
	ends       bool // at some time
}

// Trails says in the help of --trace what it can write.
const Trails = ".json is JSON, .log or .shiviz a log for ShiViz, .svg a space-time diagram, .txt the same as text"

// Define defines --svg, --trace, --from, --to and --clocks. --trace may be what also ends so.
func (s *Scene) Define(fs *pflag.FlagSet, also ...string) {
	fs.Var(askFile(&s.SVG, ".svg"), "svg", "write a space-time diagram to this `FILE`")
	s.DefineTrace(fs, also...)
	s.DefinePart(fs)
}

// DefineTrace defines --trace.
func (s *Scene) DefineTrace(fs *pflag.FlagSet, also ...string) {
	fs.Var(askFile(&s.Trace, append(also, ".json", ".log", ".shiviz", ".svg", ".txt")...), "trace", "write what happened to this `FILE`: "+Trails)
}

// DefinePart defines --from and --to, and what else there is to say of a diagram.
func (s *Scene) DefinePart(fs *pflag.FlagSet) {
	s.DefineWindow(fs, "T or steps")
	fs.BoolVar(&s.part.Clocks, "clocks", false, "write Lamport's clock and the vector clock beside what happens in a diagram")
}

// DefineWindow defines --from and --to, times in these units.
func (s *Scene) DefineWindow(fs *pflag.FlagSet, units string) {
	fs.Var(tellMoment{&s.part.From, &s.partial}, "from", "where the diagram begins, in "+units+" (default where there is something to see)")
	fs.Var(tellMoment{&s.part.To, &s.ends}, "to", "where it ends (default when it can still be read)")
	for _, flag := range []string{"from", "to"} {
		fs.Lookup(flag).DefValue = ""
	}
}

// Usually lets a diagram show this part, unless one was asked for.
func (s *Scene) Usually(from, to float64) {
	if s.whole() {
		s.part.From, s.part.To = from, to
	}
}

// Text returns how a diagram is printed.
func (s *Scene) Text() trace.TextOptions {
	return trace.TextOptions{Width: Width, Clocks: s.part.Clocks}
}

// A tellMoment is a time as people write it.
type tellMoment struct {
	to    *float64
	given *bool
}

func (m tellMoment) Set(s string) error {
	ticks, err := scenario.ParseTime(s)
	if err != nil {
		return fmt.Errorf("want a time from 0 to %d, such as 2 or 0.5", scenario.MaxTime)
	}
	*m.to, *m.given = float64(ticks)/scenario.T, true
	return nil
}

func (m tellMoment) String() string { return "" }

func (m tellMoment) Type() string { return "TIME" }

// Asked reports whether anything is to be written.
func (s *Scene) Asked() bool { return s.SVG+s.Trace != "" }

// whole reports whether no part of the run was asked for.
func (s *Scene) whole() bool { return !s.partial && !s.ends }

// Files returns the files that are asked for of so many processes. They are made when the run is over:
// of returns what happened, or nil if there is nothing to write; what has no
// process, it may put at the one that it is given, if that is not None. Text is
// how it is told as text, if not as a diagram.
func (s *Scene) Files(n int, text func(t *trace.Trace) string, of func(at algorithm.ID) (*trace.Trace, error)) ([]tellFile, error) {
	if s.ends && s.part.To <= s.part.From {
		return nil, fmt.Errorf("--from %g --to %g: the end must come after the beginning", s.part.From, s.part.To)
	}
	var files []tellFile
	if s.SVG != "" {
		files = append(files, s.file("svg", s.SVG, of, s.draw))
	}
	form, partial := s.form(text)
	if s.SVG == "" && !partial && !s.whole() {
		return nil, fmt.Errorf("--from and --to say which part a diagram shows, and there is none: give --svg, or leave them out")
	}
	if s.part.Clocks {
		if err := trace.CheckClocks(n); err != nil {
			return nil, fmt.Errorf("--clocks: %w", err)
		}
		if s.SVG == "" && !partial && !s.Prints {
			return nil, fmt.Errorf("--clocks writes clocks into a diagram, and there is none: give --trace FILE.svg, or leave it out")
		}
	}
	if s.Trace == "" {
		return files, nil
	}
	at := algorithm.None
	if ext := extension(s.Trace); ext == ".log" || ext == ".shiviz" {
		at = 0 // a log has nothing that is nowhere
	}
	return append(files, s.file("trace", s.Trace, func(algorithm.ID) (*trace.Trace, error) { return of(at) }, form)), nil
}

// file returns a file that is made of what happened.
func (s *Scene) file(flag, path string, of func(at algorithm.ID) (*trace.Trace, error), form tellMaker) tellFile {
	f := tellFile{Flag: flag, Path: path, Note: new(string)}
	f.Make = func() ([]byte, error) {
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

// A tellMaker makes what is written of a trace, and says what part of it that is.
type tellMaker func(t *trace.Trace) (data []byte, part string, err error)

// form returns how --trace is written, and whether that is a diagram, of which
// there may be a part.
func (s *Scene) form(text func(t *trace.Trace) string) (form tellMaker, partial bool) {
	switch extension(s.Trace) {
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
func (s *Scene) draw(t *trace.Trace) ([]byte, string, error) {
	if s.Closeup != nil && s.whole() {
		t = s.Closeup(t)
	}
	l, err := t.Layout(s.part)
	if err != nil {
		return nil, "", err
	}
	return []byte(l.SVG()), l.Window.Part, nil
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Picture returns the file that a flag asks for, or none if it is not given.
func Picture(flag, path string, draw func() string) []tellFile {
	if path == "" {
		return nil
	}
	return []tellFile{{Flag: flag, Path: path, Make: func() ([]byte, error) { return []byte(draw()), nil }}}
}
