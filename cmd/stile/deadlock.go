package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
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
	svg, trace, crash       string
}

func newDeadlock(stdout io.Writer) *cobra.Command {
	f := &deadlockFlags{config: sim.UsualTransactions(), sites: 3, processes: 8, locks: 10}
	var names []string
	for _, m := range deadlock.Methods() {
		names = append(names, m.Name)
	}
	c := &cobra.Command{
		Use:   "deadlock METHOD [flags]",
		Short: "Run transactions over several locks, kept from deadlocks or not",
		Long: `Runs transactions that ask for several locks at several sites, and measures what
a method against deadlocks does: how many transactions commit and abort, how
many deadlocks arise, how long they stand, and whether a reported one is real.
A transaction that is aborted is retried until it commits.

The methods: ` + strings.Join(names[:6], ", ") + `,
` + strings.Join(names[6:], ", ") + `. With 'none' transactions get stuck:
the graph that is printed shows who waits for whom. 'stuck' is not an error.

Worked examples are scenarios: 'stile replay scenarios/none-ring.stile'.`,
		Example: `  stile deadlock none --philosophers --svg ring.svg
  stile deadlock wait-die --transactions 1000 --locks 5
  stile deadlock detect-central --mode change --json
  stile deadlock detect-distributed --philosophers --transactions 100000`,
		Args: oneMethod,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.dinner(c); err != nil {
				return err
			}
			return f.run(args[0], stdout)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.config.Mode, "mode", "", "the `MODE` in which detect-central learns of local graphs: demand (the usual), change or batch")
	fs.Var(count{&f.sites, 1, maxSites}, "sites", "how many sites there are")
	fs.Var(count{&f.config.Number, 1, maxTransactions}, "transactions", "how many transactions there are in all")
	fs.Var(limited{count{&f.processes, 1, maxProcesses}, tooMany}, "processes", "how many processes run them, each one at a time")
	fs.Var(count{&f.locks, 1, maxLocks}, "locks", "how many locks there are")
	fs.Var(count{&f.config.Many, 1, maxLocks}, "take", "how many locks a transaction takes at most")
	fs.Var(count{&f.config.Hot, 0, 100}, "hot", "per cent of the requests that go to the first fifth of the locks")
	fs.Var(duration{&f.config.Think}, "think", "before a transaction, in T, the usual latency of a message")
	fs.Var(duration{&f.config.Hold}, "hold", "after each lock")
	fs.Var(duration{&f.config.Latency}, "latency", "of a message between sites")
	fs.BoolVar(&f.philosophers, "philosophers", false, "dinner instead: 5 philosophers, 5 forks, 3 sites, so many meals as --transactions")
	fs.StringVar(&f.crash, "crash", "", "sites that die, and when: a `LIST` such as 2@30,3@45.5")
	fs.Var(seed{&f.config.Seed}, "seed", "which of many runs")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs")
	fs.StringVar(&f.svg, "svg", "", "draw the wait-for graph to this `FILE`: the last one if stuck, else that of the first deadlock")
	fs.StringVar(&f.trace, "trace", "", "write what happened to this `FILE`: .json is JSON, .log or .shiviz a log for ShiViz, .svg a space-time diagram, .txt the story")
	return c
}

func oneMethod(c *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		_, err := deadlock.Find("")
		return fmt.Errorf("%s needs a method: %s", c.CommandPath(), strings.TrimPrefix(err.Error(), `unknown method "": `))
	case 1:
		return nil
	}
	return fmt.Errorf("%s takes one method, but got %q too: run them one by one, or see 'stile compare --help'", c.CommandPath(), args[1])
}

// dinner refuses what philosophers have no choice of.
func (f *deadlockFlags) dinner(c *cobra.Command) error {
	for _, flag := range []string{"sites", "processes", "locks", "take", "hot", "think"} {
		if f.philosophers && c.Flags().Changed(flag) {
			return fmt.Errorf("--philosophers has no --%s to choose: leave one of them out", flag)
		}
	}
	return nil
}

// resolve turns the flags into a run.
func (f *deadlockFlags) resolve(name string) (sim.Transactions, error) {
	c := f.config
	m, err := deadlock.Find(name)
	if err != nil {
		return c, err
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
			return fmt.Errorf("--crash %q: want a site from 1 to %d and a time, such as 2@30", part, c.Layout.Sites)
		}
		c.Crashes = append(c.Crashes, sim.SiteCrash{Site: core.ID(n - 1), At: at})
	}
	return nil
}

func (f *deadlockFlags) run(name string, stdout io.Writer) error {
	c, err := f.resolve(name)
	if err != nil {
		return err
	}
	rec := &recorder{Trace: c.Trace()}
	svg, events := "", f.trace
	switch ext := strings.ToLower(filepath.Ext(f.trace)); {
	case ext == ".svg":
		svg, events = f.trace, ""
	case f.trace != "" && !slices.Contains([]string{".json", ".log", ".shiviz", ".txt"}, ext):
		return fmt.Errorf("--trace %q: the name must end in .json, .log or .shiviz (for ShiViz), .svg (a diagram) or .txt (the story)", f.trace)
	}
	outputs, err := rec.outputs(svg, events)
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(f.trace), ".txt") { // sites are no processes: a story of their own
		outputs[0].make = func() ([]byte, error) { return []byte(sim.Story(c.Layout, &rec.Trace)), nil }
	}
	if f.trace != "" {
		c.Observe = rec.observe
	}
	var r *sim.Ledger
	if f.svg != "" {
		outputs = append(outputs, output{"svg", f.svg, func() ([]byte, error) { return []byte(sim.Graph(&c, r, "")), nil }})
	}
	if err := checkAll(outputs); err != nil {
		return err
	}
	if r, err = sim.RunTransactions(c); err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		err = printDeadlock(stdout, c, r)
	}
	if err != nil {
		return err
	}
	return violations(r.Found)
}
