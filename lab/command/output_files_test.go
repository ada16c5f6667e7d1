package command

import (
	"os"
	"path/filepath"
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
	if code, _, _ := do("sim", "raymond", "--svg", "run.svg", "--latency", "0"); code != 2 {
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
	code, stdout, stderr := do("sim", "raymond", "--entries", "3", "--trace", "run.json", "--svg", long)
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
		code, stdout, stderr := do(strings.Fields(line)...)
		if code != 2 || stdout == "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, `--svg "/dev/full"`) {
			t.Errorf("stile-lab %s: exit code %d, stderr %q, stdout %q", line, code, stderr, stdout)
		}
		if data, err := os.ReadFile("keep.json"); err != nil || string(data) != "precious" {
			t.Errorf("stile-lab %s: keep.json was changed: %q, %v", line, data, err)
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
