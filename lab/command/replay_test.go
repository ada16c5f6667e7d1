package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stile-lock/stile/lab/internal/document"
)

// replayJSON returns the output of 'stile-lab replay FILE --json' on one line.
func replayJSON(t *testing.T, file string) string {
	t.Helper()
	var flat bytes.Buffer
	out, failed := execute(newReplay(), file, "--json") // the JSON also has failed expectations
	if err := json.Compact(&flat, []byte(out)); err != nil {
		t.Fatalf("%s: %v, after %v", file, err, failed)
	}
	return flat.String()
}

// TestLabShowsTheEnd: at the end of every scenario the lab has what the command
// prints.
func TestLabShowsTheEnd(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../lab/scenarios/*.stile")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := document.Run(string(text), document.Options{File: file})
		if want := replayJSON(t, file); string(d.End) != want {
			t.Errorf("%s\n got %s\nwant %s", file, d.End, want)
		}
	}
	wrong := filepath.Join(t.TempDir(), "wrong.stile")
	const text = "algorithm raymond\nprocesses 2\nat 0 P2 asks\nexpect entries 1\n"
	if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := document.Run(text, document.Options{File: wrong}); string(d.End) != replayJSON(t, wrong) || d.Expects[0].OK {
		t.Errorf("what is not as expected: got %s, want %s", d.End, replayJSON(t, wrong))
	}
	if d := document.Run(text, document.Options{File: files[0]}); string(d.End) == replayJSON(t, files[0]) {
		t.Error("two scenarios end in the same way, so this compares nothing")
	}
}
