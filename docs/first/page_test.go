package first

import (
	"os"
	"regexp"
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

// The page shows the whole of baton.go, piece by piece, and otherwise only
// what is in the tests.
func TestPageShowsTheCode(t *testing.T) {
	page, code := read(t, "../your-first-algorithm.md"), read(t, "baton.go")
	whole := read(t, "baton_test.go") + read(t, "check_test.go")
	tests := strings.ReplaceAll(whole, "\n\t", "\n")
	printed := strings.ReplaceAll(strings.ReplaceAll(tests, "\n//", "\n"), "\n ", "\n")
	var shown []string
	for _, block := range regexp.MustCompile("(?s)```(go|text)\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
		switch kind, text := block[1], block[2]; {
		case kind == "go" && strings.Contains(code, text):
			shown = append(shown, text)
		case kind == "go" && !strings.Contains(tests, text) && !strings.Contains(whole, text):
			t.Errorf("the page shows code that is in no file:\n%s", text)
		case kind == "text" && !strings.Contains(printed, text):
			t.Errorf("the page shows output that no example prints:\n%s", text)
		}
	}
	if got := strings.Join(shown, "\n"); got != code {
		t.Errorf("the pieces on the page make up\n%s\nbut baton.go is\n%s", got, code)
	}
	if lines := strings.Count(code, "\n"); lines >= 100 {
		t.Errorf("baton.go has %d lines; the page promises fewer than 100", lines)
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
