package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/storm/sweep"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// Bounds and defaults of storms.
const (
	defaultSeeds  = 200 // seeds
	maxSeeds      = 100_000_000
	maxStormNodes = 25
)

// Words that stand for all names and for none.
const (
	allNames = "all"
	noNames  = "none"
)

// stormFlags holds the flags of 'stile-lab storm'.
type stormFlags struct {
	seed       uint64
	seeds      int
	algorithms string
	nodes      []int
	voters     []int
	faults     string
	workers    int
	strikes    bool
	bank       bool
	noFence    bool
	json       bool
	output     traceOutput

	change func(c *storm.Config) // set only by tests, to break something
}

func newStorm() *cobra.Command { return newStormWith(nil) }

func newStormWith(change func(c *storm.Config)) *cobra.Command {
	f := &stormFlags{change: change}
	c := &cobra.Command{
		Use:   "storm [flags]",
		Short: "Run live members under every kind of fault",
		Long: `Runs whole processes in simulated time - members with named locks, leases and
fencing tokens, and voters with their logs and disks - under faults drawn from a
seed: crashes, pauses, partitions, lost, late and duplicated packets, drifting
clocks, failing and lost disks, joins, leaves and evictions. An oracle that sees
true time judges every step. Then all faults heal, and every request must be
granted soon.

A seed is one storm, the same on every machine: it determines the algorithms,
the numbers of members and voters, the faults, and when they happen. The flags
--algorithm, --nodes, --voters and --faults narrow what it chooses from. By
default seeds 1 to 200 are run; with --seed only that one, in more detail.

With --bank every lock protects accounts between which money is moved, and none
may be lost or created. The bank refuses tokens older than the newest it has
seen. With --no-fence it accepts them, and a process that pauses for longer than
its lease and then writes corrupts the accounts, which the storm reports.

The first storm that violates an invariant is shrunk to a short counterexample,
which --svg and --trace show; otherwise they show the storm of a single --seed.
The faults are: ` + wrapNames(storm.FaultNames(), 15) + `.
docs/storm.md explains the faults, the checks, and how to read a failure.`,
		Example: `  stile-lab storm --seeds 20
  stile-lab storm --seed 7 --strikes --svg storm.svg
  stile-lab storm --algorithm raymond,maekawa --nodes 3,5 --faults crash,pause
  stile-lab storm --bank --no-fence --faults pause --svg lost.svg`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("seeds") && c.Flags().Changed("seed") {
				f.seeds = 1
			}
			return f.run(c)
		},
		DisableFlagsInUseLine: true,
	}
	f.define(c)
	return c
}

// wrapNames lists names on lines, the first of which already has some columns.
func wrapNames(names []string, begun int) string {
	lines := words.Wrap(strings.Repeat("x", begun)+" "+strings.Join(names, ", "), terminal.ScreenWidth-1)
	return strings.TrimLeft(strings.Join(lines, "\n"), "x ")
}

func (f *stormFlags) define(c *cobra.Command) {
	f.seed, f.seeds, f.algorithms, f.faults, f.nodes = 1, defaultSeeds, allNames, allNames, []int{1, 2, 3, 4, 5, 7, 9}
	f.voters = []int{1, 3, 5}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(seedFlag(&f.seed), "seed", "first seed; without --seeds, the only one")
	fs.Var(terminal.CountFlag(&f.seeds, 1, maxSeeds), "seeds", fmt.Sprintf("number of seeds (default %d, or 1 with --seed)", defaultSeeds))
	fs.Var(choicesFlag(&f.algorithms, liveNames(), notLive, allNames), "algorithm", "`NAMES` of live algorithms, such as raymond,central, or all")
	fs.Var(countsFlag(&f.nodes, maxStormNodes), "nodes", "numbers of members to choose from")
	fs.Var(countsFlag(&f.voters, 5), "voters", "numbers of voters to choose from: 1, 3, 5")
	fs.Var(choicesFlag(&f.faults, storm.FaultNames(), nil, allNames, noNames), "faults", "`KINDS` of faults to choose from, such as crash,pause, or all or none")
	fs.Var(terminal.CountFlag(&f.workers, 1, 1024), "workers", "number of cores to use (default all)")
	fs.BoolVar(&f.strikes, "strikes", false, "for one seed: list the faults, with time and target")
	fs.BoolVar(&f.bank, "bank", false, "holders move money between accounts; the totals must be exact")
	fs.BoolVar(&f.noFence, "no-fence", false, "for --bank: the bank ignores tokens, and loses money")
	terminal.JSONFlag(fs, &f.json)
	fs.Var(terminal.OutputFileFlag(&f.output.svg, ".svg"), "svg", "SVG `FILE` for a space-time diagram")
	f.output.defineTrace(fs)
	f.output.defineWindow(fs, "ms")
	terminal.HideDefaults(fs, "seeds", "workers")
}

// notLive says why an algorithm cannot be stormed, or returns "" if it is unknown.
func notLive(name string) string {
	spec, err := catalog.Make(name, algorithm.Options{})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s does not run live: %s; 'stile-lab algorithms' shows which do", name, catalog.NotLive(spec))
}

// config turns flags into a sweep.
func (f *stormFlags) config() (sweep.Config, error) {
	c := sweep.Config{First: f.seed, Seeds: f.seeds, Change: f.change}
	if f.seed+uint64(f.seeds-1) < f.seed {
		return c, fmt.Errorf("--seed %d --seeds %d: seeds overflow: give fewer --seeds", f.seed, f.seeds)
	}
	if f.noFence && !f.bank {
		return c, errors.New("--no-fence needs --bank: give both, or leave it out")
	}
	c.Bank, c.Unfenced = f.bank, f.noFence
	var names []string
	if f.algorithms != allNames {
		names = strings.Split(f.algorithms, ",")
	}
	var err error
	if c.Algorithms, err = sweep.Live(names...); err != nil {
		return c, err
	}
	c.Nodes, c.Voters = f.nodes, f.voters
	for _, n := range f.voters {
		if n%2 == 0 {
			return c, fmt.Errorf("--voters %d: must be 1, 3 or 5, because an even number tolerates no more failures than one less", n)
		}
	}
	if f.faults == allNames {
		c.Faults = storm.AllFaults | storm.Beyond
		return c, nil
	}
	c.Faults, err = storm.ParseFaults(f.faults)
	return c, err
}

// again returns the command that repeats the storm of a seed.
func (f *stormFlags) again(cmd *cobra.Command, seed uint64) string {
	line := fmt.Sprintf("stile-lab storm --seed %d", seed)
	for _, flag := range []string{"algorithm", "nodes", "voters", "faults"} {
		if given := cmd.Flags().Lookup(flag); given.Changed {
			line += fmt.Sprintf(" --%s %s", flag, given.Value)
		}
	}
	if f.bank {
		line += " --bank"
	}
	if f.noFence {
		line += " --no-fence"
	}
	return line
}

func (f *stormFlags) run(cmd *cobra.Command) error {
	c, err := f.config()
	if err != nil {
		return err
	}
	if f.strikes && f.seeds > 1 {
		return fmt.Errorf("--strikes lists the faults of one seed, but there are %s: give --seed without --seeds, or leave it out", words.Grouped(f.seeds))
	}
	found := &stormResult{Config: c, alone: f.seeds == 1}
	files, err := found.files(&f.output)
	if err != nil {
		return err
	}
	return terminal.RunAndReport(cmd.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(cmd)
		defer prog.End()
		found.Parallel = jobs.Parallel{Workers: f.workers, Progress: prog.Bar, Context: prog}
		if found.Sum, err = sweep.Run(found.Config); err != nil {
			return terminal.Outcome{}, err
		}
		if found.Failures > 0 {
			found.again = f.again(cmd, found.Sum.First[0].Seed)
			if err := found.shrink(prog); err != nil {
				return terminal.Outcome{}, err
			}
		}
		if err := found.record(); err != nil {
			return terminal.Outcome{}, err
		}
		return terminal.Outcome{JSON: found.json(f.strikes), Text: func(p *terminal.Printer) { f.print(p, found) }, Stopped: found.stopped(), Wrong: found.wrong()}, nil
	})
}
