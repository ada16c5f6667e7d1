package docs

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

	"github.com/stile-lock/stile/internal/nightly"
)

const root = "../.."

// A command is a command line of a page: the program and its arguments.
type command struct{ program, args string }

var written = regexp.MustCompile("(?m)^(?: {4}|\\$ )(?:go run \\./cmd/)?(stile(?:-lab)?)(?: (.*))?$|`(stile(?:-lab)?) ([^`]+)`")

// word is a word of a command line, which may be quoted.
var word = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)

// commands finds the commands that a page shows its reader.
func commands(page string) []command {
	var all []command
	for _, m := range written.FindAllStringSubmatch(page, -1) {
		line, _, _ := strings.Cut(m[2]+m[4], " #")
		line, _, _ = strings.Cut(line, " | ")
		line = strings.TrimSuffix(strings.TrimSpace(line), "&")
		all = append(all, command{m[1] + m[3], strings.Join(strings.Fields(line), " ")})
	}
	return all
}

// run runs a command in the root of the repository.
func run(bin string, c command) (int, string) {
	var args []string
	for _, m := range word.FindAllStringSubmatch(c.args, -1) {
		args = append(args, m[1]+m[2]+m[3])
	}
	cmd := exec.Command(filepath.Join(bin, c.program), args...)
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

// unknown says what a command does not recognize in its arguments: it parses them before it
// prints its help.
func unknown(bin string, c command) string {
	args, _, _ := strings.Cut(c.args, " -- ") // the rest is another command
	words := strings.Fields(args)
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	switch {
	case len(words) > 0 && (words[0] == "exec" || words[0] == "elect"):
		at = 1 // further words are of another command
	case at < 0:
		at = len(words)
	}
	code, out := run(bin, command{c.program, strings.Join(slices.Insert(words, at, "--help"), " ")})
	switch {
	case code != 0:
		return out
	case strings.Contains(out, "Also: ") && args != "" && !strings.HasPrefix(args, "-"): // the help of the program itself
		return "there is no such command"
	}
	for word := range strings.FieldsSeq(args) {
		if strings.HasSuffix(word, ".stile") && strings.HasPrefix(word, "lab/scenarios/") {
			if _, err := os.Stat(filepath.Join(root, word)); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// programs builds both commands, and returns their folder.
func programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/stile", "./cmd/stile-lab")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// pages returns the documentation that people wrote.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range append(names, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "lab/scenarios/README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// Every command in the documentation exists, and so do its flags and its scenario.
func TestCommands(t *testing.T) {
	bin, count := programs(t), 0
	for name, text := range pages(t) {
		for _, c := range commands(text) {
			if strings.ContainsAny(c.args, "<>…") || strings.Contains(c.args, "...") || regexp.MustCompile(`\b[A-Z]{3,}\b`).MatchString(c.args) {
				continue // a form, not a command
			}
			count++
			if why := unknown(bin, c); why != "" {
				t.Errorf("%s: %s %s: %s", name, c.program, c.args, why)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d commands: how are they written?", count)
	}
}

// The examples on the page about exit codes end as it says.
func TestExitCodes(t *testing.T) {
	nightly.Only(t)
	bin, seen := programs(t), map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(stile(?:-lab)?) ([^`]+)` \\| (\\d) \\|$").FindAllStringSubmatch(pages(t)[filepath.Join(root, "docs/exit-codes.md")], -1) {
		seen[row[3]] = true
		if got, out := run(bin, command{row[1], row[2]}); fmt.Sprint(got) != row[3] {
			t.Errorf("%s %s: exit code %d, and the page says %s:\n%s", row[1], row[2], got, row[3], out)
		}
	}
	if len(seen) != 4 {
		t.Errorf("examples of the codes %v only", seen)
	}
}

// The commands of the index of lectures run: those that find a violation exit with 1.
func TestLectures(t *testing.T) {
	nightly.Only(t)
	bin, count := programs(t), 0
	for line := range strings.Lines(pages(t)[filepath.Join(root, "docs/lectures.md")]) {
		for _, c := range commands(line) {
			if c.program == "stile" || strings.HasPrefix(c.args, "open") || strings.HasPrefix(line, "#") {
				continue
			}
			want := 0
			if strings.Contains(line, "(violated)") {
				want = 1
			}
			count++
			if code, out := run(bin, c); code != want && !(want == 1 && code == 0) {
				t.Errorf("%s %s: exit code %d, want %d:\n%s", c.program, c.args, code, want, out)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d commands", count)
	}
}

func TestPlantedCommands(t *testing.T) {
	got := commands("Say `stile-lab sim\nraymond --nodes 5`, or\n\n    go run ./cmd/stile serve   # it\n\n```console\n$ stile-lab replay x | head\n```\nand `go test`.")
	if want := []command{{"stile", "serve"}, {"stile-lab", "replay x"}, {"stile-lab", "sim raymond --nodes 5"}}; !slices.Equal(sorted(got), want) {
		t.Errorf("got %q, want %q", got, want)
	}
	bin := programs(t)
	for args, says := range map[string]string{
		"sim raymond --node 5": "unknown flag", "sim raymond --nodes five": "must be a whole number", "frobnicate": "no such command",
		"replay lab/scenarios/nothing.stile": "nothing.stile", "replay lab/scenarios/raymond-a.stile": "",
	} {
		if why := unknown(bin, command{"stile-lab", args}); !strings.Contains(why, says) || (why == "") != (says == "") {
			t.Errorf("stile-lab %s: %q, want %q", args, why, says)
		}
	}
}

func sorted(all []command) []command {
	slices.SortFunc(all, func(a, b command) int { return strings.Compare(a.program+" "+a.args, b.program+" "+b.args) })
	return all
}
