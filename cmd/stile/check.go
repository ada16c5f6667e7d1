package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/world/museum"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// checkFlags is what 'stile check' can be told.
type checkFlags struct {
	config     check.Config
	options    algorithm.Options
	network    string
	start      string
	requesters string
	properties string
	json       bool
	output     traceOutput
	pace       string // how long messages take where processes crash
	museum     bool
	proofs     bool
	long       bool
	faults     bool
	fault      string // which fault to try
	at         string // who may have it
	mode       string // of a method against deadlock
	sites      int
	shared     string // of dijkstra: who moves at once, if flags are read

	sets *quorum.Properties // of the sets that were chosen, if any were
}

// newCheck returns the command.
func newCheck() *cobra.Command {
	f := &checkFlags{network: algorithm.FIFO.String(), sites: 2, config: check.Config{Nodes: 3, Requests: 2, Crashes: 1, Limits: check.Limits{Memory: 4 << 30}}}
	c := &cobra.Command{
		Use:   "check ALGORITHM [flags]",
		Short: "Check an algorithm in every possible order of events",
		Long: `Lets everything happen that can happen, in every order, and says which
properties hold. With --requests unbounded a property that holds is proved for
this number of processes. Where one is broken the shortest way there is told,
drawn, and written as a scenario for 'stile replay' if --trace says where to.

Properties: mutual-exclusion, deadlock, starvation, order (requests are granted
in the order in which they happened), order-open (the same when applications
talk, too), bypass, token, fence, channels, start, alibi, convergence.

Methods against deadlock ('stile deadlock --help' names them) are checked with
some processes of which each takes its own lock and then the next one's; their
properties are mutual-exclusion, deadlock, starvation, false-report and
one-victim.

Dijkstra's ring is checked with messages, or with --shared as in the paper, with
flags that neighbours read: whether it comes right from every state, after how
many steps at most, and with how few values of a flag.

With --fault it tries what one fault does to a lock, in runs of its own: to
every message, or at every moment. The worst run is told; the exit code is 0,
since no lock claims to bear all faults.

What is violated is told as soon as it is found, and the check goes on.

Exit code 0: all that was checked holds; 1: something is violated;
3: unfinished, for lack of time or memory, or since it was interrupted.`,
		Example: `  stile check ricart-agrawala --requests unbounded
  stile check lamport --nodes 2 --network unordered --trace two-in.stile
  stile check raymond --property order-open --topology line
  stile check bully --crashes 2 --comebacks 1
  stile check dijkstra --shared one --nodes 4
  stile check central --fault inside --at 2,3
  stile check maekawa --nodes 4 --requests 1 --memory 8GiB --time 10m`,
		Args: func(c *cobra.Command, args []string) error {
			if f.page() != nil {
				return noArgs(c, args)
			}
			return oneAlgorithm(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if page := f.page(); page != nil {
				return f.printPage(c, page)
			}
			if f.fault != "" {
				return f.tryFault(c, args[0])
			}
			if err := refuseFlags(c, "at", "--FLAG says at whom a --fault happens, and there is none: give one, or leave it out"); err != nil {
				return err
			}
			if f.shared != "" {
				return f.checkRing(c, args[0])
			}
			if m, err := deadlock.Find(args[0]); err == nil {
				return f.method(c, m)
			}
			return f.algorithm(c, args[0])
		},
		ValidArgsFunction: completeAlgorithm(methodNames()...),
	}
	f.define(c)
	return c
}

// A pageMaker makes a page of many checks. told is given each line when it is known.
type pageMaker func(l check.Limits, told func(line string)) (string, error)

// page returns what makes the page that was asked for, or nil if none was.
func (f *checkFlags) page() pageMaker {
	switch {
	case f.museum:
		return func(l check.Limits, _ func(string)) (string, error) { return museum.Page(l) }
	case f.proofs:
		return museum.Proofs
	case f.long:
		return museum.Long
	case f.faults:
		return museum.Faults
	}
	return nil
}

// refuseOtherFlags refuses what else was asked for with a page.
func (f *checkFlags) refuseOtherFlags(c *cobra.Command) error {
	for _, page := range []string{"museum", "proofs", "proofs-long", "faults"} {
		switch {
		case !c.Flags().Changed(page):
		case page == "proofs-long":
			return onlyFlags(c, page+" workers memory time",
				"--FLAG does not fit --"+page+", which prints a page of checks of its own: only --workers, --memory and --time do")
		default:
			return onlyFlags(c, page+" workers memory",
				"--FLAG does not fit --"+page+", which prints a page of checks of its own, as a whole: only --workers and --memory do")
		}
	}
	return nil
}

func (f *checkFlags) printPage(c *cobra.Command, page pageMaker) error {
	if err := f.refuseOtherFlags(c); err != nil {
		return err
	}
	v, l, end := f.begin(c)
	text, err := page(l, func(line string) { v.print(c.ErrOrStderr(), line) })
	end()
	var early museum.Interrupted
	if err != nil && !errors.As(err, &early) {
		return err
	}
	if _, bad := io.WriteString(c.OutOrStdout(), text); bad != nil || err == nil {
		return bad
	}
	return interruptedAfter(early.After)
}

func (f *checkFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(countFlag(&f.config.Nodes, 1, maxCheckNodes), "nodes", "n", "how many processes (default 3; of a method against deadlock 2)")
	fs.Var(requestsFlag(&f.config.Requests), "requests", "how often each process may ask, or unbounded; of a lock such as central+bully usually 1")
	fs.Var(choiceFlag(&f.network, networkNames()...), "network", "what `KIND` of network: fifo, unordered, duplicating or lossy")
	optionFlags(fs, &f.options, maxCheckNodes)
	fs.Var(textFlag(&f.start, startWanted, cobra.FixedCompletions([]string{"any", "1", "1:busy"}, cobra.ShellCompDirectiveNoFileComp)), "start", "where to begin: any, or `HOLDER` or HOLDER:busy, who has the lock (default 1)")
	fs.Var(processListFlag(&f.requesters), "requesters", "who asks: a `LIST` such as 1,2,5-7 (default everybody)")
	fs.Var(textFlag(&f.properties, "properties such as mutual-exclusion,deadlock", completeList(propertiesOf)), "property", "what to check: a `LIST` of properties (default all that the algorithm claims)")
	fs.Var(countFlag(&f.config.Workers, 1, 1024), "workers", "how many cores to use (default all)")
	fs.Var(sizeFlag(&f.config.Memory), "memory", "stop before states, queue, state graph and what is known of machines take more than this; the program as a whole takes at most about a third more")
	fs.Var(checkTimeFlag(&f.config.Time), "time", "stop after this time, such as 30s or 5m (default never)")
	jsonFlag(fs, &f.json)
	f.output.define(fs, ".stile")
	fs.Lookup("svg").Usage = "write the space-time diagram of the first counterexample to this `FILE`"
	fs.Lookup("trace").Usage = "write the first counterexample to this `FILE`: .stile for 'stile replay', " + traceFormats
	fs.BoolVar(&f.museum, "museum", false, "print docs/results/museum.md: famous algorithms that fail, and how; no ALGORITHM")
	fs.BoolVar(&f.proofs, "proofs", false, "print docs/results/proofs.md: what was proved of every algorithm; takes long")
	fs.BoolVar(&f.long, "proofs-long", false, "print docs/results/proofs-long.md: what takes longest to prove, as far as --time allows")
	fs.BoolVar(&f.faults, "faults", false, "print docs/results/faults.md: what one fault does to every lock")
	fs.Var(choiceFlag(&f.fault, faultNames()...), "fault", "of a lock: let one fault happen, wherever it can: `WHAT` is a message lost or duplicated, or a process that dies idle, waiting or inside")
	fs.Var(processListFlag(&f.at), "at", "of --fault: at whom, a message being its sender's: a `LIST` such as 1,2 (default anybody)")
	fs.Var(choiceFlag(&f.mode, modeNames()...), "mode", "of detect-central, the `MODE`: demand (the usual), change or batch")
	fs.Var(choiceFlag(&f.shared, moverNames[:]...), "shared", "of dijkstra: neighbours read each other's flags, and `WHO` of those who may moves at once: one, several or all; without --k, with as few values as are enough")
	fs.Var(countFlag(&f.sites, 1, 8), "sites", "of a method against deadlock: how many sites there are")
	fs.Var(countFlag(&f.config.Crashes, 0, 4), "crashes", "of an election, or a lock such as central+bully: how many processes crash, at any step; of a method against deadlock: 1 site (default 1; of a method 0)")
	fs.Var(countFlag(&f.config.Comebacks, 0, 4), "comebacks", "of both: how many of them come back, at any step; of a lock at most 1")
	fs.Var(countFlag(&f.config.Losses, 0, 4), "losses", "of a lock such as central+bully: how many messages are lost, at any step")
	fs.Var(choiceFlag(&f.pace, paceNames[:]...), "pace", "of both: messages take `HOW` long compared with timeouts: any time up to the longest, quick (none) or slow (always the longest); of an election usually any, of a lock quick")
	fs.BoolVar(&f.config.Wrong, "wrong", false, "of an election: once a timeout is too short, or a live process is taken for dead")
	hideDefaults(fs, "nodes", "crashes", "workers")
}

// run checks, and tells what was found; head says what is checked.
func (f *checkFlags) run(cmd *cobra.Command, c check.Config, head func(c check.Config) []string) error {
	var first *check.Property // that is violated, if it has a counterexample
	files, err := f.files(c, &first)
	if err != nil {
		return err
	}
	return runAndReport(cmd.OutOrStdout(), f.json, files, func() (outcome, error) {
		v, limits, end := f.begin(cmd)
		defer end()
		c = c.Settled()
		c.Limits, c.Found, v.head = limits, v.reportViolation, head(c)
		r, err := check.Run(c)
		if err != nil {
			return outcome{}, err
		}
		if first = r.First(); first != nil && first.Counterexample == nil {
			first = nil
		}
		all, part := f.report(c, r), f.report(c, r)
		part.Stopped = true
		return v.answer(r, all, part, func(p *printer) { printCheck(p, v, r, f.writtenText(p, first)) }), nil
	})
}

// A checkReport is what programs are told: of a method against deadlock also where its
// processes and locks are, and of sets their properties.
type checkReport struct {
	Method string `json:"method,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Sites  int    `json:"sites,omitempty"`
	Locks  int    `json:"locks,omitempty"`
	*check.Report
	Sets    *quorum.Properties `json:"sets,omitempty"`    // if somebody chose them
	Stopped bool               `json:"stopped,omitempty"` // by the user
}

func (f *checkFlags) report(c check.Config, r *check.Report) checkReport {
	m, err := deadlock.Find(c.Spec.Name)
	if err != nil {
		return checkReport{Report: r, Sets: f.sets}
	}
	mode := f.mode
	if mode == "" && len(m.Modes) > 0 {
		mode = m.Modes[0]
	}
	return checkReport{Method: m.Name, Mode: mode, Sites: c.Family.Sites, Locks: c.Nodes, Report: r}
}

// files returns what --trace and --svg ask for: the counterexample that will
// have been found by then, if there is one.
func (f *checkFlags) files(c check.Config, first **check.Property) ([]outputFile, error) {
	return f.worstFiles(c.Nodes, func() (*scenario.Scenario, *trace.Trace) {
		if *first == nil {
			return nil, nil
		}
		return (*first).Counterexample, replayedTrace(*first)
	})
}

// worstFiles returns what --trace and --svg ask for of a run that will have been
// found by then: nil if there is none.
func (f *checkFlags) worstFiles(nodes int, found func() (*scenario.Scenario, *trace.Trace)) ([]outputFile, error) {
	scene := f.output
	scene.prints = !f.json
	if f.wantsScenario() {
		scene.trace = ""
	}
	files, err := scene.files(nodes, nil, func(algorithm.ID) (*trace.Trace, error) {
		_, t := found()
		return t, nil
	})
	if err != nil || !f.wantsScenario() {
		return files, err
	}
	return append(files, outputFile{flag: "trace", path: f.output.trace, content: func() ([]byte, error) {
		sc, _ := found()
		if sc == nil {
			return nil, nil
		}
		return []byte(scenario.Format(sc)), nil
	}}), nil
}

// wantsScenario reports whether --trace asks for a scenario.
func (f *checkFlags) wantsScenario() bool {
	return strings.ToLower(filepath.Ext(f.output.trace)) == ".stile"
}

// replayedTrace is what happens in a counterexample, or nil if there is none, or none
// for the simulator.
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

// writtenText says what has become of the files that were asked for.
func (f *checkFlags) writtenText(p *printer, first *check.Property) string {
	switch {
	case f.output.requested() && !p.written:
		return "nothing: see the error"
	case first == nil && (f.output.requested() || f.output.textOptions().Clocks):
		return "no counterexample to write"
	case !f.output.requested():
		return ""
	case !f.wantsScenario() && replayedTrace(first) == nil:
		return "no counterexample to write"
	case f.wantsScenario():
		return fmt.Sprintf("%s (stile replay %s)", f.output.trace, f.output.trace)
	}
	return cmp.Or(f.output.trace, f.output.svg)
}

// checkFindings is the error of a check that did not find that all holds.
func checkFindings(r *check.Report) error {
	var violated findings
	var open string
	for _, p := range r.Properties {
		switch p.Verdict {
		case check.Violated:
			violated.lines = append(violated.lines, fmt.Sprintf("%s is violated: %s", p.Name, p.Note))
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
	return unfinished{why: open}
}
