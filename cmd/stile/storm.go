package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/live/storm"
	"github.com/stile-lock/stile/internal/live/storm/sweep"
	"github.com/stile-lock/stile/internal/words"
)

// Bounds of what can be asked for.
const (
	defaultSeeds  = 200 // seeds
	maxSeeds      = 100_000_000
	maxStormNodes = 25
)

// all and none stand for names.
const (
	allNames = "all"
	noNames  = "none"
)

// stormFlags is what 'stile storm' can be told.
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

	change func(c *storm.Config) // only tests set it: it breaks something
}

// newStorm returns the command.
func newStorm() *cobra.Command { return newStormWith(nil) }

func newStormWith(change func(c *storm.Config)) *cobra.Command {
	f := &stormFlags{change: change}
	c := &cobra.Command{
		Use:   "storm [flags]",
		Short: "Storm live members with every fault there is",
		Long: `Runs whole processes - members with named locks, leases and fences, and the
voters who agree on views by Raft, with their disks - in simulated time, under
faults that are drawn from a seed: crashes, pauses, partitions, lost, late and
doubled packets, clocks that drift, disks that fail or are lost, joins, leaves,
evictions. An oracle that sees true time judges every step. Then all heals, and
everybody must enter soon.

A seed is one storm, the same on every machine: it says which algorithms, how
many members and voters, which faults and when. --algorithm, --nodes, --voters
and --faults narrow what it chooses from. Without flags the storms are those of
seeds 1 to 200; with --seed alone it is that one, and more is told of it.

With --bank every lock protects accounts, between which money is moved: none may
be lost or made up. The bank refuses tokens older than the newest it has seen;
with --no-fence it does not, and whoever stands still for longer than its lease
and then writes what it read before ruins it. That is found, and told as such.

The first seed whose storm breaks an invariant is shrunk to a short story, and
--svg and --trace show that; otherwise they show a --seed that is alone. The
faults are: ` + wrapNames(storm.FaultNames(), 11) + `.
What they are, what is checked, and how to read a failure: docs/storm.md.`,
		Example: `  stile storm --seeds 20
  stile storm --seed 7 --strikes --svg storm.svg
  stile storm --algorithm raymond,maekawa --nodes 3,5 --faults crash,pause
  stile storm --bank --no-fence --faults pause --svg lost.svg`,
		Args: noArgs,
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

// wrapNames lists names over lines, the first of which has begun.
func wrapNames(names []string, begun int) string {
	lines := wrap(strings.Repeat("x", begun)+" "+strings.Join(names, ", "), screenWidth)
	return strings.TrimLeft(strings.Join(lines, "\n"), "x ")
}

func (f *stormFlags) define(c *cobra.Command) {
	f.seed, f.seeds, f.algorithms, f.faults, f.nodes = 1, defaultSeeds, allNames, allNames, []int{1, 2, 3, 4, 5, 7, 9}
	f.voters = []int{1, 3, 5}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(seedFlag(&f.seed), "seed", "the first seed; alone, the only one")
	fs.Var(countFlag(&f.seeds, 1, maxSeeds), "seeds", fmt.Sprintf("how many seeds (default %d, or 1 with --seed)", defaultSeeds))
	fs.Var(choicesFlag(&f.algorithms, stormLive(), notLive, allNames), "algorithm", "`NAMES` of live algorithms: all, or such as raymond,central")
	fs.Var(countsFlag(&f.nodes, maxStormNodes), "nodes", "numbers of members to choose from")
	fs.Var(countsFlag(&f.voters, 5), "voters", "numbers of voters of the view log to choose from: 1, 3, 5")
	fs.Var(choicesFlag(&f.faults, storm.FaultNames(), nil, allNames, noNames), "faults", "`KINDS` of faults to choose from: all, none, or such as crash,pause")
	fs.Var(countFlag(&f.workers, 1, 1024), "workers", "how many cores to use (default all)")
	fs.BoolVar(&f.strikes, "strikes", false, "of one seed: list the faults, what strikes whom and when")
	fs.BoolVar(&f.bank, "bank", false, "whoever is inside moves money between accounts; the totals must be exact")
	fs.BoolVar(&f.noFence, "no-fence", false, "of the --bank: it does not look at tokens, and loses money")
	jsonFlag(fs, &f.json)
	fs.Var(outputFileFlag(&f.output.svg, ".svg"), "svg", "write a space-time diagram to this `FILE`")
	f.output.defineTrace(fs)
	f.output.defineWindow(fs, "ms")
	hideDefaults(fs, "seeds", "workers")
}

// stormLive names the algorithms that can be stormed.
func stormLive() []string {
	var names []string
	for _, s := range catalog.Live() {
		names = append(names, s.Name)
	}
	return names
}

// notLive says why an algorithm cannot be stormed; nothing if there is none that
// is called so.
func notLive(name string) string {
	spec, err := catalog.Make(name, algorithm.Options{})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s does not run live: %s; 'stile algorithms' says which do", name, catalog.NotLive(spec))
}

// config turns flags into a sweep.
func (f *stormFlags) config() (sweep.Config, error) {
	c := sweep.Config{First: f.seed, Seeds: f.seeds, Change: f.change}
	if f.seed+uint64(f.seeds-1) < f.seed {
		return c, fmt.Errorf("--seed %d --seeds %d: there are not so many from there on: give fewer --seeds", f.seed, f.seeds)
	}
	if f.noFence && !f.bank {
		return c, errors.New("--no-fence takes away the fence of a bank, and there is none: give --bank too, or leave it out")
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
			return c, fmt.Errorf("--voters %d: want 1, 3 or 5: an even number stands no more losses than one less", n)
		}
	}
	if f.faults == allNames {
		c.Faults = storm.AllFaults | storm.Beyond
		return c, nil
	}
	c.Faults, err = storm.ParseFaults(f.faults)
	return c, err
}

// again is the command that makes the storm of a seed again.
func (f *stormFlags) again(cmd *cobra.Command, seed uint64) string {
	line := fmt.Sprintf("stile storm --seed %d", seed)
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
		return fmt.Errorf("--strikes lists the faults of one seed, and there are %s: give --seed alone, or leave it out", words.Grouped(f.seeds))
	}
	found := &stormResult{Config: c, alone: f.seeds == 1}
	files, err := found.files(&f.output)
	if err != nil {
		return err
	}
	return runAndReport(cmd.OutOrStdout(), f.json, files, func() (outcome, error) {
		live := startProgress(cmd)
		defer live.end()
		found.Parallel = jobs.Parallel{Workers: f.workers, Progress: live.bar, Context: live}
		if found.Sum, err = sweep.Run(found.Config); err != nil {
			return outcome{}, err
		}
		if found.Failures > 0 {
			found.again = f.again(cmd, found.Sum.First[0].Seed)
			if err := found.shrink(live); err != nil {
				return outcome{}, err
			}
		}
		if err := found.record(); err != nil {
			return outcome{}, err
		}
		return outcome{json: found.json(f.strikes), text: func(p *printer) { f.print(p, found) }, stopped: found.stopped(), wrong: found.wrong()}, nil
	})
}
