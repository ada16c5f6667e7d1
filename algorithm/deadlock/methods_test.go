package deadlock_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// complaints runs a method under random loads and returns what it does not
// keep of its promises.
func complaints(t *testing.T, m deadlock.Method, mode string) []string {
	t.Helper()
	var all []string
	most := 20 // a transaction keeps its age, and so gets through soon
	switch {
	case m.Starves:
		most = 1 << 30
	case m.Name == "wound-wait":
		most = 10
	case m.Name == "wait-die":
		most = 70 // it dies again and again while an older one holds the lock
	}
	for seed := range uint64(4) {
		c := sim.UsualTransactions()
		c.Method, c.Mode, c.Seed, c.Number = m, mode, seed, 400
		c.Layout = deadlock.Spread(3, 8, 7)
		c.Think = scenario.Exponential(4 * scenario.T)
		c.Latency = scenario.Uniform(scenario.T/4, 2*scenario.T)
		c.Patient = 300 * scenario.T
		if m.Family == deadlock.Ignore {
			c.Method.Sorted = true // then there is no deadlock, and all must be well
		}
		r, err := sim.RunTransactions(c)
		if err != nil {
			t.Fatal(err)
		}
		complain := func(bad bool, format string, args ...any) {
			if bad {
				all = append(all, fmt.Sprintf("seed %d: ", seed)+fmt.Sprintf(format, args...))
			}
		}
		complain(len(r.Found) > 0, "%v", r.Found)
		complain(r.Committed != c.Number, "%d of %d committed, %d stuck", r.Committed, c.Number, r.Stuck)
		complain(m.Family != deadlock.Detection && r.Deadlocks > 0, "%d deadlocks, which it prevents", r.Deadlocks)
		complain(r.Resolved != r.Deadlocks, "%d deadlocks, %d found", r.Deadlocks, r.Resolved)
		complain(m.Exact(mode) && r.FalsePositives > 0, "%d false reports", r.FalsePositives)
		complain(r.WrongVictims > 0, "%d wrong victims", r.WrongVictims)
		complain(r.MostAborts > most, "%d aborts of one transaction, more than %d", r.MostAborts, most)
		complain(r.LongestDelay > 40*scenario.T, "a deadlock stood for %s T", scenario.FormatTime(r.LongestDelay))
	}
	return all
}

func modes(m deadlock.Method) []string {
	if m.Modes == nil {
		return []string{""}
	}
	return m.Modes
}

// TestConditions: docs/deadlocks.md says of every method which of the four
// conditions of a deadlock it breaks, and of nothing else.
func TestConditions(t *testing.T) {
	page, err := os.ReadFile("../../docs/deadlocks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n## The four conditions\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var got, want []string
	for line := range strings.Lines(part) {
		if name, is := strings.CutPrefix(line, "| `"); is {
			name, rest, _ := strings.Cut(name, "`")
			got = append(got, name)
			m, err := deadlock.Find(name)
			breaks := err == nil && m.Family != deadlock.Ignore && m.Family != deadlock.Detection
			if strings.Contains(rest, "**") != breaks {
				t.Errorf("%s: that it breaks a condition should be %v in %q", name, breaks, line)
			}
		}
	}
	for _, m := range deadlock.Methods() {
		want = append(want, m.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has %q, want %q", got, want)
	}
}

// A method of one's own has no sites here, and the error says where to put them.
func TestMethodWithoutSites(t *testing.T) {
	_, err := deadlock.Method{Name: "mine"}.Spec(deadlock.Spread(1, 2, 2), "")
	if err == nil || !strings.Contains(err.Error(), `"mine"`) || !strings.Contains(err.Error(), "algorithm.NewSite") {
		t.Errorf("got %v", err)
	}
}

// TestPromises: every method keeps its promises under random loads.
func TestPromises(t *testing.T) {
	for _, m := range append(deadlock.Methods(), deadlock.Reversed()) {
		for _, mode := range modes(m) {
			t.Run(m.Name+mode, func(t *testing.T) {
				t.Parallel()
				for _, c := range complaints(t, m, mode) {
					t.Error(c)
				}
			})
		}
	}
}

// TestMutants: a bug planted into a method is noticed.
func TestMutants(t *testing.T) {
	planted := map[string]int{}
	for _, m := range deadlock.Mutants() {
		planted[m.Method.Name]++
		t.Run(m.Method.Name+" "+m.Mode+" "+m.Bug, func(t *testing.T) {
			t.Parallel()
			found := complaints(t, m.Method, "")
			if len(found) == 0 {
				t.Error("the bug was not found")
			} else {
				t.Log(found[0])
			}
		})
	}
	for _, m := range deadlock.Methods() {
		if planted[m.Name] < 2 {
			t.Errorf("%s has %d mutants, want at least 2", m.Name, planted[m.Name])
		}
	}
}
