package command

import (
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/check"
)

func TestCheckJSONKeys(t *testing.T) {
	t.Parallel()
	text := ok(t, "check central --nodes 2 --json")
	want := strings.Fields("algorithm nodes requests network verdict states transitions depth seconds states_per_second memory collision_probability properties assumes")
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
			if code, stdout, stderr := do(args...); code != 1 || !strings.Contains(stderr, test.property+" is violated") || strings.Contains(stdout, "does not agree") {
				t.Fatalf("exit code %d, stderr %q, stdout\n%s", code, stderr, stdout)
			}
			text, err := os.ReadFile("a.stile")
			if err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := do("replay", "a.stile")
			if code != 0 || test.sim != "" && !strings.Contains(stdout, "\nviolation  "+test.sim) {
				t.Errorf("exit code %d, stderr %q, stdout\n%s\nof\n%s", code, stderr, stdout, text)
			}
		})
	}
}

// A counterexample keeps the options with which it was found: without them it would
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
		if code, _, stderr := do(args...); code != 1 {
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
		if code, _, stderr := do(args...); code != 1 {
			t.Fatalf("%s: exit code %d, stderr %q", c.args, code, stderr)
		}
		text, err := os.ReadFile("a.stile")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n"+c.line+"\n") {
			t.Errorf("%s: want the line %q in\n%s", c.args, c.line, text)
		}
		if code, _, stderr := do("replay", "a.stile"); code != 0 {
			t.Errorf("%s: its replay: exit code %d, stderr %q", c.args, code, stderr)
		}
		if svg, err := os.ReadFile("a.svg"); err != nil || !strings.Contains(string(svg), "site 2") {
			t.Errorf("%s: %v, and no site 2 in the diagram", c.args, err)
		}
	}
}

// The story of the first violation comes before the table, and only once; with
// --json there is nothing but JSON.
func TestViolationReportedWhenFound(t *testing.T) {
	nightly.Only(t)
	t.Parallel()
	for _, line := range []string{"majority-naive --requests 1", "none --nodes 3 --requests 1", "maekawa-naive --requests unbounded --property deadlock"} {
		args := append([]string{"check"}, strings.Fields(line)...)
		code, stdout, _ := do(args...)
		story, table := strings.Index(stdout, "How deadlock is violated"), strings.Index(stdout, "\nverdict ")
		if code != 1 || story < 1 || story > 200 || table < story || strings.Count(stdout, "How deadlock is violated") != 1 {
			t.Errorf("%s: exit code %d, the story at %d, the table at %d:\n%s", line, code, story, table, stdout)
		}
		_, stdout, _ = do(append(args, "--json")...)
		if !json.Valid([]byte(stdout)) {
			t.Errorf("%s: not JSON:\n%s", line, stdout)
		}
	}
}

// The violation that is found first and the first one in the table may differ: then both
// are printed.
func TestTwoCounterexamples(t *testing.T) {
	t.Parallel()
	code, stdout, _ := do(strings.Fields("check token-ring --nodes 2 --requests 1 --network duplicating")...)
	early, _, _ := strings.Cut(stdout, "\nverdict ")
	if code != 1 || strings.Count(stdout, "is violated, in") != 2 || strings.Count(early, "is violated, in") != 1 {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
}

func TestRingJSONKeys(t *testing.T) {
	t.Parallel()
	text := ok(t, "check dijkstra --shared one --nodes 4 --json")
	want := strings.Fields("algorithm nodes requests network verdict states transitions depth seconds states_per_second memory collision_probability properties movers k worst_steps longest_run")
	if got := keys(t, text); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	for _, part := range []string{`"k": 3,`, `"worst_steps": 13,`, `"at the start: flags `} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
}

func TestRingText(t *testing.T) { // not parallel: its low memory limit would slow others down
	text := ok(t, "check dijkstra --shared several --nodes 3 --k 3")
	for _, part := range []string{"3 processes, 3 values of a flag", "it converges within", "A longest run until it converges:\n    0  at the start: flags"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	code, stdout, stderr := do(strings.Fields("check dijkstra --shared all --nodes 4 --k 2")...)
	if code != 1 || !strings.Contains(stdout, "The steps from 1 on can repeat forever.") || !strings.Contains(stderr, "convergence is violated") {
		t.Errorf("exit code %d, stderr %q\n%s", code, stderr, stdout)
	}
	if code, _, stderr := do(strings.Fields("check dijkstra --shared one --nodes 4 --k 250 --memory 1MiB")...); code != 3 || !strings.Contains(stderr, "out of memory") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// The plain command checks every recovering lock, with one crash.
func TestEveryRecoveringLock(t *testing.T) {
	t.Parallel()
	for _, spec := range catalog.Sound() {
		name := spec.Name + "+bully"
		if _, err := catalog.Make(name, algorithm.Options{}); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := do("check", name, "--nodes", "2")
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "1 crash at any step") || !strings.Contains(stdout, "\nverdict           holds-bounded\n") {
			t.Errorf("%s: exit code %d, stderr %q, stdout\n%s", name, code, stderr, stdout)
		}
	}
}

// The command that a wrong or weaker algorithm names does show its fault.
func TestFaultsAreShown(t *testing.T) {
	nightly.Only(t)
	t.Parallel()
	for _, s := range catalog.All() {
		if s.Sound() {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(s.Shown, "'", ""))[1:]
		want := 1
		if args[0] == "replay" { // whose expectations say what is worse
			args[1], want = "../../"+args[1], 0
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if code, _, stderr := do(args...); code != want {
				t.Errorf("%s: exit code %d, want %d\n%s", s.Shown, code, want, stderr)
			}
		})
	}
}

// The memory limit of the program follows --memory while a check runs.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	f := &checkFlags{}
	f.config.Memory = 1 << 30
	_, l, end := f.begin(newCheck())
	if got := debug.SetMemoryLimit(-1); got < 1<<30 || got > 5<<28 || l.Memory != 1<<30 || l.Context.Err() != nil {
		t.Errorf("the limit is %d, --memory %d", got, l.Memory)
	}
	if end(); debug.SetMemoryLimit(-1) != before {
		t.Errorf("afterwards the limit is %d, want %d", debug.SetMemoryLimit(-1), before)
	}
}

// A line of progress names the pass, and its rate is that of the pass.
func TestProgressLine(t *testing.T) {
	got := progressLine(check.Progress{Pass: "fence", States: 3000, Queue: 2, Depth: 7, Memory: 5 << 20, Elapsed: 2 * time.Second})
	if want := "fence: 3,000 states, 1,500/s, queue 2 blocks, depth 7, 5MiB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A hint without a command that shows it is a sentence of its own.
func TestHintAlone(t *testing.T) {
	var b strings.Builder
	printTable(terminal.NewPrinter(&b), &check.Report{Hint: "nobody gets in"}, "")
	if !strings.HasSuffix(b.String(), "\n\nnobody gets in.\n") {
		t.Errorf("got %q", b.String())
	}
}
