package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A wrong command line is refused with a hint, and no file is written or changed.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("keep.svg", []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, mentions string }{
		{"frobnicate", "'stile --help'"},
		{"--frobnicate", "'stile --help'"},
		{"help frobnicate", "'stile --help'"},
		{"completion fish-and-chips", "shell"},
		{"statsu", "did you mean status?"},
		{"serve --memory --data x", "--data"},
		{"serve --nodes 3 --join 127.0.0.1:1", "--join"},
		{"serve --join 127.0.0.1:1 --lease 5", "--lease"},
		{"serve --ca x", "--cert"},
		{"lock", "lock"},
		{"lock demo --nonblock --wait 3", "--wait"},
		{"exec demo", "command"},
		{"force-release", "'stile locks'"},
		{"evict", "'stile members'"},
		{"move-session", "'stile locks --json'"},
		{"choose", "'stile-lab algorithms'"},
		{"choose x/=nothing", "nothing"},
		{"backup", "new file"},
		{"backup keep.svg", "exists"},
		{"backup x --data y --addr 127.0.0.1:1", "--addr"},
		{"backup x --data no-such-directory", "no-such-directory"},
		{"recover", "--data"},
		{"recover --data no-such-directory", "no-such-directory"},
		{"recover --data x --backup no-such-file", "no-such-file"},
		{"recover --data x --backup keep.svg", "not a stile backup"},
		{"recover --data x --epoch-at-least 0", "from 1 to"},
		{"status here", "here"},
		{"status --addr nowhere", "HOST:PORT"},
		{"cert node x.stile", "'stile-lab replay'"},
		{"cert node db1", "--host"},
	} {
		program.Refused(t, test.mentions, strings.Fields(test.args)...)
	}
	if data, err := os.ReadFile("keep.svg"); err != nil || string(data) != "precious" {
		t.Errorf("keep.svg was changed: %q, %v", data, err)
	}
	if left, _ := filepath.Glob("*"); len(left) != 1 {
		t.Errorf("files were written: %q", left)
	}
}
