package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/family/transactions"
)

// defineCrashes defines the flags of elections, and of locks that survive
// deaths.
func (f *checkFlags) defineCrashes(fs *pflag.FlagSet) {
	fs.Var(count{&f.config.Crashes, 0, 4}, "crashes", "of an election, or a lock such as central+bully: how many processes crash, at any step; of a method against deadlock: 1 site")
	fs.Var(count{&f.config.Comebacks, 0, 4}, "comebacks", "of an election: how many of them come back, at any step")
	fs.StringVar(&f.pace, "pace", "", "of both: messages take `HOW` long compared with timeouts: any time up to the longest, quick (none) or slow (always the longest); of an election usually any, of a lock quick")
	fs.BoolVar(&f.config.Wrong, "wrong", false, "of an election: once a timeout is too short, or a live process is taken for dead")
}

// checkAlgorithm checks a lock or an election.
func (f *checkFlags) checkAlgorithm(c *cobra.Command, name string, stdout, stderr io.Writer) error {
	spec, err := catalog.Make(name, f.options)
	if err != nil {
		return err
	}
	head := func(c check.Config) []string { return []string{spec.Title + ": " + setting(c)} }
	usual := check.AnyPace
	switch {
	case spec.Family == core.Election:
		err = refuse(c, "requests start requesters mode sites", name+" is an election, which has")
		head = func(c check.Config) []string { return []string{spec.Title + ": " + f.electing(c)} }
		f.config.Requests = 0
	case spec.Detects:
		err = refuse(c, "start requesters mode sites comebacks", name+" survives deaths, and has")
		head = func(c check.Config) []string { return []string{spec.Title + ": " + f.dying(c)} }
		usual = check.Quick
		if !c.Flags().Changed("requests") {
			f.config.Requests = 1 // two are too many for some of them
		}
	default:
		err = noElection(c, name)
		f.config.Crashes = 0
	}
	if err != nil {
		return err
	}
	config, err := f.resolve(spec, usual)
	if err != nil {
		return err
	}
	return f.run(config, head, stdout, stderr)
}

// resolve turns the flags into a check.
func (f *checkFlags) resolve(spec core.Spec, usual check.Pace) (check.Config, error) {
	c := f.config
	c.Spec, c.Family = spec, check.FamilyOf(spec)
	err := c.Spec.Accepts(c.Nodes)
	if err != nil {
		return c, err
	}
	if c.Network, err = core.ParseNetwork(f.network); err != nil {
		return c, fmt.Errorf("--network: %w", err)
	}
	if c.Starts, err = parseStart(f.start, c.Nodes); err != nil {
		return c, err
	}
	if c.Requesters, err = parseRequesters(f.requesters, c.Nodes); err != nil {
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

// paces names how long messages take.
var paces = [...]struct {
	name string
	pace check.Pace
}{{"any", check.AnyPace}, {"quick", check.Quick}, {"slow", check.Slow}}

// parsePace reads how long messages take.
func parsePace(s string, usual check.Pace) (check.Pace, error) {
	if s == "" {
		return usual, nil
	}
	for _, p := range paces {
		if p.name == s {
			return p.pace, nil
		}
	}
	return usual, fmt.Errorf("--pace %q: want any, quick or slow", s)
}

// checkMethod checks a method against deadlock: each of some processes takes
// its own lock and then the next one's.
func (f *checkFlags) checkMethod(c *cobra.Command, m deadlock.Method, stdout, stderr io.Writer) error {
	const none = "network topology sets inform experiment k coordinator start comebacks pace wrong requesters"
	if err := refuse(c, none, m.Name+" is a method against deadlock, which has"); err != nil {
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
	return f.run(config, func(c check.Config) []string { return transacting(m.Title, c) }, stdout, stderr)
}

// refuse refuses flags that do not fit; who says whom they do not fit.
func refuse(c *cobra.Command, flags, who string) error {
	for _, flag := range strings.Fields(flags) {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("%s no --%s to choose: leave it out", who, flag)
		}
	}
	return nil
}

// noElection refuses flags that only an election knows.
func noElection(c *cobra.Command, name string) error {
	for _, flag := range strings.Fields("crashes comebacks pace wrong") {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not fit %s, which is no election: leave it out", flag, name)
		}
	}
	return nil
}

// setting says what was checked.
func setting(c check.Config) string {
	s := plural(c.Nodes, "process") + ", "
	if c.Requests == 0 {
		s += "any number of requests"
	} else {
		s += plural(c.Requests, "request") + " each"
	}
	s += ", " + c.Network.String() + " network"
	if c.Requesters != nil {
		s += ", only " + names(c.Requesters) + " ask"
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

// electing says what was checked of an election.
func (f *checkFlags) electing(c check.Config) string {
	return fmt.Sprintf("%s, %s and %s at any step", plural(c.Nodes, "process"), plural(c.Crashes, "crash"), plural(c.Comebacks, "comeback")) + f.under(c)
}

// dying says what was checked of a lock that survives deaths.
func (f *checkFlags) dying(c check.Config) string {
	return fmt.Sprintf("%s, %s each, %s at any step", plural(c.Nodes, "process"), plural(c.Requests, "request"), plural(c.Crashes, "crash")) + f.under(c)
}

// under says under what processes crash.
func (f *checkFlags) under(c check.Config) string {
	s := fmt.Sprintf(", %v network", c.Network)
	if c.Pace != check.AnyPace {
		s += ", messages " + paces[c.Pace].name
	}
	if c.Wrong {
		s += ", one timeout too short or one live process taken for dead"
	}
	return s
}

// transacting says what was checked of a method against deadlock.
func transacting(title string, c check.Config) []string {
	each := "any number of transactions"
	if c.Requests > 0 {
		each = plural(c.Requests, "transaction")
	}
	lines := []string{title, fmt.Sprintf("%s and as many locks at %s, %s each", plural(c.Nodes, "process"), plural(c.Family.Sites, "site"), each)}
	if c.Crashes > 0 {
		lines = append(lines, "one site may die, at any step")
	}
	return lines
}

// parseProperties reads a list of properties of a family. Nil means what the
// algorithm claims.
func parseProperties(s string, of *family.Family) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	all := check.Properties(of)
	list := strings.Split(s, ",")
	for _, p := range list {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("--property %q: there are %s", p, strings.Join(all, ", "))
		}
	}
	return list, nil
}

// names lists processes for people.
func names(ids []core.ID) string {
	var words []string
	for _, id := range ids {
		words = append(words, id.String())
	}
	return strings.Join(words, ", ")
}
