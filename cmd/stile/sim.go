package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// simFlags is what 'stile sim' can be told.
type simFlags struct {
	config     sim.Config
	options    core.Options
	requesters string
	network    string
	holder     int
	dead       string
	starters   string
	section    []string
	sections   []scenario.Section
	json       bool
	svg, trace string
}

func newSim(stdout io.Writer) *cobra.Command {
	f := &simFlags{holder: 1, network: "fifo"}
	f.config = sim.Config{
		Nodes: 5, Entries: 1000, Seed: 1, Local: 1, Burst: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}
	c := &cobra.Command{
		Use:   "sim ALGORITHM [flags]",
		Short: "Simulate an algorithm and measure it, beside what theory says",
		Long: `Simulates processes that ask, enter and leave until all requests are served,
and prints what was measured beside what theory says. The same seed gives the
same run, to the byte. Exit code 1 means that a property was broken.

Times are in T, the usual latency of a message: a number, exp:MEAN or
uniform:LO,HI. Processes are numbered from 1. 'stile algorithms' lists the
algorithms.

With --section there are several critical sections side by side, each an
instance of the algorithm among those who use it, with --entries of its own.

An election (bully, ring-election, chang-roberts) is run once: in a group that
the highest process leads, some are dead, and others notice it.`,
		Example: `  stile sim ricart-agrawala --nodes 10
  stile sim maekawa --nodes 13 --topology plane --think exp:100
  stile sim raymond --nodes 5 --topology 1-2,1-3,3-4,3-5 --entries 4 --svg a.svg
  stile sim ricart-agrawala --section seats:1,2,4 --section films:2,3,5
  stile sim bakery-naive --latency exp:1 --entries 20 --trace failure.txt
  stile sim bully --nodes 8 --dead 8 --starters 5 --svg bully.svg`,
		Args: oneAlgorithm,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], stdout) },
	}
	f.define(c)
	return c
}

func oneAlgorithm(c *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return fmt.Errorf("%s needs the name of an algorithm: 'stile algorithms' lists them", c.CommandPath())
	case 1:
		return nil
	}
	return fmt.Errorf("%s takes one algorithm, but got %q too: run them one by one, or see 'stile compare --help'", c.CommandPath(), args[1])
}

func (f *simFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(count{&f.config.Nodes, 1, maxNodes}, "nodes", "n", "how many processes")
	fs.Var(count{&f.config.Entries, 1, maxEntries}, "entries", "how many requests in all; the run ends when each is served")
	fs.Var(duration{&f.config.Think}, "think", "from an exit to the next request of a process; 0 is saturation")
	fs.Var(duration{&f.config.Hold}, "hold", "from entry to exit")
	fs.Var(duration{&f.config.Latency}, "latency", "of a message")
	fs.StringArrayVar(&f.section, "section", nil, "a critical section of its own, and who uses it: `NAME:LIST` such as seats:1,2,4; give several")
	fs.StringVar(&f.requesters, "requesters", "", "who asks: a `LIST` such as 1,2,5-7 (default everybody)")
	fs.Var(count{&f.config.Local, 1, maxEntries}, "local", "the first requester asks so many times as often")
	fs.Var(count{&f.config.Burst, 1, maxEntries}, "burst", "a process asks so many times in a row, then thinks longer")
	fs.Var(count{&f.holder, 1, maxNodes}, "holder", "who has the token at the start, where there is one")
	fs.StringVar(&f.network, "network", f.network, "what `KIND` of network: fifo, unordered, duplicating or lossy")
	defineOptions(fs, &f.options, maxNodes)
	fs.StringVar(&f.dead, "dead", "", "elections: who is dead, a `LIST` such as 7,8 (default nobody)")
	fs.StringVar(&f.starters, "starters", "", "elections: who notices and starts, a `LIST` (default the lowest alive)")
	fs.Var(seed{&f.config.Seed}, "seed", "which of many runs")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs")
	fs.StringVar(&f.svg, "svg", "", "write a space-time diagram to this `FILE`")
	fs.StringVar(&f.trace, "trace", "", "write what happened to this `FILE`: .json is JSON, .log or .shiviz a log for ShiViz, .txt a diagram as text")
}

// defineOptions defines the flags for what some algorithms can be told.
func defineOptions(fs *pflag.FlagSet, o *core.Options, nodes int) {
	fs.StringVar(&o.Topology, "topology", "", "the `SHAPE` of the group. Quorums: grid, plane or majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: ricart-agrawala, maekawa or central; chang-roberts: up or down")
	fs.StringVar(&o.Sets, "sets", "", "the `SETS` by hand, quorums or request sets of sanders: \"1:1,2;2:1,2,3;3:1,3\"")
	fs.StringVar(&o.Inform, "inform", "", "the inform `SETS` of sanders, likewise")
	fs.BoolVar(&o.Experiment, "experiment", false, "run sets of sanders that break its rules, too")
	fs.Var(count{&o.K, 1, maxEntries}, "k", "how many values a variable of dijkstra has (default is enough of them)")
	fs.Var(count{&o.Coordinator, 1, nodes}, "coordinator", "the process that coordinates, for central (default 1)")
	for _, unset := range []string{"k", "coordinator"} {
		fs.Lookup(unset).DefValue = ""
	}
}

// resolve turns the flags into a run.
func (f *simFlags) resolve(name string) (sim.Config, error) {
	c := f.config
	var err error
	if c.Spec, err = catalog.Make(name, f.options); err != nil {
		return c, err
	}
	if err := c.Spec.Accepts(c.Nodes); err != nil && f.section == nil {
		return c, err
	}
	if f.sections, err = parseSections(f.section, c.Nodes); err != nil {
		return c, err
	}
	if f.options.Coordinator > c.Nodes {
		return c, fmt.Errorf("--coordinator %d: there are processes 1 to %d", f.options.Coordinator, c.Nodes)
	}
	if c.Network, err = core.ParseNetwork(f.network); err != nil {
		return c, fmt.Errorf("--network: %w", err)
	}
	if f.holder > c.Nodes {
		return c, fmt.Errorf("--holder %d: there are processes 1 to %d", f.holder, c.Nodes)
	}
	c.Holder = core.ID(f.holder - 1)
	if c.Requesters, err = parseRequesters(f.requesters, c.Nodes); err != nil {
		return c, err
	}
	return c, checkSpan(c)
}

// parseRequesters reads who asks, each once. Nil means everybody.
func parseRequesters(list string, nodes int) ([]core.ID, error) {
	return parseProcesses("requesters", list, nodes)
}

// parseProcesses reads what a flag lists, each process once.
func parseProcesses(flag, list string, nodes int) ([]core.ID, error) {
	if list == "" {
		return nil, nil
	}
	ids, err := catalog.ParseList(list)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	seen := make([]bool, nodes)
	var once []core.ID
	for _, id := range ids {
		if int(id) >= nodes {
			return nil, fmt.Errorf("--%s %q: there are processes 1 to %d", flag, list, nodes)
		}
		if !seen[id] {
			seen[id] = true
			once = append(once, id)
		}
	}
	return once, nil
}

// checkSpan refuses a run whose clock could overflow.
func checkSpan(c sim.Config) error {
	const limit = 1 << 61
	perEntry := float64(c.Think.Max())*float64(c.Burst) + float64(c.Hold.Max()) + 4*float64(c.Nodes)*float64(c.Latency.Max())
	if perEntry*float64(c.Entries) > limit {
		return fmt.Errorf("such a run is too long to be simulated: give shorter times or fewer --entries")
	}
	return nil
}

func (f *simFlags) run(cmd *cobra.Command, name string, stdout io.Writer) error {
	election, err := f.fits(cmd, name)
	if err != nil {
		return err
	}
	if election {
		return f.elect(name, stdout)
	}
	c, err := f.resolve(name)
	if err != nil {
		return err
	}
	if f.sections != nil {
		return f.runSections(c, stdout)
	}
	return f.record(stdout, c.Nodes, c.Spec, func(observe func(trace.Event)) (simulated, error) {
		c.Observe = observe
		r, err := sim.Run(c)
		if err != nil {
			return simulated{}, err
		}
		return simulated{r, r.Found, func() error { return printSim(stdout, c, r) }}, nil
	})
}

// simulated is what came of a run: for programs, and for people.
type simulated struct {
	result any
	found  []sim.Violation
	print  func() error
}

// record runs something, observed if there are pictures to make of it, and
// writes what came of it.
func (f *simFlags) record(stdout io.Writer, nodes int, spec core.Spec, run func(observe func(trace.Event)) (simulated, error)) error {
	rec := newRecorder(nodes, spec.Title, spec.Name, spec.Kinds)
	outputs, err := rec.outputs(f.svg, f.trace)
	if err != nil {
		return err
	}
	var observe func(trace.Event)
	if len(outputs) > 0 {
		observe = rec.observe
	}
	done, err := run(observe)
	if err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	if f.json {
		err = writeJSON(stdout, done.result)
	} else {
		err = done.print()
	}
	if err != nil {
		return err
	}
	return violations(done.found)
}

// tellAtMost is how many violations of a run are told.
const tellAtMost = 5

// violations is the error of a run that broke properties, or nil.
func violations(all []sim.Violation) error {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, v := range all[:min(len(all), tellAtMost)] {
		lines = append(lines, fmt.Sprintf("violation of %s at %s: %v", v.Property, scenario.FormatTime(v.At), v))
	}
	if more := len(all) - tellAtMost; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", plural(more, "more violation")))
	}
	return found{lines}
}
