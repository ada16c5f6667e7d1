package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/compare"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// maxRuns is how many runs one comparison may take.
const maxRuns = 100_000

// compareFlags is what 'stile compare' can be told.
type compareFlags struct {
	config compare.Config
	out    string
	json   bool

	deadlock bool // methods against deadlock instead
}

func newCompare(stdout, stderr io.Writer) *cobra.Command {
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
  stile compare --deadlock`,
		RunE: func(c *cobra.Command, names []string) error {
			if f.json && !c.Flags().Changed("out") {
				f.out = ""
			}
			if f.deadlock {
				return f.runDeadlock(c, names, stdout, stderr)
			}
			return f.run(names, stdout, stderr)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(counts{&f.config.Nodes, maxNodes}, "nodes", "numbers of processes")
	fs.Var(durations{&f.config.Think}, "think", "rest times; 0 is saturation")
	fs.Var(durations{&f.config.Hold}, "hold", "hold times")
	fs.Var(count{&f.config.Entries, 1, maxEntries}, "entries", "how many entries each run has")
	fs.Var(seed{&f.config.Seed}, "seed", "which of many runs")
	fs.StringVar(&f.out, "out", f.out, "write the report to this `FILE`; \"\" for none")
	fs.BoolVar(&f.deadlock, "deadlock", false, "compare methods against deadlock instead; --nodes are processes, --entries transactions")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs")
	return c
}

// resolve turns names and flags into a comparison.
func (f *compareFlags) resolve(names []string) (compare.Config, error) {
	c := f.config
	seen := map[string]bool{}
	for _, name := range names {
		spec, err := catalog.Make(name, core.Options{})
		if err != nil {
			return c, err
		}
		if seen[name] {
			return c, fmt.Errorf("%s is named twice: name each algorithm once", name)
		}
		seen[name] = true
		c.Specs = append(c.Specs, spec)
	}
	if len(names) == 0 {
		c.Specs = catalog.Sound()
	}
	if runs := len(c.Specs) * len(c.Nodes) * len(c.Think) * len(c.Hold); runs > maxRuns {
		return c, fmt.Errorf("that makes %s: want at most %d, so name fewer", plural(runs, "run"), maxRuns)
	}
	for _, n := range c.Nodes {
		for _, think := range c.Think {
			for _, hold := range c.Hold {
				run := sim.Config{Nodes: n, Think: think, Hold: hold, Burst: 1, Entries: c.Entries, Latency: scenario.Always(scenario.T)}
				if err := checkSpan(run); err != nil {
					return c, err
				}
			}
		}
	}
	return c, nil
}

func (f *compareFlags) run(names []string, stdout, stderr io.Writer) error {
	c, err := f.resolve(names)
	if err != nil {
		return err
	}
	var m *compare.Map
	var outputs []output
	if f.out != "" {
		outputs = []output{{"out", f.out, func() ([]byte, error) { return m.HTML() }}}
	}
	if err := checkAll(outputs); err != nil {
		return err
	}
	bar := newProgress(stderr)
	c.Progress = bar.show
	m, err = compare.Run(c)
	bar.clear()
	if err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	if f.json {
		err = writeJSON(stdout, m.Report())
	} else {
		err = printCompare(stdout, m, f.out)
	}
	if err != nil {
		return err
	}
	return brokenRuns(m)
}

// brokenRuns is the error of a comparison in which a run broke a property.
func brokenRuns(m *compare.Map) error {
	var lines []string
	broken := 0
	for _, c := range m.Cells {
		if c.Result == nil || c.Result.Violations == 0 {
			continue
		}
		if broken++; broken <= tellAtMost {
			v := c.Result.Found[0]
			lines = append(lines, fmt.Sprintf("%s with %s, think %v, hold %v: violation of %s at %s: %v", c.Spec.Name,
				plural(c.Nodes, "process"), c.Think, c.Hold, v.Property, scenario.FormatTime(v.At), v))
		}
	}
	if broken == 0 {
		return nil
	}
	if more := broken - tellAtMost; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s with violations", plural(more, "more run")))
	}
	return found{lines}
}

// A progress is a bar on a terminal; elsewhere it shows nothing.
type progress struct {
	w     io.Writer // nil if there is no terminal
	shown int
}

func newProgress(w io.Writer) *progress {
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{w: w, shown: -1}
		}
	}
	return &progress{}
}

func (p *progress) show(done, total int) {
	const length = 40
	if at := done * length / total; p.w != nil && at != p.shown {
		p.shown = at
		fmt.Fprintf(p.w, "\r[%-*s] %d of %d runs", length, bars(at), done, total)
	}
}

// clear removes the bar.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
