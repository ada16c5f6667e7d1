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

func proofs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, "results", "proofs.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The files of docs/algorithms are those that Make returns, and there are no others.
func TestCommitted(t *testing.T) {
	files, err := Make(proofs(t))
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
	if _, err := makeOf(good, ""); err == nil || !strings.Contains(err.Error(), "says nothing of central") {
		t.Errorf("an algorithm without a note: %v", err)
	}
	if _, err := makeOf(handwritten+good, ""); err == nil || !strings.Contains(err.Error(), "x, which is not") {
		t.Errorf("a note without an algorithm: %v", err)
	}
	if _, err := makeOf(strings.Replace(handwritten, "picture: token-ring\n", "picture: no-such\n", 1), ""); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("a picture of nothing: %v", err)
	}
}

// Every page has what is proved of its algorithm, if anything is.
func TestProved(t *testing.T) {
	text := proofs(t)
	groups, err := groupsOf(must(parseNotes(handwritten)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, s := range g.subjects {
			p := &page{subject: s}
			if p.proved(text) == "" && s.name != "timeout" { // which may repeat forever
				t.Errorf("docs/results/proofs.md has no row of %s", s.name)
			}
		}
	}
}

func must(notes []note, err error) []note {
	if err != nil {
		panic(err)
	}
	return notes
}
