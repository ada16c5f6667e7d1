package document

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// bare is a scenario in which nothing happens yet.
func bare(name string, steps bool) string {
	s := "algorithm " + name + "\nprocesses 3\n"
	if _, err := deadlock.Find(name); err == nil {
		s += "site 1 P1 L1\nsite 2 P2 P3 L2\n"
	}
	if steps {
		return s + "schedule steps\n"
	}
	return s + "until 10\n"
}

// steps is how many clicks a walk has: more of them take longer.
var steps = flag.Int("walk", nightly.Pick(10, 40), "clicks of each random walk")

// TestWalk: whoever clicks at random writes a scenario that a replay runs, and no
// click changes what happened before it.
func TestWalk(t *testing.T) {
	acts := *steps
	every(func(name string, spec algorithm.Spec) {
		for _, byStep := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/steps", false: "/timed"}[byStep], func(t *testing.T) {
				t.Parallel()
				walk(t, bare(name, byStep), acts)
			})
		}
	})
}

func walk(t *testing.T, start string, acts int) {
	text := start
	r := rand.New(rand.NewPCG(1, 2))
	cursor, done := 0, 0
	d := run(text, Options{}, undrawn)
	if d.Error != nil {
		t.Fatalf("%s\n%s", d.Error.Text, text)
	}
	refused := map[string]int{}
	failed, afresh := 0, 0
	for tries := 0; done < acts; tries++ {
		if failed > 120 { // everybody is dead: from the start
			sameTrace(t, text, d)
			text, cursor, failed, afresh = start, 0, 0, afresh+1
			d = run(text, Options{}, undrawn)
		}
		if tries > 40*acts {
			t.Fatalf("only %d of %d tries were possible: %v in\n%s", done, tries, refused, text)
		}
		deed := anyDeed(r, d, cursor, done < acts-10)
		e, err := Act(text, Options{}, cursor, deed)
		if err != nil {
			refused[err.Error()]++
			failed++
			if cursor += 1 + r.IntN(4); cursor > d.Ended {
				cursor = d.Ended
			}
			continue
		}
		if odd := oddEdit(text, e); odd != "" {
			t.Fatalf("%+v: %s:\n%s", deed, odd, e.Text)
		}
		next := run(e.Text, Options{}, undrawn)
		if next.Error != nil {
			t.Fatalf("%+v: line %d: %s\n%s", deed, next.Error.Line, next.Error.Text, e.Text)
		}
		done++
		failed = 0
		if e.Event < min(cursor, d.Ended) || e.Event > len(next.Events) {
			t.Fatalf("%+v at %d: the cursor goes to %d of %d", deed, cursor, e.Event, len(next.Events))
		}
		if was := min(cursor, d.Ended); !samePages(d.Events[:was], next.Events[:was], e) {
			t.Fatalf("%+v at %d changes what happened before, in\n%s", deed, cursor, e.Text)
		}
		if line := strings.Split(e.Text, "\n")[e.Line-1]; line == "" || strings.Contains(line, "expect") {
			t.Fatalf("line %d is %q", e.Line, line)
		}
		text, d, cursor = e.Text, next, e.Event
	}
	sameTrace(t, text, d)
	t.Logf("%d clicks, %d events, %d lines, %d times afresh", done, len(d.Events), len(d.Lines), afresh)
}

// samePages reports whether events are the same, but for the lines that made
// them happen, which have moved.
func samePages(one, other []Event, e *Edit) bool {
	for i := range one {
		a, b := one[i], other[i]
		if a.Line == 0 != (b.Line == 0) || b.Line > a.Line+2 || a.Text != b.Text || a.At != b.At || a.Msg != b.Msg || a.Part != b.Part {
			return false
		}
	}
	return true
}

// sameTrace compares a document with what a replay of its text gives.
func sameTrace(t *testing.T, text string, d *Document) {
	t.Helper()
	sc, err := scenario.Parse("", text)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := SpecOf(sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := renumber(back.Events)
	if len(back.Events) != len(d.Events) {
		t.Fatalf("%d events, but a replay has %d", len(d.Events), len(back.Events))
	}
	for i, e := range back.Events {
		x := d.Events[i]
		if e.At != x.At || e.Kind.String() != x.Kind || int(e.Proc) != x.Proc || numbers[e.Msg] != x.Msg || back.Trace().Sentence(&e) != x.Text {
			t.Fatalf("event %d is %v, but in a replay %v", i, x, e)
		}
	}
	if message := frames(d); message != "" {
		t.Error(message)
	}
}

// anyDeed chooses something that may be possible. Early in a walk transactions
// come to no harm that they never get over.
func anyDeed(r *rand.Rand, d *Document, cursor int, early bool) UserAction {
	n := len(d.Names)
	deed := UserAction{Proc: r.IntN(n), To: r.IntN(n), By: 1 + float64(r.IntN(5))/2, Locks: []int{r.IntN(2)}, Parts: [][]int{{r.IntN(n)}}}
	verb := verbs[r.IntN(len(verbs))].word
	usual := []string{"ask", "ask", "leave", "leave", "deliver", "deliver", "deliver", "delay", "expire", "pause", "resume", "resume", "restart", "heal"}
	if d.Kind == "transactions" {
		usual = []string{"take", "take", "go", "deliver", "deliver", "deliver", "expire", "delay"}
	}
	if r.IntN(8) > 0 || d.Kind == "transactions" && early && (verb == "crash" || verb == "drop") { // harm is rare, so that the run goes on
		verb = usual[r.IntN(len(usual))]
	}
	deed.Verb = verb
	var under []int
	for _, e := range d.Events[:min(cursor, len(d.Events))] {
		switch e.Kind {
		case "send", "duplicate":
			under = append(under, e.Msg)
		}
	}
	ended := map[int]bool{}
	for _, e := range d.Events[:min(cursor, len(d.Events))] {
		if e.Kind == "receive" || e.Kind == "drop" {
			ended[e.Msg] = true
		}
	}
	var open []int
	for _, m := range under {
		if !ended[m] {
			open = append(open, m)
		}
	}
	if len(open) > 0 {
		deed.Msg = open[r.IntN(len(open))]
	}
	return deed
}
