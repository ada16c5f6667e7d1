package first

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The page shows the whole of both algorithms, piece by piece, and otherwise
// only what is in the tests.
func TestPageShowsTheCode(t *testing.T) {
	page := read(t, "../your-first-algorithm.md")
	files := []string{"baton.go", "polite.go"}
	whole := read(t, "baton_test.go") + read(t, "check_test.go") + read(t, "polite_test.go")
	tests := strings.ReplaceAll(whole, "\n\t", "\n")
	printed := strings.ReplaceAll(strings.ReplaceAll(tests, "\n//", "\n"), "\n ", "\n")
	shown := map[string][]string{}
	for _, block := range regexp.MustCompile("(?s)```(go|text)\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
		kind, text := block[1], block[2]
		at := slices.IndexFunc(files, func(f string) bool { return strings.Contains(read(t, f), text) })
		switch {
		case kind == "go" && at >= 0:
			shown[files[at]] = append(shown[files[at]], text)
		case kind == "go" && !strings.Contains(tests, text) && !strings.Contains(whole, text):
			t.Errorf("the page shows code that is in no file:\n%s", text)
		case kind == "text" && !strings.Contains(printed, text):
			t.Errorf("the page shows output that no example prints:\n%s", text)
		}
	}
	for _, f := range files {
		code := read(t, f)
		if got := strings.Join(shown[f], "\n"); got != code {
			t.Errorf("the pieces on the page make up\n%s\nbut %s is\n%s", got, f, code)
		}
		if lines := strings.Count(code, "\n"); lines >= 100 {
			t.Errorf("%s has %d lines; the page promises fewer than 100", f, lines)
		}
	}
}

// What the page says about breaking the algorithm is true of its states too:
// it names lines that are there.
func TestPageBreaksWhatIsThere(t *testing.T) {
	page, code := read(t, "../your-first-algorithm.md"), read(t, "baton.go")
	for _, line := range []string{"b.here = false", "b.wants.Add(from)"} {
		if !strings.Contains(page, "`"+line+"`") || strings.Count(code, line) != 1 {
			t.Errorf("%q must be on the page, and once in the code", line)
		}
	}
}
