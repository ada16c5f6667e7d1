package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/sim"
)

// oneAlgorithm requires the name of one algorithm.
func oneAlgorithm(c *cobra.Command, args []string) error {
	return terminal.OneArg("the name of an algorithm: 'stile-lab algorithms' lists them", "algorithm", oneByOne)(c, args)
}

// oneByOne says what to do with several algorithms where one is required.
const oneByOne = "run them one at a time, or see 'stile-lab compare --help'"

// maxPatience is the highest value that the checker can count to.
const maxPatience = 250

// optionFlags defines the options that some algorithms have.
func optionFlags(fs *pflag.FlagSet, o *algorithm.Options, nodes int) {
	topologyFlag(fs, &o.Topology)
	const sets = "sets such as 1:1,2;2:1,2,3;3:1,3"
	fs.Var(terminal.TextFlag(&o.Sets, sets, nil), "sets", "explicit `SETS`: quorums, or request sets for sanders, such as \"1:1,2;2:1,2,3;3:1,3\"")
	fs.Var(terminal.TextFlag(&o.Inform, sets, nil), "inform", "inform `SETS` for sanders, in the same format")
	fs.BoolVar(&o.Experiment, "experiment", false, "allow sets for sanders that break its rules")
	fs.Var(terminal.CountFlag(&o.K, 2, maxEntries), "k", "number of values of a variable, for dijkstra (default as many as it needs)")
	fs.Var(terminal.CountFlag(&o.Coordinator, 1, nodes), "coordinator", "coordinating process, for central (default 1)")
	fs.Var(terminal.CountFlag(&o.Patience, 1, maxPatience), "patience", "for a lock such as central+bully: maximum wait, in latencies, before a process suspects that its request was lost (default unlimited; with lost messages, the smallest useful number)")
	terminal.HideDefaults(fs, "k", "coordinator", "patience")
}

// topologyFlag defines --topology.
func topologyFlag(fs *pflag.FlagSet, topology *string) {
	fs.Var(terminal.TextFlag(topology, "a shape such as grid, star, tree:2 or 1-2,1-3", completeTopology), "topology", "`SHAPE` of the group. Quorums: grid, plane or majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: ricart-agrawala, maekawa or central; chang-roberts: up or down")
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
