package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

func TestCheckJSONKeys(t *testing.T) {
	text := ok(t, "check central --nodes 2 --json")
	want := strings.Fields("algorithm nodes requests network verdict states transitions depth seconds states_per_second collision_probability properties")
	if got := keys(t, text); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	var r struct {
		Properties []json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Properties {
		if got := keys(t, string(p)); !slices.Equal(got, []string{"name", "verdict", "note", "trace"}) {
			t.Errorf("a property has the keys %v", got)
		}
		if strings.Contains(string(p), "null") {
			t.Errorf("null in %s", p)
		}
	}
}

// Each way to break something: what is violated first, and whether the
// simulator, which watches a run with an oracle of its own, sees it too when
// it replays the file.
func TestCounterexamplesReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	const published = "--sets 1:4,5;2:4,5;3:4;4:4;5:4,5"
	for _, test := range []struct{ args, property, sim string }{
		{"ricart-agrawala-1981", "order", "order"},
		{"ricart-agrawala-1981", "order-open", "order"},
		{"majority-naive --requests 1", "deadlock", "lost-request"},
		{"majority-naive --requests 1", "starvation", "lost-request"},
		{"majority-naive --requests 1", "start", "lost-request"},
		{"maekawa-naive --requests unbounded", "deadlock", "lost-request"},
		{"maekawa-naive --requests unbounded", "starvation", "lost-request"},
		{"maekawa-published --nodes 5 --requests 1 --requesters 1,2,3 " + published, "deadlock", "lost-request"},
		{"raymond-greedy --topology line --requests 1", "order-open", "order"},
		{"raymond-initialize --topology line --requests 1", "order-open", "order"},
		{"bakery-naive --requests 1", "mutual-exclusion", "mutual-exclusion"},
		{"bakery-naive --requests 1", "fence", "mutual-exclusion"},
		{"bakery-naive --requests 1", "start", "mutual-exclusion"},
		{"lamport --nodes 2 --network unordered", "mutual-exclusion", "mutual-exclusion"},
		{"lamport --nodes 2 --network unordered", "deadlock", "lost-request"},
		{"lamport --nodes 2 --network unordered", "fence", ""},
		{"lamport --nodes 2 --network unordered", "alibi", "mutual-exclusion"},
		{"sanders --nodes 2 --experiment --sets 1:1;2:1,2 --inform 1:1;2:2", "mutual-exclusion", "mutual-exclusion"},
		{"token-ring --nodes 2 --requests 1 --network duplicating", "token", ""},
		{"token-ring --nodes 2 --requests 1 --network duplicating", "mutual-exclusion", "mutual-exclusion"},
		{"token-ring --nodes 2 --requests 1 --network lossy", "deadlock", "lost-request"},
		{"suzuki-kasami --requests 1 --network lossy", "starvation", "lost-request"},
		{"ricart-agrawala --requests 1 --network lossy --start 3:busy", "deadlock", "lost-request"},
		{"ricart-agrawala --nodes 2 --requests 2 --network duplicating", "mutual-exclusion", "mutual-exclusion"},
		{"carvalho-roucairol --requests unbounded", "order", "order"},
		{"raymond --topology line", "order", "order"},
		{"central", "order-open", "order"},
		{"dijkstra --k 2", "order-open", "order"},
	} {
		name := test.args + " " + test.property
		t.Run(name, func(t *testing.T) {
			args := append([]string{"check"}, strings.Fields(test.args+" --property "+test.property+" --trace a.stile")...)
			if code, stdout, stderr := stile(args...); code != 1 || !strings.Contains(stderr, test.property+" is violated") || strings.Contains(stdout, "does not agree") {
				t.Fatalf("exit code %d, stderr %q, stdout\n%s", code, stderr, stdout)
			}
			text, err := os.ReadFile("a.stile")
			if err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := stile("replay", "a.stile")
			if code != 0 || test.sim != "" && !strings.Contains(stdout, "\nviolation  "+test.sim) {
				t.Errorf("exit code %d, stderr %q, stdout\n%s\nof\n%s", code, stderr, stdout, text)
			}
		})
	}
}

// A counterexample says with which options it was found: without them it would
// be another group's.
func TestCounterexamplesKeepOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ args, line string }{
		{"raymond --topology line --property order", "topology line"},
		{"sanders --nodes 2 --experiment --sets 1:1;2:1,2 --inform 1:1;2:2", "sets 1:1;2:1,2\ninform 1:1;2:2\nexperiment"},
		{"dijkstra --k 2 --property order-open", "k 2"},
		{"central --coordinator 2 --property order-open", "coordinator 2"},
		{"chang-roberts --topology down --nodes 2 --wrong", "topology down"},
		{"raymond+bully --topology line --nodes 2 --requests 1 --crashes 0 --wrong", "topology line"},
	} {
		args := append([]string{"check"}, strings.Fields(test.args+" --trace a.stile")...)
		if code, _, stderr := stile(args...); code != 1 {
			t.Fatalf("%s: exit code %d, stderr %q", test.args, code, stderr)
		}
		text, err := os.ReadFile("a.stile")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n"+test.line+"\n") {
			t.Errorf("%s: want the line %q in\n%s", test.args, test.line, text)
		}
	}
}

// What a method against deadlock does wrong is written and drawn, too, and
// replays as it was found.
func TestMethodsAreReplayed(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, line string }{
		{"none", "expect cycle P1 P2"},
		{"none --nodes 3 --sites 3 --requests 1 --crashes 1", "expect stuck P1 P2 P3"},
		{"priority --requests unbounded --nodes 2", "expect aborts P2 P2"},
		{"detect-central --mode batch --property one-victim", "mode batch"},
		{"detect-central --mode change --sites 3 --nodes 3 --property false-report", "expect false cycle P1 P2 P3"},
	} {
		args := append([]string{"check"}, strings.Fields(c.args+" --trace a.stile --svg a.svg")...)
		if code, _, stderr := stile(args...); code != 1 {
			t.Fatalf("%s: exit code %d, stderr %q", c.args, code, stderr)
		}
		text, err := os.ReadFile("a.stile")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n"+c.line+"\n") {
			t.Errorf("%s: want the line %q in\n%s", c.args, c.line, text)
		}
		if code, _, stderr := stile("replay", "a.stile"); code != 0 {
			t.Errorf("%s: its replay: exit code %d, stderr %q", c.args, code, stderr)
		}
		if svg, err := os.ReadFile("a.svg"); err != nil || !strings.Contains(string(svg), "site 2") {
			t.Errorf("%s: %v, and no site 2 in the diagram", c.args, err)
		}
	}
}

// The story of the first violation comes before the table, and only once; with
// --json there is nothing but JSON.
func TestStoryIsToldWhenFound(t *testing.T) {
	for _, line := range []string{"majority-naive --requests 1", "none --nodes 3 --requests 1", "maekawa-naive --requests unbounded --property deadlock"} {
		args := append([]string{"check"}, strings.Fields(line)...)
		code, stdout, _ := stile(args...)
		story, table := strings.Index(stdout, "How deadlock is violated"), strings.Index(stdout, "\nverdict ")
		if code != 1 || story < 1 || story > 200 || table < story || strings.Count(stdout, "How deadlock is violated") != 1 {
			t.Errorf("%s: exit code %d, the story at %d, the table at %d:\n%s", line, code, story, table, stdout)
		}
		_, stdout, _ = stile(append(args, "--json")...)
		if !json.Valid([]byte(stdout)) {
			t.Errorf("%s: not JSON:\n%s", line, stdout)
		}
	}
}

// What is told early and what is first in the table may be two things: then both
// are told.
func TestTwoStories(t *testing.T) {
	code, stdout, _ := stile(strings.Fields("check token-ring --nodes 2 --requests 1 --network duplicating")...)
	early, _, _ := strings.Cut(stdout, "\nverdict ")
	if code != 1 || strings.Count(stdout, "is violated, in") != 2 || strings.Count(early, "is violated, in") != 1 {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
}

func TestRingJSONKeys(t *testing.T) {
	text := ok(t, "check dijkstra --shared one --nodes 4 --json")
	want := strings.Fields("algorithm nodes requests network verdict states transitions depth seconds states_per_second collision_probability properties movers k worst_steps longest_run")
	if got := keys(t, text); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	for _, part := range []string{`"k": 3,`, `"worst_steps": 13,`, `"at the start: flags `} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
}

func TestRingText(t *testing.T) {
	text := ok(t, "check dijkstra --shared several --nodes 3 --k 3")
	for _, part := range []string{"3 processes, 3 values of a flag", "right after at most", "A longest run until it is right:\n    0  at the start: flags"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	code, stdout, stderr := stile(strings.Fields("check dijkstra --shared all --nodes 4 --k 2")...)
	if code != 1 || !strings.Contains(stdout, "All from step 1 on can be repeated for ever.") || !strings.Contains(stderr, "convergence is violated") {
		t.Errorf("exit code %d, stderr %q\n%s", code, stderr, stdout)
	}
	if code, _, stderr := stile(strings.Fields("check dijkstra --shared one --nodes 4 --k 250 --memory 1MiB")...); code != 3 || !strings.Contains(stderr, "out of memory") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// The plain command checks every recovering lock, with one crash.
func TestEveryRecoveringLock(t *testing.T) {
	for _, spec := range catalog.Sound() {
		name := spec.Name + "+bully"
		if _, err := catalog.Make(name, algorithm.Options{}); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := stile("check", name, "--nodes", "2")
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "1 crash at any step") || !strings.Contains(stdout, "\nverdict           holds-bounded\n") {
			t.Errorf("%s: exit code %d, stderr %q, stdout\n%s", name, code, stderr, stdout)
		}
	}
}

// What is said to show that an algorithm is wrong or weaker does.
func TestShown(t *testing.T) {
	for _, s := range catalog.All() {
		if s.Sound() {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(s.Shown, "'", ""))[1:]
		want := 1
		if args[0] == "replay" { // whose expectations say what is worse
			args[1], want = "../../"+args[1], 0
		}
		if code, _, stderr := stile(args...); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", s.Shown, code, want, stderr)
		}
	}
}
