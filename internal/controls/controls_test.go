package controls

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

const root = "../.."

// patience is how long a test may take, on a machine that has other work.
const patience = 20 * time.Minute

// dirs returns the folders of all tests in the table.
func dirs() (all []string) {
	for _, c := range Table() {
		for _, x := range c.Tests {
			if !slices.Contains(all, x.Package) {
				all = append(all, x.Package)
			}
		}
	}
	return all
}

// binaries builds the tests of all packages in the table, with the overlay, and returns
// the folder that they are in.
func binaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	overlay, err := Overlay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", dir + string(filepath.Separator)}
	for _, dir := range dirs() {
		args = append(args, "./"+dir)
	}
	build := exec.Command("go", args...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the overlay: %v\n%s", err, out)
	}
	return dir
}

// An outcome is what came of a test.
type outcome struct {
	failed bool // by a failure of the named test, and not otherwise
	passed bool
	text   string
}

// run runs a test for up to a limit, with controls selected.
func (x *Test) run(t *testing.T, dir, selected string, limit time.Duration, flags ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit+10*time.Second)
	defer cancel()
	binary := filepath.Join(dir, filepath.Base(x.Package)+".test")
	args := append([]string{"-test.v", "-test.run", pattern(x.Name), "-test.timeout", limit.String()}, flags...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(root, x.Package)
	cmd.Env = append(os.Environ(), Variable+"="+selected)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return judge(x.Name, cmd.ProcessState.ExitCode(), out.String())
}

// judge says what came of a test from its exit code and its output. A panic or a timeout
// exits with 2, and a name that there is not exits with 0 and prints no result.
func judge(name string, code int, text string) outcome {
	result := func(word string) bool {
		return regexp.MustCompile(`(?m)^ *--- ` + word + ": " + regexp.QuoteMeta(name) + ` \(`).MatchString(text)
	}
	return outcome{failed: code == 1 && result("FAIL"), passed: code == 0 && result("PASS"), text: text}
}

// pattern selects exactly one test.
func pattern(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}

// seeds is the flag -seeds, if a test has it.
func (x *Test) seeds(n int) []string {
	if x.Seeds == 0 {
		return nil
	}
	return []string{"-seeds", fmt.Sprint(min(x.Seeds, n))}
}

// TestControls runs each test without a control, where it must pass, and then with each
// of its controls, where it must fail, or pass if the control is harmless.
func TestControls(t *testing.T) {
	nightly.Only(t)
	dir := binaries(t)
	t.Run("none", func(t *testing.T) { right(t, dir) })
	for _, c := range Table() {
		t.Run(c.Name, func(t *testing.T) {
			for _, x := range c.Tests {
				t.Run(strings.ReplaceAll(x.Package+" "+x.Name, "/", "."), func(t *testing.T) {
					t.Parallel()
					got := x.run(t, dir, c.Selected(), patience, slices.Concat(x.Flags, x.seeds(x.Seeds))...)
					switch {
					case c.Harmless && !got.passed:
						t.Errorf("%s does not pass while %s:\n%s", x.Name, c.Text, end(got.text))
					case c.Harmless:
					case !got.failed:
						t.Errorf("%s does not find that %s: want a failing test:\n%s", x.Name, c.Text, end(got.text))
					case !says(got.text, x.Says):
						t.Errorf("%s fails, and does not print %q:\n%s", x.Name, x.Says, end(got.text))
					default:
						t.Log(complaint.FindString(got.text))
					}
				})
			}
		})
	}
}

// right runs tests in the rewritten build with no control selected: the rewrites must not
// break what they do not select. Each storm runs a few seeds. Of the other tests of a
// package one is enough, because all of them pass without the rewrites.
func right(t *testing.T, dir string) {
	done := map[string]bool{}
	for _, c := range Table() {
		for _, x := range c.Tests {
			name := x.Package + " " + x.Name
			if x.Seeds == 0 && done[x.Package] || done[name] {
				continue
			}
			done[x.Package], done[name] = true, true
			t.Run(strings.ReplaceAll(name, "/", "."), func(t *testing.T) {
				t.Parallel()
				if got := x.run(t, dir, "", patience, x.seeds(3)...); !got.passed {
					t.Errorf("with no control selected it does not pass:\n%s", end(got.text))
				}
			})
		}
	}
}

// complaint is the first line that a failing test prints.
var complaint = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: .*$`)

func says(text string, all []string) bool {
	return !slices.ContainsFunc(all, func(part string) bool { return !strings.Contains(text, part) })
}

// end is the end of what a test prints.
func end(text string) string { return text[max(0, len(text)-4000):] }

// Only a failure of the test itself counts.
func TestJudge(t *testing.T) {
	for _, x := range []struct {
		what           string
		code           int
		text           string
		failed, passed bool
	}{
		{"it fails", 1, "=== RUN   TestA/b\n    --- FAIL: TestA/b (0.00s)\nFAIL\n", true, false},
		{"it passes", 0, "--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\nPASS\n", false, true},
		{"another one fails", 1, "    --- FAIL: TestA/bc (0.00s)\nFAIL\n", false, false},
		{"there is none", 0, "testing: warning: no tests to run\nPASS\n", false, false},
		{"it panics", 2, "    --- FAIL: TestA/b (0.00s)\npanic: x [recovered]\n", false, false},
		{"it is skipped", 0, "    --- SKIP: TestA/b (0.00s)\nPASS\n", false, false},
	} {
		if got := judge("TestA/b", x.code, x.text); got.failed != x.failed || got.passed != x.passed {
			t.Errorf("%s: %+v", x.what, got)
		}
	}
}

var keep = flag.String("keep", "", "folder to write the overlay to, for use by hand")

// All rewrites apply.
func TestOverlay(t *testing.T) {
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	overlay, err := Overlay(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("for example: %s=NoTouch go test -count 1 -overlay %s ./internal/member", Variable, overlay)
}

// A rewrite that does not apply fails, and names its control.
func TestApply(t *testing.T) {
	edits := func(pairs ...string) (all []edit) {
		for i := 0; i < len(pairs); i += 3 {
			all = append(all, edit{Rewrite{"x.go", pairs[i+1], pairs[i+2]}, pairs[i], 0})
		}
		return all
	}
	for _, x := range []struct {
		all  []edit
		want string
		err  string
	}{
		{edits("A", "two", "2", "B", "one", "1"), "1 2 three three", ""},
		{edits("A", "four", "4"), "", "control A: the text to replace occurs 0 times"},
		{edits("A", "three", "3"), "", "control A: the text to replace occurs 2 times"},
		{edits("A", "one two", "", "B", "two", ""), "", "controls A and B: their rewrites overlap"},
	} {
		got, err := apply("one two three three", x.all)
		if got != x.want || (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("got %q, %v; want %q, %s", got, err, x.want, x.err)
		}
	}
}

// The table says all that it must, and protocol.md knows its names.
func TestTable(t *testing.T) {
	read := func(file string) string {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	tests := map[string]string{} // all tests of a package
	for _, dir := range dirs() {
		files, _ := filepath.Glob(filepath.Join(root, dir, "*_test.go")) // the pattern is good
		for _, f := range files {
			tests[dir] += read(filepath.Join(dir, filepath.Base(f)))
		}
	}
	protocol := read("docs/protocol.md")
	names := map[string]bool{}
	for _, c := range Table() {
		if names[c.Name] {
			t.Errorf("two controls %s", c.Name)
		}
		names[c.Name] = true
		for _, x := range c.Tests {
			if name, _, _ := strings.Cut(x.Name, "/"); !strings.Contains(tests[x.Package], "\nfunc "+name+"(t *testing.T) {\n") {
				t.Errorf("%s: %s has no %s", c.Name, x.Package, name)
			}
		}
		if len(c.Tests) == 0 || c.Text == "" || strings.HasSuffix(c.Text, ".") {
			t.Errorf("%s: want tests, and a text without a full stop", c.Name)
		}
		if !strings.Contains(protocol, "\n## "+c.Section+". ") {
			t.Errorf("%s: protocol.md has no section %s", c.Name, c.Section)
		}
		explored := slices.ContainsFunc(c.Tests, func(x Test) bool { return x.Package == viewsPackage })
		if !strings.Contains(protocol, "`"+c.Name+"`") && !explored {
			t.Errorf("%s: protocol.md does not name it", c.Name)
		}
		for _, r := range c.Rewrites {
			if !strings.Contains(r.New, fmt.Sprintf("broken(%q)", c.Name)) && len(c.Rewrites) == 1 {
				t.Errorf("%s: its rewrite does not ask whether it is selected", c.Name)
			}
		}
	}
	for _, c := range Table() {
		for _, r := range c.Rewrites {
			for _, m := range regexp.MustCompile(`broken\("(\w*)"\)`).FindAllStringSubmatch(r.New, -1) {
				if !names[m[1]] {
					t.Errorf("%s: there is no control %s", c.Name, m[1])
				}
			}
		}
		for with := range strings.SplitSeq(c.With, ",") {
			if with == "" || names[with] {
				continue
			}
			t.Errorf("%s: there is no control %s", c.Name, with)
		}
	}
	for _, m := range regexp.MustCompile("(?s)\\*\\((`.*?)\\)\\*").FindAllStringSubmatch(protocol, -1) {
		for _, name := range regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(m[1], -1) {
			if !names[name[1]] {
				t.Errorf("protocol.md names %s, which is not a control", name[1])
			}
		}
	}
}
