package pages

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/algorithms")

const docs = "../../../docs"

func results(t *testing.T) Results {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(docs, "results", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return Results{Proofs: read("proofs.md"), ProofsLong: read("proofs-long.md"), TLA: read("tla.md"), Faults: read("faults.md"), Live: read("live.md")}
}

// The files of docs/algorithms are those that Make returns, and there are no others.
func TestCommitted(t *testing.T) {
	files, err := Make(results(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(docs, "algorithms")
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = true
		got, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil || !bytes.Equal(got, f.Data) {
			t.Errorf("docs/algorithms/%s is not what is generated: run make pages (%v)", f.Name, err)
		}
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !names[f.Name()] {
			t.Errorf("docs/algorithms/%s is not generated: run make pages, which removes it", f.Name())
		}
	}
}

// A note that lacks a part, or is about nothing, is refused, and so is an algorithm without
// one.
func TestNotes(t *testing.T) {
	const good = "== x\nsource: a.go\npicture: b\n\nIdea.\n\n-- use\nUse.\n\n-- mistakes\n- None.\n"
	if got, err := parseNotes(good); err != nil || len(got) != 1 || got[0] != (note{"x", "a.go", "b", false, "Idea.", "Use.", "- None."}) {
		t.Errorf("%+v, %v", got, err)
	}
	for says, text := range map[string]string{
		"begin with":   "x" + good,
		"no idea":      "== x\nsource: a.go\n",
		"unknown line": strings.Replace(good, "source", "sauce", 1),
		"missing":      strings.Replace(good, "-- use\nUse.\n", "", 1),
		"x: a part":    strings.Replace(good, "- None.\n", "", 1),
	} {
		if _, err := parseNotes(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
	if _, err := makeOf(good, Results{}); err == nil || !strings.Contains(err.Error(), "says nothing of central") {
		t.Errorf("an algorithm without a note: %v", err)
	}
	if _, err := makeOf(handwritten+good, Results{}); err == nil || !strings.Contains(err.Error(), "x, which is not") {
		t.Errorf("a note without an algorithm: %v", err)
	}
	if _, err := makeOf(strings.Replace(handwritten, "picture: token-ring\n", "picture: no-such\n", 1), Results{}); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("a picture of nothing: %v", err)
	}
}

// Every page has what the results say of its algorithm.
func TestResults(t *testing.T) {
	all := results(t)
	for name, want := range map[string][]string{
		"maekawa":        {"| 2, 3 | fifo | any | 49, 13,475 | mutual exclusion, no deadlock,", "| `maekawa+bully` | all wait | all wait | goes on", "[one hot lock](../results/live.md#entries-one-hot-lock) | 5.21"},
		"lamport":        {"| 3 | fifo | any | 65,361,160 | order when applications talk |", "| 4 | fifo | 1 | 361,252,841 | unknown: no starvation, bypass |"},
		"central":        {"`central`: a client | all wait | **unsafe** |", "at most, once its messages have arrived: 0 among 2"},
		"bully":          {"| 3 | 2 | 2 | any | fifo | 1,834,540 | one leader in each round, agreement in the end |"},
		"detect-central": {"| demand | 2 | 2 | any |  | 31,648 | mutual exclusion, no deadlock, no starvation, no false report, the right victim |"},
		"token-ring":     {"It does not run live: an idle lock keeps sending messages."},
		"naimi-trehel":   {"It is the default of live locks"},
	} {
		text, err := os.ReadFile(filepath.Join(docs, "algorithms", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("the page of %s does not have %q", name, w)
			}
		}
	}
	// A violated property must not look like one that holds.
	if got := spelled("M!D?s", 0); got != "mutual exclusion, **violated**: no deadlock, unknown: no starvation" {
		t.Errorf("a violated property: %s", got)
	}
	if len(tablesOf(all.Live)) < 20 {
		t.Error("docs/results/live.md has few tables: how are they written?")
	}
}
