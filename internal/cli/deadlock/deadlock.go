// Package deadlock is 'stile deadlock': transactions over several locks, and what
// a method against deadlocks does to them.
package deadlock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/cli/tell"
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

// flags is what 'stile deadlock' can be told.
type flags struct {
	config                  sim.Transactions
	sites, processes, locks int
	philosophers, json      bool
	svg, crash              string
	scene                   tell.Scene
}

// New returns the command.
func New() *cobra.Command {
	f := &flags{config: sim.UsualTransactions(), sites: 3, processes: 8, locks: 10}
	names := ask.Methods()
	c := &cobra.Command{
		Use:   "deadlock METHOD [flags]",
		Short: "Run transactions over several locks, kept from deadlocks or not",
		Long: `Runs transactions that ask for several locks at several sites, and measures what
a method against deadlocks does: how many transactions commit and abort, how
many deadlocks arise, how long they stand, and whether a reported one is real.
A transaction that is aborted is retried until it commits.

` + listed() + `
With 'none' transactions get stuck: the graph that is printed shows who waits
for whom. 'stuck' is not an error.

Worked examples are scenarios: 'stile replay scenarios/none-ring.stile'. So are
resource-allocation graphs: 'stile replay scenarios/graph-cycle.stile'.`,
		Example: `  stile deadlock none --philosophers --svg ring.svg
  stile deadlock wait-die --transactions 1000 --locks 5
  stile deadlock detect-central --mode change --json
  stile deadlock detect-distributed --philosophers --transactions 100000`,
		Args: ask.One("a method: want "+spell.Either(names...), "method", ask.OneByOne),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: ask.OfferMethods(),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(ask.Choice(&f.config.Mode, ask.Modes()...), "mode", "the `MODE` in which detect-central learns of local graphs: demand (the usual), change or batch")
	fs.Var(ask.Count(&f.sites, 1, maxSites), "sites", "how many sites there are")
	fs.Var(ask.Count(&f.config.Number, 1, maxTransactions), "transactions", "how many transactions there are in all")
	fs.Var(ask.Limited(&f.processes, 1, maxProcesses, tooMany), "processes", "how many processes run them, each one at a time")
	fs.Var(ask.Count(&f.locks, 1, maxLocks), "locks", "how many locks there are")
	fs.Var(ask.Count(&f.config.Many, 1, maxLocks), "take", "how many locks a transaction takes at most")
	fs.Var(ask.Count(&f.config.Hot, 0, 100), "hot", "per cent of the requests that go to the first fifth of the locks")
	fs.Var(ask.Time(&f.config.Think), "think", "before a transaction, in T, the usual latency of a message")
	fs.Var(ask.Time(&f.config.Hold), "hold", "after each lock")
	fs.Var(ask.Latency(&f.config.Latency), "latency", "of a message between sites")
	fs.BoolVar(&f.philosophers, "philosophers", false, "dinner instead: 5 philosophers, 5 forks, 3 sites, so many meals as --transactions")
	fs.Var(ask.Text(&f.crash, "sites and times such as 2@30,3@45.5", nil), "crash", "sites that die, and when: a `LIST` such as 2@30,3@45.5")
	fs.Var(ask.Seed(&f.config.Seed), "seed", "which of many runs")
	ask.JSON(fs, &f.json)
	fs.Var(ask.File(&f.svg, ".svg"), "svg", "draw the wait-for graph to this `FILE`: the last one if stuck, else that of the first deadlock")
	f.scene.DefineTrace(fs)
	f.scene.DefinePart(fs)
	return c
}

// resolve turns the flags into a run.
func (f *flags) resolve(name string) (sim.Transactions, error) {
	c := f.config
	m, err := ask.Method(name)
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
func (f *flags) crashes(c *sim.Transactions) error {
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
func (f *flags) files(c *sim.Transactions, rec *tell.Recorder, r **sim.Ledger) ([]tell.File, error) {
	if f.scene.Asked() {
		c.Observe = rec.Observe
	}
	rec.Story = func(t *trace.Trace) string { return sim.Story(c.Layout, t) } // sites are no processes
	files, err := rec.Files(&f.scene)
	return append(files, tell.Picture("svg", f.svg, func() string { return graph(c, *r) })...), err
}

// graph draws the wait-for graph.
func graph(c *sim.Transactions, r *sim.Ledger) string {
	title := ""
	if r.Stopped {
		title = "Wait-for graph: " + c.Method.Title + ", interrupted after " + far(c, r)
	}
	return sim.Graph(c, r, title)
}

// far says how far a run was when it was stopped, if it was.
func far(c *sim.Transactions, r *sim.Ledger) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Committed), words.Plural(c.Number, "transaction"))
}

func (f *flags) run(cmd *cobra.Command, name string) error {
	if f.philosophers {
		if err := ask.Refuse(cmd, "sites processes locks take hot think", "--philosophers has no --FLAG to choose: leave one of them out"); err != nil {
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
	rec := &tell.Recorder{Trace: c.Trace()}
	files, err := f.files(&c, rec, &r)
	if err != nil {
		return err
	}
	return tell.Run(cmd.OutOrStdout(), f.json, files, func() (tell.Report, error) {
		live := tell.Begin(cmd)
		defer live.End()
		c.Watch = live.Watch("transactions")
		if r, err = sim.RunTransactions(c); err != nil {
			return tell.Report{}, err
		}
		rec.Interrupted(far(&c, r))
		return tell.Report{JSON: r, Text: func(p *tell.Page) { printRun(p, c, r) }, Stopped: far(&c, r), Wrong: tell.Violations(r.Found)}, nil
	})
}
