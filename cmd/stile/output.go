package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// An outcome is the result of a command.
type outcome struct {
	json    any              // the result as JSON
	text    func(p *printer) // prints the result as text
	stopped string           // progress when the user interrupted, such as "3 of 8 runs"; empty if it finished
	wrong   error            // what the command found wrong, or nil
}

// runAndReport runs a command that writes files: it checks first that the files can
// be written, then calls run, writes the files, and prints the outcome. The outcome is
// printed even if the files cannot be written after all.
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

// printNotes prints the notes on the files that were written.
func printNotes(w io.Writer, files []outputFile) error {
	p := newPrinter(w)
	first := true
	for _, f := range files {
		if f.note == nil || *f.note == "" {
			continue
		}
		if first {
			p.gap()
		}
		first = false
		p.text(0, fmt.Sprintf("%s shows %s.", f.path, *f.note))
	}
	return p.err
}

// print writes the outcome as JSON or as text.
func (r outcome) print(w io.Writer, asJSON bool) error { return r.printWith(w, asJSON, true) }

// printWith is print; written says whether the files were written.
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
		p.text(0, "Interrupted after "+r.stopped+": these are the results so far.")
	}
	return p.err
}

// err is the error that the outcome stands for.
func (r outcome) err() error {
	if r.stopped == "" {
		return r.wrong
	}
	return errors.Join(r.wrong, interruptedAfter(r.stopped))
}

// interruptedAfter is the error of a command that was interrupted at this point.
func interruptedAfter(after string) error { return unfinished{"interrupted after " + after} }

// findings is the error of a command that did its work and found something wrong,
// one finding in each line.
type findings struct{ lines []string }

func (f findings) Error() string { return strings.Join(f.lines, "; ") }

// unfinished is the error of a command that could not finish.
type unfinished struct{ why string }

func (u unfinished) Error() string { return u.why }

// maxFindings is the number of findings that are printed.
const maxFindings = 5

// findingsOf returns findings for everything in all, or nil if it is empty. It prints
// the first ones and counts the others, as "3 more runs with violations" where one is
// "run" and with is " with violations".
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

// violationFindings returns findings for the violations of a run, or nil.
func violationFindings(all []sim.Violation) error {
	return findingsOf(all, "violation", "", violationText)
}

// violationText says which property was violated, when and how.
func violationText(v sim.Violation) string {
	return fmt.Sprintf("violation of %s at %s: %v", v.Property, scenario.FormatTime(v.At), v)
}

// exitError is the error of a command that has its own exit codes. If why is empty
// nothing is printed.
type exitError struct {
	code int
	why  string
}

func (e exitError) Error() string { return e.why }

// flush writes at once what was printed so far.
func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
