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

// An outcome is what came of a command.
type outcome struct {
	json    any              // for programs
	text    func(p *printer) // for people
	stopped string           // how far it was when the user interrupted, such as "3 of 8 runs"; empty if it came to its end
	wrong   error            // what was found wrong, or nil
}

// runAndReport is how every command that runs something goes: it looks whether the files
// that are asked for can be written, runs, writes them, and prints the report,
// which is not lost if they could not be written after all.
func runAndReport(w io.Writer, asJSON bool, files []outputFile, run func() (outcome, error)) error {
	if err := checkFiles(files); err != nil {
		return err
	}
	r, err := run()
	if err != nil {
		return err
	}
	failed := writeFiles(files)
	if err := r.printWith(w, asJSON, failed == nil); err != nil {
		return err
	}
	if failed == nil && !asJSON {
		if err := printNotes(w, files); err != nil {
			return err
		}
	}
	return cmp.Or(failed, r.err())
}

// printNotes says what is to be told of files that were written.
func printNotes(w io.Writer, files []outputFile) error {
	p := newPrinter(w)
	told := false
	for _, f := range files {
		if f.note == nil || *f.note == "" {
			continue
		}
		if !told {
			p.gap()
		}
		told = true
		p.text(0, fmt.Sprintf("%s shows %s.", f.path, *f.note))
	}
	return p.err
}

// print writes the report, for programs or for people.
func (r outcome) print(w io.Writer, asJSON bool) error { return r.printWith(w, asJSON, true) }

// printWith is Print, for people who are told whether the files were written.
func (r outcome) printWith(w io.Writer, asJSON, written bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r.json)
	}
	p := newPrinter(w)
	p.written = written
	r.text(p)
	if r.stopped != "" {
		p.gap()
		p.text(0, "Interrupted after "+r.stopped+": this is what there was by then.")
	}
	return p.err
}

// err is what is wrong with what came of a command.
func (r outcome) err() error {
	if r.stopped == "" {
		return r.wrong
	}
	return errors.Join(r.wrong, interruptedAfter(r.stopped))
}

// interruptedAfter is the error of a command that the user interrupted when it was so
// far.
func interruptedAfter(after string) error { return unfinished{"interrupted after " + after} }

// findings is the error of a command that did its work and found something wrong:
// each line says one thing.
type findings struct{ lines []string }

func (f findings) Error() string { return strings.Join(f.lines, "; ") }

// unfinished is the error of a command that could not come to an end.
type unfinished struct{ why string }

func (u unfinished) Error() string { return u.why }

// maxFindings is how many of the things that were found wrong are told.
const maxFindings = 5

// findingsOf is the error of a command that found all this wrong, or nil if that is
// nothing. It tells each of the first, and counts the others by the words for
// one of them and for what is wrong with it.
func findingsOf[T any](all []T, one, with string, line func(T) string) error {
	if len(all) == 0 {
		return nil
	}
	var f findings
	for _, x := range all[:min(len(all), maxFindings)] {
		f.lines = append(f.lines, line(x))
	}
	if n := len(all) - maxFindings; n > 0 {
		f.lines = append(f.lines, "and "+words.Plural(n, "more "+one)+with)
	}
	return f
}

// violationFindings is the error of a run that broke properties, or nil.
func violationFindings(all []sim.Violation) error {
	return findingsOf(all, "violation", "", violationText)
}

// violationText says which property was broken when, and how.
func violationText(v sim.Violation) string {
	return fmt.Sprintf("violation of %s at %s: %v", v.Property, scenario.FormatTime(v.At), v)
}

// exitError is the error of a command that ends with a code of its own. If Why is empty
// there is nothing more to say.
type exitError struct {
	code int
	why  string
}

func (e exitError) Error() string { return e.why }

// flush writes at once what was printed so far, for those who wait for it.
func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
