package command

import (
	"os"
	"strings"
	"testing"
)

func checkOutput(line string, more ...string) (string, error) {
	return execute(newCheck(), append(strings.Fields(strings.TrimPrefix(line, "stile-lab check ")), more...)...)
}

// The module and its configuration are written, and what TLC should find is printed.
func TestTLAFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := checkOutput("stile-lab check lamport --nodes 2 --requests 1 --network unordered --tla", dir+"/two_in")
	if err != nil {
		t.Fatal(err)
	}
	if want := "violated, after 4 steps"; !strings.Contains(text, want) {
		t.Errorf("it does not say %q:\n%s", want, text)
	}
	for file, want := range map[string]string{"two_in.tla": "---- MODULE two_in ----", "two_in.cfg": "INVARIANTS MutualExclusion"} {
		if data, err := os.ReadFile(dir + "/" + file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, want %q in\n%.300s", file, err, want, data)
		}
	}
}

// What cannot be exported is refused, and nothing is written.
func TestTLARefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for line, want := range map[string]string{
		"stile-lab check lamport --requests unbounded --tla DIR/x.tla":                           "give a number of requests",
		"stile-lab check central+bully --tla DIR/x.tla":                                          "tolerates crashes",
		"stile-lab check bully --tla DIR/x.tla":                                                  "an election",
		"stile-lab check wait-die --tla DIR/x.tla":                                               "a method against deadlock",
		"stile-lab check central --network duplicating --tla DIR/x.tla":                          "duplicating",
		"stile-lab check central --tla DIR/two-in.tla":                                           "two-in",
		"stile-lab check central --tla DIR/x.txt":                                                ".tla",
		"stile-lab check central --property deadlock --tla DIR/x.tla":                            "--property",
		"stile-lab check dijkstra --shared one --tla DIR/x.tla":                                  "--tla",
		"stile-lab check naimi-trehel --nodes 5 --requests unbounded --time 1ms --tla DIR/x.tla": "nothing was written",
	} {
		if _, err := checkOutput(strings.ReplaceAll(line, "DIR", dir)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
}
