package gateway

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/http.md lists every problem, with its code, and no other.
func TestErrorTable(t *testing.T) {
	b, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, made []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(b), -1) {
		listed = append(listed, row[1]+" "+row[2])
	}
	for _, p := range problems() {
		made = append(made, fmt.Sprint(p.code, " ", p.reason))
	}
	slices.Sort(listed)
	slices.Sort(made)
	if !slices.Equal(listed, made) {
		t.Errorf("the page lists\n%s\nand the code has\n%s", strings.Join(listed, "\n"), strings.Join(made, "\n"))
	}
}

// problems reads all of them from the source.
func problems() (all []problem) {
	b, err := os.ReadFile("errors.go")
	if err != nil {
		panic(err)
	}
	known := map[string]problem{}
	for _, p := range []problem{badRequest, noIdentity, noSession, noRequest, isLost, isReleased, isDeclined, tooLate, manySessions, manyCalls, manyRequests, manyLocks, isRecovering, noNode, isOver} {
		known[p.reason] = p
	}
	for _, m := range regexp.MustCompile(`= problem\{connect\.\w+, "([a-z-]+)"\}`).FindAllStringSubmatch(string(b), -1) {
		p, ok := known[m[1]]
		if !ok {
			p = problem{0, m[1]}
		}
		all = append(all, p)
	}
	return all
}
