package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/family"
	"github.com/stile-lock/stile/internal/world/family/families"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// always are the flags that fit whatever is checked.
const always = "nodes property workers memory time json trace svg"

// options are the flags of an algorithm, which has refused those that it does not
// know.
const options = " topology sets inform experiment k coordinator patience"

// checkFits lists the flags that fit a check of a family.
func checkFits(f *family.Family) string {
	all := always + options + " network"
	if f.Bounded != nil {
		all += " requests"
	}
	if f.Detects {
		all += " crashes comebacks pace wrong"
	}
	if f.Loses {
		all += " losses"
	}
	return all
}

// algorithm checks a lock, or an algorithm of another family.
func (f *checkFlags) algorithm(c *cobra.Command, name string) error {
	if err := Checked(name); err != nil {
		return err
	}
	spec, err := catalog.Make(name, f.options)
	if err != nil {
		return err
	}
	of, usual := families.Of(spec), check.AnyPace
	if of.Bounded == nil {
		f.config.Requests = 0
	}
	if of.Vast {
		usual = check.Quick
		if !c.Flags().Changed("requests") {
			f.config.Requests = 1
		}
	}
	if !of.Detects {
		f.config.Crashes = 0
	}
	switch {
	case spec.Family != algorithm.MutualExclusion:
		err = Only(c, checkFits(of), name+" is "+spec.Family.One()+", which has no --FLAG to choose: leave it out")
	case spec.Detects:
		err = Only(c, checkFits(of), name+" survives deaths, and has no --FLAG to choose: leave it out")
		if err == nil && f.config.Losses > 0 && f.options.Patience == 0 {
			f.options.Patience = catalog.Patience(name, f.config.Nodes)
			spec, err = catalog.Make(name, f.options)
		}
	default:
		err = Refuse(c, "crashes comebacks pace wrong", "--FLAG does not fit "+name+", which is no election: leave it out")
		if err == nil {
			err = Refuse(c, "losses", "--FLAG does not fit "+name+", which survives none: give --network lossy, or a lock such as central+bully")
		}
		if err == nil {
			err = Refuse(c, "mode sites", "--FLAG does not fit "+name+", which is no method against deadlock: leave it out")
		}
	}
	if err == nil {
		err = f.deaths()
	}
	if err != nil {
		return err
	}
	config, err := f.resolve(spec, usual)
	if err != nil {
		return err
	}
	if f.sets, err = catalog.SetProperties(name, f.options, config.Nodes); err != nil {
		return err
	}
	return f.run(c, config, func(c check.Config) []string {
		head := []string{spec.Title + ": " + about(c)}
		if f.sets != nil {
			head = append(head, "sets: "+f.sets.String())
		}
		return head
	})
}

// deaths refuses more deaths and returns than there can be.
func (f *checkFlags) deaths() error {
	c := f.config
	if c.Comebacks > c.Crashes {
		return fmt.Errorf("--comebacks %d: want a whole number from 0 to %d, since no more come back than crash; or give more --crashes", c.Comebacks, c.Crashes)
	}
	if most := c.Nodes + c.Comebacks; c.Crashes > most {
		return fmt.Errorf("--crashes %d: want a whole number from 0 to %d, since no more of %s can crash", c.Crashes, most, words.Plural(c.Nodes, "process"))
	}
	return nil
}

// resolve turns the flags into a check.
func (f *checkFlags) resolve(spec algorithm.Spec, usual check.Pace) (check.Config, error) {
	c := f.config
	c.Spec, c.Family = spec, families.Of(spec)
	err := c.Spec.Accepts(c.Nodes)
	if err != nil {
		return c, err
	}
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return c, err
	}
	if c.Starts, err = parseStart(f.start, c.Nodes); err != nil {
		return c, err
	}
	if err = f.startsApart(spec, c.Starts); err != nil {
		return c, err
	}
	if c.Requesters, err = askProcesses("requesters", f.requesters, c.Nodes); err != nil {
		return c, err
	}
	if c.Properties, err = parseProperties(f.properties, c.Family); err != nil {
		return c, err
	}
	c.Pace, c.Options = parsePace(f.pace, usual), f.options
	return c, nil
}

// startsApart refuses a start that is any other by another name: where nobody is
// inside and there is no token, nothing is at the one who has the lock.
func (f *checkFlags) startsApart(spec algorithm.Spec, starts []algorithm.View) error {
	if len(starts) != 1 || starts[0].Busy || starts[0].N < 2 {
		return nil
	}
	var states [2][]byte
	for holder := range algorithm.ID(2) {
		group, err := spec.Group(algorithm.View{N: starts[0].N, Holder: holder})
		if err != nil {
			return err
		}
		for _, m := range group {
			states[holder] = m.AppendState(states[holder])
		}
	}
	if bytes.Equal(states[0], states[1]) {
		return fmt.Errorf("--start %s: %s has no token that somebody holds while nobody is inside: give %s:busy or any, or leave it out", f.start, spec.Name, f.start)
	}
	return nil
}

// method checks a method against deadlock: each of some processes takes its own
// lock and then the next one's.
func (f *checkFlags) method(c *cobra.Command, m deadlock.Method) error {
	if err := Only(c, always+" requests mode sites crashes", m.Name+" is a method against deadlock, which has no --FLAG to choose: leave it out"); err != nil {
		return err
	}
	config := f.config
	if !c.Flags().Changed("nodes") {
		config.Nodes = 2
	}
	if !c.Flags().Changed("crashes") {
		config.Crashes = 0
	}
	if config.Crashes > 1 {
		return fmt.Errorf("--crashes %d: at most one site of a method against deadlock may die", config.Crashes)
	}
	dinner := transactions.Dinner(m, f.mode, f.sites, config.Nodes)
	var err error
	if config.Spec, err = dinner.Spec(); err != nil {
		return fmt.Errorf("cannot check %s: %w", m.Name, err)
	}
	config.Family = dinner.Family()
	if config.Properties, err = parseProperties(f.properties, config.Family); err != nil {
		return err
	}
	return f.run(c, config, func(c check.Config) []string { return transacting(m.Title, c) })
}

// about says what is checked of an algorithm.
func about(c check.Config) string {
	s := words.Plural(c.Nodes, "process")
	switch {
	case c.Family.Bounded == nil:
	case c.Requests == 0:
		s += ", any number of requests"
	default:
		s += ", " + words.Plural(c.Requests, "request") + " each"
	}
	if c.Family.Detects {
		s += dying(c)
	}
	s += ", " + c.Network.String() + " network"
	if c.Pace != check.AnyPace {
		s += ", messages " + paces[c.Pace]
	}
	if c.Wrong {
		s += ", one timeout too short or one live process taken for dead"
	}
	if c.Requesters != nil {
		s += ", only " + strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Requesters), "[]"), " ", ", ") + " ask"
	}
	switch {
	case len(c.Starts) > 1:
		s += ", from any start"
	case len(c.Starts) == 1 && c.Starts[0].Busy:
		s += ", " + c.Starts[0].Holder.String() + " inside at first"
	case len(c.Starts) == 1:
		s += ", the lock at " + c.Starts[0].Holder.String() + " at first"
	}
	return s
}

// dying says how many die in a check, and what else goes wrong.
func dying(c check.Config) string {
	s := ", " + words.Plural(c.Crashes, "crash")
	if c.Comebacks > 0 || c.Family.Bounded == nil {
		s += " and " + words.Plural(c.Comebacks, "comeback")
	}
	if c.Losses > 0 {
		s += " and " + words.Plural(c.Losses, "lost message")
	}
	s += " at any step"
	if c.Options.Patience > 0 {
		s += fmt.Sprintf(", patience %d", c.Options.Patience)
	}
	return s
}

// transacting says what is checked of a method against deadlock.
func transacting(title string, c check.Config) []string {
	each := "any number of transactions"
	if c.Requests > 0 {
		each = words.Plural(c.Requests, "transaction")
	}
	lines := []string{title, fmt.Sprintf("%s and as many locks at %s, %s each", words.Plural(c.Nodes, "process"), words.Plural(c.Family.Sites, "site"), each)}
	if c.Crashes > 0 {
		lines = append(lines, "one site may die, at any step")
	}
	return lines
}
