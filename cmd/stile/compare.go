package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/compare"
	"github.com/stile-lock/stile/internal/world/compare/page"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// Bounds of a comparison.
const (
	maxRuns     = 100_000
	maxCompared = 100 // processes that compete for the same locks
)

// compareFlags is what 'stile compare' can be told.
type compareFlags struct {
	config compare.Config
	out    string
	svg    string
	json   bool

	deadlock bool // methods against deadlock instead
}

// compareNew returns the command.
func compareNew() *cobra.Command {
	f := &compareFlags{out: "report.html"}
	f.config = compare.Config{
		Nodes: []int{3, 5, 9, 16, 25}, Entries: 500, Seed: 1,
		Think: []scenario.Dist{
			{Shape: scenario.Exponential, A: 5000 * scenario.T},
			{Shape: scenario.Exponential, A: 50 * scenario.T},
			scenario.Always(0),
		},
		Hold: []scenario.Dist{scenario.Always(scenario.T), scenario.Always(10 * scenario.T)},
	}
	c := &cobra.Command{
		Use:   "compare [ALGORITHM...] [flags]",
		Short: "Compare algorithms over sizes and loads: which is best where",
		Long: `Simulates every algorithm with every number of processes, rest time and hold
time, and shows how it does beside what theory says, and which is best where:
a table here, and a report with charts as a web page that needs no network.

Without names all sound algorithms are compared. Times are in T, the latency of
a message: numbers, exp:MEAN or uniform:LO,HI, separated by commas. With --json
the report is written only if --out is given.`,
		Example: `  stile compare
  stile compare ricart-agrawala maekawa raymond --nodes 4,9,16,25,36 --think 0
  stile compare maekawa maekawa-reject --topology plane --nodes 7,13,31,57
  stile compare --deadlock --svg methods.svg`,
		RunE: func(c *cobra.Command, names []string) error {
			if f.json && !c.Flags().Changed("out") {
				f.out = ""
			}
			return f.run(c, names)
		},
		ValidArgsFunction: func(c *cobra.Command, names []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if f.deadlock {
				return OfferEach(Methods())(c, names, begun)
			}
			return OfferEach(Locks())(c, names, begun)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Counts(&f.config.Nodes, MaxNodes), "nodes", "numbers of processes")
	fs.Var(Times(&f.config.Think), "think", "rest times; 0 is saturation")
	fs.Var(Times(&f.config.Hold), "hold", "hold times")
	fs.Var(Count(&f.config.Entries, 1, MaxEntries), "entries", "how many entries each run has")
	Topology(fs, &f.config.Topology)
	fs.Var(Seed(&f.config.Seed), "seed", "which of many runs")
	fs.Var(FileOrNone(&f.out, ".html"), "out", "write the report to this `FILE`; \"\" for none")
	fs.Var(askFile(&f.svg, ".svg"), "svg", "draw the main chart to this `FILE`: messages per entry over N; with --deadlock throughput and messages")
	fs.BoolVar(&f.deadlock, "deadlock", false, "compare methods against deadlock instead; --nodes are processes, --entries transactions")
	JSON(fs, &f.json)
	return c
}

// A job compares. It returns what came of it, and how to draw that.
type job func(how jobs.Parallel) (Report, drawn, error)

// A drawn is a comparison that can be drawn.
type drawn interface {
	HTML() ([]byte, error) // the web page
	SVG() string           // the main chart
}

func (f *compareFlags) run(c *cobra.Command, names []string) error {
	prepare := f.locks
	if f.deadlock {
		prepare = f.methods
	}
	run, err := prepare(c, names)
	if err != nil {
		return err
	}
	var m drawn
	files := Picture("svg", f.svg, func() string { return m.SVG() })
	if f.out != "" {
		files = append(files, tellFile{Flag: "out", Path: f.out, Make: func() ([]byte, error) { return m.HTML() }})
	}
	return tellRun(c.OutOrStdout(), f.json, files, func() (r Report, err error) {
		live := Begin(c)
		defer live.End()
		r, m, err = run(jobs.Parallel{Progress: live.Bar, Context: live})
		return r, err
	})
}

// locks turns names and flags into a comparison of algorithms.
func (f *compareFlags) locks(_ *cobra.Command, names []string) (job, error) {
	c := f.config
	if f.config.Topology != "" && len(names) == 0 {
		return nil, fmt.Errorf("--topology %s: not every algorithm has a topology to choose: name those that have", f.config.Topology)
	}
	var err error
	c.Specs, err = compareEach("algorithm", names, catalog.Sound(), f.lockOf)
	if err != nil {
		return nil, err
	}
	if runs := len(c.Specs) * len(c.Nodes) * len(c.Think) * len(c.Hold); runs > maxRuns {
		return nil, fmt.Errorf("that makes %s: want at most %d, so name fewer", words.Plural(runs, "run"), maxRuns)
	}
	for _, p := range c.Places() {
		run := sim.Config{Nodes: p.Nodes, Think: p.Think, Hold: p.Hold, Burst: 1, Entries: c.Entries, Latency: scenario.Always(scenario.T)}
		if err := Span(run); err != nil {
			return nil, err
		}
	}
	return func(how jobs.Parallel) (Report, drawn, error) {
		c.Parallel = how
		m, err := compare.Run(c)
		if err != nil {
			return Report{}, nil, err
		}
		return Report{JSON: m.Report(), Text: func(p *Page) { printLocks(p, m, f.out) }, Stopped: m.Stopped(), Wrong: compareBroken(m)}, page.Locks{Map: m}, nil
	}, nil
}

// methods turns names and flags into a comparison of methods against deadlock.
func (f *compareFlags) methods(cmd *cobra.Command, names []string) (job, error) {
	if err := Refuse(cmd, "think hold topology", "--deadlock compares under one load, and has no --FLAG to choose: leave it out"); err != nil {
		return nil, err
	}
	c := compare.DeadlockConfig{Processes: []int{2, 4, 8, 12, 16}, Locks: 20, Sites: 3, Transactions: f.config.Entries, Seed: f.config.Seed}
	if cmd.Flags().Changed("nodes") {
		c.Processes = f.config.Nodes
	}
	for _, n := range c.Processes {
		if n > maxCompared {
			return nil, fmt.Errorf("--nodes %d: with --deadlock at most %d, since all of them compete for %d locks", n, maxCompared, c.Locks)
		}
	}
	var err error
	if c.Methods, err = compareEach("method", names, deadlock.Kept(), methodOf); err != nil {
		return nil, err
	}
	return func(how jobs.Parallel) (Report, drawn, error) {
		c.Parallel = how
		m, err := compare.RunDeadlock(c)
		if err != nil {
			return Report{}, nil, err
		}
		return Report{JSON: m.Report(), Text: func(p *Page) { printMethods(p, m, f.out) }, Stopped: m.Stopped()}, page.Methods{DeadlockMap: m}, nil
	}, nil
}

// lockOf finds an algorithm.
func (f *compareFlags) lockOf(name string) (algorithm.Spec, error) {
	spec, err := Spec(name, algorithm.Options{Topology: f.config.Topology})
	if _, none := deadlock.Find(name); none == nil {
		err = fmt.Errorf("%s is a method against deadlock: give --deadlock to compare those", name)
	}
	return spec, err
}

// methodOf finds a method against deadlock.
func methodOf(name string) (deadlock.Method, error) {
	m, err := Method(name)
	if _, none := catalog.Make(name, algorithm.Options{}); none == nil {
		err = fmt.Errorf("%s is no method against deadlock: leave --deadlock out to compare algorithms", name)
	}
	return m, err
}

// compareEach finds what is named, each of them once; without names it is all there is.
func compareEach[T any](kind string, names []string, all []T, find func(name string) (T, error)) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var list []T
	for i, name := range names {
		x, err := find(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s is named twice: name each %s once", name, kind)
		}
		list = append(list, x)
	}
	return list, nil
}

// compareBroken is the error of a comparison in which a run broke a property.
func compareBroken(m *compare.Map) error {
	var cells []compare.Cell
	for _, c := range m.Cells {
		if c.Result != nil && c.Result.Violations > 0 {
			cells = append(cells, c)
		}
	}
	return Wrong(cells, "run", " with violations", func(c compare.Cell) string {
		return fmt.Sprintf("%s with %s, think %v, hold %v: %s", c.Spec.Name, words.Plural(c.Nodes, "process"), c.Think, c.Hold, Violation(c.Result.Found[0]))
	})
}
