package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const root = "../.."

var update = flag.Bool("update", false, "rewrite golden files")

// prints returns what the tests of a suite print with a mutant.
func prints(t *testing.T, s *suite, binary, mutant string) []string {
	t.Helper()
	out, _, err := s.start(&unit{stage: &stage{dir: s.dir}, binary: binary}, ".", mutant, time.Minute)
	text, _, panicked := strings.Cut(string(out), "--- FAIL")
	if err != nil && !panicked {
		t.Fatalf("mutant %s: %v\n%s", mutant, err, out)
	}
	if panicked {
		text += "panics"
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

// Each operator changes what it says, and nothing else.
func TestOperators(t *testing.T) {
	s, err := load(root, "internal/mutants/testdata/operators")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := s.build(t.TempDir(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	none := prints(t, s, binary, "")
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", strings.Join(none, "\n"))
	for i := range s.mutants {
		m := &s.mutants[i]
		fmt.Fprintf(&b, "\n%s, line %d, %s\n", m.Function, m.Line, m.Change)
		for i, line := range prints(t, s, binary, fmt.Sprintf("operators:%d", m.Number)) {
			if i >= len(none) || line != none[i] {
				fmt.Fprintf(&b, "\t%s\n", line)
			}
		}
	}
	const golden = "testdata/operators.txt"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.Bytes(), want)
	}
}

// Lines keep their numbers, and what is not selected does nothing: the tests of a real
// package pass in the build that has all its mutants.
func TestNoneSelected(t *testing.T) {
	all := targets()
	s, err := load(root, all[len(all)-1].dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.mutants) < 100 {
		t.Errorf("only %d mutants", len(s.mutants))
	}
	for path, text := range s.sources {
		old, err := os.ReadFile(path)
		if err == nil && bytes.Count(old, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Errorf("%s has other lines", path)
		}
	}
	binary, err := s.build(t.TempDir(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if out, _, err := s.start(&unit{stage: &stage{dir: s.dir}, binary: binary}, ".", "", 5*time.Minute); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
