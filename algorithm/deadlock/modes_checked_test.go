package deadlock_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
)

const (
	x = deadlock.Exclusive
	s = deadlock.Shared
)

// A mix is a case with modes: two locks at two sites, and what each process takes.
type mix struct {
	units    []int
	programs [][]int
	modes    [][]deadlock.Mode
	cancels  int
}

// config makes the case for a method. One that wants locks in order gets them so.
func (c mix) config(m deadlock.Method, mode string) transactions.Config {
	d := transactions.Config{
		Method: m, Mode: mode, Layout: deadlock.Spread(2, len(c.programs), 2),
		Programs: c.programs, Modes: c.modes, Cancels: c.cancels,
	}
	d.Layout.Units = c.units
	if m.Sorted {
		d.Programs, d.Modes = nil, nil
		for i, p := range c.programs {
			program, modes := p, c.modes[i]
			if len(p) == 2 && p[0] > p[1] {
				program, modes = []int{p[1], p[0]}, []deadlock.Mode{modes[1], modes[0]}
			}
			d.Programs, d.Modes = append(d.Programs, program), append(d.Modes, modes)
		}
	}
	return d
}

// mixes are the cases: two and three processes that share, wait behind one that does not,
// take units, and give up.
func mixes() map[string]mix {
	ahead, back := []int{0, 1}, []int{1, 0}
	return map[string]mix{
		"readers that write": {programs: [][]int{ahead, back}, modes: [][]deadlock.Mode{{s, x}, {s, x}}, cancels: 1},
		"writers that read":  {programs: [][]int{ahead, back}, modes: [][]deadlock.Mode{{x, s}, {x, s}}, cancels: 1},
		// P3 reads L1 behind P2, which waits for P1 to end reading it.
		"a reader behind a writer": {programs: [][]int{{0}, {0}, back}, modes: [][]deadlock.Mode{{s}, {x}, {x, s}}},
		"a queue of readers":       {programs: [][]int{ahead, {0}, back}, modes: [][]deadlock.Mode{{s, x}, {x}, {s, s}}},
		"units":                    {units: []int{2, 1}, programs: [][]int{ahead, back, {0}}, modes: [][]deadlock.Mode{{1, x}, {x, 2}, {1}}},
		// P3 reads L1 behind P2, which gives that up and waits for L2 of P3.
		"a writer gives up": {programs: [][]int{{0}, ahead, back}, modes: [][]deadlock.Mode{{s}, {x, x}, {x, s}}, cancels: 1},
		"units and cancels": {units: []int{2, 3}, programs: [][]int{ahead, back}, modes: [][]deadlock.Mode{{1, 2}, {2, 2}}, cancels: 1},
	}
}

// TestModes: whatever the modes, and whoever gives up, no two incompatible holds exist, no
// process waits forever, and no transaction aborts for a deadlock that never existed.
func TestModes(t *testing.T) {
	for name, c := range mixes() {
		if !nightly.On() && c.cancels > 0 && len(c.programs) > 2 {
			continue // it takes seconds
		}
		for _, m := range deadlock.Methods() {
			if m.Family == deadlock.Ignore || m.Name == "banker" || c.units != nil && m.Name == "detect-distributed" || m.Wrong != "" {
				continue
			}
			for _, mode := range modes(m) {
				large := m.Family == deadlock.Detection && (len(c.programs) > 2 || mode == deadlock.OnDemand)
				if mode == deadlock.InBatch || large && (!nightly.On() || (mode == deadlock.OnDemand || m.Starves) && c.cancels > 0 && len(c.programs) > 2) {
					continue // it takes seconds, or a minute
				}
				t.Run(strings.ReplaceAll(name, " ", "-")+"/"+m.Name+mode, func(t *testing.T) {
					t.Parallel()
					d := c.config(m, mode)
					spec, err := d.Spec()
					if err != nil {
						t.Fatal(err)
					}
					r, err := check.Run(check.Config{Spec: spec, Family: d.Family(), Nodes: len(d.Programs), Requests: 1})
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range r.Properties {
						excused := p.Name == check.Starvation && m.Starves || !m.Exact(mode) && (p.Name == check.FalseReport || p.Name == check.OneVictim)
						if p.Verdict == check.Unfinished || p.Verdict == check.Violated && !excused {
							t.Errorf("%s %s: %s %v", p.Name, p.Verdict, p.Note, p.Trace)
						}
					}
					t.Logf("%d states", r.States)
				})
			}
		}
	}
}

// TestRefusedModes: a method says when it is configured which locks it cannot have.
func TestRefusedModes(t *testing.T) {
	l := deadlock.Spread(2, 2, 2)
	l.Units = []int{3, 1}
	for _, name := range []string{"banker", "detect-distributed"} {
		m, err := deadlock.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Spec(l, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s with a semaphore: %v", name, err)
		}
		if _, err := m.Keeper(deadlock.KeeperConfig{Units: 3}); err == nil {
			t.Errorf("a keeper of a semaphore for %s", name)
		}
	}
	l.Units = []int{1}
	if _, err := deadlock.None().Spec(l, ""); err == nil {
		t.Error("units of one lock of two were accepted")
	}
}

// TestModeRules: every rule about modes and cancelled requests is needed.
func TestModeRules(t *testing.T) {
	all := mixes()
	// P1 is the oldest, and its request comes between those of two readers.
	all["an old writer"] = mix{programs: [][]int{{1}, {1, 0}, {0, 1}}, modes: [][]deadlock.Mode{{x}, {s, x}, {x, s}}}
	// P2 gives up, and waits again in its next attempt.
	all["writers"] = mix{programs: [][]int{{0, 1}, {1, 0}}, modes: [][]deadlock.Mode{{x, x}, {x, x}}, cancels: 1}
	for bug, c := range map[string]struct {
		mix      string
		requests int
		violated []string
	}{
		"requests do not wait for those before them": {"a queue of readers", 1, []string{check.Deadlock, check.Starvation}},
		"wait-die serves in order of arrival":        {"an old writer", 1, []string{check.Deadlock, check.Starvation}},
		"wound-wait serves in order of arrival":      {"a queue of readers", 1, []string{check.Deadlock, check.Starvation}},
		"a deadlock is not confirmed":                {"writers", 1, []string{check.FalseReport, check.OneVictim}},
		"attempts and requests have no numbers":      {"writers", 1, []string{check.FalseReport, check.OneVictim}},
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			for _, r := range deadlock.ModeRules() {
				if r.Bug != bug {
					continue
				}
				d := all[c.mix].config(r.Method, r.Mode)
				spec, err := r.Spec(d.Layout)
				if err != nil {
					t.Fatal(err)
				}
				got, err := check.Run(check.Config{Spec: spec, Family: d.Family(), Nodes: len(d.Programs), Requests: c.requests})
				if err != nil {
					t.Fatal(err)
				}
				var found []string
				for _, p := range got.Properties {
					if p.Verdict == check.Violated {
						found = append(found, p.Name)
					}
				}
				if !slices.ContainsFunc(found, func(name string) bool { return slices.Contains(c.violated, name) }) {
					t.Errorf("violated is %v, want one of %v, in %d states", found, c.violated, got.States)
				}
			}
		})
	}
}
