package catalog

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

var update = flag.Bool("update", false, "write the vectors that are missing, or of a version that was raised")

// vectors lets groups of three and of five do always the same and writes down
// all bytes: of every message, and of the state behind every step.
func vectors(spec algorithm.Spec) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s version %d\n", spec.Name, spec.Version)
	b.WriteString("Each line is a step and the state behind it; below it is what was sent.\n")
	for _, n := range []int{3, 5} {
		c, err := newCrew(spec, n, uint64(n))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n%d processes\n", n)
		for self, m := range c.ms {
			fmt.Fprintf(&b, "%v is born: %x\n", algorithm.ID(self), m.AppendState(nil))
		}
		for range 20 * n {
			if err := c.write(&b); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// write takes a step that the dice choose and writes it down.
func (c *crew) write(b *strings.Builder) error {
	list := c.acts()
	a := list[c.dice.below(len(list))]
	if err := a.do(); err != nil {
		return err
	}
	enters := ""
	if c.out.Entered {
		enters = " and enters"
	}
	fmt.Fprintf(b, "%v %s%s: %x\n", a.self, a.what, enters, c.ms[a.self].AppendState(nil))
	for i, s := range c.out.Sends {
		fmt.Fprintf(b, "  %s to %v: %x\n", c.spec.Kinds[s.Kind], s.To, c.out.Bytes(i))
	}
	return nil
}

// judge compares vectors with those in the file, which is empty if there is
// none. It reports whether they are to be written.
func judge(spec algorithm.Spec, got, file string, update bool) (write bool, err error) {
	if file == "" {
		if update {
			return true, nil
		}
		return false, errors.New("there are no vectors of its bytes: 'go test ./algorithm/catalog -update' writes them")
	}
	old := 0
	if _, err := fmt.Sscanf(file, spec.Name+" version %d\n", &old); err != nil {
		return false, fmt.Errorf("the first line of its vectors is not %q and a number: %w", spec.Name+" version", err)
	}
	switch {
	case got == file:
		return false, nil
	case spec.Version > old && update:
		return true, nil
	case spec.Version > old:
		return false, fmt.Errorf("its vectors are of version %d and the Spec is of %d: 'go test ./algorithm/catalog -update' writes them", old, spec.Version)
	case spec.Version < old:
		return false, fmt.Errorf("its vectors are of version %d and the Spec is of %d: versions only rise", old, spec.Version)
	}
	return false, fmt.Errorf("the bytes are no longer those of version %d, so members of two builds could not read each other's messages:\n%s\nUndo the change. If it is meant, raise Version in the Spec, and then 'go test ./algorithm/catalog -update' writes the vectors", old, differ(got, file))
}

// differ shows the first line in which two texts differ.
func differ(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\ngot  %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func vectorFile(spec algorithm.Spec) string {
	return filepath.Join("testdata", "vectors", spec.Name+".txt")
}

// The bytes of every live algorithm are those that are written down, and every
// kind of message is among them.
func TestVectors(t *testing.T) {
	for _, spec := range Live() {
		t.Run(spec.Name, func(t *testing.T) {
			got, err := vectors(spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range spec.Kinds {
				if !strings.Contains(got, "\n  "+kind+" to ") {
					t.Errorf("no %s among the vectors", kind)
				}
			}
			file, err := os.ReadFile(vectorFile(spec))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			write, err := judge(spec, got, string(file), *update)
			if err != nil {
				t.Fatalf("%s: %v", spec.Name, err)
			}
			if write {
				if err := os.WriteFile(vectorFile(spec), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Vectors are written where there are none and where the version was raised,
// and nowhere else.
func TestVectorsAreKept(t *testing.T) {
	for _, c := range []struct {
		file    string
		version int
		update  bool
		write   bool
		want    string // in the error, if there is one
	}{
		{"", 1, false, false, "there are no vectors"},
		{"", 1, true, true, ""},
		{"x version 1\nP1 is born: 00\n", 1, false, false, ""},
		{"x version 1\nP1 is born: 00\n", 1, true, false, ""},
		{"x version 1\nP1 is born: 01\n", 1, false, false, "line 2:\ngot  P1 is born: 00\nwant P1 is born: 01\nUndo the change. If it is meant, raise Version"},
		{"x version 1\nP1 is born: 01\n", 1, true, false, "raise Version"},
		{"x version 1\nP1 is born: 01\n", 2, false, false, "of version 1 and the Spec is of 2"},
		{"x version 1\nP1 is born: 01\n", 2, true, true, ""},
		{"x version 3\nP1 is born: 01\n", 2, true, false, "versions only rise"},
		{"x version 1\nP1 is born: 00\nP1 asks: 01\n", 1, true, false, "line 3:\ngot  \nwant P1 asks: 01"},
		{"y version 1\n", 1, true, false, "first line"},
	} {
		spec := algorithm.Spec{Name: "x", Version: c.version}
		got := fmt.Sprintf("x version %d\nP1 is born: 00\n", c.version)
		write, err := judge(spec, got, c.file, c.update)
		if write != c.write || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, version %d, update %v: got %v, %v; want %v, %q", c.file, c.version, c.update, write, err, c.write, c.want)
		}
	}
}
