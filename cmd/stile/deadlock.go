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

// whyNotMoreProcesses says why there are not more processes.
const whyNotMoreProcesses = "each may wait for any other, so with more a run takes minutes"

// deadlockFlags is what 'stile deadlock' can be told.
type deadlockFlags struct {
	config                  sim.Transactions
	sites, processes, locks int
	philosophers, json      bool
	svg, crash              string
	output                  traceOutput
}

// newDeadlock returns the command.
func newDeadlock() *cobra.Command {
	f := &deadlockFlags{config: sim.UsualTransactions(), sites: 3, processes: 8, locks: 10}
	names := methodNames()
	c := &cobra.Command{
		Use:   "deadlock METHOD [flags]",
		Short: "Run transactions over several locks, kept from deadlocks or not",
		Long: `Runs transactions that ask for several locks at several sites, and measures what
a method against deadlocks does: how many transactions commit and abort, how
many deadlocks arise, how long they stand, and whether a reported one is real.
A transaction that is aborted is retried until it commits.

` + methodList() + `
With 'none' transactions get stuck: the graph that is printed shows who waits
for whom. 'stuck' is not an error.

Worked examples are scenarios: 'stile replay scenarios/none-ring.stile'. So are
resource-allocation graphs: 'stile replay scenarios/graph-cycle.stile'.`,
		Example: `  stile deadlock none --philosophers --svg ring.svg
  stile deadlock wait-die --transactions 1000 --locks 5
  stile deadlock detect-central --mode change --json
  stile deadlock detect-distributed --philosophers --transactions 100000`,
		Args: oneArg("a method: want "+spell.Either(names...), "method", oneByOne),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: completeMethod(),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(choiceFlag(&f.config.Mode, modeNames()...), "mode", "the `MODE` in which detect-central learns of local graphs: demand (the usual), change or batch")
	fs.Var(countFlag(&f.sites, 1, maxSites), "sites", "how many sites there are")
	fs.Var(countFlag(&f.config.Number, 1, maxTransactions), "transactions", "how many transactions there are in all")
	fs.Var(limitedCountFlag(&f.processes, 1, maxProcesses, whyNotMoreProcesses), "processes", "how many processes run them, each one at a time")
	fs.Var(countFlag(&f.locks, 1, maxLocks), "locks", "how many locks there are")
	fs.Var(countFlag(&f.config.Many, 1, maxLocks), "take", "how many locks a transaction takes at most")
	fs.Var(countFlag(&f.config.Hot, 0, 100), "hot", "per cent of the requests that go to the first fifth of the locks")
	fs.Var(timeFlag(&f.config.Think), "think", "before a transaction, in T, the usual latency of a message")
	fs.Var(timeFlag(&f.config.Hold), "hold", "after each lock")
	fs.Var(latencyFlag(&f.config.Latency), "latency", "of a message between sites")
	fs.BoolVar(&f.philosophers, "philosophers", false, "dinner instead: 5 philosophers, 5 forks, 3 sites, so many meals as --transactions")
	fs.Var(textFlag(&f.crash, "sites and times such as 2@30,3@45.5", nil), "crash", "sites that die, and when: a `LIST` such as 2@30,3@45.5")
	fs.Var(seedFlag(&f.config.Seed), "seed", "which of many runs")
	jsonFlag(fs, &f.json)
	fs.Var(outputFileFlag(&f.svg, ".svg"), "svg", "draw the wait-for graph to this `FILE`: the last one if stuck, else that of the first deadlock")
	f.output.defineTrace(fs)
	f.output.definePart(fs)
	return c
}

// resolve turns the flags into a run.
func (f *deadlockFlags) resolve(name string) (sim.Transactions, error) {
	c := f.config
	m, err := findMethod(name)
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
func (f *deadlockFlags) files(c *sim.Transactions, rec *recorder, r **sim.Ledger) ([]outputFile, error) {
	if f.output.requested() {
		c.Observe = rec.observe
	}
	rec.story = func(t *trace.Trace) string { return sim.Story(c.Layout, t) } // sites are no processes
	files, err := rec.files(&f.output)
	return append(files, pictureFile("svg", f.svg, func() string { return waitForGraph(c, *r) })...), err
}

// waitForGraph draws the wait-for graph.
func waitForGraph(c *sim.Transactions, r *sim.Ledger) string {
	title := ""
	if r.Stopped {
		title = "Wait-for graph: " + c.Method.Title + ", interrupted after " + deadlockProgress(c, r)
	}
	return sim.Graph(c, r, title)
}

// deadlockProgress says how far a run was when it was stopped, if it was.
func deadlockProgress(c *sim.Transactions, r *sim.Ledger) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Committed), words.Plural(c.Number, "transaction"))
}

func (f *deadlockFlags) run(cmd *cobra.Command, name string) error {
	if f.philosophers {
		if err := refuseFlags(cmd, "sites processes locks take hot think", "--philosophers has no --FLAG to choose: leave one of them out"); err != nil {
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
	rec := &recorder{Trace: c.Trace()}
	files, err := f.files(&c, rec, &r)
	if err != nil {
		return err
	}
	return runAndReport(cmd.OutOrStdout(), f.json, files, func() (outcome, error) {
		live := startProgress(cmd)
		defer live.end()
		c.Watch = live.watch("transactions")
		if r, err = sim.RunTransactions(c); err != nil {
			return outcome{}, err
		}
		rec.interrupted(deadlockProgress(&c, r))
		return outcome{json: r, text: func(p *printer) { printDeadlockRun(p, c, r) }, stopped: deadlockProgress(&c, r), wrong: violationFindings(r.Found)}, nil
	})
}

// methodList lists the methods for the help: the sound ones by name, the others with
// what is wrong with them, which is sound instead, and what shows it.
func methodList() string {
	var names []string
	var apart strings.Builder
	for _, m := range deadlock.Methods() {
		if fault := methodFault(m); fault == "" {
			names = append(names, m.Name)
		} else {
			fmt.Fprintf(&apart, "  ! %s\n      %s\n      see: %s\n", m.Name, strings.Join(wrap(fault, screenWidth-8), "\n      "), m.Shown)
		}
	}
	return strings.Join(wrap("The methods: "+strings.Join(names, ", ")+"; and these, which starve somebody:", screenWidth), "\n") + "\n" + apart.String()
}

// methodFault says what is to be known of a method that is not sound, or "".
func methodFault(m deadlock.Method) string {
	switch {
	case m.Wrong != "":
		return "WRONG: " + m.Wrong + " (sound: " + m.Fixed + ")"
	case m.Weaker != "":
		return "WEAKER: " + m.Weaker + " (sound: " + m.Fixed + ")"
	}
	return ""
}

// printDeadlockRun shows a run to people.
func printDeadlockRun(p *printer, c sim.Transactions, r *sim.Ledger) {
	mode := c.Mode
	if mode != "" {
		mode = ", mode " + mode
	}
	p.line("%s%s", c.Method.Title, mode)
	p.line("%s of %s over %s at %s, seed %d",
		words.Plural(c.Number, "transaction"), words.Plural(len(c.Layout.Home), "process"),
		words.Plural(len(c.Layout.At), "lock"), words.Plural(c.Layout.Sites, "site"), c.Seed)
	if fault := methodFault(c.Method); fault != "" {
		p.text(0, fault)
		p.line("see: %s", c.Method.Shown)
	}
	p.gap()
	row := func(name, value, note string) { p.line("%-26s%10s  %s", name, value, note) }
	row("committed", words.Grouped(r.Committed), "")
	row("aborted", words.Grouped(r.Aborted), "attempts, retried until they commit")
	row("unnecessary aborts", words.Grouped(r.Unnecessary), "of transactions in no deadlock")
	row("deadlocks", words.Grouped(r.Deadlocks), "that arose")
	if c.Method.Family == deadlock.Detection {
		row("found", words.Grouped(r.Resolved), "")
		row("detection delay", words.Number(r.DetectionDelay), "T on average, "+words.Number(float64(r.LongestDelay)/scenario.T)+" at most")
		row("false positives", words.Grouped(r.FalsePositives), "reported, but never there")
		row("phantoms", words.Grouped(r.Phantoms), "reported, but just broken by an abort")
	}
	row("messages per transaction", words.Number(r.PerTransaction), "")
	row("throughput", words.Number(r.Throughput), "commits per T")
	row("most aborts", words.Grouped(r.MostAborts), "of one transaction")
	row("longest life", words.Number(float64(r.LongestLife)/scenario.T), "T from first request to commit")
	if len(c.Crashes) > 0 {
		row("lost", words.Grouped(r.Lost), "with dead sites")
		row("aborted by deaths", words.Grouped(r.Buried), "had or wanted locks there")
	}
	row("stuck", words.Grouped(r.Stuck), "")
	if r.False != nil {
		p.gap()
		p.line("A false cycle, at %s: %s", scenario.FormatTime(r.False.At), deadlock.Round(r.False.Cycle))
		p.line("What was true:")
		p.graph(r.False.Graph)
	}
	if r.Stuck > 0 {
		p.gap()
		p.line("Stuck for ever. Who waits for whom, and for which lock:")
		p.graph(r.Graph)
	}
}
