package terminal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func file(path string, data []byte, err error) OutputFile {
	return OutputFile{Flag: "out", Path: path, Content: func() ([]byte, error) { return data, err }}
}

// Files that cannot be written are refused before anything is run.
func TestRunChecksFilesFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, files := range [][]OutputFile{{file(".", nil, nil)}, {file("no/x", nil, nil)}, {file("x", nil, nil), file("./x", nil, nil)}} {
		err := RunAndReport(&bytes.Buffer{}, false, files, func() (Outcome, error) {
			t.Errorf("%q: it runs", files[0].Path)
			return Outcome{}, nil
		})
		if err == nil {
			t.Errorf("%q: no error", files[0].Path)
		}
	}
}

// Two names of one file count as one file, which stays as it is.
func TestRunKnowsLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("x", []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"x": "link", ".": "here"} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip("no links here")
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"link", "here/x", "dir/../x", filepath.Join(here, "x")} {
		err := RunAndReport(&bytes.Buffer{}, false, []OutputFile{file("x", nil, nil), file(other, nil, nil)}, func() (Outcome, error) { return Outcome{}, errors.New("it runs") })
		if err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("x and %s: %v", other, err)
		}
	}
	err = RunAndReport(&bytes.Buffer{}, false, []OutputFile{file("x", nil, nil), file("new", nil, nil)}, func() (Outcome, error) { return Outcome{}, errors.New("failed") })
	left, _ := filepath.Glob("*")
	if data, _ := os.ReadFile("x"); err == nil || string(data) != "old" || !slices.Equal(left, []string{"dir", "here", "link", "x"}) {
		t.Errorf("error %v, x is %q, left %q", err, data, left)
	}
}

// A file that may not be written is not replaced, though its directory would
// allow that.
func TestRunRespectsReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anything")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("x", []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	err := RunAndReport(&bytes.Buffer{}, false, []OutputFile{file("x", []byte("new"), nil)}, func() (Outcome, error) { return Outcome{}, errors.New("it runs") })
	if data, _ := os.ReadFile("x"); err == nil || !strings.Contains(err.Error(), "x") || string(data) != "old" {
		t.Errorf("error %v, x is %q", err, data)
	}
}

// All files are written or none. The result of the run is printed in any case, but not the
// names of files that were not written. An empty file is left out.
func TestRunWritesAllOrNone(t *testing.T) {
	full := errors.New("full")
	for _, test := range []struct {
		name    string
		last    OutputFile
		run     error
		want    error
		printed string
		left    []string
	}{
		{"all", file("b", []byte("b"), nil), nil, nil, "done\nwritten\n", []string{"a", "b"}},
		{"nothing to write", file("b", nil, nil), nil, nil, "done\nwritten\n", []string{"a"}},
		{"one fails", file("b", nil, full), nil, full, "done\n", nil},
		{"the run fails", file("b", []byte("b"), nil), full, full, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var out bytes.Buffer
			err := RunAndReport(&out, false, []OutputFile{file("a", []byte("a"), nil), test.last}, func() (Outcome, error) {
				return Outcome{Text: func(p *Printer) {
					p.Line("done  ")
					if p.Written {
						p.Line("written")
					}
				}}, test.run
			})
			left, _ := filepath.Glob("*")
			if !errors.Is(err, test.want) || out.String() != test.printed || !slices.Equal(left, test.left) {
				t.Errorf("error %v, printed %q, left %q; want %v, %q, %q", err, out.String(), left, test.want, test.printed, test.left)
			}
		})
	}
}

// Findings are printed after the outcome, and only the first of many.
func TestFindings(t *testing.T) {
	say := func(n int) string { return string(rune('a' + n)) }
	if err := FindingsOf(nil, "run", "", say); err != nil {
		t.Errorf("nothing is wrong, but the error is %v", err)
	}
	wrong := FindingsOf([]int{0, 1, 2, 3, 4, 5, 6}, "run", " with it", say)
	var out bytes.Buffer
	err := RunAndReport(&out, true, nil, func() (Outcome, error) { return Outcome{JSON: 1, Wrong: wrong}, nil })
	var f Findings
	if want := []string{"a", "b", "c", "d", "e", "and 2 more runs with it"}; !errors.As(err, &f) || !slices.Equal(f.Lines, want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if out.String() != "1\n" {
		t.Errorf("printed %q, want the report", out.String())
	}
}

// A commit is abbreviated, with a plus if it was modified.
func TestCommit(t *testing.T) {
	for want, v := range map[string]Build{
		"unknown": {}, "0123456789ab": {Revision: "0123456789abcdef"}, "0123456789ab+": {Revision: "0123456789abcdef", Modified: true}, "abc": {Revision: "abc"},
	} {
		if got := v.Commit(); got != want {
			t.Errorf("%+v: %s, want %s", v, got, want)
		}
	}
}
