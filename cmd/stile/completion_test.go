package main

import (
	"strings"
	"testing"
)

// The shell completes commands, arguments and flags.
func TestCompletion(t *testing.T) {
	t.Parallel()
	program.Completions(t, [][3]string{
		{"", "serve exec locks :4", "sim raymond"},
		{"help ", "serve completion :4", "bash"},
		{"help completion ", "bash zsh :4", "serve"},
		{"cert ", "ca node :4", "bash"},
		{"cert node ", ":4", "ca"},
		{"cert node db1 --host ", ":4", ""},
		{"cert ca --dir ", ":16", ""},
		{"backup ", ":0", ""},
		{"backup x ", ":4", ""},
		{"recover ", ":4", ""},
		{"recover --data ", ":16", ""},
		{"recover --backup ", ":0", ""},
	})
}

// --version prints the same as the command.
func TestVersionFlag(t *testing.T) {
	if flag, command := ok(t, "--version"), ok(t, "version"); flag != command || !strings.HasPrefix(flag, "stile ") {
		t.Errorf("stile --version says %q, stile version %q", flag, command)
	}
}
