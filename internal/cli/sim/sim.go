// Package sim is 'stile sim': it simulates a lock, several locks side by side or
// an election, and shows what was measured beside theory.
package sim

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// flags is what 'stile sim' can be told.
type flags struct {
	config     sim.Config
	options    algorithm.Options
	requesters string
	network    string
	holder     int
	dead       string
	starters   string
	sections   []string
	json       bool
	scene      tell.Scene

	given func(flag string) bool
}

// New returns the command.
func New() *cobra.Command {
	f := &flags{network: algorithm.FIFO.String(), holder: 1, config: sim.Config{
		Nodes: 5, Entries: 1000, Seed: 1, Local: 1, Burst: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}}
	c := &cobra.Command{
		Use:   "sim ALGORITHM [flags]",
		Short: "Simulate an algorithm and measure it, beside what theory says",
		Long: `Simulates processes that ask, enter and leave until all requests are served,
and prints what was measured beside what theory says. The same seed gives the
same run, to the byte. Exit code 1 means that a property was broken.

Times are in T, the usual latency of a message: a number, exp:MEAN or
uniform:LO,HI. Processes are numbered from 1. 'stile algorithms' lists the
algorithms.

With --section there are several critical sections side by side, each an
instance of the algorithm among those who use it, with --entries of its own.

An election (bully, ring-election, chang-roberts) is run once: in a group that
the highest process leads, some are dead, and others notice it.`,
		Example: `  stile sim ricart-agrawala --nodes 10
  stile sim maekawa --nodes 13 --topology plane --think exp:100
  stile sim raymond --nodes 5 --topology 1-2,1-3,3-4,3-5 --entries 4 --svg a.svg
  stile sim ricart-agrawala --section seats:1,2,4 --section films:2,3,5
  stile sim bakery-naive --latency exp:1 --entries 20 --trace failure.txt
  stile sim bully --nodes 8 --dead 8 --starters 5 --svg bully.svg`,
		Args: ask.Algorithm,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: ask.OfferAlgorithms(),
	}
	f.define(c)
	return c
}

func (f *flags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(ask.Count(&f.config.Nodes, 1, ask.MaxNodes), "nodes", "n", "how many processes")
	fs.Var(ask.Count(&f.config.Entries, 1, ask.MaxEntries), "entries", "how many requests in all; the run ends when each is served")
	fs.Var(ask.Time(&f.config.Think), "think", "from an exit to the next request of a process; 0 is saturation")
	fs.Var(ask.Time(&f.config.Hold), "hold", "from entry to exit")
	fs.Var(ask.Latency(&f.config.Latency), "latency", "of a message")
	fs.StringArrayVar(&f.sections, "section", nil, "a critical section of its own, and who uses it: `NAME:LIST` such as seats:1,2,4; give several")
	fs.Var(ask.List(&f.requesters), "requesters", "who asks: a `LIST` such as 1,2,5-7 (default everybody)")
	fs.Var(ask.Count(&f.config.Local, 1, ask.MaxEntries), "local", "the first requester asks so many times as often")
	fs.Var(ask.Count(&f.config.Burst, 1, ask.MaxEntries), "burst", "a process asks so many times in a row, then thinks longer")
	fs.Var(ask.Count(&f.holder, 1, ask.MaxNodes), "holder", "who has the token at the start, where there is one")
	fs.Var(ask.Choice(&f.network, ask.Networks()...), "network", "what `KIND` of network: fifo, unordered, duplicating or lossy")
	ask.Options(fs, &f.options, ask.MaxNodes)
	fs.Var(ask.List(&f.dead), "dead", "elections: who is dead, a `LIST` such as 7,8 (default nobody)")
	fs.Var(ask.List(&f.starters), "starters", "elections: who notices and starts, a `LIST` (default the lowest alive)")
	fs.Var(ask.Seed(&f.config.Seed), "seed", "which of many runs")
	ask.JSON(fs, &f.json)
	f.scene.Define(fs)
}

// does refuses flags that would change nothing.
func (f *flags) does(spec algorithm.Spec, sections []scenario.Section) error {
	for _, flag := range []string{"local", "burst"} {
		if f.given(flag) && f.config.Think.Max() == 0 {
			return fmt.Errorf("--%s: nobody thinks between requests, so that there is nothing to shorten or to put off: give --think too", flag)
		}
	}
	if !f.given("holder") {
		return nil
	}
	if err := inSome(sections, algorithm.ID(f.holder-1)); err != nil {
		return fmt.Errorf("--holder %d: %w", f.holder, err)
	}
	nodes := f.config.Nodes
	for _, s := range sections {
		nodes = len(s.Members)
	}
	held, err := ask.Held(spec, nodes)
	if err == nil && !held {
		err = fmt.Errorf("--holder %d: %s has no token that somebody holds at the start: leave it out", f.holder, spec.Name)
	}
	return err
}

// A play runs what was asked for. observe is told all that happens; it may be
// nil.
type play func(live *tell.Live, observe func(trace.Event)) (tell.Report, error)

func (f *flags) run(c *cobra.Command, name string) error {
	f.given = c.Flags().Changed
	spec, err := ask.Spec(name, algorithm.Options{})
	if err != nil {
		return err
	}
	fits, prepare := fitsLock, f.locks
	if spec.Family == algorithm.Election {
		fits, prepare = fitsElection, f.election
	}
	if err := fits(c, name); err != nil {
		return err
	}
	if spec, err = catalog.Make(name, f.options); err != nil {
		return err
	}
	run, err := prepare(spec)
	if err != nil {
		return err
	}
	rec := tell.NewRecorder(f.config.Nodes, spec)
	files, err := rec.Files(&f.scene)
	if err != nil {
		return err
	}
	return tell.Run(c.OutOrStdout(), f.json, files, func() (tell.Report, error) {
		live := tell.Begin(c)
		defer live.End()
		if len(files) == 0 {
			return run(live, nil)
		}
		r, err := run(live, rec.Observe)
		rec.Interrupted(r.Stopped)
		return r, err
	})
}

// fitsLock refuses flags that are not for a lock.
func fitsLock(c *cobra.Command, name string) error {
	return ask.Refuse(c, "dead starters", "--FLAG does not fit "+name+", which is no election: leave it out, or simulate bully, ring-election or chang-roberts")
}

// locks turns the flags into a run of a lock, or of several.
func (f *flags) locks(spec algorithm.Spec) (play, error) {
	c := f.config
	c.Spec = spec
	if err := spec.Accepts(c.Nodes); err != nil && f.sections == nil {
		return nil, err
	}
	sections, err := parseSections(f.sections, c.Nodes)
	if err != nil {
		return nil, err
	}
	if f.options.Coordinator > c.Nodes {
		return nil, fmt.Errorf("--coordinator %d: there are processes 1 to %d", f.options.Coordinator, c.Nodes)
	}
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return nil, err
	}
	if f.holder > c.Nodes {
		return nil, fmt.Errorf("--holder %d: there are processes 1 to %d", f.holder, c.Nodes)
	}
	c.Holder = algorithm.ID(f.holder - 1)
	if err := f.does(spec, sections); err != nil {
		return nil, err
	}
	if c.Requesters, err = ask.Processes("requesters", f.requesters, c.Nodes); err != nil {
		return nil, err
	}
	if err := inSome(sections, c.Requesters...); err != nil {
		return nil, fmt.Errorf("--requesters %q: %w", f.requesters, err)
	}
	sets, err := catalog.SetProperties(spec.Name, f.options, c.Nodes)
	if err != nil && sections == nil {
		return nil, err
	}
	return func(live *tell.Live, observe func(trace.Event)) (tell.Report, error) {
		c.Observe, c.Watch = observe, live.Watch("entries")
		if sections != nil {
			return runSections(c, sections)
		}
		r, err := sim.Run(c)
		if err != nil {
			return tell.Report{}, err
		}
		report := struct {
			*sim.Result
			Sets *quorum.Properties `json:"sets,omitempty"` // if somebody chose them
		}{r, sets}
		return tell.Report{JSON: report, Text: func(p *tell.Page) { printRun(p, c, r, sets) }, Stopped: far(c, r), Wrong: tell.Violations(r.Found)}, nil
	}, ask.Span(c)
}

// far says how far runs were when they were stopped, if they were: those of one
// section, or of several side by side.
func far(c sim.Config, results ...*sim.Result) string {
	entries, stopped := 0, false
	for _, r := range results {
		entries += r.Entries
		stopped = stopped || r.Stopped
	}
	if !stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(entries), words.Plural(c.Entries*len(results), "entry"))
}
