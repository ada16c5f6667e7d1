package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/terminal/commandtest"
	"github.com/stile-lock/stile/lab/command"
)

// program is this command.
var program = commandtest.Program{Root: newRoot, Run: run}

func TestMain(m *testing.M) {
	child.Watchdog()                                                          // the test binary runs as stile, and so also as its watchdog
	testscript.Main(m, map[string]func(){"stile": main, "stile-lab": func() { // which checks recordings
		os.Exit(command.Run(context.Background(), os.Args[1:], false, os.Stdout, os.Stderr))
	}})
}

// TestScripts runs testdata/*.txt. STILE_UPDATE=1 rewrites what they expect.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("STILE_UPDATE") != "",
		Cmds:          map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": commandtest.Code},
	})
}

// stile runs the command in this process.
func stile(args ...string) (code int, stdout, stderr string) { return program.Do(args...) }

// ok runs a command that must succeed and print nothing on standard error.
func ok(t *testing.T, line string) string { t.Helper(); return program.OK(t, line) }

// The command has what all commands have in common.
func TestCommon(t *testing.T) {
	t.Parallel()
	program.Common(t)
}

// What commands print fits the screen.
func TestOutputFitsTheScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"version", "version --help", "cert --help", "cert ca --help", "cert node --help", "cert ca",
		"cert node db1 --host 10.0.0.5 --host db1.example.com --host db1.internal.example.com --host fd00::1",
	} {
		for text := range strings.Lines(ok(t, line)) {
			if utf8.RuneCountInString(text) > terminal.ScreenWidth+1 {
				t.Errorf("stile %s: too wide: %s", line, text)
			}
		}
	}
}
