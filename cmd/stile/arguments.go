package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/sim"
)

// noArgs refuses arguments of a command that takes flags only.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no argument, but got %q: see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
}

// oneArg wants one argument. needs says which, with where to find one; kind is
// what it is called, and instead what to do with several.
func oneArg(needs, kind, instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s needs %s", c.CommandPath(), needs)
		case 1:
			return nil
		}
		return fmt.Errorf("%s takes one %s, but got %q too: %s", c.CommandPath(), kind, args[1], instead)
	}
}

// oneAlgorithm wants the name of one algorithm.
func oneAlgorithm(c *cobra.Command, args []string) error {
	return oneArg("the name of an algorithm: 'stile algorithms' lists them", "algorithm", oneByOne)(c, args)
}

// oneByOne is what to do with several algorithms where one is wanted.
const oneByOne = "run them one by one, or see 'stile compare --help'"

// refuseFlags refuses flags that do not fit what else was asked for. The text says so
// of --FLAG.
func refuseFlags(c *cobra.Command, flags, text string) error {
	for flag := range strings.FieldsSeq(flags) {
		if c.Flags().Changed(flag) {
			return unfitFlag(flag, text)
		}
	}
	return nil
}

// onlyFlags refuses all flags but these, likewise.
func onlyFlags(c *cobra.Command, flags, text string) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(strings.Fields(flags), f.Name) {
			err = unfitFlag(f.Name, text)
		}
	})
	return err
}

func unfitFlag(flag, text string) error {
	return errors.New(strings.Replace(text, "--FLAG", "--"+flag, 1))
}

// jsonFlag defines the flag of commands that can answer to programs.
func jsonFlag(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "json", false, "print JSON, for programs")
}

// maxPatience is what the checker can count.
const maxPatience = 250

// optionFlags defines the flags for what some algorithms can be told.
func optionFlags(fs *pflag.FlagSet, o *algorithm.Options, nodes int) {
	topologyFlag(fs, &o.Topology)
	const sets = "sets such as 1:1,2;2:1,2,3;3:1,3"
	fs.Var(textFlag(&o.Sets, sets, nil), "sets", "the `SETS` by hand, quorums or request sets of sanders: \"1:1,2;2:1,2,3;3:1,3\"")
	fs.Var(textFlag(&o.Inform, sets, nil), "inform", "the inform `SETS` of sanders, likewise")
	fs.BoolVar(&o.Experiment, "experiment", false, "run sets of sanders that break its rules, too")
	fs.Var(countFlag(&o.K, 2, maxEntries), "k", "how many values a variable of dijkstra has (default is enough of them)")
	fs.Var(countFlag(&o.Coordinator, 1, nodes), "coordinator", "the process that coordinates, for central (default 1)")
	fs.Var(countFlag(&o.Patience, 1, maxPatience), "patience", "of a lock such as central+bully: after how many of the longest latencies a process that waits doubts that it is let in (default never; with lost messages as soon as makes sense)")
	hideDefaults(fs, "k", "coordinator", "patience")
}

// topologyFlag defines the flag for the shape of the group.
func topologyFlag(fs *pflag.FlagSet, topology *string) {
	fs.Var(textFlag(topology, "a shape such as grid, star, tree:2 or 1-2,1-3", completeTopology), "topology", "the `SHAPE` of the group. Quorums: grid, plane or majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: ricart-agrawala, maekawa or central; chang-roberts: up or down")
}

// hideDefaults leaves the defaults of flags out of the help.
func hideDefaults(fs *pflag.FlagSet, flags ...string) {
	for _, flag := range flags {
		fs.Lookup(flag).DefValue = ""
	}
}

// parseProcesses reads what a flag lists, each process once. Nil means that it lists
// nobody.
func parseProcesses(flag, list string, nodes int) ([]algorithm.ID, error) {
	if list == "" {
		return nil, nil
	}
	ids, err := catalog.ParseList(list)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w, from 1 to %d", flag, err, nodes)
	}
	seen := make([]bool, nodes)
	var once []algorithm.ID
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

// networkNames names the kinds of networks.
func networkNames() []string {
	var names []string
	for n := algorithm.FIFO; n <= algorithm.Lossy; n++ {
		names = append(names, n.String())
	}
	return names
}

// checkRunLength refuses a run whose clock could overflow.
func checkRunLength(c sim.Config) error {
	const limit = 1 << 61
	perEntry := float64(c.Think.Max())*float64(c.Burst) + float64(c.Hold.Max()) + 4*float64(c.Nodes)*float64(c.Latency.Max())
	if perEntry*float64(c.Entries) > limit {
		return fmt.Errorf("such a run is too long to be simulated: give shorter times or fewer --entries")
	}
	return nil
}
