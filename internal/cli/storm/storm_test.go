package storm

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
)

// forgetful lets homes hear no reports: no flag can do that, since members that
// have it break what they promise.
func forgetful(c *storm.Config) {
	c.Made = func(m *member.Member, _ *member.Sessions) { member.Misread(m, member.NoReports) }
}

// told runs the command, and returns what it prints and its error.
func told(t *testing.T, change func(c *storm.Config), args string) (string, error) {
	t.Helper()
	c := newCommand(change)
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(strings.Fields(args))
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

// A storm that breaks something says which seed, how to make it again, and how it
// came, in a few lines that fit the screen.
func TestFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	const narrow = " --nodes 3,5 --faults all"
	text, err := told(t, forgetful, "--seeds 12 --svg a.svg --trace a.txt"+narrow)
	var found tell.Found
	if !errors.As(err, &found) || !strings.HasPrefix(found.Lines[0], "seed ") {
		t.Fatalf("the error is %v, and it says\n%s", err, text)
	}
	seed := strings.Fields(strings.TrimSuffix(found.Lines[0], ":"))[1]
	seed = strings.TrimSuffix(seed, ":")
	again := "stile storm --seed " + seed + narrow
	for _, want := range []string{"SEED " + seed + " BREAKS ", "commit     ", "again      " + again + "\n", "ITS SHORT STORY", " is broken: ", "a.svg shows "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > tell.Width+1 {
			t.Errorf("more than a screen's width: %s", line)
		}
	}
	if _, story, _ := strings.Cut(text, "ITS SHORT STORY"); strings.Count(story, "\n") > 16 {
		t.Errorf("no short story:\n%s", story)
	}
	for file, want := range map[string]string{"a.svg": "<svg", "a.txt": "views sends VIEW"} {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and begins %.40q", file, err, data)
		}
	}
	_, after, _ := strings.Cut(text, "SEED ")
	once, err := told(t, forgetful, strings.TrimPrefix(again, "stile storm "))
	if _, alone, _ := strings.Cut(once, "SEED "); !errors.As(err, &found) || alone == "" || !strings.HasPrefix(after, alone) {
		t.Errorf("made again it is\n%s\nand not\n%s", alone, after)
	}
}

// Programs are told the same.
func TestFailureJSON(t *testing.T) {
	text, err := told(t, forgetful, "--seeds 12 --nodes 3 --json")
	var found tell.Found
	if !errors.As(err, &found) {
		t.Fatalf("the error is %v:\n%s", err, text)
	}
	var r report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	v := r.First
	if r.Seeds != 12 || r.Violations == 0 || v == nil || v.Invariant == "" || v.Text == "" || v.Commit == "" || v.Nodes != 3 ||
		!strings.HasSuffix(v.Command, " --nodes 3") || v.Story == nil || v.Story.Text == "" || v.Story.Nodes > 3 {
		t.Errorf("%s", text)
	}
}

// Without a change the same seeds break nothing: it is the change that is found.
func TestNoFailure(t *testing.T) {
	if text, err := told(t, nil, "--seeds 12 --nodes 3,5 --faults all"); err != nil || !strings.Contains(text, "violations none\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// Of several storms that break nothing there is nothing to draw.
func TestNothingToDraw(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "a.svg")
	if text, err := told(t, nil, "--seeds 2 --svg "+svg); err != nil || !strings.Contains(text, "No storm to draw") {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err := os.Stat(svg); err == nil {
		t.Error("there is a picture")
	}
}

// A picture of one seed shows a view that begins after a fault.
func TestPicture(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "a.svg")
	text, err := told(t, nil, "--seed 4 --nodes 3 --faults crash --svg "+svg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(data), "= VIEW<") || !strings.Contains(string(data), ">time (ms)<") || !strings.Contains(strings.Join(strings.Fields(text), " "), " ms; ") {
		t.Errorf("%v; it says\n%s\nand draws\n%s", err, text, data)
	}
}

// The page about storms explains every fault, every invariant and every key.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/storm.md")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../storm/config.go")
	if err != nil {
		t.Fatal(err)
	}
	names := storm.FaultNames()
	invariants := regexp.MustCompile(`(?m) Invariant += "(\w+)"`).FindAllStringSubmatch(string(config), -1)
	if len(invariants) < 10 {
		t.Fatalf("only %d invariants are found", len(invariants))
	}
	for _, m := range invariants {
		names = append(names, m[1])
	}
	keys := reflect.TypeFor[report]()
	for i := range keys.NumField() {
		key, _, _ := strings.Cut(keys.Field(i).Tag.Get("json"), ",")
		names = append(names, key)
	}
	for _, name := range names {
		if !regexp.MustCompile("(?m)^\\| (`\\w+`, )?`" + name + "`").Match(page) {
			t.Errorf("docs/storm.md does not explain %s", name)
		}
	}
}
