package transactions

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
)

// Family returns the family of transactions under a method. For a method that prevents or
// avoids deadlocks, Deadlock means that the wait-for graph never has a cycle; for one
// that detects them, that no run ends with a transaction waiting. Starvation means that
// every transaction commits in every fair run, so every deadlock is eventually found.
func (c Config) Family() *family.Family {
	moot := ""
	if c.Method.Family != deadlock.Detection {
		moot = "it reports no deadlocks"
	}
	return &family.Family{
		Name: "Deadlocks", Kind: "transactions", Sites: c.Layout.Sites, Numbers: family.Attempts, Detects: true,
		Env:   func(o family.Options) (family.Env, error) { return c.bounded(o.Requests) },
		Scene: c.scene,
		Bounded: func(rounds int) string {
			if rounds == 0 {
				return "any number of transactions and restarts"
			}
			return "up to " + words.Plural(rounds, "transaction") + " per process, any number of restarts"
		},
		Rules: []family.Rule{
			{Name: family.MutualExclusion, Means: "no lock has two holders", Broken: "%[1]v entered while %[2]v was inside"},
			{Name: family.UnaskedGrant, Means: "no process acquires a lock without having asked", Broken: "%[1]v acquired a lock without having asked"},
			{Name: family.IdleVictim, Means: "only processes with a transaction are chosen to abort", Broken: "%[1]v was chosen to abort, but has no transaction"},
			{Name: family.NoDeadlock, Means: "no process waits forever"},
		},
		Properties: []family.Property{
			{Name: family.MutualExclusion, Means: "no lock has two holders"},
			{Name: family.Deadlock, Means: "no process waits forever for a lock"},
			{Name: family.Starvation, Means: "every transaction commits", Found: family.InRuns},
			{Name: family.FalseReport, Means: "every reported deadlock is real", Moot: moot},
			{Name: family.OneVictim, Means: "the youngest transaction in a deadlock aborts", Moot: moot},
		},
		Signs: []family.Sign{
			family.Shown(family.MutualExclusion, family.Violates(script.MutualExclusion)),
			family.Shown(family.Deadlock, script.Expectation{Kind: script.Stuck}),
			family.Shown(family.Cycle, script.Expectation{Kind: script.Cycle}, family.Deadlock),
			family.Shown(family.FalseReport, script.Expectation{Kind: script.FalseCycle}),
			family.Shown(family.OneVictim, script.Expectation{Kind: script.Aborts}),
			{Name: family.UnaskedGrant, Of: []string{family.MutualExclusion}},
			{Name: family.IdleVictim, Of: []string{family.OneVictim}},
		},
	}
}

// MethodOf returns the method of a family made by a Config with Programs, which may be
// one that is not known by name. It is not ok for any other family.
func MethodOf(f *family.Family) (m deadlock.Method, ok bool) {
	env, _ := f.Env(family.Options{Requests: 1})
	e, ok := env.(*Env)
	if !ok {
		return m, false
	}
	return e.Method, true
}

// Limits of the encoding.
const (
	maxProcesses    = 16
	maxTransactions = 100 // of each process
)

// bounded returns processes whose state can be encoded.
func (c Config) bounded(rounds int) (family.Env, error) {
	if len(c.Programs) == 0 || len(c.Programs) > maxProcesses {
		return nil, fmt.Errorf("%d programs: want one for each process, and at most %d", len(c.Programs), maxProcesses)
	}
	if rounds > maxTransactions {
		return nil, fmt.Errorf("%d transactions per process: want 1 to %d, or 0 for any number", rounds, maxTransactions)
	}
	if c.Cancels > maxTransactions {
		return nil, fmt.Errorf("%d times to give up waiting: want at most %d", c.Cancels, maxTransactions)
	}
	for p, program := range c.Programs {
		if c.Cancels > 0 && (len(program) > 8 || c.Later != nil) {
			return nil, fmt.Errorf("requests of %v can be cancelled only if it has one program, of at most 8 locks", algorithm.ID(p))
		}
		if n := max(1, rounds) * c.turns(p); n > maxTransactions {
			return nil, fmt.Errorf("%d transactions of %v: want at most %d", n, algorithm.ID(p), maxTransactions)
		}
	}
	return New(c, rounds)
}

// scene says where processes and locks are.
func (c Config) scene(sc *scenario.Scenario) {
	sc.Sites, sc.Homes, sc.Locks, sc.Units, sc.Mode = c.Layout.Sites, c.Layout.Home, c.Layout.At, c.Layout.Units, c.Mode
}

// Spec returns the method as an algorithm with one machine per site. All clocks begin at
// the first valid time, because no renumbered time is zero, which means no time at all.
func (c Config) Spec() (algorithm.Spec, error) {
	spec, err := c.Method.Spec(c.Layout, c.Mode)
	if err != nil {
		return spec, err
	}
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			m := birth(self, v)
			var out host.Output
			_ = m.Step(host.Input{Kind: host.Hear, From: algorithm.None, Time: 1}, &out) // no site refuses to hear
			return m
		}, err
	}
	return spec, nil
}
