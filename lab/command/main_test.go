package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/terminal/commandtest"
)

// program is this command.
var program = commandtest.Program{Root: newRoot, Run: Run}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"stile-lab": func() {
		os.Exit(Run(context.Background(), os.Args[1:], false, os.Stdout, os.Stderr))
	}})
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
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": commandtest.Code},
	})
}

// do runs the command in this process.
func do(args ...string) (code int, stdout, stderr string) { return program.Do(args...) }

// ok runs a command that must succeed and print nothing on standard error.
func ok(t *testing.T, line string) string { t.Helper(); return program.OK(t, line) }

// The command has what all commands have in common.
func TestCommon(t *testing.T) {
	t.Parallel()
	program.Common(t)
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
