package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/words"
)

// DefaultASCII reports whether the terminal of this process shows only ASCII.
func DefaultASCII() bool { return !localeIsUnicode(os.Getenv) }

// Run executes one command line of a program and returns the exit code. It is interrupted
// when ctx ends. ascii is the default of --ascii.
func Run(ctx context.Context, root *cobra.Command, args []string, ascii bool, stdout, stderr io.Writer) int {
	screen := newScreenWriter(stdout)
	out := bufio.NewWriter(screen)
	root.PersistentFlags().BoolVar(&screen.ascii, "ascii", ascii, "ASCII output only; the default if the locale is not UTF-8")
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil && flushed != nil {
		err = fmt.Errorf("cannot write output: %w", flushed)
	}
	return reportError(err, root.Name(), stderr)
}

// Exit codes, as docs/exit-codes.md lists them. Commands that hold a lock have more.
const (
	ExitFound      = 1 // a run broke a property, or did not end as expected
	exitUsage      = 2 // the command line or its input is wrong
	exitUnfinished = 3 // stopped early by a time or memory limit, or by an interrupt
)

// reportError prints an error of a program and returns its exit code.
func reportError(err error, program string, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	var f Findings
	var u Unfinished
	var e ExitError
	found, unfinished := errors.As(err, &f), errors.As(err, &u)
	lines, code := []string{err.Error()}, exitUsage
	switch {
	case found && unfinished: // an interrupt does not undo a finding
		lines, code = append(f.Lines, u.Why), ExitFound
	case found:
		lines, code = f.Lines, ExitFound
	case unfinished:
		code = exitUnfinished
	case errors.As(err, &e):
		if lines, code = []string{e.Why}, e.Code; e.Why == "" {
			lines = nil
		}
	}
	for _, line := range lines {
		if code == exitUsage {
			line = shorten(oneLine(line))
		}
		Notify(stderr, program, "%s", line)
	}
	return code
}

// oneLine puts a message, which may contain text from anywhere, on one printable line.
func oneLine(s string) string { return words.Printable(strings.Join(strings.Fields(s), " ")) }

// Notify prints a message of a program on standard error.
func Notify(stderr io.Writer, program, format string, args ...any) {
	fmt.Fprintf(stderr, "%s: %s\n", program, oneLine(fmt.Sprintf(format, args...)))
}

// shorten cuts the middle out of a very long message: its beginning says what
// failed, its end what to do.
func shorten(line string) string {
	const longest, half = 290, 140
	if r := []rune(line); len(r) > longest {
		return string(r[:half]) + " ... " + string(r[len(r)-half:])
	}
	return line
}
