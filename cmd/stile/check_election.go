package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// checkElection checks an election in every order of events.
func (f *checkFlags) checkElection(c *cobra.Command, spec core.Spec, stdout io.Writer) error {
	for _, flag := range strings.Fields("requests start requesters workers mode sites") {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("%s is an election, which has no --%s to choose: leave it out", spec.Name, flag)
		}
	}
	e := check.Election{
		Spec: spec, Nodes: f.config.Nodes, Crashes: f.crashes, Returns: f.returns, Wrong: f.wrong,
		Scenario: scenario.Scenario{Topology: f.options.Topology}, Limits: f.config.Limits,
	}
	var err error
	if e.Network, err = core.ParseNetwork(f.network); err != nil {
		return fmt.Errorf("--network: %w", err)
	}
	var r *check.Report
	outputs := f.outputs(&r)
	if err := checkAll(outputs); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	e.Context = ctx
	if r, err = check.RunElection(e); err != nil {
		return err
	}
	if err := f.pick(r); err != nil {
		return err
	}
	head := fmt.Sprintf("%s: %s, %s and %s at any step, %v network", spec.Title, plural(e.Nodes, "process"),
		plural(e.Crashes, "crash"), plural(e.Returns, "comeback"), e.Network)
	if e.Wrong {
		head += ", one timeout too short or one live process taken for dead"
	}
	return f.conclude(r, outputs, head, stdout)
}

// noElection refuses flags that only an election knows.
func noElection(c *cobra.Command, name string) error {
	for _, flag := range strings.Fields("crashes comebacks wrong") {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not fit %s, which is no election: leave it out", flag, name)
		}
	}
	return nil
}

// checkDeaths checks a lock that survives deaths.
func (f *checkFlags) checkDeaths(c *cobra.Command, spec core.Spec, stdout io.Writer) error {
	for _, flag := range strings.Fields("start requesters workers mode sites comebacks") {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("%s with --crashes has no --%s to choose: leave it out", spec.Name, flag)
		}
	}
	if f.config.Requests == 0 {
		return fmt.Errorf("%s with --crashes and --requests unbounded: epochs would grow without end, so give a number", spec.Name)
	}
	d := check.Deaths{
		Spec: spec, Nodes: f.config.Nodes, Requests: f.config.Requests, Crashes: f.crashes, Wrong: f.wrong, Quick: true, Limits: f.config.Limits,
	}
	var err error
	if d.Network, err = core.ParseNetwork(f.network); err != nil {
		return fmt.Errorf("--network: %w", err)
	}
	var r *check.Report
	outputs := f.outputs(&r)
	if err := checkAll(outputs); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d.Context = ctx
	if r, err = check.RunDeaths(d); err != nil {
		return err
	}
	if err := f.pick(r); err != nil {
		return err
	}
	head := fmt.Sprintf("%s: %s, %s each, %s at any step, %v network", spec.Title, plural(d.Nodes, "process"),
		plural(d.Requests, "request"), plural(d.Crashes, "crash"), d.Network)
	return f.conclude(r, outputs, head, stdout)
}
