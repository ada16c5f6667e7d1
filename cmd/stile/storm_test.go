package main

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
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/storm"
)

// liars returns an algorithm whose machines give every seat an alibi, inside or not: homes
// then let go too early. No flag selects it, because it breaks what members promise.
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

// stormTold runs the command, and returns what it prints and its error.
func stormTold(t *testing.T, change func(c *storm.Config), args string) (string, error) {
	t.Helper()
	c := newStormWith(change)
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
	text, err := stormTold(t, lying, "--seeds 12 --svg a.svg --trace a.txt"+narrow)
	var found findings
	if !errors.As(err, &found) || !strings.HasPrefix(found.lines[0], "seed ") {
		t.Fatalf("the error is %v, and it says\n%s", err, text)
	}
	seed := strings.Fields(strings.TrimSuffix(found.lines[0], ":"))[1]
	seed = strings.TrimSuffix(seed, ":")
	again := "stile storm --seed " + seed + narrow
	for _, want := range []string{"SEED " + seed + " BREAKS ", "commit     ", "again      " + again + "\n", "ITS SHORT STORY", " is broken: ", "a.svg shows "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > screenWidth+1 {
			t.Errorf("more than a screen's width: %s", line)
		}
	}
	if _, story, _ := strings.Cut(text, "ITS SHORT STORY"); strings.Count(story, "\n") > 16 {
		t.Errorf("no short story:\n%s", story)
	}
	for file, want := range map[string]string{"a.svg": "<svg", "a.txt": " sends VIEW "} {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and begins %.40q", file, err, data)
		}
	}
	_, after, _ := strings.Cut(text, "SEED ")
	once, err := stormTold(t, lying, strings.TrimPrefix(again, "stile storm "))
	if _, alone, _ := strings.Cut(once, "SEED "); !errors.As(err, &found) || alone == "" || !strings.HasPrefix(after, alone) {
		t.Errorf("made again it is\n%s\nand not\n%s", alone, after)
	}
}

// Programs are told the same.
func TestFailureJSON(t *testing.T) {
	text, err := stormTold(t, lying, "--seeds 12 --nodes 3 --json")
	var found findings
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

// Without a change the same seeds break nothing: it is the change that is found.
func TestNoFailure(t *testing.T) {
	if text, err := stormTold(t, nil, "--seeds 12 --nodes 3,5 --faults all"); err != nil || !strings.Contains(text, "violations none\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// Of several storms that break nothing there is nothing to draw.
func TestNothingToDraw(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "a.svg")
	if text, err := stormTold(t, nil, "--seeds 2 --svg "+svg); err != nil || !strings.Contains(text, "No storm to draw") {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err := os.Stat(svg); err == nil {
		t.Error("there is a picture")
	}
}

// A picture of one seed shows a view that begins after a fault.
func TestPicture(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "a.svg")
	text, err := stormTold(t, nil, "--seed 4 --nodes 3 --faults crash --svg "+svg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(data), "VIEW<") || !strings.Contains(string(data), ">time (ms)<") || !strings.Contains(strings.Join(strings.Fields(text), " "), " ms; ") {
		t.Errorf("%v; it says\n%s\nand draws\n%s", err, text, data)
	}
}

// A bank that looks at tokens has all its money, and says so.
func TestBank(t *testing.T) {
	text, err := stormTold(t, nil, "--seeds 12 --bank")
	if err != nil || !strings.Contains(text, " transfers moved ") || !strings.Contains(text, ": exact\n") {
		t.Errorf("%v:\n%s", err, text)
	}
	var r stormReport
	text, err = stormTold(t, nil, "--seeds 12 --bank --json")
	if err != nil || json.Unmarshal([]byte(text), &r) != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if b := r.Bank; b == nil || !b.Fenced || !b.Exact || b.Total != b.Expected || b.Total == 0 || b.Transfers != r.Deposits || b.Moved == 0 {
		t.Errorf("%s", text)
	}
}

// One that does not loses some, when somebody stands still: it says how, that
// this had to come, and what to do; and so does its picture.
func TestNoFence(t *testing.T) {
	t.Chdir(t.TempDir())
	const line = "--seeds 30 --faults pause --bank --no-fence"
	text, err := stormTold(t, nil, line+" --svg a.svg --trace a.txt")
	var found findings
	if !errors.As(err, &found) || !strings.Contains(found.lines[len(found.lines)-1], "to be expected") {
		t.Fatalf("the error is %v, and it says\n%s", err, text)
	}
	for _, want := range []string{" BREAKS bank\n", " --faults pause --bank --no-fence\n", "AT THE BANK", " STALE: the WRITE of ", "THIS IS TO BE EXPECTED", " --faults pause --bank\n", " where "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > screenWidth+1 {
			t.Errorf("more than a screen's width: %s", line)
		}
	}
	for file, want := range map[string]string{"a.svg": "STALE WRITE", "a.txt": "STALE: the WRITE of "} {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and no %q in it", file, err, want)
		}
	}
	_, after, _ := strings.Cut(text, "exact:\n  stile storm ")
	again, _, _ := strings.Cut(after, "\n")
	if text, err := stormTold(t, nil, again); err != nil || !strings.Contains(text, ": exact\n") {
		t.Errorf("with the fence, %s: %v\n%s", again, err, text)
	}
	var r stormReport
	text, _ = stormTold(t, nil, line+" --json")
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Bank.Fenced || r.Bank.Exact || r.Bank.Missing+r.Bank.Surplus == 0 || r.Bank.Stale == 0 || len(r.First.Story.Lost) < 4 {
		t.Errorf("%v: %s", err, text)
	}
}

// The page shows what the bank really prints.
func TestBankPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/storm.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := stormTold(t, nil, "--seed 1 --faults pause --bank --no-fence")
	if _, story, _ := strings.Cut(text, "ITS SHORT STORY"); story == "" || !strings.Contains(string(page), "ITS SHORT STORY"+story+"```\n") {
		t.Errorf("docs/storm.md does not show\n%s", text)
	}
	text, _ = stormTold(t, nil, "--bank --seeds 20")
	if _, bank, _ := strings.Cut(text, "\nbank "); bank == "" || !strings.Contains(string(page), "\nbank "+bank[:strings.Index(bank, "exact\n")]) {
		t.Errorf("docs/storm.md does not show\n%s", text)
	}
}

// A long story of the bank is cut in the middle.
func TestLongLoss(t *testing.T) {
	x := &stormResult{again: "stile storm --bank --no-fence"}
	for i := range 40 {
		x.lost = append(x.lost, storm.Entry{At: member.Span(i) * member.Millisecond, Text: "something"})
	}
	var out bytes.Buffer
	printLost(newPrinter(&out), x)
	if text := out.String(); strings.Count(text, " ms  something\n") != mostEntries || !strings.Contains(text, "26 more lines between them\n") || !strings.Contains(text, " 39.0 ms ") {
		t.Errorf("%s", text)
	}
}

// The page about storms explains every fault, every invariant and every key.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/storm.md")
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
