package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const source = `package small

import "fmt"

func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func count() {
	n := 0
	for n < 2 {
		n += 1
	}
	fmt.Print(n)
}
`

func TestMutantsIn(t *testing.T) {
	all, err := mutantsIn("small.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%d %s", m.line, m.change()))
	}
	slices.Sort(got)
	want := []string{
		"13 0 -> (0 + 1)",
		"14 2 -> (2 + 1)", "14 < -> <=", "14 n < 2 -> !(n < 2)",
		"15 1 -> (1 + 1)", "15 n += 1 -> nothing",
		"17 fmt.Print(n) -> nothing",
		"6 > -> >=", "6 a > b -> !(a > b)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The tests of a small package kill a mutant, let an equivalent one survive, and are not run
// with one that does not compile.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module small\n\ngo 1.26.0\n",
		"small.go": source,
		"small_test.go": `package small

import "testing"

func TestMax(t *testing.T) {
	if Max(1, 2) != 2 || Max(2, 1) != 2 {
		t.Fail()
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := mutantsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{root: dir, tests: []string{"."}}
	if err := s.calibrate(); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]outcome{"a > b -> !(a > b)": killed, "> -> >=": survived, "fmt.Print(n) -> nothing": invalid} {
		i := slices.IndexFunc(all, func(m mutant) bool { return m.change() == change })
		got, err := s.try(all[i])
		if err != nil || got != want {
			t.Errorf("%s: outcome %d, %v, want %d", change, got, err, want)
		}
	}
}
