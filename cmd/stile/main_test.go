package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stile-lock/stile/internal/live/bench"
	"github.com/stile-lock/stile/internal/live/child"
)

func TestMain(m *testing.M) {
	child.Watchdog() // this program is stile, too, and so what guards its commands
	bench.Worker()
	testscript.Main(m, map[string]func(){"stile": main})
}

// TestScripts runs testdata/*.txt. STILE_UPDATE=1 rewrites what they expect.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("STILE_UPDATE") != "",
		Setup: func(e *testscript.Env) error { // which cannot have bytes in its scripts
			b, err := os.ReadFile("../../internal/live/replay/testdata/small.rec")
			return errors.Join(err, os.WriteFile(filepath.Join(e.WorkDir, "small.rec"), b, 0o666))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code},
	})
}

// code CODE COMMAND... runs a command that must end with this exit code.
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
	code = cliRun(args, &out, &errs)
	return code, out.String(), errs.String()
}
