package check

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// What cannot be checked is refused, and so is what would hold only because
// nothing ever happens.
func TestRefusesBadInput(t *testing.T) {
	spec := mutex.Central(0)
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Spec: spec}, "among 0 processes"},
		{Config{Spec: spec, Nodes: -1}, "among -1 processes"},
		{Config{Spec: spec, Nodes: 65}, "at most 64"},
		{Config{Spec: spec, Nodes: 31}, "31 requesters"},
		{Config{Spec: spec, Nodes: 17, Requests: 1, Properties: []string{Order}}, "at most 16"},
		{Config{Spec: spec, Nodes: 3, Crashes: 1}, "does not survive crashes"},
		{Config{Spec: spec, Nodes: 2, Requests: -1}, "-1 requests"},
		{Config{Spec: spec, Nodes: 2, Requests: 256}, "256 requests"},
		{Config{Spec: spec, Nodes: 2, Requesters: []algorithm.ID{0, 2}}, "requester 3 of 2"},
		{Config{Spec: spec, Nodes: 2, Requesters: []algorithm.ID{algorithm.None}}, "requester 0 of 2"},
		{Config{Spec: spec, Nodes: 2, Requesters: []algorithm.ID{}}, "no process may ask"},
		{Config{Spec: spec, Nodes: 2, Starts: []algorithm.View{{N: 3}}}, "a start of 3 processes in a group of 2"},
		{Config{Spec: spec, Nodes: 2, Starts: []algorithm.View{{N: 2, Holder: 2}}}, "holder 3"},
		{Config{Spec: spec, Nodes: 2, Network: 9}, "unknown network 9"},
		{Config{Spec: spec, Nodes: 2, Properties: []string{"liveness"}}, `unknown property "liveness"`},
		{Config{Nodes: 2}, "nothing to run"},
	} {
		if r, err := Run(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v and %v, want an error with %q", c.config, r, err, c.want)
		}
	}
}

// Every limit ends a check with what was covered, and as unfinished.
func TestRunEndsCleanly(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		limits Limits
		why    string
	}{
		{Limits{Memory: 1 << 20}, "out of memory"},
		{Limits{Time: time.Nanosecond}, "out of time"},
		{Limits{Context: cancelled}, "interrupted"},
	} {
		r, err := Run(Config{Spec: mutex.RicartAgrawala(), Nodes: 4, Network: algorithm.Unordered, Limits: c.limits})
		if err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		if r.Verdict != Unfinished || r.States == 0 || len(r.Properties) != len(Claims(mutex.RicartAgrawala())) {
			t.Errorf("%s: %s after %d states, with %d properties", c.why, r.Verdict, r.States, len(r.Properties))
		}
		for _, p := range r.Properties {
			if p.Verdict != Unfinished && p.Verdict != NotChecked || p.Verdict == Unfinished && !strings.Contains(p.Note, c.why) {
				t.Errorf("%s: %s is %s: %s", c.why, p.Name, p.Verdict, p.Note)
			}
		}
	}
}

// What is found before the end counts.
func TestViolationBeforeTheEnd(t *testing.T) {
	r, err := Run(Config{
		Spec: mutex.MajorityNaive(), Nodes: 3, Network: algorithm.Unordered, Properties: []string{MutualExclusion, Deadlock},
		Requests: 2, Limits: Limits{Memory: 2 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Find(MutualExclusion), r.Find(Deadlock); a.Verdict != Unfinished || b.Verdict != Violated || r.Verdict != Violated {
		t.Errorf("mutual exclusion is %s, deadlock is %s, together %s", a.Verdict, b.Verdict, r.Verdict)
	}
}

// A message to a seat that does not exist is a mistake of the algorithm, not a
// message on another link.
func TestSentAstray(t *testing.T) {
	_, err := Run(Config{Spec: toy("astray"), Nodes: 3})
	if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "P3 sent GRANT to seat 4 of 3") {
		t.Errorf("got %v", err)
	}
}

// A Spec that cannot work is refused before anything is checked.
func TestSpecWithMistakes(t *testing.T) {
	spec := toy("")
	spec.Kinds = spec.Kinds[:3]
	_, lock := Run(Config{Spec: spec, Nodes: 3})
	_, election := Run(Config{Spec: algorithm.Spec{Name: "x", Family: algorithm.Election, Plan: algorithm.Always(nil)}, Nodes: 3})
	for _, err := range []error{lock, election} {
		if !errors.Is(err, host.ErrAlgorithm) {
			t.Errorf("got %v", err)
		}
	}
}

// failing is an algorithm whose machines fail.
func failing(spec algorithm.Spec, when host.InputKind) algorithm.Spec {
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return failingMachine{birth(self, v), when}
		}, err
	}
	return spec
}

var errPlanted = errors.New("planted")

type failingMachine struct {
	algorithm.Machine
	when host.InputKind
}

func (f failingMachine) Step(in host.Input, out *host.Output) error {
	if in.Kind == f.when {
		return errPlanted
	}
	return f.Machine.Step(in, out)
}

func TestMachineThatFails(t *testing.T) {
	for _, when := range []host.InputKind{host.Start, host.Request, host.Receive, host.Release} {
		for workers := 1; workers <= 2; workers++ {
			_, err := Run(Config{Spec: failing(mutex.Central(0), when), Nodes: 2, Limits: Limits{Workers: workers}})
			if !errors.Is(err, errPlanted) || !strings.Contains(err.Error(), "central") {
				t.Errorf("input %d, %d workers: got %v", when, workers, err)
			}
		}
	}
}
