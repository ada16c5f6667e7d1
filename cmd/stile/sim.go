package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// simFlags is what 'stile sim' can be told.
type simFlags struct {
	config     sim.Config
	options    algorithm.Options
	requesters string
	network    string
	holder     int
	dead       string
	starters   string
	sections   []string
	json       bool
	scene      Scene

	given func(flag string) bool
}

// simNew returns the command.
func simNew() *cobra.Command {
	f := &simFlags{network: algorithm.FIFO.String(), holder: 1, config: sim.Config{
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
		Args: Algorithm,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: OfferAlgorithms(),
	}
	f.define(c)
	return c
}

func (f *simFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(Count(&f.config.Nodes, 1, MaxNodes), "nodes", "n", "how many processes")
	fs.Var(Count(&f.config.Entries, 1, MaxEntries), "entries", "how many requests in all; the run ends when each is served")
	fs.Var(Time(&f.config.Think), "think", "from an exit to the next request of a process; 0 is saturation")
	fs.Var(Time(&f.config.Hold), "hold", "from entry to exit")
	fs.Var(Latency(&f.config.Latency), "latency", "of a message")
	fs.StringArrayVar(&f.sections, "section", nil, "a critical section of its own, and who uses it: `NAME:LIST` such as seats:1,2,4; give several")
	fs.Var(List(&f.requesters), "requesters", "who asks: a `LIST` such as 1,2,5-7 (default everybody)")
	fs.Var(Count(&f.config.Local, 1, MaxEntries), "local", "the first requester asks so many times as often")
	fs.Var(Count(&f.config.Burst, 1, MaxEntries), "burst", "a process asks so many times in a row, then thinks longer")
	fs.Var(Count(&f.holder, 1, MaxNodes), "holder", "who has the token at the start, where there is one")
	fs.Var(Choice(&f.network, Networks()...), "network", "what `KIND` of network: fifo, unordered, duplicating or lossy")
	Options(fs, &f.options, MaxNodes)
	fs.Var(List(&f.dead), "dead", "elections: who is dead, a `LIST` such as 7,8 (default nobody)")
	fs.Var(List(&f.starters), "starters", "elections: who notices and starts, a `LIST` (default the lowest alive)")
	fs.Var(Seed(&f.config.Seed), "seed", "which of many runs")
	JSON(fs, &f.json)
	f.scene.Define(fs)
}

// does refuses flags that would change nothing.
func (f *simFlags) does(spec algorithm.Spec, sections []scenario.Section) error {
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
	held, err := Held(spec, nodes)
	if err == nil && !held {
		err = fmt.Errorf("--holder %d: %s has no token that somebody holds at the start: leave it out", f.holder, spec.Name)
	}
	return err
}

// A play runs what was asked for. observe is told all that happens; it may be
// nil.
type play func(live *Live, observe func(trace.Event)) (Report, error)

func (f *simFlags) run(c *cobra.Command, name string) error {
	f.given = c.Flags().Changed
	spec, err := Spec(name, algorithm.Options{})
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
	rec := NewRecorder(f.config.Nodes, spec)
	files, err := rec.Files(&f.scene)
	if err != nil {
		return err
	}
	return tellRun(c.OutOrStdout(), f.json, files, func() (Report, error) {
		live := Begin(c)
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
	return Refuse(c, "dead starters", "--FLAG does not fit "+name+", which is no election: leave it out, or simulate bully, ring-election or chang-roberts")
}

// locks turns the flags into a run of a lock, or of several.
func (f *simFlags) locks(spec algorithm.Spec) (play, error) {
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
	if c.Requesters, err = askProcesses("requesters", f.requesters, c.Nodes); err != nil {
		return nil, err
	}
	if err := inSome(sections, c.Requesters...); err != nil {
		return nil, fmt.Errorf("--requesters %q: %w", f.requesters, err)
	}
	sets, err := catalog.SetProperties(spec.Name, f.options, c.Nodes)
	if err != nil && sections == nil {
		return nil, err
	}
	return func(live *Live, observe func(trace.Event)) (Report, error) {
		c.Observe, c.Watch = observe, live.Watch("entries")
		if sections != nil {
			return runSections(c, sections)
		}
		r, err := sim.Run(c)
		if err != nil {
			return Report{}, err
		}
		report := struct {
			*sim.Result
			Sets *quorum.Properties `json:"sets,omitempty"` // if somebody chose them
		}{r, sets}
		return Report{JSON: report, Text: func(p *Page) { simPrintRun(p, c, r, sets) }, Stopped: simFar(c, r), Wrong: Violations(r.Found)}, nil
	}, Span(c)
}

// simFar says how far runs were when they were stopped, if they were: those of one
// section, or of several side by side.
func simFar(c sim.Config, results ...*sim.Result) string {
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
