package style

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// build compiles the command, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	stile := filepath.Join(t.TempDir(), "stile.exe")
	cmd := exec.Command("go", "build", "-o", stile, "./cmd/stile")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return stile
}

// exitCode runs the command in the repository, with the arguments of a line.
func exitCode(stile, line string, more ...string) (int, string) {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.Trim(args[i], `"`)
	}
	cmd := exec.Command(stile, append(args, more...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), string(out)
	case err != nil:
		return -1, err.Error()
	}
	return 0, string(out)
}

// TestCommand runs the command as the documentation does.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	stile := build(t)
	t.Run("exit codes", func(t *testing.T) { exitCodes(t, stile) })
	t.Run("pages", func(t *testing.T) { commandsOfPages(t, stile) })
	t.Run("lectures", func(t *testing.T) { lectureCommands(t, stile) })
	t.Run("planted", func(t *testing.T) { plantedCommands(t, stile) })
	t.Run("consoles", func(t *testing.T) { consoles(t, stile) })
	t.Run("planted consoles", func(t *testing.T) { plantedConsoles(t, stile) })
}

// The examples on the page about exit codes end as it says.
func exitCodes(t *testing.T, stile string) {
	rows := regexp.MustCompile("(?m)^\\| `stile ([^`]+)` \\| (\\d) \\|$").FindAllStringSubmatch(readPage(t, "exit-codes.md"), -1)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row[2]] = true
		if got, out := exitCode(stile, row[1]); fmt.Sprint(got) != row[2] {
			t.Errorf("stile %s: exit code %d, and the page says %s:\n%s", row[1], got, row[2], out)
		}
	}
	if len(seen) != 4 {
		t.Errorf("there are examples of the codes %v only", seen)
	}
}

// commands finds the commands that a page tells its reader to run.
func commands(page string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?m)^ {4}(?:go run \\./cmd/)?stile (.*)$|`stile ([^`]+)`").FindAllStringSubmatch(page, -1) {
		line, _, _ := strings.Cut(m[1]+m[2], " #")
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return all
}

// unknown says what the command does not recognize in a line: it is asked for help with
// the rest of the line, which it parses first.
func unknown(stile, line string) string {
	line, _, other := strings.Cut(line, " -- ")
	args := []string{"--help"}
	if other { // what follows is another command
		args = append(args, "--", "true")
	}
	code, out := exitCode(stile, line, args...)
	switch {
	case code != 0:
		return out
	case strings.Contains(out, "Available Commands:") && !strings.HasPrefix(line, "--"):
		return "there is no such command"
	}
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "scenarios/") && strings.HasSuffix(word, ".stile") {
			if _, err := os.Stat(filepath.Join(root, word)); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// Every command in the documentation exists, and so do its flags and its scenario.
func commandsOfPages(t *testing.T, stile string) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "scenarios/README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commands(string(text)) {
			count++
			if why := unknown(stile, line); why != "" {
				t.Errorf("%s: stile %s: %s", page, line, why)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d commands: how are they written?", count)
	}
}

func plantedCommands(t *testing.T, stile string) {
	got := commands("Say `stile sim\nraymond --nodes 5`, or\n\n    go run ./cmd/stile bank   # it\n    stile replay x\n\nand `go test`.")
	if want := []string{"sim raymond --nodes 5", "bank", "replay x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for line, says := range map[string]string{
		"sim raymond --node 5": "unknown flag", "sim raymond --nodes five": "must be a whole number", "frobnicate": "no such command",
		"replay scenarios/nothing.stile": "nothing.stile", "replay scenarios/raymond-a.stile": "",
	} {
		if why := unknown(stile, line); !strings.Contains(why, says) || (why == "") != (says == "") {
			t.Errorf("stile %s: %q, want %q", line, why, says)
		}
	}
}
