package main

import (
	"os"
	"strings"
	"testing"
)

// Wherever a diagram is printed or written, --clocks puts clocks into it, and
// nothing else does.
func TestClocks(t *testing.T) {
	scenario, err := os.ReadFile("../../lab/scenarios/ricart-agrawala-a.stile")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.stile", scenario, 0o666); err != nil {
		t.Fatal(err)
	}
	const vector = "1 [1 0"
	for _, test := range []struct{ args, file string }{
		{"replay a.stile", ""},
		{"replay a.stile --ascii", ""},
		{"replay a.stile --svg new.svg", "new.svg"},
		{"check lamport --nodes 2 --network unordered --property mutual-exclusion", ""},
		{"check lamport --nodes 2 --network unordered --property mutual-exclusion --json --trace new.svg", "new.svg"},
		{"sim ricart-agrawala --nodes 3 --entries 5 --trace new.txt", "new.txt"},
		{"sim ricart-agrawala --nodes 3 --entries 5 --svg new.svg", "new.svg"},
		{"bank --lock ricart-agrawala --svg new.svg", "new.svg"},
		{"bank --lock ricart-agrawala --trace new.txt", "new.txt"},
		{"deadlock wound-wait --sites 2 --transactions 5 --trace new.svg", "new.svg"},
	} {
		for _, clocks := range []bool{false, true} {
			args := strings.Fields(test.args)
			if clocks {
				args = append(args, "--clocks")
			}
			code, text, stderr := stile(args...)
			if code > 1 {
				t.Fatalf("stile %s: %s", args, stderr)
			}
			if test.file != "" {
				data, err := os.ReadFile(test.file)
				if err != nil {
					t.Fatal(err)
				}
				text = string(data)
			}
			if strings.Contains(text, vector) != clocks {
				t.Errorf("stile %s: that there is %q should be %t:\n%s", args, vector, clocks, text)
			}
		}
	}
}
