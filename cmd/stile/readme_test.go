package main

import (
	"os"
	"strings"
	"testing"
)

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
