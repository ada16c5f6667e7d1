package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// each runs a test for every method in each of its modes.
func each(t *testing.T, f func(t *testing.T, m deadlock.Method, mode string)) {
	for _, m := range deadlock.Methods() {
		for _, mode := range modesOf(m) {
			t.Run(full(m, mode), func(t *testing.T) {
				t.Parallel()
				f(t, m, mode)
			})
		}
	}
}

func modesOf(m deadlock.Method) []string {
	if m.Modes == nil {
		return []string{""}
	}
	return m.Modes
}

// full returns the name of a method in one of its modes.
func full(m deadlock.Method, mode string) string {
	return strings.TrimSuffix(m.Name+"-"+mode, "-")
}

// TestStarves: with the methods that may starve somebody one of eight is aborted
// again and again under a load that with the sound one it gets through.
func TestStarves(t *testing.T) {
	most := func(m deadlock.Method) int {
		c := UsualTransactions()
		c.Method, c.Layout, c.Number, c.Hot = m, deadlock.Spread(3, 8, 5), 2000, 60
		c.Think = scenario.Always(0)
		r, err := RunTransactions(c)
		if err != nil {
			t.Fatal(err)
		}
		return r.MostAborts
	}
	for name, times := range map[string]int{"priority": 50, "priority-requester": 5, "wait-die-restamped": 5, "wound-wait-restamped": 5} {
		m, err := deadlock.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		sound, err := deadlock.Find(m.Fixed)
		if err != nil || !m.Starves || sound.Starves {
			t.Fatalf("%s is fixed by %q: %v", name, m.Fixed, err)
		}
		if naive, aged := most(m), most(sound); naive < times*aged {
			t.Errorf("one transaction aborted %d times by %s and %d times by %s, want at least %d times as often", naive, name, aged, m.Fixed, times)
		}
	}
}

// TestFalseCycles: the naive ways of the coordinator report deadlocks that
// were never there; stamps on demand and path pushing never do.
func TestFalseCycles(t *testing.T) {
	each(t, func(t *testing.T, m deadlock.Method, mode string) {
		found, phantoms := 0, 0
		for seed := range uint64(20) {
			c := UsualTransactions()
			c.Method, c.Mode, c.Layout, c.Number, c.Seed = m, mode, deadlock.Spread(4, 10, 12), 300, seed
			c.Latency = scenario.Uniform(scenario.T/10, 3*scenario.T)
			r, err := RunTransactions(c)
			if err != nil {
				t.Fatal(err)
			}
			found, phantoms = found+r.FalsePositives, phantoms+r.Phantoms
		}
		if m.Exact(mode) != (found == 0) {
			t.Errorf("%d false reports (and %d phantoms); it promises exactness: %v", found, phantoms, m.Exact(mode))
		}
	})
}

// TestDeadSite: a site dies in the middle. Its transactions go, those of the
// others end, also when it was the coordinator or the banker, and no lock is
// held for the dead.
func TestDeadSite(t *testing.T) {
	each(t, func(t *testing.T, m deadlock.Method, mode string) {
		if m.Family == deadlock.Ignore {
			t.Skip("it would get stuck anyway")
		}
		for seed := range uint64(12) {
			c := UsualTransactions()
			c.Method, c.Mode, c.Layout, c.Number, c.Seed = m, mode, deadlock.Spread(4, 8, 12), 300, seed
			c.Crashes = []SiteCrash{{algorithm.ID(seed % 4), int64(20+7*seed) * scenario.T}, {algorithm.ID((seed + 1) % 4), int64(100+3*seed) * scenario.T}}
			c.Patient = 200 * scenario.T
			r, err := RunTransactions(c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Committed+r.Lost < c.Number || r.Stuck > 0 || len(r.Found) > 0 {
				t.Errorf("seed %d: %d committed and %d lost of %d, %d stuck, violations %v\n%s", seed, r.Committed, r.Lost, c.Number, r.Stuck, r.Found, draw.WaitForText(r.Graph))
			}
			if m.Exact(mode) && r.FalsePositives > 0 {
				t.Errorf("seed %d: %d false reports, %d phantoms", seed, r.FalsePositives, r.Phantoms)
			}
		}
	})
}

// TestSameSeed: a seed gives the same run, to the last event.
func TestSameSeed(t *testing.T) {
	each(t, func(t *testing.T, m deadlock.Method, mode string) {
		run := func() string {
			c := UsualTransactions()
			c.Method, c.Mode, c.Layout, c.Seed = m, mode, deadlock.Spread(3, 6, 6), 7
			var events []trace.Event
			c.Observe = func(e trace.Event) { events = append(events, e) }
			r, err := RunTransactions(c)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(r.Committed, r.Messages, r.Time) + Story(c.Layout, &trace.Trace{Unit: scenario.T, Events: events})
		}
		if first := run(); first != run() {
			t.Error("two runs of one seed differ")
		}
	})
}

// TestRefused: what cannot be run is refused.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(c *Transactions){
		"no transactions": func(c *Transactions) { c.Number = 0 },
		"no locks":        func(c *Transactions) { c.Layout.At = nil },
		"a bad mode":      func(c *Transactions) { c.Mode = "sometimes" },
		"no latency":      func(c *Transactions) { c.Latency = scenario.Always(0) },
		"few above many":  func(c *Transactions) { c.Few = 5 },
		"no such site":    func(c *Transactions) { c.Crashes = []SiteCrash{{9, 1}} },
	} {
		c := UsualTransactions()
		c.Method, c.Layout = deadlock.WaitDie(), deadlock.Spread(2, 2, 2)
		change(&c)
		if _, err := RunTransactions(c); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// How many wait for another is counted as it changes, and is always as many as
// there are.
func TestEdgesAreCounted(t *testing.T) {
	each(t, func(t *testing.T, m deadlock.Method, mode string) {
		c := UsualTransactions()
		c.Method, c.Mode, c.Number, c.Layout, c.Hot = m, mode, 300, deadlock.Spread(4, 12, 6), 50
		c.Crashes = []SiteCrash{{Site: 2, At: 60 * scenario.T}}
		most := 0
		tr, err := c.start()
		if err != nil {
			t.Fatal(err)
		}
		for tr.w.Pending() && !tr.over() {
			if err := tr.w.next(); err != nil {
				t.Fatal(err)
			}
			n := len(tr.graph().Edges())
			if tr.env.Edges() != n {
				t.Fatalf("at %s %d edges are counted, want %d", scenario.FormatTime(tr.w.Now()), tr.env.Edges(), n)
			}
			most = max(most, n)
		}
		if most < 3 {
			t.Errorf("at most %d edges: too few to tell", most)
		}
	})
}
