package deadlock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
)

// A capture is how the checker catches a mutant: in which case, by which
// property, and by which shortest story. What can be repeated forever comes
// after "forever".
type capture struct {
	bug      string
	meal     meal
	property string
	story    string
}

// A meal is a case, made for a method: which locks each process takes, and in how many
// transactions; 0 means any number of them.
type meal struct {
	name   string
	of     func(m deadlock.Method, mode string) transactions.Config
	rounds int
}

// dinner returns a ring of n processes and n locks, crowd three processes over
// two locks.
func dinner(sites, n, rounds int) meal {
	return meal{fmt.Sprintf("dinner of %d at %d sites, %d rounds", n, sites, rounds), func(m deadlock.Method, mode string) transactions.Config {
		return transactions.Dinner(m, mode, sites, n)
	}, rounds}
}

func crowd(sites, rounds int) meal {
	return meal{fmt.Sprintf("crowd at %d sites, %d rounds", sites, rounds), func(m deadlock.Method, mode string) transactions.Config {
		return transactions.Crowd(m, mode, sites)
	}, rounds}
}

// captures lists them by method and mode.
func captures() map[string][]capture {
	const (
		prevented = "P1 asks for L1, P2 asks for L2, P1 asks for L2, P2 asks for L1"
		passed    = "P1 asks for L1, P1 asks for L2, P2 asks for L1, P1 commits"
	)
	two := dinner(1, 2, 1)
	return map[string][]capture{
		"none": {
			{"a lock is given to two", two, check.MutualExclusion, "P1 asks for L1, P2 asks for L1"},
			{"a free lock is not passed on", two, check.Deadlock, "P1 asks for L1, P1 asks for L2, P2 asks for L1, P1 commits"},
		},
		"ordered": {
			{"a request out of order is allowed", two, check.Deadlock, prevented},
			{"a free lock is not passed on", two, check.Deadlock, passed},
		},
		"priority": {
			{"the holder is never preempted", two, check.Deadlock, prevented},
			{"the lowest rank goes first", crowd(1, 1), check.Starvation, "P2 asks for L2, P2 asks for L1, P3 asks for L1, P1 asks for L1; P2 aborts, forever: P2 asks for L2, P2 asks for L1; P3 aborts, P3 asks for L1; P2 aborts"},
		},
		"priority-requester": {
			{"no transaction is removed", two, check.Deadlock, prevented},
			{"the highest rank goes first", crowd(1, 0), check.Deadlock, "P2 asks for L2, P3 asks for L1, P1 asks for L1, P2 asks for L1, P3 asks for L2; P3 aborts, P1 asks for L2"},
		},
		"wait-die": {
			{"no transaction dies", two, check.Deadlock, prevented},
			{"the oldest goes first", crowd(1, 0), check.Deadlock, "P1 asks for L1, P1 asks for L2, P3 asks for L1; P3 aborts, P1 commits, P2 asks for L2, P1 asks for L1, P2 asks for L1, P3 asks for L1, P1 asks for L2; P1 aborts, P3 asks for L2"},
			{"a restarted one gets a new stamp", dinner(2, 2, 0), check.Starvation, "P1 asks for L1, P1 asks for L2, site 2 receives REQUEST from site 1, P2 asks for L2; P2 aborts, forever: site 1 receives GRANT from site 2, P1 commits, P1 asks for L1, P1 asks for L2, site 2 receives RELEASE from site 1, site 2 receives REQUEST from site 1, P2 asks for L2; P2 aborts"},
		},
		"wound-wait": {
			{"the holder is never wounded", two, check.Deadlock, prevented},
			{"the youngest goes first", crowd(1, 1), check.Deadlock, "P2 asks for L2, P1 asks for L1, P3 asks for L1, P2 asks for L1; P1 aborts, P3 asks for L2"},
			{"a restarted one gets a new stamp", dinner(2, 2, 0), check.Starvation, "P1 asks for L1, P1 asks for L2, P2 asks for L2, site 2 receives REQUEST from site 1; P2 aborts, P2 asks for L2, forever: site 1 receives GRANT from site 2, P1 commits, P1 asks for L1, P1 asks for L2, site 2 receives RELEASE from site 1, site 2 receives REQUEST from site 1; P2 aborts, P2 asks for L2"},
		},
		"wait-die-restamped": {
			{"no transaction dies", two, check.Deadlock, prevented},
			{"a free lock is not passed on", two, check.Starvation, "P1 asks for L1, P2 asks for L2, P1 asks for L2, P2 asks for L1; P2 aborts, P2 asks for L2, forever: P2 asks for L1; P2 aborts, P2 asks for L2"},
		},
		"wound-wait-restamped": {
			{"the holder is never wounded", two, check.Deadlock, prevented},
			{"a free lock is not passed on", two, check.Deadlock, "P1 asks for L1, P1 asks for L2, P2 asks for L2, P1 commits"},
		},
		"banker": {
			{"every state is safe", two, check.Deadlock, prevented},
			{"claims are not remembered", two, check.Deadlock, prevented},
		},
		"detect-central demand": {
			{"an edge is dropped", two, check.Starvation, prevented + ", a timer of site 1 expires, forever: a timer of site 1 expires, a timer of site 1 expires"},
			{"the oldest is the victim", two, check.OneVictim, prevented + ", a timer of site 1 expires; P1 aborts: P1->P2->P1"},
		},
		"detect-central change": {
			{"an edge is dropped", two, check.Deadlock, prevented},
			{"the oldest is the victim", two, check.OneVictim, prevented + "; P1 aborts: P1->P2->P1"},
		},
		"detect-central batch": {
			{"an edge is dropped", two, check.Deadlock, prevented + ", a timer of site 1 expires"},
			{"the oldest is the victim", two, check.OneVictim, prevented + ", a timer of site 1 expires; P1 aborts: P1->P2->P1"},
		},
		"timeout": {
			{"no transaction times out", two, check.Deadlock, prevented},
			{"a lock is given to two", two, check.MutualExclusion, "P1 asks for L1, P1 asks for L2, P2 asks for L2"},
		},
		"detect-distributed": {
			{"the oldest is the victim", two, check.OneVictim, prevented + "; P1 aborts: P2->P1->P2"},
			{"every other site has the rule reversed", dinner(3, 3, 1), check.Deadlock, "P1 asks for L1, P1 asks for L2, P2 asks for L2, P2 asks for L3, P3 asks for L3, P3 asks for L1, site 2 receives REQUEST from site 1, site 3 receives REQUEST from site 2, site 3 receives PATH from site 2, site 1 receives REQUEST from site 3, site 2 receives PATH from site 1"},
			{"waits at other sites are not reported", dinner(2, 2, 1), check.Deadlock, "P1 asks for L1, P1 asks for L2, P2 asks for L2, P2 asks for L1, site 2 receives REQUEST from site 1, site 1 receives REQUEST from site 2"},
		},
	}
}

func key(m deadlock.Mutant) string { return strings.TrimSpace(m.Method.Name + " " + m.Mode) }

// TestMutantsInTheChecker: the checker finds each bug, too, with the shortest
// way there; and finds nothing without it. Left out are stamps that are not
// looked at: a false cycle under demand takes three sites and more
// transactions than can be explored in short. Every day it is only those of two processes at
// one site.
func TestMutantsInTheChecker(t *testing.T) {
	all := captures()
	planted := map[string]int{}
	sound := map[string]*check.Report{} // by method, mode and case
	for _, m := range deadlock.Mutants() {
		for _, c := range all[key(m)] {
			if c.bug != m.Bug {
				continue
			}
			if planted[key(m)]++; nightly.On() || c.meal.name == dinner(1, 2, 1).name {
				c.try(t, m, sound)
			}
		}
	}
	for _, m := range deadlock.Methods() {
		for _, mode := range modes(m) {
			name := strings.TrimSpace(m.Name + " " + mode)
			if n := len(all[name]); n < 2 || planted[name] != n {
				t.Errorf("%s: %d bugs listed, %d mutants caught, want at least 2, and as many", name, n, planted[name])
			}
		}
	}
}

// TestStalePaths: path pushing must forget the paths of ended attempts, because to the
// graph a transaction is its number: a later attempt would be part of the old path, and
// a process would abort that is in no deadlock. Among two processes that is seen only if
// the grant of a lock does not end the paths to it either.
func TestStalePaths(t *testing.T) {
	cases := map[string]struct {
		meal  meal
		steps int
	}{
		"paths of ended attempts are kept":            {crowd(2, 2), 27},
		"paths are kept, whatever has become of them": {dinner(2, 2, 2), 20},
	}
	for _, r := range deadlock.StalePaths() {
		steps := cases[r.Bug].steps
		if !nightly.On() && steps > 20 {
			continue // it takes seconds
		}
		c := need{meal: cases[r.Bug].meal, property: check.FalseReport}
		d := c.meal.of(r.Method, "")
		spec, err := r.Spec(d.Layout)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.run(t, d, spec).Find(c.property); p.Verdict != check.Violated || len(p.Trace) != steps {
			t.Errorf("%s: %s %s after %d steps, want %d: %s %v", r.Bug, p.Name, p.Verdict, len(p.Trace), steps, p.Note, p.Trace)
		}
		d = c.meal.of(deadlock.DetectDistributed(), "")
		if spec, err = d.Spec(); err != nil {
			t.Fatal(err)
		}
		if p := c.run(t, d, spec).Find(c.property); p.Verdict != check.HoldsBounded {
			t.Errorf("%s: %s %s without it", r.Bug, p.Name, p.Verdict)
		}
	}
}

func (c capture) try(t *testing.T, m deadlock.Mutant, sound map[string]*check.Report) {
	t.Helper()
	p := c.meal.check(t, m.Method, "").Find(c.property)
	if p.Verdict != check.Violated {
		t.Errorf("%s: %s: %s %s", key(m), c.bug, c.property, p.Verdict)
	} else if got := story(p); got != c.story {
		t.Errorf("%s: %s:\n got %q\nwant %q", key(m), c.bug, got, c.story)
	}
	name := key(m) + ", " + c.meal.name
	if sound[name] == nil {
		method, err := deadlock.Find(m.Method.Name)
		if err != nil {
			t.Fatal(err)
		}
		sound[name] = c.meal.check(t, method, m.Mode)
	}
	if p := sound[name].Find(c.property); p.Verdict == check.Violated {
		t.Errorf("%s: %s is violated without a bug: %v", name, c.property, p.Trace)
	}
}

// check checks a method, or a mutant of it. The one that does nothing about
// deadlocks is asked for its locks in order: then there are none.
func (c meal) check(t *testing.T, m deadlock.Method, mode string) *check.Report {
	t.Helper()
	m.Sorted = m.Sorted || m.Family == deadlock.Ignore
	d := c.of(m, mode)
	spec, err := d.Spec()
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Run(check.Config{Spec: spec, Family: d.Family(), Nodes: len(d.Programs), Requests: c.rounds})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// story is the story of a violation, as one line.
func story(p *check.Property) string {
	story := strings.Join(p.Trace, ", ")
	if p.Name == check.Starvation && p.Loop < len(p.Trace) {
		story = strings.Join(p.Trace[:p.Loop], ", ") + ", forever: " + strings.Join(p.Trace[p.Loop:], ", ")
	}
	return story
}
