package document

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// oddEdit says what an edit does to a text besides adding the line that it names
// and taking out as many as it says; nothing if it does no more.
func oddEdit(text string, e *Edit) string {
	lines := strings.Split(e.Text, "\n")
	if e.Line < 1 || e.Line > len(lines) {
		return fmt.Sprintf("there is no line %d", e.Line)
	}
	sc, err := parse(e.Text, Options{})
	if err != nil {
		return err.Error()
	}
	added := 0
	for _, a := range sc.Actions {
		if a.Line == e.Line {
			added++
		}
	}
	if added != 1 {
		return fmt.Sprintf("line %d is %d actions", e.Line, added)
	}
	lines[e.Line-1] = ""
	old, kept := written(strings.Split(text, "\n")), written(lines)
	gone := 0
	for _, s := range old {
		if len(kept) > 0 && same(kept[0], s) {
			kept = kept[1:]
		} else {
			gone++
		}
	}
	if gone != e.Cut || len(kept) > 0 {
		return fmt.Sprintf("%d lines are gone and %q is new, but it says that line %d is new and %d are gone", gone, kept, e.Line, e.Cut)
	}
	return ""
}

// written returns the lines that say something.
func written(lines []string) []string {
	var all []string
	for _, s := range lines {
		if strings.TrimSpace(s) != "" {
			all = append(all, s)
		}
	}
	return all
}

// same reports whether lines are the same, but for when the run ends.
func same(a, b string) bool {
	one, other := strings.Fields(a), strings.Fields(b)
	return a == b || len(one) > 1 && len(one) == len(other) && one[0] == "until" && other[0] == "until"
}

// TestRefusedDeeds: what would not be the one line that was meant is refused.
func TestRefusedDeeds(t *testing.T) {
	const (
		lock     = "algorithm raymond\nprocesses 3\nuntil 9\n"
		sections = "algorithm raymond\nprocesses 3\nsection disk among 1,2\nuntil 9\n"
		sites    = "algorithm none\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\n"
	)
	less := -1
	for _, c := range []struct {
		text string
		deed UserAction
		want string
	}{
		{lock, UserAction{Verb: "ask", Section: "\nat 5 P2 asks"}, "critical section"},
		{lock, UserAction{Verb: "ask", Section: "for 3"}, "critical section"},
		{sections, UserAction{Verb: "ask", Section: "disk for 3"}, `unknown section "disk for 3": want disk`},
		{sections, UserAction{Verb: "ask", Section: "disc"}, "did you mean disk?"},
		{lock, UserAction{Verb: "expire", Timer: &less}, "timer -1"},
		{lock, UserAction{Verb: "ask", For: -1}, "a stay of -1"},
		{lock, UserAction{Verb: "ask", For: math.NaN()}, "a stay of NaN"},
		{sites, UserAction{Verb: "take", Proc: 2, Locks: []int{0, 0}}, "L1"},
	} {
		if e, err := Act(c.text, Options{}, 0, c.deed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v and %+v, want %s", c.deed, err, e, c.want)
		}
	}
}

// TestUntilKeepsItsComment: a run that goes on for longer keeps what the author wrote.
func TestUntilKeepsItsComment(t *testing.T) {
	for line, want := range map[string]string{
		"until 2 # stop here at 2": "until 7 # stop here at 2",
		"  until\t2 # 2":           "  until\t7 # 2",
	} {
		e, err := Act("algorithm raymond\nprocesses 3\n"+line+"\nat 2 P1 asks\n", Options{}, 1000, UserAction{Verb: "ask", Proc: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(e.Text, "\n")[2]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzAct: no deed is too strange.
func FuzzAct(f *testing.F) {
	texts := []string{
		"algorithm raymond\nprocesses 3\nat 0 P2 asks\nuntil 9\n",
		"algorithm central+bully\nprocesses 3\nat 0 P2 asks\nat 2 crash P3\nuntil 20 # the end\n",
		"algorithm lamport\nprocesses 3\nschedule steps\nP1 asks\nP2 asks\n",
		"algorithm raymond\nprocesses 3\nsection disk among 1,2\nsection tape\nat 0 P2 asks disk\n",
		"algorithm detect-central\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\nuntil 30\n",
	}
	for i := range texts {
		for j, v := range verbs {
			f.Add(uint8(i), 2+j%3, v.word, "", 1, 2, 1, 0.0, 0.5, 0, 1)
			f.Add(uint8(i), -j, v.word, "disk\nheal", -1, 99, -3, -1.0, math.Inf(1), -2, 7)
			f.Add(uint8(i), 1<<40, v.word, "disk for 3 #", 1<<40, -1<<40, 1<<40, 1e300, math.NaN(), 1<<40, -1)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, event int, verb, section string, proc, to, msg int, by, stay float64, timer, lock int) {
		text := texts[int(which)%len(texts)]
		d := UserAction{Verb: verb, Section: section, Proc: proc, To: to, Msg: msg, By: by, For: stay, Parts: [][]int{{proc}, {to, lock}}, Locks: []int{lock, to}}
		if timer != 0 {
			d.Timer = &timer
		}
		e, err := Act(text, Options{}, event, d)
		if err != nil {
			return
		}
		if odd := oddEdit(text, e); odd != "" {
			t.Fatalf("%+v: %s:\n%s", d, odd, e.Text)
		}
		if next := run(e.Text, Options{}, undrawn); next.Error != nil {
			t.Fatalf("%+v: %s:\n%s", d, next.Error.Text, e.Text)
		}
	})
}
