package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// A Report is what came of a command.
type Report struct {
	JSON    any           // for programs
	Text    func(p *Page) // for people
	Stopped string        // how far it was when the user interrupted, such as "3 of 8 runs"; empty if it came to its end
	Wrong   error         // what was found wrong, or nil
}

// tellRun is how every command that runs something goes: it looks whether the files
// that are asked for can be written, runs, writes them, and prints the report,
// which is not lost if they could not be written after all.
func tellRun(w io.Writer, asJSON bool, files []tellFile, run func() (Report, error)) error {
	if err := checkAll(files); err != nil {
		return err
	}
	r, err := run()
	if err != nil {
		return err
	}
	failed := writeAll(files)
	if err := r.print(w, asJSON, failed == nil); err != nil {
		return err
	}
	if failed == nil && !asJSON {
		if err := tellNotes(w, files); err != nil {
			return err
		}
	}
	return cmp.Or(failed, r.err())
}

// tellNotes says what is to be told of files that were written.
func tellNotes(w io.Writer, files []tellFile) error {
	p := NewPage(w)
	told := false
	for _, f := range files {
		if f.Note == nil || *f.Note == "" {
			continue
		}
		if !told {
			p.Gap()
		}
		told = true
		p.Text(0, fmt.Sprintf("%s shows %s.", f.Path, *f.Note))
	}
	return p.err
}

// Print writes the report, for programs or for people.
func (r Report) Print(w io.Writer, asJSON bool) error { return r.print(w, asJSON, true) }

// print is Print, for people who are told whether the files were written.
func (r Report) print(w io.Writer, asJSON, written bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r.JSON)
	}
	p := NewPage(w)
	p.Written = written
	r.Text(p)
	if r.Stopped != "" {
		p.Gap()
		p.Text(0, "Interrupted after "+r.Stopped+": this is what there was by then.")
	}
	return p.err
}

// err is what is wrong with what came of a command.
func (r Report) err() error {
	if r.Stopped == "" {
		return r.Wrong
	}
	return errors.Join(r.Wrong, Interrupted(r.Stopped))
}

// Interrupted is the error of a command that the user interrupted when it was so
// far.
func Interrupted(after string) error { return Unfinished{"interrupted after " + after} }

// Found is the error of a command that did its work and found something wrong:
// each line says one thing.
type Found struct{ Lines []string }

func (f Found) Error() string { return strings.Join(f.Lines, "; ") }

// Unfinished is the error of a command that could not come to an end.
type Unfinished struct{ Why string }

func (u Unfinished) Error() string { return u.Why }

// atMost is how many of the things that were found wrong are told.
const atMost = 5

// Wrong is the error of a command that found all this wrong, or nil if that is
// nothing. It tells each of the first, and counts the others by the words for
// one of them and for what is wrong with it.
func Wrong[T any](all []T, one, with string, line func(T) string) error {
	if len(all) == 0 {
		return nil
	}
	var f Found
	for _, x := range all[:min(len(all), atMost)] {
		f.Lines = append(f.Lines, line(x))
	}
	if n := len(all) - atMost; n > 0 {
		f.Lines = append(f.Lines, "and "+words.Plural(n, "more "+one)+with)
	}
	return f
}

// Violations is the error of a run that broke properties, or nil.
func Violations(all []sim.Violation) error { return Wrong(all, "violation", "", Violation) }

// Violation says which property was broken when, and how.
func Violation(v sim.Violation) string {
	return fmt.Sprintf("violation of %s at %s: %v", v.Property, scenario.FormatTime(v.At), v)
}

// Ended is the error of a command that ends with a code of its own. If Why is empty
// there is nothing more to say.
type Ended struct {
	Code int
	Why  string
}

func (e Ended) Error() string { return e.Why }

// Flush writes at once what was printed so far, for those who wait for it.
func Flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
