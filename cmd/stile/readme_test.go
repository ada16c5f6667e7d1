package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README's picture is what the command draws.
func TestReadmePicture(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const picture = "docs/bank.svg"
	if !strings.Contains(string(readme), "("+picture+")") {
		t.Fatalf("the README does not show %s", picture)
	}
	shown, err := os.ReadFile("../../" + picture)
	if err != nil {
		t.Fatal(err)
	}
	drawn := filepath.Join(t.TempDir(), "bank.svg")
	ok(t, "bank --lock none --svg "+drawn)
	if got, err := os.ReadFile(drawn); err != nil || string(got) != string(shown) {
		t.Errorf("%s is not what 'stile bank --lock none --svg %s' draws: %v", picture, picture, err)
	}
}

// What the README shows is what the command prints.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const command = "replay scenarios/ricart-agrawala-a.stile"
	_, after, opened := strings.Cut(string(readme), "`stile "+command+"`\n\n```\n")
	shown, _, closed := strings.Cut(after, "```\n")
	if !opened || !closed {
		t.Fatalf("the README does not show %q", command)
	}
	if printed := ok(t, command); printed != shown {
		t.Errorf("the README shows\n%s\nbut it prints\n%s", shown, printed)
	}
}
