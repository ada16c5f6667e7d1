package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// Bounds of what a run of transactions may be asked for.
const (
	maxSites        = 100
	maxProcesses    = 1000 // see tooMany
	maxLocks        = 10_000
	maxTransactions = 1_000_000
)

// tooMany says why there are not more processes.
const tooMany = "each may wait for any other, so with more a run takes minutes"

// deadlockFlags is what 'stile deadlock' can be told.
type deadlockFlags struct {
	config                  sim.Transactions
	sites, processes, locks int
	philosophers, json      bool
	svg, crash              string
	scene                   Scene
}

// deadlockNew returns the command.
func deadlockNew() *cobra.Command {
	f := &deadlockFlags{config: sim.UsualTransactions(), sites: 3, processes: 8, locks: 10}
	names := Methods()
	c := &cobra.Command{
		Use:   "deadlock METHOD [flags]",
		Short: "Run transactions over several locks, kept from deadlocks or not",
		Long: `Runs transactions that ask for several locks at several sites, and measures what
a method against deadlocks does: how many transactions commit and abort, how
many deadlocks arise, how long they stand, and whether a reported one is real.
A transaction that is aborted is retried until it commits.

` + deadlockListed() + `
With 'none' transactions get stuck: the graph that is printed shows who waits
for whom. 'stuck' is not an error.

Worked examples are scenarios: 'stile replay scenarios/none-ring.stile'. So are
resource-allocation graphs: 'stile replay scenarios/graph-cycle.stile'.`,
		Example: `  stile deadlock none --philosophers --svg ring.svg
  stile deadlock wait-die --transactions 1000 --locks 5
  stile deadlock detect-central --mode change --json
  stile deadlock detect-distributed --philosophers --transactions 100000`,
		Args: One("a method: want "+spell.Either(names...), "method", OneByOne),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: OfferMethods(),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Choice(&f.config.Mode, Modes()...), "mode", "the `MODE` in which detect-central learns of local graphs: demand (the usual), change or batch")
	fs.Var(Count(&f.sites, 1, maxSites), "sites", "how many sites there are")
	fs.Var(Count(&f.config.Number, 1, maxTransactions), "transactions", "how many transactions there are in all")
	fs.Var(Limited(&f.processes, 1, maxProcesses, tooMany), "processes", "how many processes run them, each one at a time")
	fs.Var(Count(&f.locks, 1, maxLocks), "locks", "how many locks there are")
	fs.Var(Count(&f.config.Many, 1, maxLocks), "take", "how many locks a transaction takes at most")
	fs.Var(Count(&f.config.Hot, 0, 100), "hot", "per cent of the requests that go to the first fifth of the locks")
	fs.Var(Time(&f.config.Think), "think", "before a transaction, in T, the usual latency of a message")
	fs.Var(Time(&f.config.Hold), "hold", "after each lock")
	fs.Var(Latency(&f.config.Latency), "latency", "of a message between sites")
	fs.BoolVar(&f.philosophers, "philosophers", false, "dinner instead: 5 philosophers, 5 forks, 3 sites, so many meals as --transactions")
	fs.Var(Text(&f.crash, "sites and times such as 2@30,3@45.5", nil), "crash", "sites that die, and when: a `LIST` such as 2@30,3@45.5")
	fs.Var(Seed(&f.config.Seed), "seed", "which of many runs")
	JSON(fs, &f.json)
	fs.Var(askFile(&f.svg, ".svg"), "svg", "draw the wait-for graph to this `FILE`: the last one if stuck, else that of the first deadlock")
	f.scene.DefineTrace(fs)
	f.scene.DefinePart(fs)
	return c
}

// resolve turns the flags into a run.
func (f *deadlockFlags) resolve(name string) (sim.Transactions, error) {
	c := f.config
	m, err := Method(name)
	if err != nil {
		return c, err
	}
	if c.Mode == "" && len(m.Modes) > 0 {
		c.Mode = m.Modes[0] // programs are told, too
	}
	if f.philosophers {
		p := sim.Philosophers(m, c.Mode, 5, c.Number)
		p.Seed, p.Hold, p.Latency = c.Seed, c.Hold, c.Latency
		c = p
	} else {
		c.Method, c.Layout = m, deadlock.Spread(f.sites, f.processes, f.locks)
		c.Few = min(c.Few, c.Many)
	}
	if err := f.crashes(&c); err != nil {
		return c, err
	}
	if c.Mode != "" && !slices.Contains(m.Modes, c.Mode) {
		_, err := m.Spec(c.Layout, c.Mode)
		return c, fmt.Errorf("--mode: %w", err)
	}
	return c, nil
}

// crashes reads which sites die.
func (f *deadlockFlags) crashes(c *sim.Transactions) error {
	if f.crash == "" {
		return nil
	}
	for part := range strings.SplitSeq(f.crash, ",") {
		site, when, _ := strings.Cut(part, "@")
		n, err := strconv.Atoi(site)
		at, bad := scenario.ParseTime(when)
		if err != nil || bad != nil || n < 1 || n > c.Layout.Sites {
			return fmt.Errorf("--crash %q: want a site from 1 to %d and a time from 0 to %d, such as 2@30", part, c.Layout.Sites, scenario.MaxTime)
		}
		if slices.ContainsFunc(c.Crashes, func(d sim.SiteCrash) bool { return int(d.Site) == n-1 }) {
			return fmt.Errorf("--crash %q: site %d dies already: a site dies once", part, n)
		}
		c.Crashes = append(c.Crashes, sim.SiteCrash{Site: algorithm.ID(n - 1), At: at})
	}
	return nil
}

// files returns what is asked for of a run that is recorded, and of which r will be
// what came of it.
func (f *deadlockFlags) files(c *sim.Transactions, rec *Recorder, r **sim.Ledger) ([]tellFile, error) {
	if f.scene.Asked() {
		c.Observe = rec.Observe
	}
	rec.Story = func(t *trace.Trace) string { return sim.Story(c.Layout, t) } // sites are no processes
	files, err := rec.Files(&f.scene)
	return append(files, Picture("svg", f.svg, func() string { return graph(c, *r) })...), err
}

// graph draws the wait-for graph.
func graph(c *sim.Transactions, r *sim.Ledger) string {
	title := ""
	if r.Stopped {
		title = "Wait-for graph: " + c.Method.Title + ", interrupted after " + deadlockFar(c, r)
	}
	return sim.Graph(c, r, title)
}

// deadlockFar says how far a run was when it was stopped, if it was.
func deadlockFar(c *sim.Transactions, r *sim.Ledger) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Committed), words.Plural(c.Number, "transaction"))
}

func (f *deadlockFlags) run(cmd *cobra.Command, name string) error {
	if f.philosophers {
		if err := Refuse(cmd, "sites processes locks take hot think", "--philosophers has no --FLAG to choose: leave one of them out"); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("take") && f.config.Many > f.locks {
		return fmt.Errorf("--take %d: want a whole number from 1 to %d, which is how many locks there are; or give more --locks", f.config.Many, f.locks)
	}
	c, err := f.resolve(name)
	if err != nil {
		return err
	}
	var r *sim.Ledger
	rec := &Recorder{Trace: c.Trace()}
	files, err := f.files(&c, rec, &r)
	if err != nil {
		return err
	}
	return tellRun(cmd.OutOrStdout(), f.json, files, func() (Report, error) {
		live := Begin(cmd)
		defer live.End()
		c.Watch = live.Watch("transactions")
		if r, err = sim.RunTransactions(c); err != nil {
			return Report{}, err
		}
		rec.Interrupted(deadlockFar(&c, r))
		return Report{JSON: r, Text: func(p *Page) { deadlockPrintRun(p, c, r) }, Stopped: deadlockFar(&c, r), Wrong: Violations(r.Found)}, nil
	})
}
