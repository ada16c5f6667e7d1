package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// What a report says to go test.
func TestErr(t *testing.T) {
	for _, c := range []struct {
		config Config
		says   []string // none: no error
	}{
		{Config{Spec: mutex.Central(0), Nodes: 2}, nil},
		{Config{Spec: mutex.Central(0), Nodes: 2, Requests: 1}, nil},
		{Config{Spec: mutex.Central(0), Nodes: 2, Properties: []string{Token}}, []string{"central among 2: token not-checked: it has no token"}},
		{
			Config{Spec: mutex.Lamport(), Nodes: 3, Limits: Limits{Time: time.Nanosecond}},
			[]string{"lamport among 3: mutual-exclusion unfinished: out of time"},
		},
		{
			Config{Spec: mutex.MajorityNaive(), Nodes: 2, Requests: 1},
			[]string{
				"majority-naive among 2: deadlock violated: after 4 steps",
				"P2, which asked later, receives REQUEST from P1 and does not answer.",
				"Nothing more need happen, and P1 and P2 wait.",
				" step  P1    P2 ",
			},
		},
	} {
		r, err := Run(c.config)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Err()
		if c.says == nil {
			if got != nil {
				t.Errorf("%s: %v, want no error", c.config.Spec.Name, got)
			}
			continue
		}
		for _, want := range c.says {
			if got == nil || !strings.Contains(got.Error(), want) {
				t.Errorf("%s: got\n%v\nwant it to say %q", c.config.Spec.Name, got, want)
			}
		}
	}
}

// A scenario in which nobody starts is not one in which everybody does.
func TestCounterexampleWithoutStart(t *testing.T) {
	r, err := Run(Config{Spec: mutex.TokenRing(), Nodes: 2, Requests: 1, Properties: []string{OrderOpen}})
	if err != nil {
		t.Fatal(err)
	}
	p := r.First()
	if p == nil || strings.Contains(p.Note, "does not agree") {
		t.Fatalf("%+v, want a violation that the simulator sees, too", r.Properties)
	}
	if all := p.Counterexample.Actions; all[len(all)-1].Kind != script.Start {
		t.Errorf("the last action is %q; want a start, so that there is one", all[len(all)-1])
	}
	if want := fmt.Sprintf("after %d steps", len(p.Trace)); p.Note != want {
		t.Errorf("%s, and %d are told", p.Note, len(p.Trace))
	}
}

// In a large group what is too deep for a search in breadth is found all the
// same, and told.
func TestLargeGroup(t *testing.T) {
	nightly.Only(t)
	r, err := Run(Config{
		Spec: mutex.MaekawaNaive(quorum.Grid), Nodes: 36, Requests: 1, Requesters: []algorithm.ID{2, 22}, Properties: []string{Deadlock},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.First(); p == nil || len(p.Trace) != 40 || !strings.Contains(p.Story(trace.TextOptions{}), "and P3 and P23 wait") {
		t.Errorf("%+v, want a deadlock of P3 and P23", r.Properties)
	}
}

// One of something is one: notes say so.
func TestOneInNotes(t *testing.T) {
	r := mustRun(t, Config{Spec: mutex.TokenRing(), Nodes: 2, Requests: 1, Properties: []string{MutualExclusion, Channels}})
	if p := r.Find(MutualExclusion); p.Note != "up to 1 request per process" {
		t.Errorf("got %q", p.Note)
	}
	if p := r.Find(Channels); !strings.HasSuffix(p.Note, "; at most 1 message on one link") {
		t.Errorf("got %q", p.Note)
	}
}

// Of a run that stands still nothing is said to go on for ever, though what was on
// its way to the dead is lost at its end.
func TestStandstillHasNoLoop(t *testing.T) {
	spec := toy("")
	spec.Detects = true // and does nothing when it is told
	r, err := Run(Config{Spec: spec, Nodes: 2, Requests: 1, Crashes: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(Starvation)
	story := p.Story(trace.TextOptions{})
	if p.Verdict != Violated || !strings.Contains(story, "Nothing more need happen") || strings.Contains(story, "repeated") {
		t.Errorf("%s, %s:\n%s", p.Verdict, p.Note, story)
	}
}
