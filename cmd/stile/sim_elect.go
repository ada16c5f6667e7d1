package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// fitsElection refuses flags that are not for an election, which has some of its
// own and knows few of the others.
func fitsElection(c *cobra.Command, name string) error {
	return Only(c, "nodes latency network topology dead starters seed json svg trace from to",
		"--FLAG does not fit "+name+", which is an election: it takes --nodes, --dead, --starters, --latency, --network, --seed, --json, --svg and --trace")
}

// election turns the flags into an election.
func (f *simFlags) election(spec algorithm.Spec) (play, error) {
	c := sim.Election{Spec: spec, Nodes: f.config.Nodes, Latency: f.config.Latency, Seed: f.config.Seed}
	var err error
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return nil, err
	}
	if c.Network > spec.Network {
		return nil, fmt.Errorf("--network %s: an election needs a network that loses and doubles nothing: fifo or unordered", f.network)
	}
	if c.Dead, err = askProcesses("dead", f.dead, c.Nodes); err != nil {
		return nil, err
	}
	if len(c.Dead) == c.Nodes {
		return nil, fmt.Errorf("--dead %q: everybody is dead; leave somebody alive to be elected", f.dead)
	}
	if c.Starters, err = askProcesses("starters", f.starters, c.Nodes); err != nil {
		return nil, err
	}
	for _, p := range c.Starters {
		if slices.Contains(c.Dead, p) {
			return nil, fmt.Errorf("--starters %q: %v is dead; let another process start", f.starters, p)
		}
	}
	for p := algorithm.ID(0); c.Starters == nil; p++ {
		if !slices.Contains(c.Dead, p) {
			c.Starters = []algorithm.ID{p}
		}
	}
	return func(live *Live, observe func(trace.Event)) (Report, error) {
		c.Observe, c.Watch = observe, live.Watch("")
		o, err := sim.RunElection(c)
		if err != nil {
			return Report{}, err
		}
		stopped := ""
		if o.Stopped {
			stopped = words.Plural(o.Messages, "message")
		}
		return Report{JSON: o, Text: func(p *Page) { printElection(p, c, o) }, Stopped: stopped, Wrong: Violations(o.Found)}, nil
	}, nil
}

// printElection shows an election to people.
func printElection(p *Page, c sim.Election, o *sim.Outcome) {
	p.Line("%s: %s, seed %d", c.Spec.Title, words.Plural(c.Nodes, "process"), c.Seed)
	p.Row("dead", "%s", tellProcesses(c.Dead))
	p.Row("starts", "%s", tellProcesses(c.Starters))
	p.Gap()
	leader := "none: not everybody alive follows the highest"
	switch {
	case o.Stopped:
		leader = "not known yet"
	case o.Agreed:
		leader = fmt.Sprintf("%v, and everybody alive knows", algorithm.ID(o.Leader-1))
	}
	p.Row("leader", "%s", leader)
	if o.Stalled {
		p.Row("ended", "%s", stalled)
	}
	if !o.Stopped {
		p.Row("time", "%s T, until the last one knew", words.Number(o.Time))
	}
	p.Row("messages", "%s", words.Grouped(o.Messages))
	for _, kind := range c.Spec.Kinds {
		p.Line("%11s%-12s %s", "", kind, words.Grouped(o.ByKind[kind]))
	}
	p.Row("theory", "%s", c.Spec.Theory.Messages.Text)
}
