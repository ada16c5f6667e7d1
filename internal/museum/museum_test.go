package museum

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stile-lock/stile/check"
)

var update = flag.Bool("update", false, "rewrite docs/museum.md")

// The museum as committed is what the checker finds.
func TestMuseum(t *testing.T) {
	const file = "../../docs/museum.md"
	got, err := Page(check.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(data), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("docs/museum.md, line %d\n got %s\nwant %s\nif that is better: make museum", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("docs/museum.md has %d lines, want %d; if that is better: make museum", len(w), len(g))
	}
}
