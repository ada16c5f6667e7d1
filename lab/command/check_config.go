package command

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/family/sections"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
)

// commonCheckFlags lists the flags that apply to every check.
const commonCheckFlags = "nodes property workers memory time json trace svg"

// algorithmFlags lists the options of algorithms. An algorithm refuses those that it
// does not have.
const algorithmFlags = " topology sets inform experiment k coordinator patience"

// familyFlags lists the flags that apply to a check of a family.
func familyFlags(f *family.Family) string {
	all := commonCheckFlags + algorithmFlags + " network"
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

// resolve turns the flags into a check of an algorithm, or of a method against deadlock.
func (f *checkFlags) resolve(c *cobra.Command, name string) (check.Config, error) {
	if m, err := deadlock.Find(name); err == nil {
		return f.method(c, m)
	}
	return f.algorithm(c, name)
}

// algorithm returns the check of a lock, or of an algorithm of another family.
func (f *checkFlags) algorithm(c *cobra.Command, name string) (config check.Config, err error) {
	if err := checkKnown(name); err != nil {
		return config, err
	}
	spec, err := catalog.Make(name, f.options)
	if err != nil {
		return config, err
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
		err = terminal.OnlyFlags(c, familyFlags(of), "--FLAG does not apply to "+name+", which is "+spec.Family.One()+": leave it out")
	case spec.Detects:
		err = terminal.OnlyFlags(c, familyFlags(of), "--FLAG does not apply to "+name+", which tolerates crashes: leave it out")
		if err == nil && f.config.Losses > 0 && f.options.Patience == 0 {
			f.options.Patience = catalog.Patience(name, f.config.Nodes)
			spec, err = catalog.Make(name, f.options)
		}
	default:
		err = terminal.RefuseFlags(c, "crashes comebacks pace wrong", "--FLAG does not apply to "+name+", which is not an election: leave it out")
		if err == nil {
			err = terminal.RefuseFlags(c, "losses", "--FLAG does not apply to "+name+", which tolerates none: give --network lossy, or a lock such as central+bully")
		}
		if err == nil {
			err = terminal.RefuseFlags(c, "mode sites", "--FLAG does not apply to "+name+", which is not a method against deadlock: leave it out")
		}
		if err == nil {
			err = f.checkSectionFlags(c)
		}
	}
	if err == nil {
		err = f.checkCrashes()
	}
	if err != nil {
		return config, err
	}
	if config, err = f.group(spec, usual); err != nil {
		return config, err
	}
	if f.plan == nil {
		f.sets, err = catalog.SetProperties(name, f.options, config.Nodes)
	}
	return config, err
}

// head describes a check.
func (f *checkFlags) head(c check.Config) []string {
	if c.Family.Sites > 0 {
		return describeMethod(c)
	}
	head := []string{c.Spec.Title + ": " + describeCheck(c)}
	if f.sets != nil {
		head = append(head, "sets: "+f.sets.String())
	}
	return append(head, f.describeSections()...)
}

// checkCrashes refuses more crashes and restarts than are possible.
func (f *checkFlags) checkCrashes() error {
	c := f.config
	if c.Comebacks > c.Crashes {
		return fmt.Errorf("--comebacks %d: must be at most %d, because no more processes restart than crash: give fewer, or more --crashes", c.Comebacks, c.Crashes)
	}
	if most := c.Nodes + c.Comebacks; c.Crashes > most {
		return fmt.Errorf("--crashes %d: must be at most %d, because no more of %s can crash", c.Crashes, most, words.Plural(c.Nodes, "process"))
	}
	return nil
}

// group turns the flags into the check of a group that runs an algorithm.
func (f *checkFlags) group(spec algorithm.Spec, usual check.Pace) (check.Config, error) {
	c := f.config
	c.Spec, c.Family = spec, families.Of(spec)
	var err error
	if f.sections == nil {
		err = c.Spec.Accepts(c.Nodes)
	} else {
		var plan sections.Config
		plan, err = f.together()
		c.Family, f.plan = plan.Family(), &plan
	}
	if err != nil {
		return c, err
	}
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return c, err
	}
	if c.Starts, err = parseStart(f.start, c.Nodes); err != nil {
		return c, err
	}
	if err = f.checkStart(spec, c.Starts); err != nil {
		return c, err
	}
	if c.Requesters, err = parseProcesses("requesters", f.requesters, c.Nodes); err != nil {
		return c, err
	}
	if f.plan != nil {
		if err = checkMembers(f.plan.Sections, c.Requesters...); err != nil {
			return c, err
		}
	}
	if c.Properties, err = parseProperties(f.properties, c.Family); err != nil {
		return c, err
	}
	c.Pace, c.Options = parsePace(f.pace, usual), f.options
	return c, nil
}

// checkStart refuses a start that equals every other one: if no process is inside and
// there is no token, the holder of the lock is like any other process.
func (f *checkFlags) checkStart(spec algorithm.Spec, starts []algorithm.View) error {
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
		return fmt.Errorf("--start %s: %s has no token that an idle process could hold: give %s:busy or any, or leave it out", f.start, spec.Name, f.start)
	}
	return nil
}

// method returns the check of a method against deadlock, with processes that each acquire
// their own lock and then the next one's.
func (f *checkFlags) method(c *cobra.Command, m deadlock.Method) (check.Config, error) {
	config := f.config
	if err := terminal.OnlyFlags(c, commonCheckFlags+" requests mode sites crashes", "--FLAG does not apply to "+m.Name+", which is a method against deadlock: leave it out"); err != nil {
		return config, err
	}
	if !c.Flags().Changed("nodes") {
		config.Nodes = 2
	}
	if !c.Flags().Changed("crashes") {
		config.Crashes = 0
	}
	if config.Crashes > 1 {
		return config, fmt.Errorf("--crashes %d: at most one site can crash with a method against deadlock", config.Crashes)
	}
	dinner := transactions.Dinner(m, f.mode, f.sites, config.Nodes)
	var err error
	if config.Spec, err = dinner.Spec(); err != nil {
		return config, fmt.Errorf("cannot check %s: %w", m.Name, err)
	}
	config.Family = dinner.Family()
	config.Properties, err = parseProperties(f.properties, config.Family)
	return config, err
}

// describeCheck describes the check of an algorithm.
func describeCheck(c check.Config) string {
	s := words.Plural(c.Nodes, "process")
	switch {
	case c.Family.Bounded == nil:
	case c.Requests == 0:
		s += ", any number of requests"
	default:
		s += ", " + words.Plural(c.Requests, "request") + " each"
	}
	if c.Family.Detects {
		s += describeCrashes(c)
	}
	s += ", " + c.Network.String() + " network"
	if c.Pace != check.AnyPace {
		s += ", messages " + paceNames[c.Pace]
	}
	if c.Wrong {
		s += ", one timeout too short or one live process taken for crashed"
	}
	if c.Requesters != nil {
		s += ", requests only from " + strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Requesters), "[]"), " ", ", ")
	}
	switch {
	case len(c.Starts) > 1:
		s += ", from any start"
	case len(c.Starts) == 1 && c.Starts[0].Busy:
		s += ", " + c.Starts[0].Holder.String() + " initially inside"
	case len(c.Starts) == 1:
		s += ", lock initially at " + c.Starts[0].Holder.String()
	}
	return s
}

// describeCrashes describes the crashes, restarts and losses of a check.
func describeCrashes(c check.Config) string {
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

// describeMethod describes the check of a method against deadlock.
func describeMethod(c check.Config) []string {
	each := "any number of transactions"
	if c.Requests > 0 {
		each = words.Plural(c.Requests, "transaction")
	}
	lines := []string{c.Spec.Title, fmt.Sprintf("%s and as many locks at %s, %s each", words.Plural(c.Nodes, "process"), words.Plural(c.Family.Sites, "site"), each)}
	if c.Crashes > 0 {
		lines = append(lines, "one site may crash, at any step")
	}
	return lines
}

// Bounds of a check.
const (
	maxCheckNodes = 64
	maxRequests   = 100
)

// requestsFlag takes the number of requests of each process; 0 means unbounded.
func requestsFlag(to *int) pflag.Value {
	return terminal.NewFlag(to, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case s == "unbounded":
			return 0, nil
		case err != nil || n < 1 || n > maxRequests:
			err = fmt.Errorf("must be a whole number from 1 to %d, or unbounded", maxRequests)
		}
		return n, err
	}, func(n int) string {
		if n == 0 {
			return "unbounded"
		}
		return strconv.Itoa(n)
	})
}

// checkTimeFlag takes a time limit.
func checkTimeFlag(to *time.Duration) pflag.Value {
	return clockTimeFlag(to, 1, math.MaxInt64, "must be a time above 0s, such as 30s or 5m")
}

// startWanted says what --start must be.
const startWanted = "any, or the process that has the lock first, such as 2, or 2:busy if it is inside"

// parseStart parses the initial state of a check: any, HOLDER or HOLDER:busy.
func parseStart(s string, nodes int) ([]algorithm.View, error) {
	switch s {
	case "":
		return nil, nil
	case "any":
		return check.AnyStart(nodes), nil
	}
	holder, busy, isBusy := strings.Cut(s, ":")
	n, err := strconv.Atoi(holder)
	if err != nil || isBusy && busy != "busy" {
		return nil, fmt.Errorf("--start %q: must be %s", s, startWanted)
	}
	if n < 1 || n > nodes {
		return nil, fmt.Errorf("--start %q: processes are numbered 1 to %d", s, nodes)
	}
	return []algorithm.View{{N: nodes, Holder: algorithm.ID(n - 1), Busy: isBusy}}, nil
}

// parseProperties parses a list of properties of a family. Nil means those that the
// algorithm claims.
func parseProperties(s string, of *family.Family) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	all := check.Properties(of)
	list := strings.Split(s, ",")
	for _, p := range list {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("--property %q: must be some of %s%s", p, strings.Join(all, ", "), spell.DidYouMean(p, all...))
		}
	}
	return list, nil
}

// paceNames lists the values of --pace.
var paceNames = [...]string{check.AnyPace: "any", check.Quick: "quick", check.Slow: "slow"}

// parsePace parses --pace; usual is the default.
func parsePace(s string, usual check.Pace) check.Pace {
	if i := slices.Index(paceNames[:], s); i >= 0 {
		return check.Pace(i)
	}
	return usual
}

// propertiesOf returns the properties of the named algorithm or method, or those of a
// lock if there is none.
func propertiesOf(args []string) []string {
	var spec algorithm.Spec
	if len(args) > 0 {
		if m, err := deadlock.Find(args[0]); err == nil {
			return check.Properties(transactions.Dinner(m, "", 2, 2).Family())
		}
		spec, _ = catalog.Make(args[0], algorithm.Options{})
	}
	return check.Properties(families.Of(spec))
}
