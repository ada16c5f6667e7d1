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
	"github.com/stile-lock/stile/lab/sim"
)

// noArgs refuses arguments to a command that takes only flags.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, but was given %q: see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
}

// oneArg requires one argument. needs describes it and says where to find one, kind
// is its name, and instead says what to do with several.
func oneArg(needs, kind, instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s needs %s", c.CommandPath(), needs)
		case 1:
			return nil
		}
		return fmt.Errorf("%s takes one %s, but was also given %q: %s", c.CommandPath(), kind, args[1], instead)
	}
}

// oneAlgorithm requires the name of one algorithm.
func oneAlgorithm(c *cobra.Command, args []string) error {
	return oneArg("the name of an algorithm: 'stile algorithms' lists them", "algorithm", oneByOne)(c, args)
}

// oneByOne says what to do with several algorithms where one is required.
const oneByOne = "run them one at a time, or see 'stile compare --help'"

// refuseFlags refuses flags that do not apply. In text, --FLAG stands for the flag.
func refuseFlags(c *cobra.Command, flags, text string) error {
	for flag := range strings.FieldsSeq(flags) {
		if c.Flags().Changed(flag) {
			return unfitFlag(flag, text)
		}
	}
	return nil
}

// onlyFlags refuses all flags except these, in the same way.
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

// jsonFlag defines --json.
func jsonFlag(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "json", false, "JSON output, for programs")
}

// maxPatience is the highest value that the checker can count to.
const maxPatience = 250

// optionFlags defines the options that some algorithms have.
func optionFlags(fs *pflag.FlagSet, o *algorithm.Options, nodes int) {
	topologyFlag(fs, &o.Topology)
	const sets = "sets such as 1:1,2;2:1,2,3;3:1,3"
	fs.Var(textFlag(&o.Sets, sets, nil), "sets", "explicit `SETS`: quorums, or request sets for sanders, such as \"1:1,2;2:1,2,3;3:1,3\"")
	fs.Var(textFlag(&o.Inform, sets, nil), "inform", "inform `SETS` for sanders, in the same format")
	fs.BoolVar(&o.Experiment, "experiment", false, "allow sets for sanders that break its rules")
	fs.Var(countFlag(&o.K, 2, maxEntries), "k", "number of values of a variable, for dijkstra (default as many as it needs)")
	fs.Var(countFlag(&o.Coordinator, 1, nodes), "coordinator", "coordinating process, for central (default 1)")
	fs.Var(countFlag(&o.Patience, 1, maxPatience), "patience", "for a lock such as central+bully: maximum wait, in latencies, before a process suspects that its request was lost (default unlimited; with lost messages, the smallest useful number)")
	hideDefaults(fs, "k", "coordinator", "patience")
}

// topologyFlag defines --topology.
func topologyFlag(fs *pflag.FlagSet, topology *string) {
	fs.Var(textFlag(topology, "a shape such as grid, star, tree:2 or 1-2,1-3", completeTopology), "topology", "`SHAPE` of the group. Quorums: grid, plane or majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: ricart-agrawala, maekawa or central; chang-roberts: up or down")
}

// hideDefaults omits the defaults of flags from the help.
func hideDefaults(fs *pflag.FlagSet, flags ...string) {
	for _, flag := range flags {
		fs.Lookup(flag).DefValue = ""
	}
}

// parseProcesses parses a flag's list of processes, without repetition. It returns
// nil for an empty list.
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
			return nil, fmt.Errorf("--%s %q: processes are numbered 1 to %d", flag, list, nodes)
		}
		if !seen[id] {
			seen[id] = true
			once = append(once, id)
		}
	}
	return once, nil
}

// networkNames lists the kinds of networks.
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
		return fmt.Errorf("the run is too long to simulate: give shorter times or fewer --entries")
	}
	return nil
}
