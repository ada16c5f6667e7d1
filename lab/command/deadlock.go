package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Bounds of a run of transactions.
const (
	maxSites        = 100
	maxProcesses    = 1000 // see whyNotMoreProcesses
	maxLocks        = 10_000
	maxTransactions = 1_000_000
)

// whyNotMoreProcesses explains maxProcesses.
const whyNotMoreProcesses = "each may wait for any other, so a larger run takes minutes"

// deadlockFlags holds the flags of 'stile-lab deadlock'.
type deadlockFlags struct {
	config                  sim.Transactions
	sites, processes, locks int
	philosophers, json      bool
	svg, crash              string
	output                  traceOutput
}

func newDeadlock() *cobra.Command {
	f := &deadlockFlags{config: sim.UsualTransactions(), sites: 3, processes: 8, locks: 10}
	names := methodNames()
	c := &cobra.Command{
		Use:   "deadlock METHOD [flags]",
		Short: "Run transactions over several locks, and see deadlocks",
		Long: `Runs transactions that request several locks at several sites, and measures a
method against deadlock: how many transactions commit and abort, how many
deadlocks arise, how long they last, and whether reported ones are real. An
aborted transaction is retried until it commits.

` + methodList() + `
With 'none' transactions get stuck, and the printed graph shows who waits for
whom. That is not an error.

Worked examples are scenarios: 'stile-lab replay lab/scenarios/none-ring.stile'. So are
resource-allocation graphs: 'stile-lab replay lab/scenarios/graph-cycle.stile'.`,
		Example: `  stile-lab deadlock none --philosophers --svg ring.svg
  stile-lab deadlock wait-die --transactions 1000 --locks 5
  stile-lab deadlock detect-central --mode change --json
  stile-lab deadlock detect-distributed --philosophers --transactions 100000`,
		Args: terminal.OneArg("a method: "+spell.Either(names...), "method", oneByOne),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: completeMethod(),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(terminal.ChoiceFlag(&f.config.Mode, modeNames()...), "mode", "`MODE` in which detect-central collects local graphs: demand, change or batch (default demand)")
	fs.Var(terminal.CountFlag(&f.sites, 1, maxSites), "sites", "number of sites")
	fs.Var(terminal.CountFlag(&f.config.Number, 1, maxTransactions), "transactions", "total number of transactions")
	fs.Var(terminal.LimitedCountFlag(&f.processes, 1, maxProcesses, whyNotMoreProcesses), "processes", "number of processes, each running one transaction at a time")
	fs.Var(terminal.CountFlag(&f.locks, 1, maxLocks), "locks", "number of locks")
	fs.Var(terminal.CountFlag(&f.config.Many, 1, maxLocks), "take", "maximum number of locks of a transaction")
	fs.Var(terminal.CountFlag(&f.config.Hot, 0, 100), "hot", "percentage of requests for the first fifth of the locks")
	fs.Var(timeFlag(&f.config.Think), "think", "pause before a transaction, in T, the usual latency of a message")
	fs.Var(timeFlag(&f.config.Hold), "hold", "time spent after acquiring each lock")
	fs.Var(latencyFlag(&f.config.Latency), "latency", "latency of a message between sites")
	fs.BoolVar(&f.philosophers, "philosophers", false, "dining philosophers instead: 5 philosophers, 5 forks and 3 sites; --transactions is the number of meals")
	fs.Var(terminal.TextFlag(&f.crash, "sites and times such as 2@30,3@45.5", nil), "crash", "`LIST` of sites that crash and when, such as 2@30,3@45.5")
	fs.Var(seedFlag(&f.config.Seed), "seed", "seed of the run")
	terminal.JSONFlag(fs, &f.json)
	fs.Var(terminal.OutputFileFlag(&f.svg, ".svg"), "svg", "SVG `FILE` for the wait-for graph: the last one if stuck, otherwise that of the first deadlock")
	f.output.defineTrace(fs)
	f.output.definePart(fs)
	f.output.defineWhy(fs)
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
		c.Mode = m.Modes[0] // for the JSON output
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

// crashes parses --crash.
func (f *deadlockFlags) crashes(c *sim.Transactions) error {
	if f.crash == "" {
		return nil
	}
	for part := range strings.SplitSeq(f.crash, ",") {
		site, when, _ := strings.Cut(part, "@")
		n, err := strconv.Atoi(site)
		at, bad := scenario.ParseTime(when)
		if err != nil || bad != nil || n < 1 || n > c.Layout.Sites {
			return fmt.Errorf("--crash %q: must be a site from 1 to %d and a time from 0 to %d, such as 2@30", part, c.Layout.Sites, script.MaxTime)
		}
		if slices.ContainsFunc(c.Crashes, func(d sim.SiteCrash) bool { return int(d.Site) == n-1 }) {
			return fmt.Errorf("--crash %q: site %d is listed twice: a site crashes once", part, n)
		}
		c.Crashes = append(c.Crashes, sim.SiteCrash{Site: algorithm.ID(n - 1), At: at})
	}
	return nil
}

// files returns the requested files of a run, whose result will be in r.
func (f *deadlockFlags) files(c *sim.Transactions, rec *recorder, r **sim.Ledger) ([]terminal.OutputFile, error) {
	if err := f.output.checkWhy(); err != nil {
		return nil, err
	}
	if f.output.requested() {
		c.Observe = rec.observe
	}
	if f.output.why {
		c.Explain = rec.explain
	}
	rec.story = func(t *trace.Trace) string { return sim.Story(c.Layout, t) } // its lanes are sites, not processes
	files, err := rec.files(&f.output)
	return append(files, terminal.PictureFile("svg", f.svg, func() string { return waitForGraph(c, *r) })...), err
}

// waitForGraph draws the wait-for graph of a run.
func waitForGraph(c *sim.Transactions, r *sim.Ledger) string {
	title := ""
	if r.Stopped {
		title = "Wait-for graph: " + c.Method.Title + ", interrupted after " + deadlockProgress(c, r)
	}
	return sim.Graph(c, r, title)
}

// deadlockProgress says how far a run was when it was interrupted, if it was.
func deadlockProgress(c *sim.Transactions, r *sim.Ledger) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Committed), words.Plural(c.Number, "transaction"))
}

func (f *deadlockFlags) run(cmd *cobra.Command, name string) error {
	if f.philosophers {
		if err := terminal.RefuseFlags(cmd, "sites processes locks take hot think", "--FLAG does not apply to --philosophers: leave one of them out"); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("take") && f.config.Many > f.locks {
		return fmt.Errorf("--take %d: must be at most %d, the number of locks: give fewer, or more --locks", f.config.Many, f.locks)
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
	return terminal.RunAndReport(cmd.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(cmd)
		defer prog.End()
		c.Watch = watchRun(prog, "transactions")
		if r, err = sim.RunTransactions(c); err != nil {
			return terminal.Outcome{}, err
		}
		rec.interrupted(deadlockProgress(&c, r))
		return terminal.Outcome{JSON: r, Text: func(p *terminal.Printer) { printDeadlockRun(p, c, r) }, Stopped: deadlockProgress(&c, r), Wrong: violationFindings(r.Found)}, nil
	})
}

// methodList lists the methods for the help: the sound ones by name, the others with
// their fault, the sound alternative, and a command that shows the fault.
func methodList() string {
	var names []string
	var apart strings.Builder
	for _, m := range deadlock.Methods() {
		if fault := methodFault(m); fault == "" {
			names = append(names, m.Name)
		} else {
			fmt.Fprintf(&apart, "  ! %s\n      %s\n      see: %s\n", m.Name, strings.Join(words.Wrap(fault, terminal.ScreenWidth-8), "\n      "), m.Shown)
		}
	}
	return strings.Join(words.Wrap("Methods: "+strings.Join(names, ", ")+"; and these, which can starve a transaction:", terminal.ScreenWidth), "\n") + "\n" + apart.String()
}

// methodFault says what is wrong with a method, or "" if it is sound.
func methodFault(m deadlock.Method) string {
	switch {
	case m.Wrong != "":
		return "WRONG: " + m.Wrong + " (sound: " + m.Fixed + ")"
	case m.Weaker != "":
		return "WEAKER: " + m.Weaker + " (sound: " + m.Fixed + ")"
	}
	return ""
}

// printDeadlockRun prints the result of a run.
func printDeadlockRun(p *terminal.Printer, c sim.Transactions, r *sim.Ledger) {
	mode := c.Mode
	if mode != "" {
		mode = ", mode " + mode
	}
	p.Line("%s%s", c.Method.Title, mode)
	p.Line("%s of %s over %s at %s, seed %d",
		words.Plural(c.Number, "transaction"), words.Plural(len(c.Layout.Home), "process"),
		words.Plural(len(c.Layout.At), "lock"), words.Plural(c.Layout.Sites, "site"), c.Seed)
	if fault := methodFault(c.Method); fault != "" {
		p.Text(0, fault)
		p.Line("see: %s", c.Method.Shown)
	}
	p.Gap()
	row := func(name, value, note string) { p.Line("%-26s%10s  %s", name, value, note) }
	row("committed", words.Grouped(r.Committed), "")
	row("aborted", words.Grouped(r.Aborted), "attempts, retried until they commit")
	row("unnecessary aborts", words.Grouped(r.Unnecessary), "of transactions not in a deadlock")
	row("deadlocks", words.Grouped(r.Deadlocks), "that arose")
	if c.Method.Family == deadlock.Detection {
		row("found", words.Grouped(r.Resolved), "")
		row("detection delay", words.Number(r.DetectionDelay), "T on average, "+words.Number(float64(r.LongestDelay)/scenario.T)+" at most")
		row("false positives", words.Grouped(r.FalsePositives), "reported, but never existed")
		row("phantoms", words.Grouped(r.Phantoms), "reported, but just broken by an abort")
	}
	row("messages per transaction", words.Number(r.PerTransaction), "")
	row("throughput", words.Number(r.Throughput), "commits per T")
	row("most aborts", words.Grouped(r.MostAborts), "of one transaction")
	row("longest life", words.Number(float64(r.LongestLife)/scenario.T), "T from first request to commit")
	if len(c.Crashes) > 0 {
		row("lost", words.Grouped(r.Lost), "with crashed sites")
		row("aborted by crashes", words.Grouped(r.Buried), "held or requested locks there")
	}
	row("stuck", words.Grouped(r.Stuck), "")
	if r.False != nil {
		p.Gap()
		p.Line("A false cycle, at %s: %s", scenario.FormatTime(r.False.At), deadlock.Round(r.False.Cycle))
		p.Line("The actual graph:")
		p.Graph(r.False.Graph)
	}
	if r.Stuck > 0 {
		p.Gap()
		p.Line("Stuck forever. The wait-for graph, with locks:")
		p.Graph(r.Graph)
	}
}
