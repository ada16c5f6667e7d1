package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/family/sections"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// checkFlags holds the flags of 'stile-lab check'.
type checkFlags struct {
	config     check.Config
	options    algorithm.Options
	network    string
	start      string
	requesters string
	properties string
	json       bool
	output     traceOutput
	pace       string // how long messages take compared with timeouts
	mode       string // of a method against deadlock
	sites      int
	shared     string // for dijkstra with shared flags: how many move at once
	tla        string // the TLA+ module to write
	sections   []string
	acquire    []string // the order in which processes acquire sections

	sets *quorum.Properties // of the given sets, or nil
	plan *sections.Config   // how processes use the given sections, or nil
}

func newCheckFlags() *checkFlags {
	return &checkFlags{network: algorithm.FIFO.String(), sites: 2, config: check.Config{Nodes: 3, Requests: 2, Crashes: 1, Limits: check.Limits{Memory: 4 << 30}}}
}

func newCheck() *cobra.Command {
	f := newCheckFlags()
	c := &cobra.Command{
		Use:   "check ALGORITHM [flags]",
		Short: "Check an algorithm in every possible order of events",
		Long: `Explores every possible order of events, and reports which properties hold. With
--requests unbounded, a property that holds is proved for this number of
processes. For a violated property the shortest counterexample is printed;
--trace writes it as a scenario for 'stile-lab replay'.

Properties: mutual-exclusion, deadlock, starvation, order (requests are granted
in the order in which they happened), order-open (the same if applications
communicate, too), bypass, token, fence, channels, start, alibi, convergence.

Methods against deadlock ('stile-lab deadlock --help' lists them) are checked with
processes that each acquire their own lock and then the next one's. Their
properties are mutual-exclusion, deadlock, starvation, false-report and
one-victim.

Dijkstra's ring is checked with messages, or with --shared as in the paper,
where neighbours read each other's flags: whether it converges from every state,
after how many steps at most, and with how few values of a flag.

With --section there are several critical sections, each an instance of the
algorithm among the processes that use it. A process acquires all sections that
it uses, one by one, in the order in which they are given or in that of its
--acquire. It holds those that it has while it waits for the next one, and
leaves all of them when it has them all. What holds for one section by itself
holds beside others; this checks whether processes can wait for each other
forever.

With --tla a lock is written as a TLA+ module, for TLC, the model checker of
TLA+. The command prints how many states TLC should find, and whether two
processes can be inside or all wait. Locks with logical times need a bound on
--requests.

A violation is reported as soon as it is found, and the check continues.

Exit code 0: everything that was checked holds; 1: something is violated;
3: unfinished, because of --time, --memory or an interrupt.`,
		Example: `  stile-lab check ricart-agrawala --requests unbounded
  stile-lab check lamport --nodes 2 --network unordered --trace two-in.stile
  stile-lab check raymond --property order-open --topology line
  stile-lab check bully --crashes 2 --comebacks 1
  stile-lab check dijkstra --shared one --nodes 4
  stile-lab check raymond --section a:1,2 --section b:1,2 --acquire 2:b,a
  stile-lab check raymond --requests unbounded --tla raymond.tla
  stile-lab check maekawa --nodes 4 --requests 1 --memory 8GiB --time 10m`,
		Args: oneAlgorithm,
		RunE: func(c *cobra.Command, args []string) error {
			if f.shared != "" {
				return f.checkRing(c, args[0])
			}
			if f.tla != "" {
				return f.exportTLA(c, args[0])
			}
			config, err := f.resolve(c, args[0])
			if err != nil {
				return err
			}
			return f.run(c, config)
		},
		ValidArgsFunction: completeAlgorithm(methodNames()...),
	}
	f.define(c)
	return c
}

func (f *checkFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(terminal.CountFlag(&f.config.Nodes, 1, maxCheckNodes), "nodes", "n", "number of processes (default 3; for a method against deadlock 2)")
	fs.Var(requestsFlag(&f.config.Requests), "requests", "number of requests of each process, or unbounded; 1 by default for a lock such as central+bully")
	fs.Var(terminal.ChoiceFlag(&f.network, networkNames()...), "network", "`KIND` of network: fifo, unordered, duplicating or lossy")
	optionFlags(fs, &f.options, maxCheckNodes)
	fs.Var(terminal.TextFlag(&f.start, startWanted, cobra.FixedCompletions([]string{"any", "1", "1:busy"}, cobra.ShellCompDirectiveNoFileComp)), "start", "initial state: any, or `HOLDER` or HOLDER:busy, the process with the lock (default 1)")
	fs.Var(processListFlag(&f.requesters), "requesters", "`LIST` of processes that make requests, such as 1,2,5-7 (default all)")
	fs.StringArrayVar(&f.sections, "section", nil, "for a lock: critical section and the processes that use it: `NAME:LIST` such as seats:1,2,4; repeatable")
	fs.StringArrayVar(&f.acquire, "acquire", nil, "for --section: process and the sections that it acquires, in this order: `P:NAMES` such as 2:films,seats; repeatable (default all it uses, as they are given)")
	fs.Var(terminal.TextFlag(&f.properties, "properties such as mutual-exclusion,deadlock", completeList(propertiesOf)), "property", "`LIST` of properties to check (default all that the algorithm claims)")
	fs.Var(terminal.CountFlag(&f.config.Workers, 1, 1024), "workers", "number of cores to use (default all)")
	fs.Var(terminal.SizeFlag(&f.config.Memory), "memory", "memory limit for states, queue, state graph and machines; the whole program takes up to about a third more")
	fs.Var(checkTimeFlag(&f.config.Time), "time", "time limit, such as 30s or 5m (default none; for convergence from many states 50s)")
	fs.BoolVar(&f.config.Reduce, "reduce", false, "for a lock: leave out messages that no longer change anything, where that suffices: fewer states, above all with suzuki-kasami and ricart-agrawala-token")
	terminal.JSONFlag(fs, &f.json)
	f.output.define(fs, ".stile")
	f.output.defineWhy(fs)
	fs.Lookup("svg").Usage = "SVG `FILE` for a space-time diagram of the first counterexample"
	fs.Lookup("trace").Usage = "`FILE` for the first counterexample: .stile for 'stile-lab replay', " + traceFormats
	fs.Var(terminal.OutputFileFlag(&f.tla, ".tla"), "tla", "for a lock: `FILE` for a TLA+ module that TLC can check; its configuration is written beside it, as .cfg")
	fs.Var(terminal.ChoiceFlag(&f.mode, modeNames()...), "mode", "for detect-central: `MODE` demand, change or batch (default demand)")
	fs.Var(terminal.ChoiceFlag(&f.shared, moverNames[:]...), "shared", "for dijkstra: shared flags, as in the paper, where `WHO` moves in a step: one, several or all of the processes that can; with the fewest values that suffice, unless --k is given")
	fs.Var(terminal.CountFlag(&f.sites, 1, 8), "sites", "for a method against deadlock: number of sites")
	fs.Var(terminal.CountFlag(&f.config.Crashes, 0, 4), "crashes", "for an election or a lock such as central+bully: number of processes that crash, at any step; for a method against deadlock: 1 site (default 1; for a method 0)")
	fs.Var(terminal.CountFlag(&f.config.Comebacks, 0, 4), "comebacks", "for an election or such a lock: number of crashed processes that restart, at any step; for a lock at most 1")
	fs.Var(terminal.CountFlag(&f.config.Losses, 0, 4), "losses", "for a lock such as central+bully: number of messages lost, at any step")
	fs.Var(terminal.ChoiceFlag(&f.pace, paceNames[:]...), "pace", "for an election or such a lock: `PACE` of messages compared with timeouts: any time up to the longest, quick (no time) or slow (always the longest) (default any for an election, quick for a lock)")
	fs.BoolVar(&f.config.Wrong, "wrong", false, "for an election: one timeout is too short, or one live process is taken for crashed")
	terminal.HideDefaults(fs, "nodes", "crashes", "workers")
}

// run runs a check and reports the result.
func (f *checkFlags) run(cmd *cobra.Command, c check.Config) error {
	var first *check.Property // that is violated, if it has a counterexample
	files, err := f.files(c, &first)
	if err != nil {
		return err
	}
	return terminal.RunAndReport(cmd.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		v, limits, end := f.begin(cmd)
		defer end()
		c = c.Settled()
		c.Limits, c.Found, v.head = limits, v.reportViolation, f.head(c)
		r, err := check.Run(c)
		if err != nil {
			return terminal.Outcome{}, err
		}
		if first = r.First(); first != nil && first.Counterexample == nil {
			first = nil
		}
		all, part := f.report(c, r), f.report(c, r)
		part.Stopped = true
		return v.answer(r, all, part, func(p *terminal.Printer) { printCheck(p, v, r, f.writtenText(p, first)) }), nil
	})
}

// A checkReport is the JSON form of a result. For a method against deadlock it also has
// the layout, for given sets their properties, and for several sections what they are.
type checkReport struct {
	Method string `json:"method,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Sites  int    `json:"sites,omitempty"`
	Locks  int    `json:"locks,omitempty"`
	*check.Report
	Sets     *quorum.Properties `json:"sets,omitempty"`     // if they were given
	Sections []checkedSection   `json:"sections,omitempty"` // if they were given
	Acquire  [][]string         `json:"acquire,omitempty"`  // the sections that each process acquires, in order
	Stopped  bool               `json:"stopped,omitempty"`  // by the user
}

func (f *checkFlags) report(c check.Config, r *check.Report) checkReport {
	m, err := deadlock.Find(c.Spec.Name)
	if err != nil {
		sections, acquire := f.sectionReport()
		return checkReport{Report: r, Sets: f.sets, Sections: sections, Acquire: acquire}
	}
	mode := f.mode
	if mode == "" && len(m.Modes) > 0 {
		mode = m.Modes[0]
	}
	return checkReport{Method: m.Name, Mode: mode, Sites: c.Family.Sites, Locks: c.Nodes, Report: r}
}

// files returns the files for --trace and --svg, which show the first counterexample, if
// one is found.
func (f *checkFlags) files(c check.Config, first **check.Property) ([]terminal.OutputFile, error) {
	scene := f.output
	scene.prints = !f.json
	if f.wantsScenario() {
		scene.trace = ""
	}
	files, err := scene.files(c.Nodes, nil, func(algorithm.ID) (*trace.Trace, error) {
		return replayedTrace(*first), nil
	})
	if err != nil || !f.wantsScenario() {
		return files, err
	}
	return append(files, terminal.OutputFile{Flag: "trace", Path: f.output.trace, Content: func() ([]byte, error) {
		if *first == nil {
			return nil, nil
		}
		return []byte(scenario.Format((*first).Counterexample)), nil
	}}), nil
}

// wantsScenario reports whether --trace names a scenario.
func (f *checkFlags) wantsScenario() bool {
	return lowerExt(f.output.trace) == ".stile"
}

// replayedTrace returns the trace of a counterexample, or nil if there is none or the
// simulator cannot replay it.
func replayedTrace(p *check.Property) *trace.Trace {
	if p == nil {
		return nil
	}
	back, err := p.Replay()
	if err != nil {
		return nil
	}
	return back.Trace()
}

// writtenText says which of the requested files were written.
func (f *checkFlags) writtenText(p *terminal.Printer, first *check.Property) string {
	switch {
	case f.output.requested() && !p.Written:
		return "nothing (see the error)"
	case first == nil && (f.output.requested() || f.output.textOptions().Clocks):
		return "no counterexample to write"
	case !f.output.requested():
		return ""
	case !f.wantsScenario() && replayedTrace(first) == nil:
		return "no counterexample to write"
	case f.wantsScenario():
		return fmt.Sprintf("%s (stile-lab replay %s)", f.output.trace, f.output.trace)
	}
	return cmp.Or(f.output.trace, f.output.svg)
}

// checkFindings returns the error of a check in which not everything holds.
func checkFindings(r *check.Report) error {
	var violated terminal.Findings
	var open string
	for _, p := range r.Properties {
		switch p.Verdict {
		case check.Violated:
			violated.Lines = append(violated.Lines, fmt.Sprintf("%s is violated: %s", p.Name, p.Note))
		case r.Verdict:
			open = cmp.Or(open, fmt.Sprintf("%s %s: %s", p.Name, p.Verdict, p.Note))
		}
	}
	switch r.Verdict {
	case check.Holds, check.HoldsBounded:
		return nil
	case check.Violated:
		return violated
	case check.NotChecked:
		return errors.New(cmp.Or(open, "nothing was checked"))
	}
	return terminal.Unfinished{Why: open}
}
