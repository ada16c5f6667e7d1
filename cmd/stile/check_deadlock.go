package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/deadlock"
)

// checkDeadlock checks a method against deadlock: each of some processes takes
// its own lock and then the next one's.
func (f *checkFlags) checkDeadlock(c *cobra.Command, m deadlock.Method, stdout, stderr io.Writer) error {
	const none = "network topology sets inform experiment k coordinator start comebacks pace wrong requesters trace svg"
	if err := refuse(c, none, m.Name+" is a method against deadlock, which has"); err != nil {
		return err
	}
	nodes, rounds := f.config.Nodes, f.config.Requests
	if !c.Flags().Changed("nodes") {
		nodes = 2
	}
	config := check.Dinner(m, f.mode, f.sites, nodes, rounds)
	config.Crash = c.Flags().Changed("crashes") && f.crashes > 0
	if config.Crash && f.crashes > 1 {
		return fmt.Errorf("--crashes %d: at most one site of a method against deadlock may die", f.crashes)
	}
	v, limits, end := f.begin(stdout, stderr)
	config.Limits, config.Found = limits, v.found
	r, err := check.RunDeadlock(config)
	end()
	if err != nil {
		return err
	}
	if err := f.pick(r); err != nil {
		return err
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		err = printDeadlockCheck(stdout, config, r, v.told)
	}
	if err != nil {
		return err
	}
	return checked(r)
}

// pick leaves only the properties that were asked for.
func (f *checkFlags) pick(r *check.Report) error {
	if f.properties == "" {
		return nil
	}
	var all, kept []string
	for _, p := range r.Properties {
		all = append(all, p.Name)
	}
	for name := range strings.SplitSeq(f.properties, ",") {
		if !slices.Contains(all, name) {
			return fmt.Errorf("--property %q: want of %s", name, strings.Join(all, ", "))
		}
		kept = append(kept, name)
	}
	r.Only(kept)
	return nil
}

func printDeadlockCheck(w io.Writer, c check.DeadlockConfig, r *check.Report, told string) error {
	p := &page{w: w}
	p.line("%s", c.Method.Title)
	each := plural(c.Rounds, "transaction")
	if c.Rounds == 0 {
		each = "any number of transactions"
	}
	p.line("%s and as many locks at %s, %s each", plural(len(c.Programs), "process"), plural(c.Layout.Sites, "site"), each)
	if c.Crash {
		p.line("one site may die, at any step")
	}
	p.line("")
	for _, q := range r.Properties {
		printProperty(p, q)
	}
	p.line("")
	p.line("%s%s", right("verdict", 18), r.Verdict)
	p.line("%s%s, %s transitions, depth %d", right("states", 18), grouped(r.States), grouped(r.Transitions), r.Depth)
	p.line("%s%.2f s, %s states per second", right("time", 18), r.Seconds, grouped(int64(r.Rate)))
	if first := r.First(); first != nil && first.Name != told {
		p.line("")
		printViolation(p, first)
	}
	return p.err
}
