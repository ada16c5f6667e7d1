package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An existing file is replaced as a whole, keeps its permissions, and is left alone
// when the command fails.
func TestFilesAreReplacedWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("run.svg", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := stile("sim", "raymond", "--svg", "run.svg", "--latency", "0"); code != 2 {
		t.Errorf("a latency of 0: exit code %d, want 2", code)
	}
	if data, _ := os.ReadFile("run.svg"); string(data) != "old" {
		t.Errorf("a failed command has changed the file to %q", data)
	}
	ok(t, "sim raymond --entries 3 --svg run.svg")
	data, _ := os.ReadFile("run.svg")
	if !strings.HasPrefix(string(data), "<svg") {
		t.Errorf("want an SVG, got %.40q", data)
	}
	if info, _ := os.Stat("run.svg"); info.Mode().Perm() != 0o600 {
		t.Errorf("the permissions have changed to %v", info.Mode())
	}
	if names, _ := filepath.Glob("*"); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A file that cannot be written is an error, and leaves nothing behind.
func TestUnwritableFile(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("x", 300) + ".svg"
	code, stdout, stderr := stile("sim", "raymond", "--entries", "3", "--trace", "run.json", "--svg", long)
	if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 2, nothing, one line", code, stdout, stderr)
	}
	if names, _ := filepath.Glob("*"); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

// An existing file stays as it is when another one cannot be written after all, and
// the result of the run is printed.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no full disk here")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("keep.json", []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"sim raymond --entries 3 --trace keep.json --svg /dev/full",
		"deadlock none --transactions 3 --trace keep.json --svg /dev/full",
	} {
		code, stdout, stderr := stile(strings.Fields(line)...)
		if code != 2 || stdout == "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, `--svg "/dev/full"`) {
			t.Errorf("stile %s: exit code %d, stderr %q, stdout %q", line, code, stderr, stdout)
		}
		if data, err := os.ReadFile("keep.json"); err != nil || string(data) != "precious" {
			t.Errorf("stile %s: keep.json was changed: %q, %v", line, data, err)
		}
	}
	if names, _ := filepath.Glob("*"); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A scenario is the same with any line endings.
func TestLineEndings(t *testing.T) {
	text, err := os.ReadFile("../../lab/scenarios/raymond-a.stile")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var first string
	for _, form := range []string{string(text), strings.TrimSuffix(string(text), "\n"), strings.ReplaceAll(string(text), "\n", "\r\n"), "\ufeff" + string(text)} {
		if err := os.WriteFile("a.stile", []byte(form), 0o666); err != nil {
			t.Fatal(err)
		}
		got := ok(t, "replay a.stile")
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%.40q is another scenario:\n%s", form, got)
		}
	}
}

func file(path string, data []byte, err error) outputFile {
	return outputFile{flag: "out", path: path, content: func() ([]byte, error) { return data, err }}
}

// Files that cannot be written are refused before anything is run.
func TestRunChecksFilesFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, files := range [][]outputFile{{file(".", nil, nil)}, {file("no/x", nil, nil)}, {file("x", nil, nil), file("./x", nil, nil)}} {
		err := runAndReport(&bytes.Buffer{}, false, files, func() (outcome, error) {
			t.Errorf("%q: it runs", files[0].path)
			return outcome{}, nil
		})
		if err == nil {
			t.Errorf("%q: no error", files[0].path)
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
		err := runAndReport(&bytes.Buffer{}, false, []outputFile{file("x", nil, nil), file(other, nil, nil)}, func() (outcome, error) { return outcome{}, errors.New("it runs") })
		if err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("x and %s: %v", other, err)
		}
	}
	err = runAndReport(&bytes.Buffer{}, false, []outputFile{file("x", nil, nil), file("new", nil, nil)}, func() (outcome, error) { return outcome{}, errors.New("failed") })
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
	err := runAndReport(&bytes.Buffer{}, false, []outputFile{file("x", []byte("new"), nil)}, func() (outcome, error) { return outcome{}, errors.New("it runs") })
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
		last    outputFile
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
			err := runAndReport(&out, false, []outputFile{file("a", []byte("a"), nil), test.last}, func() (outcome, error) {
				return outcome{text: func(p *printer) {
					p.line("done  ")
					if p.written {
						p.line("written")
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
	if err := findingsOf(nil, "run", "", say); err != nil {
		t.Errorf("nothing is wrong, but the error is %v", err)
	}
	wrong := findingsOf([]int{0, 1, 2, 3, 4, 5, 6}, "run", " with it", say)
	var out bytes.Buffer
	err := runAndReport(&out, true, nil, func() (outcome, error) { return outcome{json: 1, wrong: wrong}, nil })
	var f findings
	if want := []string{"a", "b", "c", "d", "e", "and 2 more runs with it"}; !errors.As(err, &f) || !slices.Equal(f.lines, want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if out.String() != "1\n" {
		t.Errorf("printed %q, want the report", out.String())
	}
}

// A commit is abbreviated, with a plus if it was modified.
func TestCommit(t *testing.T) {
	for want, v := range map[string]versionInfo{
		"unknown": {}, "0123456789ab": {Revision: "0123456789abcdef"}, "0123456789ab+": {Revision: "0123456789abcdef", Modified: true}, "abc": {Revision: "abc"},
	} {
		if got := v.commit(); got != want {
			t.Errorf("%+v: %s, want %s", v, got, want)
		}
	}
}
