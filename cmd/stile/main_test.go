package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/child"
)

func TestMain(m *testing.M) {
	child.Watchdog() // the test binary runs as stile, and so also as its watchdog
	testscript.Main(m, map[string]func(){"stile": main})
}

// TestScripts runs testdata/*.txt. STILE_UPDATE=1 rewrites what they expect.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("STILE_UPDATE") != "",
		Setup: func(e *testscript.Env) error { // a script cannot contain binary files
			b, err := os.ReadFile("../../internal/replay/testdata/small.rec")
			return errors.Join(err, os.WriteFile(filepath.Join(e.WorkDir, "small.rec"), b, 0o666))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code},
	})
}

// code CODE COMMAND... runs a command that must exit with this code.
func code(ts *testscript.TestScript, neg bool, args []string) {
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

// stile runs the command in this process.
func stile(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, false, &out, &errs)
	return code, out.String(), errs.String()
}

// ok runs a command that must succeed and print nothing on standard error.
func ok(t *testing.T, line string) string {
	t.Helper()
	code, stdout, stderr := stile(strings.Fields(line)...)
	if code != 0 || stderr != "" {
		t.Fatalf("stile %s: exit code %d, stderr %q", line, code, stderr)
	}
	return stdout
}

// execute runs one command and returns its output and its error.
func execute(c *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

// commands returns all visible commands, the root first.
func commands() []*cobra.Command {
	all := []*cobra.Command{newRoot()}
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
