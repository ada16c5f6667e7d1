package main

import (
	"bytes"
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
	_, after, ok := strings.Cut(string(readme), "`stile "+command+"`\n\n```\n")
	shown, _, closed := strings.Cut(after, "```\n")
	if !ok || !closed {
		t.Fatalf("the README does not show %q", command)
	}
	var out, errs bytes.Buffer
	if code := run(strings.Fields(command), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if out.String() != shown {
		t.Errorf("the README shows\n%s\nbut it prints\n%s", shown, out.String())
	}
}
