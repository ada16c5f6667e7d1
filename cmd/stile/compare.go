package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/lab/compare"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// Bounds of a comparison.
const (
	maxRuns     = 100_000
	maxCompared = 100 // processes, with --deadlock
)

// compareFlags holds the flags of 'stile compare'.
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
time, and compares the measurements with theory and with each other. 'stile lab'
shows such a comparison as a page.

Without names all sound algorithms are compared. Times are in T, the latency of
a message: numbers, exp:MEAN or uniform:LO,HI, separated by commas.`,
		Example: `  stile compare
  stile compare ricart-agrawala maekawa raymond --nodes 4,9,16,25,36 --think 0
  stile compare maekawa maekawa-reject --topology plane --nodes 7,13,31,57
  stile compare --deadlock --svg methods.svg`,
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
	fs.Var(countFlag(&f.config.Entries, 1, maxEntries), "entries", "number of entries in each run")
	topologyFlag(fs, &f.config.Topology)
	fs.Var(seedFlag(&f.config.Seed), "seed", "seed of the runs")
	fs.Var(outputFileFlag(&f.svg, ".svg"), "svg", "SVG `FILE` for a chart: messages per entry over N; with --deadlock throughput and messages")
	fs.BoolVar(&f.deadlock, "deadlock", false, "compare methods against deadlock instead; --nodes counts processes, --entries transactions")
	jsonFlag(fs, &f.json)
	return c
}

// A comparison runs, and returns its outcome and what draws its chart.
type comparison func(how jobs.Parallel) (r outcome, chart func() string, err error)

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
	files := pictureFile("svg", f.svg, func() string { return chart() })
	return runAndReport(c.OutOrStdout(), f.json, files, func() (r outcome, err error) {
		prog := startProgress(c)
		defer prog.end()
		r, chart, err = run(jobs.Parallel{Progress: prog.bar, Context: prog})
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
	return func(how jobs.Parallel) (outcome, func() string, error) {
		c.Parallel = how
		m, err := compare.Run(c)
		if err != nil {
			return outcome{}, nil, err
		}
		return outcome{json: m.Report(), text: func(p *printer) { printComparison(p, m) }, stopped: m.Stopped(), wrong: comparisonFindings(m)}, m.SVG, nil
	}, nil
}

// methods turns names and flags into a comparison of methods against deadlock.
func (f *compareFlags) methods(cmd *cobra.Command, names []string) (comparison, error) {
	if err := refuseFlags(cmd, "think hold topology", "--FLAG does not apply to --deadlock, which compares under one load: leave it out"); err != nil {
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
	return func(how jobs.Parallel) (outcome, func() string, error) {
		c.Parallel = how
		m, err := compare.RunDeadlock(c)
		if err != nil {
			return outcome{}, nil, err
		}
		return outcome{json: m.Report(), text: func(p *printer) { printMethodComparison(p, m) }, stopped: m.Stopped()}, m.SVG, nil
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
	return findingsOf(cells, "run", " with violations", func(c compare.Cell) string {
		return fmt.Sprintf("%s with %s, think %v, hold %v: %s", c.Spec.Name, words.Plural(c.Nodes, "process"), c.Think, c.Hold, violationText(c.Result.Found[0]))
	})
}

// printComparison prints a comparison of algorithms: a table for each load, and then
// the best algorithms.
func printComparison(p *printer, m *compare.Map) {
	p.line("%s, %s per run, seed %d; times in T, the message latency",
		words.Plural(len(m.Specs), "algorithm"), words.Plural(m.Entries, "entry"), m.Seed)
	if m.Topology != "" {
		p.line("topology %s", m.Topology)
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
			p.gap()
			p.line("THINK %v%s, HOLD %v", think, busy, hold)
			printLoadTable(p, m, shown, t, h)
			printConstants(p, m, shown, t, h)
		}
	}
	p.gap()
	printBest(p, m, shown)
	printOmitted(p, shown, m.Nodes)
}

// printOmitted says that some numbers of processes are not shown, if that is so.
func printOmitted(p *printer, shown, all []int) {
	if len(shown) < len(all) {
		p.gap()
		p.line("Some numbers of processes are omitted here; --json has them all.")
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
func printLoadTable(p *printer, m *compare.Map, shown []int, think, hold int) {
	by := compare.Measures()
	messages, sync, throughput := by[0], by[1], by[2]
	last := len(m.Nodes) - 1
	head := fmt.Sprintf("%-23s", "messages per entry, N =")
	for _, n := range shown {
		head += fmt.Sprintf("%6d", m.Nodes[n])
	}
	room := screenWidth - 23 - 6*len(shown) - 2 - 7 - 8
	p.line("%s  %-*s%7s%8s", head, room, "theory", "sync", "per T")
	for s, spec := range m.Specs {
		line := fmt.Sprintf("%-23s", truncate(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(messages.Value(m.Find(s, n, think, hold))))
		}
		c := m.Find(s, last, think, hold)
		p.line("%s  %-*s%7s%8s", line, room, truncate(theoryText(messages, c), room), words.Compact(sync.Value(c)), words.Compact(throughput.Value(c)))
	}
	p.line("%*s", screenWidth, fmt.Sprintf("(theory, sync delay and throughput for N = %d)", m.Nodes[last]))
}

// printConstants prints Maekawa's constant c for each number of processes, if there are
// quorum algorithms.
func printConstants(p *printer, m *compare.Map, shown []int, think, hold int) {
	head := "c = messages / sqrt(N) of the quorum algorithms"
	for s, spec := range m.Specs {
		if spec.Class != algorithm.Quorum {
			continue
		}
		line := fmt.Sprintf("%-23s", truncate(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(m.Find(s, n, think, hold).Constant()))
		}
		if head != "" {
			p.line("%s", head)
			head = ""
		}
		p.line("%s", line)
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
func printBest(p *printer, m *compare.Map, shown []int) {
	by := compare.Measures()[:3]
	if m.Stopped() != "" {
		p.text(0, "Rows with missing runs are omitted.")
	}
	p.line("BEST ALGORITHMS (+n: n others come within 1 %%)")
	p.line("%9s%5s%4s  %-20s%-20s%s", "think", "hold", "N", "fewest messages", "shortest sync delay", "highest throughput")
	for place, at := range m.Places() {
		if !slices.Contains(shown, place%len(m.Nodes)) || !m.Complete(place) {
			continue
		}
		line := fmt.Sprintf("%9s%5s%4d  ", truncate(at.Think.String(), 8), truncate(at.Hold.String(), 4), at.Nodes)
		for _, measure := range by {
			line += fmt.Sprintf("%-20s", bestName(m, measure, place, 19))
		}
		p.line("%s", line)
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
	return truncate(m.Specs[best.Specs[0]].Name, room-len(more)) + more
}

// printMethodComparison prints a comparison of methods: a table for each measure.
func printMethodComparison(p *printer, m *compare.DeadlockMap) {
	p.line("Methods against deadlock: %s over %s at %s, seed %d", words.Plural(m.Transactions, "transaction"),
		words.Plural(m.Locks, "lock"), words.Plural(m.Sites, "site"), m.Seed)
	shown := pickEvenly(len(m.Processes), 6)
	for _, by := range compare.DeadlockMeasures() {
		p.gap()
		head := fmt.Sprintf("%-32s", by.Title+", N =")
		if len(by.Title) > 26 {
			p.line("%s", by.Title)
			head = fmt.Sprintf("%-32s", "N =")
		}
		for _, n := range shown {
			head += fmt.Sprintf("%8d", m.Processes[n])
		}
		p.line("%s", head)
		for _, r := range m.Rows {
			line := fmt.Sprintf("  %-30s", r.Name)
			for _, n := range shown {
				line += fmt.Sprintf("%8s", words.Compact(by.Value(r.Results[n])))
			}
			p.line("%s", line)
		}
	}
	printOmitted(p, shown, m.Processes)
}
