package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// electionFlags are the flags of 'stile sim' that an election knows, and the
// flags that only an election knows.
const (
	electionFlags = "nodes latency network topology dead starters seed json svg trace"
	electionOnly  = "dead starters"
)

// fits reports whether name is an election, and refuses flags that are not for
// it.
func (f *simFlags) fits(cmd *cobra.Command, name string) (election bool, err error) {
	spec, err := catalog.Make(name, core.Options{})
	if err != nil {
		return false, err
	}
	election = spec.Family == core.Election
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch {
		case err != nil:
		case election && !slices.Contains(strings.Fields(electionFlags), flag.Name):
			err = fmt.Errorf("--%s does not fit %s, which is an election: it takes --nodes, --dead, --starters, --latency, --seed, --json, --svg and --trace", flag.Name, name)
		case !election && slices.Contains(strings.Fields(electionOnly), flag.Name):
			err = fmt.Errorf("--%s does not fit %s, which is no election: leave it out, or simulate bully, ring-election or chang-roberts", flag.Name, name)
		}
	})
	return election, err
}

// election turns the flags into an election.
func (f *simFlags) election(name string) (sim.Election, error) {
	c := sim.Election{Nodes: f.config.Nodes, Latency: f.config.Latency, Seed: f.config.Seed}
	var err error
	if c.Spec, err = catalog.Make(name, f.options); err != nil {
		return c, err
	}
	if c.Network, err = core.ParseNetwork(f.network); err != nil {
		return c, fmt.Errorf("--network: %w", err)
	}
	if c.Network > c.Spec.Network {
		return c, fmt.Errorf("--network %s: an election needs a network that loses and doubles nothing: fifo or unordered", f.network)
	}
	if c.Dead, err = parseProcesses("dead", f.dead, c.Nodes); err != nil {
		return c, err
	}
	if len(c.Dead) == c.Nodes {
		return c, fmt.Errorf("--dead %q: everybody is dead; leave somebody alive to be elected", f.dead)
	}
	if c.Starters, err = parseProcesses("starters", f.starters, c.Nodes); err != nil {
		return c, err
	}
	for _, p := range c.Starters {
		if slices.Contains(c.Dead, p) {
			return c, fmt.Errorf("--starters %q: %v is dead; let another process start", f.starters, p)
		}
	}
	for p := core.ID(0); c.Starters == nil; p++ {
		if !slices.Contains(c.Dead, p) {
			c.Starters = []core.ID{p}
		}
	}
	return c, nil
}

func (f *simFlags) elect(name string, stdout io.Writer) error {
	c, err := f.election(name)
	if err != nil {
		return err
	}
	return f.record(stdout, c.Nodes, c.Spec, func(observe func(trace.Event)) (simulated, error) {
		c.Observe = observe
		o, err := sim.RunElection(c)
		if err != nil {
			return simulated{}, err
		}
		return simulated{o, o.Found, func() error { return printElection(stdout, c, o) }}, nil
	})
}

// printElection shows an election to people.
func printElection(w io.Writer, c sim.Election, o *sim.Outcome) error {
	p := &page{w: w}
	p.line("%s: %s, seed %d", c.Spec.Title, plural(c.Nodes, "process"), c.Seed)
	p.line("%s%s", right("dead", 11), processList(c.Dead))
	p.line("%s%s", right("starts", 11), processList(c.Starters))
	p.line("")
	leader := "none: not everybody alive follows the highest"
	if o.Agreed {
		leader = fmt.Sprintf("%v, and everybody alive knows", core.ID(o.Leader-1))
	}
	p.line("%s%s", right("leader", 11), leader)
	p.line("%s%s T, until the last one knew", right("time", 11), number(o.Time))
	p.line("%s%s", right("messages", 11), grouped(int64(o.Messages)))
	for _, kind := range c.Spec.Kinds {
		p.line("%s%s %s", right("", 11), right(kind, 12), grouped(int64(o.ByKind[kind])))
	}
	name := "theory"
	for _, line := range wrap(c.Spec.Theory.Messages.Text, 69) {
		p.line("%s%s", right(name, 11), line)
		name = ""
	}
	return p.err
}

// processList names processes, and only the first of many.
func processList(ids []core.ID) string {
	if len(ids) == 0 {
		return "nobody"
	}
	const most = 12
	var words []string
	for _, id := range ids[:min(len(ids), most)] {
		words = append(words, id.String())
	}
	if more := len(ids) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, " ")
}
