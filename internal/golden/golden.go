// Package golden compares the bytes that stile sends and stores with files in testdata, one
// for each version of a format. A process of another version must be able to read them, so
// a change of the bytes needs a new version, with a file of its own; the files of released
// versions never change (docs/compatibility.md).
//
// A line of a file is the name of an example and its bytes in hexadecimal.
package golden

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Released lists the highest version of each format that a release has. The first release
// has not been made.
var Released = map[string]int{}

// A Format is a format, and the versions of it that this program reads.
type Format struct {
	Name           string
	Oldest, Newest int
}

// An Example is one message or record.
type Example struct {
	Name  string
	Bytes []byte
}

// path returns the file with the examples of a version.
func (f *Format) path(version int) string {
	return filepath.Join("testdata", "golden", fmt.Sprintf("%s-%d.txt", f.Name, version))
}

// Check compares examples with the file of the newest version, and reads the examples of
// all versions: again decodes an example and encodes it. With update it writes the file,
// unless that version is released.
func Check(t *testing.T, f Format, update bool, examples []Example, again func(name string, b []byte) ([]byte, error)) {
	t.Helper()
	path := f.path(f.Newest)
	if update {
		if f.Newest <= Released[f.Name] {
			t.Fatalf("version %d of %s is released, and never changes: raise the version", f.Newest, f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text(examples)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for version := f.Oldest; version <= f.Newest; version++ {
		b, err := os.ReadFile(f.path(version))
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there are no examples of version %d of %s: run this test with -update", version, f.Name)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, err := parse(string(b))
		if err != nil {
			t.Fatalf("%s: %v", f.path(version), err)
		}
		wrong := reads(kept, again, version == f.Newest)
		if version == f.Newest {
			wrong = append(wrong, differences(kept, examples)...)
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", f.path(version), w)
		}
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

// parse reads a file.
func parse(text string) (all []Example, err error) {
	for line := range strings.Lines(text) {
		name, digits, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b, err := hex.DecodeString(digits)
		if !ok || err != nil {
			return nil, fmt.Errorf("line %q: want a name and hexadecimal digits", line)
		}
		all = append(all, Example{name, b})
	}
	return all, nil
}

// reads returns which examples cannot be read, or are written differently although they are
// of the version that is written.
func reads(kept []Example, again func(name string, b []byte) ([]byte, error), newest bool) (wrong []string) {
	for _, x := range kept {
		b, err := again(x.Name, x.Bytes)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s cannot be read any more: %v", x.Name, err))
		case newest && string(b) != string(x.Bytes):
			wrong = append(wrong, fmt.Sprintf("%s is read, and written as %x", x.Name, b))
		}
	}
	return wrong
}

// differences returns how examples differ from what is kept.
func differences(kept, now []Example) (wrong []string) {
	was := map[string]string{}
	for _, x := range kept {
		was[x.Name] = string(x.Bytes)
	}
	for _, x := range now {
		b, ok := was[x.Name]
		delete(was, x.Name)
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s is new: raise the version if the one in the file is released, and run this test with -update", x.Name))
		case b != string(x.Bytes):
			wrong = append(wrong, fmt.Sprintf("%s is now %x: other versions cannot read that; raise the version if the one in the file is released, and run this test with -update", x.Name, x.Bytes))
		}
	}
	for _, x := range kept {
		if _, left := was[x.Name]; left {
			wrong = append(wrong, x.Name+" is no longer written")
		}
	}
	return wrong
}
