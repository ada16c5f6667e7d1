// Package golden compares the bytes that stile sends and stores with a file in testdata. A
// process of another version must be able to read them, so a change of a released format
// needs a new version of it (docs/compatibility.md).
//
// A line of the file is the name of an example and its bytes in hexadecimal.
package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// path is the file, in the directory of the package that is tested.
var path = filepath.Join("testdata", "golden.txt")

// An Example is one message or record.
type Example struct {
	Name  string
	Bytes []byte
}

// Check compares examples with the file: again decodes an example and encodes it. With
// update it writes the file.
func Check(t *testing.T, update bool, examples []Example, again func(name string, b []byte) ([]byte, error)) {
	t.Helper()
	for _, w := range altered(examples, again) {
		t.Error(w)
	}
	if update {
		if err := os.WriteFile(path, []byte(text(examples)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no examples: %v: run this test with -update", err)
	}
	for _, w := range differences(string(kept), text(examples)) {
		t.Errorf("%s: %s: if that format is released, raise its version; then run this test with -update", path, w)
	}
}

// text returns the contents of a file.
func text(examples []Example) string {
	var w strings.Builder
	for _, x := range examples {
		fmt.Fprintf(&w, "%s %x\n", x.Name, x.Bytes)
	}
	return w.String()
}

// altered returns which examples cannot be read, or are then written differently.
func altered(examples []Example, again func(name string, b []byte) ([]byte, error)) (wrong []string) {
	for _, x := range examples {
		if b, err := again(x.Name, x.Bytes); err != nil || !bytes.Equal(b, x.Bytes) {
			wrong = append(wrong, fmt.Sprintf("%s %x is read, and written as %x: %v", x.Name, x.Bytes, b, err))
		}
	}
	return wrong
}

// differences returns which lines are only in one of two files.
func differences(kept, now string) (wrong []string) {
	was, is := slices.Collect(strings.Lines(kept)), slices.Collect(strings.Lines(now))
	for _, line := range was {
		if !slices.Contains(is, line) {
			wrong = append(wrong, "no longer written: "+strings.TrimSpace(line))
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			wrong = append(wrong, "new: "+strings.TrimSpace(line))
		}
	}
	return wrong
}
