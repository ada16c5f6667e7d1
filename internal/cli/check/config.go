package check

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family/transactions"
	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/words"
)

// algorithm checks a lock or an election.
func (f *flags) algorithm(c *cobra.Command, name string) error {
	spec, err := catalog.Make(name, f.options)
	if err != nil {
		return err
	}
	about, usual := locking, check.AnyPace
	switch {
	case spec.Family == core.Election:
		about, err = electing, ask.Refuse(c, "requests start requesters mode sites", name+" is an election, which has no --FLAG to choose: leave it out")
		f.config.Requests = 0
	case spec.Detects:
		about, err = dying, ask.Refuse(c, "start requesters mode sites comebacks", name+" survives deaths, and has no --FLAG to choose: leave it out")
		usual = check.Quick
		if !c.Flags().Changed("requests") {
			f.config.Requests = 1 // two are too many for some of them
		}
	default:
		err = ask.Refuse(c, "crashes comebacks pace wrong", "--FLAG does not fit "+name+", which is no election: leave it out")
		f.config.Crashes = 0
	}
	if err != nil {
		return err
	}
	config, err := f.resolve(spec, usual)
	if err != nil {
		return err
	}
	return f.run(c, config, func(c check.Config) []string { return []string{spec.Title + ": " + about(c)} })
}

// resolve turns the flags into a check.
func (f *flags) resolve(spec core.Spec, usual check.Pace) (check.Config, error) {
	c := f.config
	c.Spec, c.Family = spec, check.FamilyOf(spec)
	err := c.Spec.Accepts(c.Nodes)
	if err != nil {
		return c, err
	}
	if c.Network, err = ask.Network(f.network); err != nil {
		return c, err
	}
	if c.Starts, err = parseStart(f.start, c.Nodes); err != nil {
		return c, err
	}
	if c.Requesters, err = ask.Processes("requesters", f.requesters, c.Nodes); err != nil {
		return c, err
	}
	if c.Properties, err = parseProperties(f.properties, c.Family); err != nil {
		return c, err
	}
	if c.Pace, err = parsePace(f.pace, usual); err != nil {
		return c, err
	}
	c.Options = f.options
	return c, nil
}

// method checks a method against deadlock: each of some processes takes its own
// lock and then the next one's.
func (f *flags) method(c *cobra.Command, m deadlock.Method) error {
	const none = "network topology sets inform experiment k coordinator start comebacks pace wrong requesters"
	if err := ask.Refuse(c, none, m.Name+" is a method against deadlock, which has no --FLAG to choose: leave it out"); err != nil {
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

// locking says what is checked of a lock.
func locking(c check.Config) string {
	s := words.Plural(c.Nodes, "process") + ", "
	if c.Requests == 0 {
		s += "any number of requests"
	} else {
		s += words.Plural(c.Requests, "request") + " each"
	}
	s += ", " + c.Network.String() + " network"
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

// electing says what is checked of an election.
func electing(c check.Config) string {
	return fmt.Sprintf("%s, %s and %s at any step", words.Plural(c.Nodes, "process"), words.Plural(c.Crashes, "crash"), words.Plural(c.Comebacks, "comeback")) + under(c)
}

// dying says what is checked of a lock that survives deaths.
func dying(c check.Config) string {
	return fmt.Sprintf("%s, %s each, %s at any step", words.Plural(c.Nodes, "process"), words.Plural(c.Requests, "request"), words.Plural(c.Crashes, "crash")) + under(c)
}

// under says under what processes crash.
func under(c check.Config) string {
	s := fmt.Sprintf(", %v network", c.Network)
	if c.Pace != check.AnyPace {
		s += ", messages " + paces[c.Pace]
	}
	if c.Wrong {
		s += ", one timeout too short or one live process taken for dead"
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
