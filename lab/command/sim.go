package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// simFlags holds the flags of 'stile-lab sim'.
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
	output     traceOutput
	explain    func(why []trace.Why) // gets the reasons for each step; nil without --why

	given func(flag string) bool
}

func newSim() *cobra.Command {
	f := &simFlags{network: algorithm.FIFO.String(), holder: 1, config: sim.Config{
		Nodes: 5, Entries: 1000, Seed: 1, Local: 1, Burst: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}}
	c := &cobra.Command{
		Use:   "sim ALGORITHM [flags]",
		Short: "Simulate an algorithm and compare it with theory",
		Long: `Simulates processes that request, enter and leave until all requests are served,
and prints the measurements beside the predictions of theory. The same seed
gives the same run, to the byte. Exit code 1 means that a property was violated.

Times are in T, the usual latency of a message: a number, exp:MEAN or
uniform:LO,HI. Processes are numbered from 1. 'stile-lab algorithms' lists the
algorithms.

With --section there are several critical sections, each an instance of the
algorithm among the processes that use it, with its own --entries.

An election (bully, ring-election, chang-roberts) is run once: in a group led by
its highest process some processes have crashed, and others notice it.`,
		Example: `  stile-lab sim ricart-agrawala --nodes 10
  stile-lab sim maekawa --nodes 13 --topology plane --think exp:100
  stile-lab sim raymond --nodes 5 --topology 1-2,1-3,3-4,3-5 --entries 4 --svg a.svg
  stile-lab sim ricart-agrawala --section seats:1,2,4 --section films:2,3,5
  stile-lab sim bakery-naive --latency exp:1 --entries 20 --trace failure.txt
  stile-lab sim bully --nodes 8 --dead 8 --starters 5 --svg bully.svg`,
		Args: oneAlgorithm,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: completeAlgorithm(),
	}
	f.define(c)
	return c
}

func (f *simFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(terminal.CountFlag(&f.config.Nodes, 1, maxNodes), "nodes", "n", "number of processes")
	fs.Var(terminal.CountFlag(&f.config.Entries, 1, maxEntries), "entries", "total number of requests; the run ends when all are served")
	fs.Var(timeFlag(&f.config.Think), "think", "think time, from a process's exit to its next request; 0 is saturation")
	fs.Var(timeFlag(&f.config.Hold), "hold", "hold time, from entry to exit")
	fs.Var(latencyFlag(&f.config.Latency), "latency", "latency of a message")
	fs.StringArrayVar(&f.sections, "section", nil, "critical section and the processes that use it: `NAME:LIST` such as seats:1,2,4; repeatable")
	fs.Var(processListFlag(&f.requesters), "requesters", "`LIST` of processes that make requests, such as 1,2,5-7 (default all)")
	fs.Var(terminal.CountFlag(&f.config.Local, 1, maxEntries), "local", "request rate of the first requester, as a multiple of the others'")
	fs.Var(terminal.CountFlag(&f.config.Burst, 1, maxEntries), "burst", "number of requests in a row before a process thinks for longer")
	fs.Var(terminal.CountFlag(&f.holder, 1, maxNodes), "holder", "process that starts with the token, if the algorithm has one")
	fs.Var(terminal.ChoiceFlag(&f.network, networkNames()...), "network", "`KIND` of network: fifo, unordered, duplicating or lossy")
	optionFlags(fs, &f.options, maxNodes)
	fs.Var(processListFlag(&f.dead), "dead", "for elections: `LIST` of crashed processes, such as 7,8 (default none)")
	fs.Var(processListFlag(&f.starters), "starters", "for elections: `LIST` of processes that notice it and start (default the lowest live one)")
	fs.Var(seedFlag(&f.config.Seed), "seed", "seed of the run")
	terminal.JSONFlag(fs, &f.json)
	f.output.define(fs)
	f.output.defineWhy(fs)
}

// checkEffects refuses flags that would have no effect.
func (f *simFlags) checkEffects(spec algorithm.Spec, sections []script.Section) error {
	for _, flag := range []string{"local", "burst"} {
		if f.given(flag) && f.config.Think.Max() == 0 {
			return fmt.Errorf("--%s has no effect without think time: give --think too", flag)
		}
	}
	if !f.given("holder") {
		return nil
	}
	if err := checkMembers(sections, algorithm.ID(f.holder-1)); err != nil {
		return fmt.Errorf("--holder %d: %w", f.holder, err)
	}
	nodes := f.config.Nodes
	for _, s := range sections {
		nodes = len(s.Members)
	}
	held, err := holderMatters(spec, nodes)
	if err == nil && !held {
		err = fmt.Errorf("--holder %d: %s has no token that a process could hold at the start: leave it out", f.holder, spec.Name)
	}
	return err
}

// A simulation runs with these flags. observe gets every event; it may be nil.
type simulation func(prog *terminal.Progress, observe func(trace.Event)) (terminal.Outcome, error)

func (f *simFlags) run(c *cobra.Command, name string) error {
	f.given = c.Flags().Changed
	spec, err := findAlgorithm(name, algorithm.Options{})
	if err != nil {
		return err
	}
	fits, prepare := checkLockFlags, f.locks
	if spec.Family == algorithm.Election {
		fits, prepare = checkElectionFlags, f.election
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
	if err := f.output.checkWhy(); err != nil {
		return err
	}
	rec := newRecorder(f.config.Nodes, spec)
	files, err := rec.files(&f.output)
	if err != nil {
		return err
	}
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(c)
		defer prog.End()
		if len(files) == 0 {
			return run(prog, nil)
		}
		if f.output.why {
			f.explain = rec.explain
		}
		r, err := run(prog, rec.observe)
		rec.interrupted(r.Stopped)
		return r, err
	})
}

// checkLockFlags refuses flags that do not apply to a lock.
func checkLockFlags(c *cobra.Command, name string) error {
	return terminal.RefuseFlags(c, "dead starters", "--FLAG does not apply to "+name+", which is not an election: leave it out, or simulate bully, ring-election or chang-roberts")
}

// locks turns the flags into a run of a lock, or of several.
func (f *simFlags) locks(spec algorithm.Spec) (simulation, error) {
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
		return nil, fmt.Errorf("--coordinator %d: processes are numbered 1 to %d", f.options.Coordinator, c.Nodes)
	}
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return nil, err
	}
	if f.holder > c.Nodes {
		return nil, fmt.Errorf("--holder %d: processes are numbered 1 to %d", f.holder, c.Nodes)
	}
	c.Holder = algorithm.ID(f.holder - 1)
	if err := f.checkEffects(spec, sections); err != nil {
		return nil, err
	}
	if c.Requesters, err = parseProcesses("requesters", f.requesters, c.Nodes); err != nil {
		return nil, err
	}
	if err := checkMembers(sections, c.Requesters...); err != nil {
		return nil, fmt.Errorf("--requesters %q: %w", f.requesters, err)
	}
	sets, err := catalog.SetProperties(spec.Name, f.options, c.Nodes)
	if err != nil && sections == nil {
		return nil, err
	}
	return func(prog *terminal.Progress, observe func(trace.Event)) (terminal.Outcome, error) {
		c.Observe, c.Explain, c.Watch = observe, f.explain, watchRun(prog, "entries")
		if sections != nil {
			return runSections(c, sections)
		}
		r, err := sim.Run(c)
		if err != nil {
			return terminal.Outcome{}, err
		}
		report := struct {
			*sim.Result
			Sets  *quorum.Properties `json:"sets,omitempty"` // if they were given
			Votes int                `json:"votes_needed,omitempty"`
		}{r, sets, votesNeeded(c)}
		return terminal.Outcome{JSON: report, Text: func(p *terminal.Printer) { printSimRun(p, c, r, sets) }, Stopped: simProgress(c, r), Wrong: violationFindings(r.Found)}, nil
	}, checkRunLength(c)
}

// simProgress says how far runs were when they were interrupted, if they were. There is
// one for each section.
func simProgress(c sim.Config, results ...*sim.Result) string {
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

// parseSections parses sections such as seats:1,2,4. Nil means one section of all
// processes.
func parseSections(list []string, nodes int) ([]script.Section, error) {
	var sections []script.Section
	for _, text := range list {
		name, who, _ := strings.Cut(text, ":")
		if err := script.CheckSectionName(name); err != nil {
			return nil, fmt.Errorf("--section %q: %w", text, err)
		}
		if slices.ContainsFunc(sections, func(s script.Section) bool { return s.Name == name }) {
			return nil, fmt.Errorf("--section %q: section %s is given twice: give it another name", text, name)
		}
		ids, err := parseProcesses("section", who, nodes)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			return nil, fmt.Errorf("--section %q: must be a name and the processes that use it, such as seats:1,2,4", text)
		}
		slices.Sort(ids)
		sections = append(sections, script.Section{Name: name, Members: ids})
	}
	if len(sections) > script.MaxSections {
		return nil, fmt.Errorf("%d sections: at most %d are allowed", len(sections), script.MaxSections)
	}
	return sections, nil
}

// checkMembers refuses processes that use none of the sections, if there are any.
func checkMembers(sections []script.Section, all ...algorithm.ID) error {
	for _, p := range all {
		uses := func(s script.Section) bool { return slices.Contains(s.Members, p) }
		if sections != nil && !slices.ContainsFunc(sections, uses) {
			return fmt.Errorf("no --section includes %v: give other processes", p)
		}
	}
	return nil
}

// runSections runs several sections together and prints one after the other.
func runSections(c sim.Config, sections []script.Section) (terminal.Outcome, error) {
	all, err := sim.RunSections(c, sections)
	if err != nil {
		return terminal.Outcome{}, err
	}
	var found []sim.Violation
	for _, r := range all {
		found = append(found, r.Found...)
	}
	text := func(p *terminal.Printer) {
		for i, r := range all {
			if i > 0 {
				p.Gap()
			}
			p.Line("section %s among %s", r.Section, processNames(sections[i].Members))
			printSimRun(p, c, r, nil)
		}
	}
	report := struct {
		Algorithm string        `json:"algorithm"`
		Nodes     int           `json:"nodes"`
		Seed      uint64        `json:"seed"`
		Sections  []*sim.Result `json:"sections"`
	}{c.Spec.Name, c.Nodes, c.Seed, all}
	return terminal.Outcome{JSON: report, Text: text, Stopped: simProgress(c, all...), Wrong: violationFindings(found)}, nil
}

// checkElectionFlags refuses flags that do not apply to an election.
func checkElectionFlags(c *cobra.Command, name string) error {
	return terminal.OnlyFlags(c, "nodes latency network topology dead starters seed json svg trace from to",
		"--FLAG does not apply to "+name+", which is an election: it takes --nodes, --dead, --starters, --latency, --network, --seed, --json, --svg and --trace")
}

// election turns the flags into an election.
func (f *simFlags) election(spec algorithm.Spec) (simulation, error) {
	c := sim.Election{Spec: spec, Nodes: f.config.Nodes, Latency: f.config.Latency, Seed: f.config.Seed}
	var err error
	if c.Network, err = algorithm.ParseNetwork(f.network); err != nil {
		return nil, err
	}
	if c.Network > spec.Network {
		return nil, fmt.Errorf("--network %s: an election needs a network that neither loses nor duplicates messages: fifo or unordered", f.network)
	}
	if c.Dead, err = parseProcesses("dead", f.dead, c.Nodes); err != nil {
		return nil, err
	}
	if len(c.Dead) == c.Nodes {
		return nil, fmt.Errorf("--dead %q: all processes have crashed: leave one alive to be elected", f.dead)
	}
	if c.Starters, err = parseProcesses("starters", f.starters, c.Nodes); err != nil {
		return nil, err
	}
	for _, p := range c.Starters {
		if slices.Contains(c.Dead, p) {
			return nil, fmt.Errorf("--starters %q: %v has crashed: let another process start", f.starters, p)
		}
	}
	for p := algorithm.ID(0); c.Starters == nil; p++ {
		if !slices.Contains(c.Dead, p) {
			c.Starters = []algorithm.ID{p}
		}
	}
	return func(prog *terminal.Progress, observe func(trace.Event)) (terminal.Outcome, error) {
		c.Observe, c.Explain, c.Watch = observe, f.explain, watchRun(prog, "")
		o, err := sim.RunElection(c)
		if err != nil {
			return terminal.Outcome{}, err
		}
		stopped := ""
		if o.Stopped {
			stopped = words.Plural(o.Messages, "message")
		}
		return terminal.Outcome{JSON: o, Text: func(p *terminal.Printer) { printElection(p, c, o) }, Stopped: stopped, Wrong: violationFindings(o.Found)}, nil
	}, nil
}

// printElection prints the result of an election.
func printElection(p *terminal.Printer, c sim.Election, o *sim.Outcome) {
	p.Line("%s: %s, seed %d", c.Spec.Title, words.Plural(c.Nodes, "process"), c.Seed)
	p.Row("dead", "%s", processNames(c.Dead))
	p.Row("starts", "%s", processNames(c.Starters))
	p.Gap()
	leader := "none: not every live process follows the highest one"
	switch {
	case o.Stopped:
		leader = "not known yet"
	case o.Agreed:
		leader = fmt.Sprintf("%v, known to every live process", algorithm.ID(o.Leader-1))
	}
	p.Row("leader", "%s", leader)
	if o.Stalled {
		p.Row("ended", "%s", stalled)
	}
	if !o.Stopped {
		p.Row("time", "%s T until the last process knew", words.Number(o.Time))
	}
	p.Row("messages", "%s", words.Grouped(o.Messages))
	for _, kind := range c.Spec.Kinds {
		p.Line("%11s%-12s %s", "", kind, words.Grouped(o.ByKind[kind]))
	}
	p.Row("theory", "%s", c.Spec.Theory.Messages.Text)
}
