package style

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exercise returns the path of a folder of the exercise.
func exercise(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(root, "docs/exercise", name))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// goTest runs the tests in a folder, without a network.
func goTest(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The page shows the files of the skeleton, and the solution has the same examiner.
func TestExercisePage(t *testing.T) {
	skeleton := exercise(t, "skeleton")
	files := written(readPage(t, "exercise.md"), func(map[string]string) {})
	for _, name := range []string{"lock.go", "exam_test.go"} {
		if code := readFile(t, skeleton, name); files[name] != code {
			t.Errorf("%s of the skeleton is\n%s\nbut the page shows\n%s", name, code, files[name])
		}
		delete(files, name)
	}
	for name := range files {
		t.Errorf("the page shows %s, which is not in the skeleton", name)
	}
	if readFile(t, skeleton, "exam_test.go") != readFile(t, exercise(t, "solution"), "exam_test.go") {
		t.Error("the solution has another examiner than the skeleton")
	}
}

// The skeleton compiles, and the examiner rejects it, in the words of the page.
func TestExerciseSkeleton(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	out, err := goTest(exercise(t, "skeleton"), "-vet=all", ".")
	if err == nil || strings.Contains(out, "build failed") || strings.Contains(out, "vet:") {
		t.Fatalf("it does not compile, or passes: %v\n%s", err, out)
	}
	shown := 0
	for _, b := range blocks(readPage(t, "exercise.md")) {
		for line := range strings.Lines(b.text) {
			if b.lang != "text" {
				continue
			}
			shown++
			if !strings.Contains(out, strings.TrimSpace(line)) {
				t.Errorf("the page shows %q, but what is seen is\n%s", line, out)
			}
		}
	}
	for _, name := range []string{"TestSafety", "TestProof", "TestMessages", "TestBank"} {
		if !strings.Contains(out, "--- FAIL: "+name) {
			t.Errorf("%s has nothing to say of it:\n%s", name, out)
		}
	}
	if shown < 5 {
		t.Errorf("only %d lines are shown", shown)
	}
}

// The solution passes; without a line, it fails as the page says.
func TestExerciseSolution(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := exercise(t, "solution")
	code := readFile(t, dir, "lock.go")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (Test\\w+) \\|").FindAllStringSubmatch(readPage(t, "exercise.md"), -1)
	if len(rows) < 3 {
		t.Fatalf("only %d mistakes: how are they written?", len(rows))
	}
	for _, row := range rows {
		line, first := row[1], row[2]
		if strings.Count(code, line) != 1 {
			t.Errorf("%q must be in the solution, and once", line)
			continue
		}
		out, err := goTest(dir, "-run", "TestSafety|TestLiveness|TestOrder|TestTalk", "-overlay", without(t, filepath.Join(dir, "lock.go"), code, line), ".")
		if _, fails, _ := strings.Cut(out, "--- FAIL: "); err == nil || !strings.HasPrefix(fails, first+" ") {
			t.Errorf("without %s: %v\n%s\nwant %s to be the first to fail", line, err, out, first)
		}
	}
}
