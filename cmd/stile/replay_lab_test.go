package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stile-lock/stile/internal/world/document"
)

// printed returns what 'stile replay FILE --json' prints, on one line.
func printed(t *testing.T, file string) string {
	t.Helper()
	var out, flat bytes.Buffer
	c := newReplay()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SetArgs([]string{file, "--json"})
	failed := c.Execute() // an expectation that fails is in the report, too
	if err := json.Compact(&flat, out.Bytes()); err != nil {
		t.Fatalf("%s: %v, after %v", file, err, failed)
	}
	return flat.String()
}

// TestLabShowsTheEnd: at the end of every scenario the lab has what the command
// prints.
func TestLabShowsTheEnd(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.stile")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := document.Run(string(text), document.Options{File: file})
		if want := printed(t, file); string(d.End) != want {
			t.Errorf("%s\n got %s\nwant %s", file, d.End, want)
		}
	}
	wrong := filepath.Join(t.TempDir(), "wrong.stile")
	const text = "algorithm raymond\nprocesses 2\nat 0 P2 asks\nexpect entries 1\n"
	if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := document.Run(text, document.Options{File: wrong}); string(d.End) != printed(t, wrong) || d.Expects[0].OK {
		t.Errorf("what is not as expected: got %s, want %s", d.End, printed(t, wrong))
	}
	if d := document.Run(text, document.Options{File: files[0]}); string(d.End) == printed(t, files[0]) {
		t.Error("two scenarios end in the same way, so this compares nothing")
	}
}
