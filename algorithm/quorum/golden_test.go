package quorum

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden pins the systems. Peers compute them independently: a change of
// one of these files is a change of the protocol.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		build Builder
		sizes []int
	}{
		{"grid", Grid, []int{1, 2, 3, 5, 9, 12, 17, 36}},
		{"majority", Majority, []int{1, 2, 3, 4, 5, 8}},
		{"plane", Plane, []int{7, 13, 21, 31, 57, 73, 91}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			for _, n := range c.sizes {
				s, err := c.build(n)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%s of %d\n", c.name, n)
				for i := range s {
					fmt.Fprintf(&b, "%d:", i+1)
					for id := range s[i].All() {
						fmt.Fprintf(&b, " %d", id+1)
					}
					b.WriteByte('\n')
				}
			}
			compare(t, filepath.Join("testdata", c.name+".txt"), b.String())
		})
	}
}

// The larger planes are pinned by their first line: the others are its shifts.
func TestGoldenLines(t *testing.T) {
	var b strings.Builder
	for _, q := range orders {
		p, m := primePower(q)
		fmt.Fprintf(&b, "order %d: %v\n", q, differenceSet(p, m))
	}
	compare(t, filepath.Join("testdata", "lines.txt"), b.String())
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s, line %d:\ngot  %s\nwant %s\n('go test ./algorithm/quorum -update' rewrites it)", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", path, len(w), len(g))
}
