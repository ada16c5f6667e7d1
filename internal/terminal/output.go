package terminal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// An Outcome is the result of a command.
type Outcome struct {
	JSON    any              // the result as JSON
	Text    func(p *Printer) // prints the result as text
	Stopped string           // progress when the user interrupted, such as "3 of 8 runs"; empty if it finished
	Wrong   error            // what the command found wrong, or nil
}

// RunAndReport runs a command that writes files: it checks first that the files can
// be written, then calls run, writes the files, and prints the outcome. The outcome is
// printed even if the files cannot be written after all.
func RunAndReport(w io.Writer, asJSON bool, files []OutputFile, run func() (Outcome, error)) error {
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
func printNotes(w io.Writer, files []OutputFile) error {
	p := NewPrinter(w)
	first := true
	for _, f := range files {
		if f.Note == nil || *f.Note == "" {
			continue
		}
		if first {
			p.Gap()
		}
		first = false
		p.Text(0, fmt.Sprintf("%s shows %s.", f.Path, *f.Note))
	}
	return p.err
}

// Print writes the outcome as JSON or as text.
func (r Outcome) Print(w io.Writer, asJSON bool) error { return r.printWith(w, asJSON, true) }

// printWith is print; written says whether the files were written.
func (r Outcome) printWith(w io.Writer, asJSON, written bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r.JSON)
	}
	p := NewPrinter(w)
	p.Written = written
	r.Text(p)
	if r.Stopped != "" {
		p.Gap()
		p.Text(0, "Interrupted after "+r.Stopped+": these are the results so far.")
	}
	return p.err
}

// err is the error that the outcome stands for.
func (r Outcome) err() error {
	if r.Stopped == "" {
		return r.Wrong
	}
	return errors.Join(r.Wrong, InterruptedAfter(r.Stopped))
}

// InterruptedAfter is the error of a command that was interrupted at this point.
func InterruptedAfter(after string) error { return Unfinished{"interrupted after " + after} }

// Findings is the error of a command that did its work and found something wrong,
// one finding in each line.
type Findings struct{ Lines []string }

func (f Findings) Error() string { return strings.Join(f.Lines, "; ") }

// Unfinished is the error of a command that could not finish.
type Unfinished struct{ Why string }

func (u Unfinished) Error() string { return u.Why }

// maxFindings is the number of findings that are printed.
const maxFindings = 5

// FindingsOf returns findings for everything in all, or nil if it is empty. It prints
// the first ones and counts the others, as "3 more runs with violations" where one is
// "run" and with is " with violations".
func FindingsOf[T any](all []T, one, with string, line func(T) string) error {
	if len(all) == 0 {
		return nil
	}
	var f Findings
	for _, x := range all[:min(len(all), maxFindings)] {
		f.Lines = append(f.Lines, line(x))
	}
	if n := len(all) - maxFindings; n > 0 {
		f.Lines = append(f.Lines, "and "+words.Plural(n, "more "+one)+with)
	}
	return f
}

// ExitError is the error of a command that has its own exit codes. If why is empty
// nothing is printed.
type ExitError struct {
	Code int
	Why  string
}

func (e ExitError) Error() string { return e.Why }

// Flush writes at once what was printed so far.
func Flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
