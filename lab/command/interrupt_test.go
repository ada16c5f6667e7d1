package command

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// interrupted runs the command in this process, interrupted from the start: it ends
// at its first look.
func interrupted(t *testing.T, line string) (code int, stdout, stderr string) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code = Run(ctx, strings.Fields(line), false, &out, &errs)
	return code, out.String(), errs.String()
}

// Every long command can be interrupted: it prints the results so far, says on stderr how
// far it was, and exits with code 3. What is undecided because of the interrupt is not
// reported as wrong, nor as out of time or memory.
func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ line, after, stdout string }{
		{"sim raymond --entries 1000000", `[\d,]+ of 1,000,000 entries`, "violations none so far"},
		{"sim raymond --entries 1000000 --section a:1,2 --section b:2,3", `[\d,]+ of 2,000,000 entries`, "section b among P2 P3"},
		{"sim bully --nodes 700", `[\d,]+ messages`, "leader     not known yet"},
		{"deadlock ordered --transactions 100000", `[\d,]+ of 100,000 transactions`, "stuck                              0"},
		{"bank --machines 9 --deposits 10000", `[\d,]+ of 90,000 deposits`, " so far. "},
		{"bank --machines 9 --deposits 10000 --lock raymond", `[\d,]+ of 90,000 deposits`, " so far: nothing is lost."},
		{"storm", `0 of 200 seeds`, "violations none so far"},
		{"storm --seed 3", `0 of 1 seed`, "violations none so far"},
		{"compare raymond maekawa --nodes 3,5", `0 of 24 runs`, "Rows with missing runs are omitted."},
		{"compare --deadlock ordered --nodes 3", `0 of 1 run`, "Methods against deadlock"},
		{"check raymond", `[\d,]+ states`, "interrupted"},
		{"check dijkstra --shared one --nodes 8", `[\d,]+ states`, "interrupted"},
		{"check wait-die", `[\d,]+ states`, "interrupted"},
		{"check bully", `[\d,]+ states`, "interrupted"},
	} {
		code, stdout, stderr := interrupted(t, test.line)
		if want := regexp.MustCompile(`^stile-lab: interrupted after ` + test.after + `\n$`); code != 3 || !want.MatchString(stderr) {
			t.Errorf("stile-lab %s: exit code %d, stderr %q; want 3 and %v", test.line, code, stderr, want)
		}
		if !strings.Contains(stdout, test.stdout) || !regexp.MustCompile(`Interrupted after `+test.after).MatchString(strings.Join(strings.Fields(stdout), " ")) {
			t.Errorf("stile-lab %s prints\n%s", test.line, stdout)
		}
		if all := stdout + stderr; strings.Contains(all, "out of time") || strings.Contains(all, "out of memory") {
			t.Errorf("stile-lab %s: an interrupt is called something else:\n%s", test.line, all)
		}
		if test.line[:3] == "ban" {
			continue // without --json they tell a story
		}
		code, stdout, _ = interrupted(t, test.line+" --json")
		if !json.Valid([]byte(stdout)) || !strings.Contains(stdout, `"stopped": true`) || code != 3 {
			t.Errorf("stile-lab %s --json: exit code %d, and no JSON that it was stopped:\n%s", test.line, code, stdout)
		}
	}
}

// A run that finishes before it notices the interrupt was not interrupted.
func TestTooShortToBeInterrupted(t *testing.T) {
	for _, line := range []string{"sim raymond --entries 10 --json", "sim bully --json", "deadlock ordered --json", "bank", "bank --json"} {
		code, stdout, stderr := interrupted(t, line)
		if code != 0 || stderr != "" || stdout != ok(t, line) {
			t.Errorf("stile-lab %s: exit code %d, stderr %q, stdout\n%s", line, code, stderr, stdout)
		}
	}
}

// Findings before an interrupt are still reported.
func TestFoundAndInterrupted(t *testing.T) {
	code, _, stderr := interrupted(t, "sim bakery-naive --entries 1000000 --latency exp:1 --think exp:5")
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if code != 1 || !strings.Contains(lines[0], "violation of mutual-exclusion") || !strings.HasPrefix(lines[len(lines)-1], "stile-lab: interrupted after ") {
		t.Errorf("exit code %d, stderr\n%s", code, stderr)
	}
}

// All requested files are written and say that the run was interrupted.
func TestInterruptedFiles(t *testing.T) {
	nightly.Only(t)
	t.Chdir(t.TempDir())
	for line, files := range map[string]string{
		"sim raymond --entries 1000000 --svg a.svg --trace b.json":         "a.svg b.json",
		"sim raymond --entries 1000000 --trace b.log":                      "b.log",
		"sim raymond --entries 1000000 --trace b.txt":                      "b.txt",
		"deadlock ordered --transactions 100000 --svg a.svg --trace b.svg": "a.svg b.svg",
		"deadlock ordered --transactions 100000 --trace b.txt":             "b.txt",
		"bank --machines 9 --deposits 10000 --lock raymond --svg a.svg":    "a.svg",
		"compare raymond --nodes 3 --svg a.svg":                            "a.svg",
		"compare --deadlock ordered --nodes 3 --svg a.svg":                 "a.svg",
		"compare --deadlock ordered --nodes 3 --json --svg a.svg":          "a.svg",
	} {
		if code, _, stderr := interrupted(t, line); code != 3 {
			t.Errorf("stile-lab %s: exit code %d, %s", line, code, stderr)
		}
		for name := range strings.FieldsSeq(files) {
			if data, err := os.ReadFile(name); err != nil || !strings.Contains(strings.ToLower(string(data)), "interrupted after ") {
				t.Errorf("stile-lab %s: %s does not say that it was interrupted: %v", line, name, err)
			}
			os.Remove(name)
		}
		if left, _ := filepath.Glob("*"); len(left) > 0 {
			t.Errorf("stile-lab %s: left behind: %v", line, left)
		}
	}
}
