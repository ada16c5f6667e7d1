package command

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

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/terminal"
)

// liars returns an algorithm whose machines give every seat an alibi, inside or not: homes
// then release too early. No flag selects it, because it breaks what members promise.
func liars(name string, version int) (algorithm.Spec, error) {
	s, err := catalog.MakeLive(name, version)
	plan := s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return liar{birth(self, v)} }, err
	}
	return s, err
}

type liar struct{ algorithm.Machine }

func (l liar) Unwrap() algorithm.Machine { return l.Machine }

func (liar) Alibi(algorithm.ID) bool { return true }

func lying(c *storm.Config) { c.Spec = liars }

// stormOutput runs the command with a change that breaks something, or nil.
func stormOutput(change func(c *storm.Config), args string) (string, error) {
	return execute(newStormWith(change), strings.Fields(args)...)
}

// A storm that breaks something says which seed, how to make it again, and how it
// came, in a few lines that fit the screen.
func TestStormFailure(t *testing.T) {
	nightly.Only(t)
	t.Chdir(t.TempDir())
	const narrow = " --nodes 3,5 --faults all"
	text, err := stormOutput(lying, "--seeds 12 --svg a.svg --trace a.txt"+narrow)
	var found terminal.Findings
	if !errors.As(err, &found) || !strings.HasPrefix(found.Lines[0], "seed ") {
		t.Fatalf("the error is %v, and it says\n%s", err, text)
	}
	seed := strings.Fields(strings.TrimSuffix(found.Lines[0], ":"))[1]
	seed = strings.TrimSuffix(seed, ":")
	again := "stile-lab storm --seed " + seed + narrow
	for _, want := range []string{"SEED " + seed + " VIOLATES ", "commit     ", "again      " + again + "\n", "SHORT COUNTEREXAMPLE", " is violated: ", "a.svg shows "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > terminal.ScreenWidth+1 {
			t.Errorf("more than a screen's width: %s", line)
		}
	}
	if _, story, _ := strings.Cut(text, "SHORT COUNTEREXAMPLE"); strings.Count(story, "\n") > 16 {
		t.Errorf("no short story:\n%s", story)
	}
	for file, want := range map[string]string{"a.svg": "<svg", "a.txt": " sends VIEW "} {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and begins %.40q", file, err, data)
		}
	}
	_, after, _ := strings.Cut(text, "SEED ")
	once, err := stormOutput(lying, strings.TrimPrefix(again, "stile-lab storm "))
	if _, alone, _ := strings.Cut(once, "SEED "); !errors.As(err, &found) || alone == "" || !strings.HasPrefix(after, alone) {
		t.Errorf("made again it is\n%s\nand not\n%s", alone, after)
	}
}

// JSON output has the same.
func TestStormFailureJSON(t *testing.T) {
	nightly.Only(t)
	t.Parallel()
	text, err := stormOutput(lying, "--seeds 12 --nodes 3 --json")
	var found terminal.Findings
	if !errors.As(err, &found) {
		t.Fatalf("the error is %v:\n%s", err, text)
	}
	var r stormReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	v := r.First
	if r.Seeds != 12 || r.Violations == 0 || v == nil || v.Invariant == "" || v.Text == "" || v.Commit == "" || v.Nodes != 3 ||
		!strings.HasSuffix(v.Command, " --nodes 3") || v.Story == nil || v.Story.Text == "" || v.Story.Nodes > 3 {
		t.Errorf("%s", text)
	}
}

// Without the change the same seeds violate nothing: the storm finds the change.
func TestStormWithoutFailure(t *testing.T) {
	t.Parallel()
	if text, err := stormOutput(nil, "--seeds 12 --nodes 3,5 --faults all"); err != nil || !strings.Contains(text, "violations none\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// If several storms violate nothing there is nothing to draw.
func TestStormNothingToDraw(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "a.svg")
	if text, err := stormOutput(nil, "--seeds 2 --svg "+svg); err != nil || !strings.Contains(text, "--seed") {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err := os.Stat(svg); err == nil {
		t.Error("there is a picture")
	}
}

// A picture of one seed shows a view that begins after a fault.
func TestStormPicture(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "a.svg")
	text, err := stormOutput(nil, "--seed 4 --nodes 3 --faults crash --svg "+svg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(data), "VIEW<") || !strings.Contains(string(data), ">time (ms)<") || !strings.Contains(strings.Join(strings.Fields(text), " "), " ms; ") {
		t.Errorf("%v; it says\n%s\nand draws\n%s", err, text, data)
	}
}

// A bank that checks tokens keeps all its money, and reports it.
func TestStormBank(t *testing.T) {
	t.Parallel()
	text, err := stormOutput(nil, "--seeds 4 --bank")
	if err != nil || !strings.Contains(text, " transfers moved ") || !strings.Contains(text, ": exact\n") {
		t.Errorf("%v:\n%s", err, text)
	}
	var r stormReport
	text, err = stormOutput(nil, "--seeds 4 --bank --json")
	if err != nil || json.Unmarshal([]byte(text), &r) != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if b := r.Bank; b == nil || !b.Fenced || !b.Exact || b.Total != b.Expected || b.Total == 0 || b.Transfers != r.Deposits || b.Moved == 0 {
		t.Errorf("%s", text)
	}
}

// One that does not loses some, when a process is paused: it says how, that
// this had to come, and what to do; and so does its picture.
func TestStormNoFence(t *testing.T) {
	nightly.Only(t)
	t.Chdir(t.TempDir())
	const line = "--seeds 30 --faults pause --bank --no-fence"
	text, err := stormOutput(nil, line+" --svg a.svg --trace a.txt")
	var found terminal.Findings
	if !errors.As(err, &found) || !strings.Contains(found.Lines[len(found.Lines)-1], "expected") {
		t.Fatalf("the error is %v, and it says\n%s", err, text)
	}
	for _, want := range []string{" VIOLATES bank\n", " --faults pause --bank --no-fence\n", "AT THE BANK", " STALE: the WRITE ", "THIS IS EXPECTED", " --faults pause --bank\n", ", expected "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > terminal.ScreenWidth+1 {
			t.Errorf("more than a screen's width: %s", line)
		}
	}
	for file, want := range map[string]string{"a.svg": "STALE WRITE", "a.txt": "STALE: the WRITE "} {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and no %q in it", file, err, want)
		}
	}
	_, after, _ := strings.Cut(text, "exact:\n  stile-lab storm ")
	again, _, _ := strings.Cut(after, "\n")
	if text, err := stormOutput(nil, again); err != nil || !strings.Contains(text, ": exact\n") {
		t.Errorf("with the fence, %s: %v\n%s", again, err, text)
	}
	var r stormReport
	text, _ = stormOutput(nil, line+" --json")
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Bank.Fenced || r.Bank.Exact || r.Bank.Missing+r.Bank.Surplus == 0 || r.Bank.Stale == 0 || len(r.First.Story.Lost) < 4 {
		t.Errorf("%v: %s", err, text)
	}
}

// docs/storm.md shows what the bank really prints.
func TestStormBankPage(t *testing.T) {
	nightly.Only(t)
	t.Parallel()
	page, err := os.ReadFile("../../docs/storm.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := stormOutput(nil, "--seed 44 --faults pause --bank --no-fence")
	if _, story, _ := strings.Cut(text, "SHORT COUNTEREXAMPLE"); story == "" || !strings.Contains(string(page), "SHORT COUNTEREXAMPLE"+story+"exit code 1\n```\n") {
		t.Errorf("docs/storm.md does not show\n%s", text)
	}
	text, _ = stormOutput(nil, "--bank --seeds 20")
	if _, bank, _ := strings.Cut(text, "\nbank "); bank == "" || !strings.Contains(string(page), "\nbank "+bank[:strings.Index(bank, "exact\n")]) {
		t.Errorf("docs/storm.md does not show\n%s", text)
	}
}

// A long list of events at the bank is cut in the middle.
func TestStormLongLoss(t *testing.T) {
	x := &stormResult{again: "stile-lab storm --bank --no-fence"}
	for i := range 40 {
		x.lost = append(x.lost, storm.Entry{At: member.Span(i) * member.Millisecond, Text: "something"})
	}
	var out bytes.Buffer
	printLost(terminal.NewPrinter(&out), x)
	if text := out.String(); strings.Count(text, " ms  something\n") != mostEntries || !strings.Contains(text, "26 lines omitted\n") || !strings.Contains(text, " 39.0 ms ") {
		t.Errorf("%s", text)
	}
}

// docs/storm.md explains every fault, every invariant and every JSON key.
func TestStormPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/storm.md")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../internal/storm/config.go")
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
	keys := reflect.TypeFor[stormReport]()
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
