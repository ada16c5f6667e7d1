package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toy returns a small package, and what examines it.
func toy(t *testing.T) (*suite, options, []stage) {
	t.Helper()
	s, err := load(root, "internal/mutants/testdata/toy")
	if err != nil {
		t.Fatal(err)
	}
	s.limits = limits{time: time.Second, memory: 1 << 20}
	o := options{root: root, results: filepath.Join(t.TempDir(), "bin", "results"), workers: 2, progress: func(string, ...any) {}}
	return s, o, []stage{{"own tests", s.dir, nil, 0}}
}

// Mutants are killed by tests, by time and by memory, or survive, or are not covered.
func TestToy(t *testing.T) {
	s, o, stages := toy(t)
	results := map[string]result{}
	if err := s.examine(o, stages, nil, results); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Sum: negate i > most":                              "killed by TestSum",
		"Sum: never i > most":                               "not covered",
		"Sum: i >= most":                                    "survived",
		"Sum: drop break":                                   "not covered",
		"Sum: drop sum += i":                                "killed by TestSum",
		"Unused: return the opposite":                       "not covered",
		"Fill: drop all = append(all, make([]byte, block))": "killed by time",
		"Fill: drop n--":                                    "killed by no test in particular",
		"Fill: drop n++":                                    "killed by TestFill",
		"Fill: drop the loop":                               "killed by TestFill",
		"Fill: len(all) <= n":                               "killed by TestFill",
	}
	for i := range s.mutants {
		m := &s.mutants[i]
		r, name := results[m.key()], m.Function+": "+m.Change
		got := strings.TrimSuffix(fmt.Sprintf("%s by %s", r.Outcome, r.Test), " by ")
		if w, ok := want[name]; ok && got != w {
			t.Errorf("%s: %s, want %s", name, got, w)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there are no such mutants: %v", want)
	}

	read, err := readResults(o.results)
	if err != nil || len(read) != len(s.mutants) {
		t.Errorf("%d results, %v: want %d", len(read), err, len(s.mutants))
	}
	if left := s.chosen(o, nil, read); len(left) > 0 {
		t.Errorf("%v would run again", left)
	}
	o.again = true
	if left := s.chosen(o, nil, read); len(left) < 4 || slices.ContainsFunc(left, func(m *mutant) bool { return read[m.key()].Outcome == killed }) {
		t.Errorf("%v run again: want those that were not killed", left)
	}
	for _, w := range []string{
		"| internal/mutants/testdata/toy | 15 | 15 | 11 | 0 | 0 | 0 | 1 | 3 | 0 | 73.3 % |",
		"toy.go:8, Sum: `if i > most {`: `i >= most` (survived)\n",
		"toy.go:17, Unused: `func Unused() bool { return true }`: `return the opposite` (not covered)\n",
	} {
		if page := report([]*suite{s}, results, nil, o); !strings.Contains(page, w) {
			t.Errorf("%s\nwant %s", page, w)
		}
	}
	delete(results, s.mutants[0].key())
	if page := report([]*suite{s}, results, nil, o); !strings.Contains(page, "| 15 | sample of 14 |") {
		t.Errorf("%s\nwant a sample of 14", page)
	}
}

// A mutant that is listed as equivalent does not run, and counts as such; if it runs
// again and is killed, that is an error.
func TestEquivalent(t *testing.T) {
	s, o, stages := toy(t)
	path := filepath.Join(t.TempDir(), "list")
	write := func(text string) (map[string]string, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return readEquivalent(path)
	}
	const first = "internal/mutants/testdata/toy/toy.go Sum\n"
	list, err := write("# a comment\n\n" + first + "if i > most {\nnever i > most\nNo number\nis so large.\n")
	if err != nil || len(list) != 1 || stale(list, []*suite{s}) != nil {
		t.Fatalf("%v, %v, %v", list, err, stale(list, []*suite{s}))
	}
	if all := s.chosen(o, list, nil); len(all) != len(s.mutants)-1 {
		t.Errorf("%d of %d mutants run", len(all), len(s.mutants))
	}
	const row = "| 15 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | - |"
	if page := report([]*suite{s}, nil, list, options{quick: true}); !strings.Contains(page, row) || !strings.Contains(page, "`never i > most`: No number is so large.\n") || !strings.Contains(page, own) {
		t.Errorf("%s\nwant %s", page, row)
	}
	if list, err = write(first + "if i > most {\nalways i > most\nNot so.\n"); err != nil || stale(list, []*suite{s}) == nil {
		t.Errorf("a mutant that does not exist: %v, %v", list, err)
	}
	for _, text := range []string{first + "if i > most {\nnever i > most\n", strings.Repeat(first+"a\nb\nc\n\n", 2)} {
		if _, err := write(text); err == nil {
			t.Errorf("read without an error:\n%s", text)
		}
	}
	list, _ = write(first + "sum += i\ndrop sum += i\nWrong.\n")
	o.again = true
	results := map[string]result{}
	for i := range s.mutants {
		if m := &s.mutants[i]; list[m.id()] == "" {
			results[m.key()] = result{Outcome: killed}
		}
	}
	if err := s.examine(o, stages, list, results); err == nil || !strings.Contains(err.Error(), "take it off the list") {
		t.Errorf("a wrong reason: %v", err)
	}
}

// A sample is some of the mutants, the same ones for the same seed.
func TestSample(t *testing.T) {
	s, o, _ := toy(t)
	o.sample = 5
	a, b := s.chosen(o, nil, nil), s.chosen(o, nil, nil)
	o.seed++
	if c := s.chosen(o, nil, nil); len(a) != 5 || !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("%v, %v, %v", a, b, c)
	}
}

// What cannot be done is reported.
func TestErrors(t *testing.T) {
	s, _, _ := toy(t)
	if err := run(options{root: root}, "nothing", ""); err == nil || !strings.Contains(err.Error(), "member") {
		t.Errorf("no such package: %v", err)
	}
	if _, err := s.cover(t.TempDir(), []stage{{"own tests", s.dir, []string{"^TestNothing$"}, 0}}, func(string, ...any) {}); err == nil || !strings.Contains(err.Error(), "matches") {
		t.Errorf("no such test: %v", err)
	}
	path := filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(path, []byte(`{"key":"a","outcome":"killed"}`+"\n"+`{"key":"b",`), 0o644); err != nil {
		t.Fatal(err)
	}
	if all, err := readResults(path); err != nil || len(all) != 1 {
		t.Errorf("half a line: %v, %v", all, err)
	}
}

// Every mutant that is listed as equivalent exists.
func TestListed(t *testing.T) {
	list, err := readEquivalent("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	var suites []*suite
	for _, target := range targets() {
		s, err := load(root, target.dir)
		if err != nil {
			t.Fatal(err)
		}
		suites = append(suites, s)
	}
	if err := stale(list, suites); err != nil {
		t.Error(err)
	}
}
