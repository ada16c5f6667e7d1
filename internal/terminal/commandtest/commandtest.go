// Package commandtest tests a command: what it prints, what it refuses, and what all
// commands of this repository have in common.
package commandtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/terminal"
)

// A Program is a command with subcommands.
type Program struct {
	Root func() *cobra.Command
	Run  func(ctx context.Context, args []string, ascii bool, stdout, stderr io.Writer) int
}

// Do runs a command line in this process.
func (p Program) Do(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = p.Run(context.Background(), args, false, &out, &errs)
	return code, out.String(), errs.String()
}

// OK runs a command line that must succeed and print nothing on standard error.
func (p Program) OK(t *testing.T, line string) string {
	t.Helper()
	code, stdout, stderr := p.Do(strings.Fields(line)...)
	if code != 0 || stderr != "" {
		t.Fatalf("%s: exit code %d, stderr %q", line, code, stderr)
	}
	return stdout
}

// Refused runs a command line that must be refused: exit code 2, nothing on standard
// output, and one line on standard error that mentions something.
func (p Program) Refused(t *testing.T, mentions string, args ...string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%.200q: panic: %v", args, r)
		}
	}()
	code, stdout, stderr := p.Do(args...)
	if code != 2 || stdout != "" {
		t.Errorf("%.200q: exit code %d and stdout %.100q, want 2 and nothing", args, code, stdout)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || !strings.HasPrefix(stderr, p.Root().Name()+": ") {
		t.Errorf("%.200q: stderr %.300q, want one line", args, stderr)
	}
	if !strings.Contains(stderr, mentions) || utf8.RuneCountInString(stderr) > 306 {
		t.Errorf("%.200q: stderr %.400q, want up to 306 characters that mention %q", args, stderr, mentions)
	}
}

// commands returns all visible commands, the root first.
func (p Program) commands() []*cobra.Command {
	all := []*cobra.Command{p.Root()}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].Commands() {
			if !c.Hidden {
				all = append(all, c)
			}
		}
	}
	return all
}

// pathOf returns the arguments that call a command.
func pathOf(c *cobra.Command, more ...string) []string {
	return append(strings.Fields(c.CommandPath())[1:], more...)
}

// Common tests what holds of every program: its help fits one screen, every command has
// help, no flag takes a value of another kind, and errors stay on one line.
func (p Program) Common(t *testing.T) {
	t.Run("help fits one screen", func(t *testing.T) {
		for _, line := range []string{"--help", "help"} {
			text := p.OK(t, line)
			if n := strings.Count(text, "\n"); n > 23 { // and the prompt
				t.Errorf("%s has %d lines:\n%s", line, n, text)
			}
			for l := range strings.Lines(text) {
				if utf8.RuneCountInString(l) > terminal.ScreenWidth+1 {
					t.Errorf("%s: too wide: %s", line, l)
				}
			}
			for _, c := range p.Root().Commands() {
				if !c.Hidden && !strings.Contains(text, c.Name()) {
					t.Errorf("%s does not name %s", line, c.Name())
				}
			}
		}
	})
	t.Run("every command has help", func(t *testing.T) {
		for _, c := range p.commands() {
			path := strings.Join(pathOf(c), " ")
			for _, line := range []string{path + " --help", path + " -h", "help " + path} {
				if text := p.OK(t, line); !strings.Contains(text, "Usage:\n  "+c.CommandPath()) {
					t.Errorf("%s: no usage:\n%s", line, text)
				}
			}
		}
	})
	t.Run("flags refuse values of another kind", func(t *testing.T) {
		for _, c := range p.commands() {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				switch f.Value.Type() {
				case "bool", "N", "LIST", "TIME", "TIMES", "SIZE", "HOST:PORT":
					for _, v := range []string{"nonsense", "-1"} {
						p.Refused(t, "--"+f.Name, pathOf(c, "--"+f.Name+"="+v)...)
					}
				}
			})
		}
	})
	t.Run("errors stay on one line", func(t *testing.T) {
		for _, args := range [][]string{{"two\nlines"}, {"--two\nlines"}, {"help", "a\nb"}, {""}, {"\x1b[2J"}, {strings.Repeat("long", 2000)}} {
			p.Refused(t, "", args...)
		}
		if _, _, stderr := p.Do("\x1b[2J"); strings.Contains(stderr, "\x1b") {
			t.Errorf("a terminal would obey %q", stderr)
		}
	})
}

// Completions tests shell completion. Each test is a command line, with a blank before what
// is completed; words that are offered, and the directive, such as :4, no files, or :8, files
// that end so; and words that are not offered.
func (p Program) Completions(t *testing.T, all [][3]string) {
	for _, test := range all {
		code, stdout, _ := p.Do(append([]string{"__complete"}, strings.Split(test[0], " ")...)...)
		var offered []string
		for line := range strings.Lines(stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			offered = append(offered, word)
		}
		if code != 0 {
			t.Errorf("%q: exit code %d", test[0], code)
		}
		for word := range strings.FieldsSeq(test[1]) {
			if !slices.Contains(offered, word) {
				t.Errorf("%q: %q is not offered: %q", test[0], word, offered)
			}
		}
		for word := range strings.FieldsSeq(test[2]) {
			if slices.Contains(offered, word) {
				t.Errorf("%q: %q is offered", test[0], word)
			}
		}
	}
}

// Code is a command of test scripts: code CODE COMMAND... runs a command that must exit
// with this code.
func Code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code CODE COMMAND [ARGUMENT...]")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("cannot run %v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
