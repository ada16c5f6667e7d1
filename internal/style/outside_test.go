package style

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script turns a page into what its reader does: writing files and running commands, one
// after the other. It also returns what the blocks of text show.
func script(page string) (commands string, shown []string) {
	var b strings.Builder
	b.WriteString("set -e\n")
	for _, block := range blocks(page) {
		switch {
		case block.file != "":
			b.WriteString("cat >> " + block.file + " <<'END OF FILE'\n" + block.text + "END OF FILE\n")
		case block.lang == "sh":
			b.WriteString(block.text)
		case block.lang == "text":
			shown = append(shown, strings.Split(strings.TrimSpace(block.text), "\n")...)
		}
	}
	return b.String(), shown
}

// A reader who follows the page about modules of one's own, in a folder next to the clone
// and without a network, sees what it shows.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the commands of the page are run by bash: ", err)
	}
	dir := t.TempDir()
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(clone, filepath.Join(dir, "stile")); err != nil {
		t.Skip("the clone cannot be linked to: ", err)
	}
	commands, shown := script(readPage(t, "outside.md"))
	run := exec.Command(bash, "-c", commands)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, line := range shown {
		if !strings.Contains(string(out), line) {
			t.Errorf("the page shows %q, but what is seen is\n%s", line, out)
		}
	}
	if strings.Count(string(out), "\nok ") < 2 || len(shown) == 0 {
		t.Errorf("the tests of the page were not run:\n%s", out)
	}
}
