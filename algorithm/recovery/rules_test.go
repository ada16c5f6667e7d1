package recovery_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A need is the smallest case known in which a rule is needed, and what is violated
// without it, after how many steps. There are three processes.
type need struct {
	crashes, losses int
	property        string
	steps           int
}

// try checks a lock, without a rule or with all of them.
func (c need) try(t *testing.T, name string, spec algorithm.Spec, broken bool) {
	t.Helper()
	r, err := check.Run(check.Config{Spec: spec, Nodes: 3, Requests: 1, Crashes: c.crashes, Losses: c.losses, Pace: check.Quick, Properties: []string{c.property}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p := r.Find(c.property)
	if broken != (p.Verdict == check.Violated) || broken && len(p.Trace) != c.steps || !broken && r.Err() != nil {
		t.Errorf("%s: broken %v, %s %s after %d steps: %s, %v", name, broken, p.Name, p.Verdict, len(p.Trace), p.Note, p.Trace)
	}
}

// Each rule of the view change is needed: without it the checker finds a violation, and
// with it none.
func TestRulesAreNeeded(t *testing.T) {
	all := map[string]need{
		"a frozen lock goes on":                            {1, 0, check.MutualExclusion, 10},
		"news of a leader that has died since is believed": {2, 0, check.Starvation, 8},
		"a process that left in between does not release":  {1, 0, check.Starvation, 15},
		"a waiting process does not request again":         {1, 0, check.Starvation, 11},
		"a view with a dead member is kept":                {2, 0, check.Starvation, 14},
	}
	sound := map[need]bool{}
	for _, m := range recovery.Mutants() {
		c, ok := all[m.Bug]
		if !ok {
			t.Errorf("%s: no case", m.Bug)
		}
		c.try(t, m.Bug, m.Spec(mutex.Central, election.Bully()), true)
		c.steps = 0
		if !sound[c] {
			sound[c] = true
			c.try(t, "all rules", recovery.With(mutex.Central, election.Bully()), false)
		}
	}
}

// field returns a field of the machine's state, as people see it.
func (f *flawed) field(name string) string {
	for _, x := range f.Machine.Describe() {
		if x.Name == name {
			return x.Value
		}
	}
	return ""
}

// gets reports whether the input is a frame of this kind.
func (f *flawed) gets(in *host.Input, kind string) bool {
	return in.Kind == host.Receive && f.kinds[in.Bytes[0]] == kind
}

// These rules are needed only if a message is lost.
func TestRulesOfLossesAreNeeded(t *testing.T) {
	spec := recovery.Patient(mutex.Central, election.Bully(), recovery.LeastPatience(3))
	for name, c := range map[string]struct {
		need
		take func(f *flawed, in *host.Input) bool
	}{
		"a frozen process does not repeat what the next view waits for": {need{0, 1, check.Starvation, 18}, func(f *flawed, in *host.Input) bool {
			return in.Kind != host.Expire || in.Timer != 1 || f.field("frozen") != "yes"
		}},
		"a process that has reported ignores a STOP": {need{0, 1, check.Starvation, 30}, func(f *flawed, in *host.Input) bool {
			return !f.gets(in, "STOP") || f.field("told") != strconv.Itoa(int(in.From)+1)
		}},
		"a report of an older epoch is not asked for again": {need{0, 1, check.Starvation, 21}, func(f *flawed, in *host.Input) bool {
			return !f.gets(in, "REPORT") || in.Bytes[1] >= f.epoch()
		}},
	} {
		c.try(t, name, spoil(spec, flawed{take: c.take}), true)
	}
	need{0, 1, check.Starvation, 0}.try(t, "all rules", spec, false)
}

// These rules are needed only if a process comes back, and another one dies or it dies
// again: without one of them the run of a file lets two in, and with all of them it does
// not. The checker found the runs, among 400,000 to 900,000 states.
func TestRulesOfNewcomersAreNeeded(t *testing.T) {
	for _, m := range recovery.Newcomers() {
		text, err := os.ReadFile(filepath.Join("testdata", m.Run))
		if err != nil {
			t.Fatal(err)
		}
		sc, err := scenario.Parse(m.Run, string(text))
		if err != nil {
			t.Fatal(err)
		}
		violated := func(spec algorithm.Spec) bool {
			back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
			if err != nil {
				t.Fatalf("%s: %v", m.Bug, err)
			}
			return slices.ContainsFunc(back.Violations, func(v sim.Violation) bool { return v.Property == check.MutualExclusion })
		}
		if !violated(m.Spec(mutex.Central, election.Bully())) {
			t.Errorf("%s: no violation", m.Bug)
		}
		if violated(recovery.With(mutex.Central, election.Bully())) {
			t.Errorf("%s: a violation in spite of all rules", m.Bug)
		}
	}
}
