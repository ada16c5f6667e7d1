package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/compare"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// Bounds of a comparison.
const (
	maxRuns     = 100_000
	maxCompared = 100 // processes, with --deadlock
)

// compareFlags holds the flags of 'stile-lab compare'.
type compareFlags struct {
	config compare.Config
	svg    string
	json   bool

	deadlock bool // compare methods against deadlock
}

func newCompare() *cobra.Command {
	f := &compareFlags{}
	f.config = compare.Config{
		Nodes: []int{3, 5, 9, 16, 25}, Entries: 500, Seed: 1,
		Think: []scenario.Dist{
			scenario.Exponential(5000 * scenario.T),
			scenario.Exponential(50 * scenario.T),
			scenario.Always(0),
		},
		Hold: []scenario.Dist{scenario.Always(scenario.T), scenario.Always(10 * scenario.T)},
	}
	c := &cobra.Command{
		Use:   "compare [ALGORITHM...] [flags]",
		Short: "Compare algorithms over sizes and loads",
		Long: `Simulates every algorithm with every number of processes, think time and hold
time, and compares the measurements with theory and with each other. 'stile-lab'
shows such a comparison as a page.

Without names all sound algorithms are compared. Times are in T, the latency of
a message: numbers, exp:MEAN or uniform:LO,HI, separated by commas.`,
		Example: `  stile-lab compare
  stile-lab compare ricart-agrawala maekawa raymond --nodes 4,9,16,25,36 --think 0
  stile-lab compare maekawa maekawa-reject --topology plane --nodes 7,13,31,57
  stile-lab compare --deadlock --svg methods.svg`,
		RunE: f.run,
		ValidArgsFunction: func(c *cobra.Command, names []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if f.deadlock {
				return completeRemaining(methodNames())(c, names, begun)
			}
			return completeRemaining(lockNames())(c, names, begun)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(countsFlag(&f.config.Nodes, maxNodes), "nodes", "numbers of processes")
	fs.Var(timesFlag(&f.config.Think), "think", "think times; 0 is saturation")
	fs.Var(timesFlag(&f.config.Hold), "hold", "hold times")
	fs.Var(terminal.CountFlag(&f.config.Entries, 1, maxEntries), "entries", "number of entries in each run")
	topologyFlag(fs, &f.config.Topology)
	fs.Var(seedFlag(&f.config.Seed), "seed", "seed of the runs")
	fs.Var(terminal.OutputFileFlag(&f.svg, ".svg"), "svg", "SVG `FILE` for a chart: messages per entry over N; with --deadlock throughput and messages")
	fs.BoolVar(&f.deadlock, "deadlock", false, "compare methods against deadlock instead; --nodes counts processes, --entries transactions")
	terminal.JSONFlag(fs, &f.json)
	return c
}

// A comparison runs, and returns its outcome and what draws its chart.
type comparison func(how jobs.Parallel) (r terminal.Outcome, chart func() string, err error)

func (f *compareFlags) run(c *cobra.Command, names []string) error {
	prepare := f.locks
	if f.deadlock {
		prepare = f.methods
	}
	run, err := prepare(c, names)
	if err != nil {
		return err
	}
	var chart func() string
	files := terminal.PictureFile("svg", f.svg, func() string { return chart() })
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (r terminal.Outcome, err error) {
		prog := terminal.StartProgress(c)
		defer prog.End()
		r, chart, err = run(jobs.Parallel{Progress: prog.Bar, Context: prog})
		return r, err
	})
}

// locks turns names and flags into a comparison of algorithms.
func (f *compareFlags) locks(_ *cobra.Command, names []string) (comparison, error) {
	c := f.config
	if f.config.Topology != "" && len(names) == 0 {
		return nil, fmt.Errorf("--topology %s: not every algorithm has a topology: name those that do", f.config.Topology)
	}
	var err error
	c.Specs, err = findEach("algorithm", names, catalog.Sound(), f.lockOf)
	if err != nil {
		return nil, err
	}
	if runs := len(c.Specs) * len(c.Nodes) * len(c.Think) * len(c.Hold); runs > maxRuns {
		return nil, fmt.Errorf("%s in total, at most %d are allowed: give fewer algorithms, sizes or times", words.Plural(runs, "run"), maxRuns)
	}
	for _, p := range c.Places() {
		run := sim.Config{Nodes: p.Nodes, Think: p.Think, Hold: p.Hold, Burst: 1, Entries: c.Entries, Latency: scenario.Always(scenario.T)}
		if err := checkRunLength(run); err != nil {
			return nil, err
		}
	}
	return func(how jobs.Parallel) (terminal.Outcome, func() string, error) {
		c.Parallel = how
		m, err := compare.Run(c)
		if err != nil {
			return terminal.Outcome{}, nil, err
		}
		return terminal.Outcome{JSON: m.Report(), Text: func(p *terminal.Printer) { printComparison(p, m) }, Stopped: m.Stopped(), Wrong: comparisonFindings(m)}, m.SVG, nil
	}, nil
}

// methods turns names and flags into a comparison of methods against deadlock.
func (f *compareFlags) methods(cmd *cobra.Command, names []string) (comparison, error) {
	if err := terminal.RefuseFlags(cmd, "think hold topology", "--FLAG does not apply to --deadlock, which compares under one load: leave it out"); err != nil {
		return nil, err
	}
	c := compare.DeadlockConfig{Processes: []int{2, 4, 8, 12, 16}, Locks: 20, Sites: 3, Transactions: f.config.Entries, Seed: f.config.Seed}
	if cmd.Flags().Changed("nodes") {
		c.Processes = f.config.Nodes
	}
	for _, n := range c.Processes {
		if n > maxCompared {
			return nil, fmt.Errorf("--nodes %d: must be at most %d with --deadlock, because all processes compete for %d locks", n, maxCompared, c.Locks)
		}
	}
	var err error
	if c.Methods, err = findEach("method", names, deadlock.Kept(), methodOf); err != nil {
		return nil, err
	}
	return func(how jobs.Parallel) (terminal.Outcome, func() string, error) {
		c.Parallel = how
		m, err := compare.RunDeadlock(c)
		if err != nil {
			return terminal.Outcome{}, nil, err
		}
		return terminal.Outcome{JSON: m.Report(), Text: func(p *terminal.Printer) { printMethodComparison(p, m) }, Stopped: m.Stopped()}, m.SVG, nil
	}, nil
}

// lockOf finds an algorithm.
func (f *compareFlags) lockOf(name string) (algorithm.Spec, error) {
	spec, err := findAlgorithm(name, algorithm.Options{Topology: f.config.Topology})
	if _, none := deadlock.Find(name); none == nil {
		err = fmt.Errorf("%s is a method against deadlock: give --deadlock to compare those", name)
	}
	return spec, err
}

// methodOf finds a method against deadlock.
func methodOf(name string) (deadlock.Method, error) {
	m, err := findMethod(name)
	if _, none := catalog.Make(name, algorithm.Options{}); none == nil {
		err = fmt.Errorf("%s is not a method against deadlock: leave out --deadlock to compare algorithms", name)
	}
	return m, err
}

// findEach finds everything that is named, without repetition, or returns all if there are
// no names.
func findEach[T any](kind string, names []string, all []T, find func(name string) (T, error)) ([]T, error) {
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
			return nil, fmt.Errorf("%s is listed twice: list each %s once", name, kind)
		}
		list = append(list, x)
	}
	return list, nil
}

// comparisonFindings returns findings for runs that violated a property, or nil.
func comparisonFindings(m *compare.Map) error {
	var cells []compare.Cell
	for _, c := range m.Cells {
		if c.Result != nil && c.Result.Violations > 0 {
			cells = append(cells, c)
		}
	}
	return terminal.FindingsOf(cells, "run", " with violations", func(c compare.Cell) string {
		return fmt.Sprintf("%s with %s, think %v, hold %v: %s", c.Spec.Name, words.Plural(c.Nodes, "process"), c.Think, c.Hold, violationText(c.Result.Found[0]))
	})
}

// printComparison prints a comparison of algorithms: a table for each load, and then
// the best algorithms.
func printComparison(p *terminal.Printer, m *compare.Map) {
	p.Line("%s, %s per run, seed %d; times in T, the message latency",
		words.Plural(len(m.Specs), "algorithm"), words.Plural(m.Entries, "entry"), m.Seed)
	if m.Topology != "" {
		p.Line("topology %s", m.Topology)
	}
	shown := pickEvenly(len(m.Nodes), 5)
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			if !m.Begun(t, h) {
				continue
			}
			busy := ""
			if think.Max() == 0 {
				busy = " (saturated)"
			}
			p.Gap()
			p.Line("THINK %v%s, HOLD %v", think, busy, hold)
			printLoadTable(p, m, shown, t, h)
			printConstants(p, m, shown, t, h)
		}
	}
	p.Gap()
	printBest(p, m, shown)
	printOmitted(p, shown, m.Nodes)
}

// printOmitted says that some numbers of processes are not shown, if that is so.
func printOmitted(p *terminal.Printer, shown, all []int) {
	if len(shown) < len(all) {
		p.Gap()
		p.Line("Some numbers of processes are omitted here; --json has them all.")
	}
}

// pickEvenly picks at most k of n indices evenly, including the first and the last.
func pickEvenly(n, k int) []int {
	var chosen []int
	for i := range min(n, k) {
		if n <= k {
			chosen = append(chosen, i)
		} else {
			chosen = append(chosen, i*(n-1)/(k-1))
		}
	}
	return chosen
}

// printLoadTable prints all algorithms under one load: messages for each number of
// processes, and theory, delay and throughput for the largest.
func printLoadTable(p *terminal.Printer, m *compare.Map, shown []int, think, hold int) {
	by := compare.Measures()
	messages, sync, throughput := by[0], by[1], by[2]
	last := len(m.Nodes) - 1
	head := fmt.Sprintf("%-23s", "messages per entry, N =")
	for _, n := range shown {
		head += fmt.Sprintf("%6d", m.Nodes[n])
	}
	room := terminal.ScreenWidth - 23 - 6*len(shown) - 2 - 7 - 8
	p.Line("%s  %-*s%7s%8s", head, room, "theory", "sync", "per T")
	for s, spec := range m.Specs {
		line := fmt.Sprintf("%-23s", terminal.Truncate(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(messages.Value(m.Find(s, n, think, hold))))
		}
		c := m.Find(s, last, think, hold)
		p.Line("%s  %-*s%7s%8s", line, room, terminal.Truncate(theoryText(messages, c), room), words.Compact(sync.Value(c)), words.Compact(throughput.Value(c)))
	}
	p.Line("%*s", terminal.ScreenWidth, fmt.Sprintf("(theory, sync delay and throughput for N = %d)", m.Nodes[last]))
}

// printConstants prints Maekawa's constant c for each number of processes, if there are
// quorum algorithms.
func printConstants(p *terminal.Printer, m *compare.Map, shown []int, think, hold int) {
	head := "c = messages / sqrt(N) of the quorum algorithms"
	for s, spec := range m.Specs {
		if spec.Class != algorithm.Quorum {
			continue
		}
		line := fmt.Sprintf("%-23s", terminal.Truncate(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(m.Find(s, n, think, hold).Constant()))
		}
		if head != "" {
			p.Line("%s", head)
			head = ""
		}
		p.Line("%s", line)
	}
}

// theoryText returns what theory predicts for a cell.
func theoryText(by compare.Measure, c *compare.Cell) string {
	if r, ok := by.Range(c); ok {
		return words.Range(r.Lo, r.Hi)
	}
	return "-"
}

// printBest prints the best algorithms for each size and load.
func printBest(p *terminal.Printer, m *compare.Map, shown []int) {
	by := compare.Measures()[:3]
	if m.Stopped() != "" {
		p.Text(0, "Rows with missing runs are omitted.")
	}
	p.Line("BEST ALGORITHMS (+n: n others come within 1 %%)")
	p.Line("%9s%5s%4s  %-20s%-20s%s", "think", "hold", "N", "fewest messages", "shortest sync delay", "highest throughput")
	for place, at := range m.Places() {
		if !slices.Contains(shown, place%len(m.Nodes)) || !m.Complete(place) {
			continue
		}
		line := fmt.Sprintf("%9s%5s%4d  ", terminal.Truncate(at.Think.String(), 8), terminal.Truncate(at.Hold.String(), 4), at.Nodes)
		for _, measure := range by {
			line += fmt.Sprintf("%-20s", bestName(m, measure, place, 19))
		}
		p.Line("%s", line)
	}
}

func bestName(m *compare.Map, by compare.Measure, place, room int) string {
	best := m.Best(by, place)
	if len(best.Specs) == 0 {
		return "-"
	}
	if best.All {
		return "all alike"
	}
	more := ""
	if n := len(best.Specs) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	return terminal.Truncate(m.Specs[best.Specs[0]].Name, room-len(more)) + more
}

// printMethodComparison prints a comparison of methods: a table for each measure.
func printMethodComparison(p *terminal.Printer, m *compare.DeadlockMap) {
	p.Line("Methods against deadlock: %s over %s at %s, seed %d", words.Plural(m.Transactions, "transaction"),
		words.Plural(m.Locks, "lock"), words.Plural(m.Sites, "site"), m.Seed)
	shown := pickEvenly(len(m.Processes), 6)
	for _, by := range compare.DeadlockMeasures() {
		p.Gap()
		head := fmt.Sprintf("%-32s", by.Title+", N =")
		if len(by.Title) > 26 {
			p.Line("%s", by.Title)
			head = fmt.Sprintf("%-32s", "N =")
		}
		for _, n := range shown {
			head += fmt.Sprintf("%8d", m.Processes[n])
		}
		p.Line("%s", head)
		for _, r := range m.Rows {
			line := fmt.Sprintf("  %-30s", r.Name)
			for _, n := range shown {
				line += fmt.Sprintf("%8s", words.Compact(by.Value(r.Results[n])))
			}
			p.Line("%s", line)
		}
	}
	printOmitted(p, shown, m.Processes)
}
