package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
)

// How long messages take, as --pace names it.
const (
	paceAny   = "any"
	paceQuick = "quick"
	paceSlow  = "slow"
)

// defineElection defines the flags of elections, and of locks that survive
// deaths.
func (f *checkFlags) defineElection(fs *pflag.FlagSet) {
	fs.Var(count{&f.crashes, 0, 4}, "crashes", "of an election, or a lock such as central+bully: how many processes crash, at any step; of a method against deadlock: 1 site")
	fs.Var(count{&f.returns, 0, 4}, "comebacks", "of an election: how many of them come back, at any step")
	fs.StringVar(&f.pace, "pace", "", "of both: messages take `HOW` long compared with timeouts: any time up to the longest, quick (none) or slow (always the longest); of an election usually any, of a lock quick")
	fs.BoolVar(&f.wrong, "wrong", false, "of an election: once a timeout is too short, or a live process is taken for dead")
}

// checkElection checks an election in every order of events.
func (f *checkFlags) checkElection(c *cobra.Command, spec core.Spec, stdout, stderr io.Writer) error {
	if err := refuse(c, "requests start requesters workers mode sites", spec.Name+" is an election, which has"); err != nil {
		return err
	}
	return f.checkCrashes(stdout, stderr, paceAny, func(l check.Limits, found func(check.Property), network core.Network, pace string) (*check.Report, string, error) {
		e := check.Election{
			Spec: spec, Nodes: f.config.Nodes, Crashes: f.crashes, Returns: f.returns, Quick: pace == paceQuick, Slow: pace == paceSlow, Wrong: f.wrong,
			Network: network, Options: f.options, Found: found, Limits: l,
		}
		head := fmt.Sprintf("%s: %s, %s and %s at any step", spec.Title, plural(e.Nodes, "process"), plural(e.Crashes, "crash"), plural(e.Returns, "comeback"))
		r, err := check.RunElection(e)
		return r, head, err
	})
}

// checkDeaths checks a lock that survives deaths.
func (f *checkFlags) checkDeaths(c *cobra.Command, spec core.Spec, stdout, stderr io.Writer) error {
	if err := refuse(c, "start requesters workers mode sites comebacks", spec.Name+" with --crashes has"); err != nil {
		return err
	}
	if f.config.Requests == 0 {
		return fmt.Errorf("%s with --crashes and --requests unbounded: epochs would grow without end, so give a number", spec.Name)
	}
	return f.checkCrashes(stdout, stderr, paceQuick, func(l check.Limits, found func(check.Property), network core.Network, pace string) (*check.Report, string, error) {
		d := check.Deaths{
			Spec: spec, Nodes: f.config.Nodes, Requests: f.config.Requests, Crashes: f.crashes, Quick: pace == paceQuick, Slow: pace == paceSlow, Wrong: f.wrong,
			Network: network, Options: f.options, Found: found, Limits: l,
		}
		head := fmt.Sprintf("%s: %s, %s each, %s at any step", spec.Title, plural(d.Nodes, "process"), plural(d.Requests, "request"), plural(d.Crashes, "crash"))
		r, err := check.RunDeaths(d)
		return r, head, err
	})
}

// checkCrashes runs a check of processes that crash, and concludes.
func (f *checkFlags) checkCrashes(stdout, stderr io.Writer, pace string, run func(l check.Limits, found func(check.Property), network core.Network, pace string) (r *check.Report, head string, err error)) error {
	network, err := core.ParseNetwork(f.network)
	if err != nil {
		return fmt.Errorf("--network: %w", err)
	}
	switch f.pace {
	case "":
	case paceAny, paceQuick, paceSlow:
		pace = f.pace
	default:
		return fmt.Errorf("--pace %q: want %s, %s or %s", f.pace, paceAny, paceQuick, paceSlow)
	}
	var r *check.Report
	outputs := f.outputs(&r)
	if err := checkAll(outputs); err != nil {
		return err
	}
	v, limits, end := f.begin(stdout, stderr)
	r, head, err := run(limits, v.found, network, pace)
	end()
	if err != nil {
		return err
	}
	if err := f.pick(r); err != nil {
		return err
	}
	head += fmt.Sprintf(", %v network", network)
	if pace != paceAny {
		head += ", messages " + pace
	}
	if f.wrong {
		head += ", one timeout too short or one live process taken for dead"
	}
	return f.conclude(r, outputs, head, v.told, stdout)
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
