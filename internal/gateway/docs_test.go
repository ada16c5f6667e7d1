package gateway

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/http.md lists every problem, with its code, and no other.
func TestErrorTable(t *testing.T) {
	pairs := func(path, expression string) (all []string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(string(b), -1) {
			code := strings.ToLower(regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(m[1], "_$0"))
			all = append(all, code+" "+m[2])
		}
		slices.Sort(all)
		return all
	}
	listed := pairs("../../docs/http.md", "(?m)^\\| `([a-z_]+)` \\| `([a-z-]+)` \\|")
	made := pairs("errors.go", `= problem\{connect\.Code(\w+), "([a-z-]+)"\}`)
	if len(made) == 0 || !slices.Equal(listed, made) {
		t.Errorf("the page lists\n%s\nand the code has\n%s", strings.Join(listed, "\n"), strings.Join(made, "\n"))
	}
}
