package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/internal/museum"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// checkFlags is what 'stile check' can be told.
type checkFlags struct {
	config     check.Config
	options    core.Options
	network    string
	start      string
	requesters string
	properties string
	json       bool
	trace, svg string
	pace       string // how long messages take where processes crash
	museum     bool
	proofs     bool
	long       bool
	mode       string // of a method against deadlock
	sites      int
	shared     string // of dijkstra: who moves at once, if flags are read
}

func newCheck(stdout, stderr io.Writer) *cobra.Command {
	f := &checkFlags{network: "fifo", sites: 2}
	f.config = check.Config{Nodes: 3, Requests: 2, Crashes: 1, Limits: check.Limits{Memory: 4 << 30}}
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

What is violated is told as soon as it is found, and the check goes on.

Exit code 0: all that was checked holds; 1: something is violated;
3: unfinished, for lack of time or memory, or since it was interrupted.`,
		Example: `  stile check ricart-agrawala --requests unbounded
  stile check lamport --nodes 2 --network unordered --trace two-in.stile
  stile check raymond --property order-open --topology line
  stile check bully --crashes 2 --comebacks 1
  stile check dijkstra --shared one --nodes 4
  stile check maekawa --nodes 4 --requests 1 --memory 8GiB --time 10m`,
		Args: func(c *cobra.Command, args []string) error {
			if f.museum || f.proofs || f.long {
				return none(c, args)
			}
			return oneAlgorithm(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.museum || f.proofs || f.long:
				return f.page(stdout, stderr)
			case f.shared != "":
				return f.checkRing(c, args[0], stdout, stderr)
			}
			if m, err := deadlock.Find(args[0]); err == nil {
				return f.checkMethod(c, m, stdout, stderr)
			}
			return f.checkAlgorithm(c, args[0], stdout, stderr)
		},
	}
	f.define(c)
	return c
}

// page prints a page that is made of many checks.
func (f *checkFlags) page(stdout, stderr io.Writer) error {
	v, l, end := f.begin(stdout, stderr)
	defer end()
	told := func(line string) {
		v.line.clear()
		fmt.Fprintln(stderr, line)
	}
	var text string
	var err error
	switch {
	case f.museum:
		text, err = museum.Page(l)
	case f.proofs:
		text, err = museum.Proofs(l, told)
	default:
		text, err = museum.Long(l, told)
	}
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	return err
}

func (f *checkFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.VarP(count{&f.config.Nodes, 1, maxChecked}, "nodes", "n", "how many processes")
	fs.Var(bound{&f.config.Requests}, "requests", "how often each process may ask, or unbounded; of a lock such as central+bully usually 1")
	fs.StringVar(&f.network, "network", f.network, "what `KIND` of network: fifo, unordered, duplicating or lossy")
	defineOptions(fs, &f.options, maxChecked)
	fs.StringVar(&f.start, "start", "", "where to begin: any, or `HOLDER` or HOLDER:busy, who has the lock (default 1)")
	fs.StringVar(&f.requesters, "requesters", "", "who asks: a `LIST` such as 1,2,5-7 (default everybody)")
	fs.StringVar(&f.properties, "property", "", "what to check: a `LIST` of properties (default all that the algorithm claims)")
	fs.Var(count{&f.config.Workers, 1, 1024}, "workers", "how many cores to use (default all)")
	fs.Var(size{&f.config.Memory}, "memory", "stop before states, queue, state graph and what is known of machines take more than this; the program as a whole takes at most about a third more")
	fs.Var(span{&f.config.Time}, "time", "stop after this time, such as 30s or 5m (default never)")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs")
	fs.StringVar(&f.trace, "trace", "", "write the first counterexample to this `FILE`, for 'stile replay'")
	fs.StringVar(&f.svg, "svg", "", "write its space-time diagram to this `FILE`")
	fs.BoolVar(&f.museum, "museum", false, "print docs/museum.md: famous algorithms that fail, and how; no ALGORITHM")
	fs.BoolVar(&f.proofs, "proofs", false, "print docs/proofs.md: what was proved of every algorithm; takes long")
	fs.BoolVar(&f.long, "proofs-long", false, "print docs/proofs-long.md: what takes longest to prove, as far as --time allows")
	fs.StringVar(&f.mode, "mode", "", "of detect-central: demand (the usual), change or batch")
	fs.StringVar(&f.shared, "shared", "", "of dijkstra: neighbours read each other's flags, and `WHO` of those who may moves at once: one, several or all; without --k, with as few values as are enough")
	fs.Var(count{&f.sites, 1, 8}, "sites", "of a method against deadlock: how many sites there are")
	f.defineCrashes(fs)
	fs.Lookup("workers").DefValue = ""
}

// run checks, and tells what was found.
func (f *checkFlags) run(c check.Config, head func(c check.Config) []string, stdout, stderr io.Writer) error {
	var r *check.Report
	outputs := f.outputs(&r)
	if err := checkAll(outputs); err != nil {
		return err
	}
	v, limits, end := f.begin(stdout, stderr)
	c = c.Settled()
	c.Limits, c.Found, v.head = limits, v.found, head(c)
	r, err := check.Run(c)
	end()
	if err != nil {
		return err
	}
	return f.conclude(r, outputs, v, stdout)
}

// conclude writes and prints what a check has found, but not again what was
// told already.
func (f *checkFlags) conclude(r *check.Report, outputs []output, v *live, stdout io.Writer) error {
	if first := r.First(); first == nil || first.Counterexample == nil {
		outputs = nil
	} else if _, err := first.Replay(); err != nil { // not for the simulator: no picture
		outputs = slices.DeleteFunc(outputs, func(o output) bool { return o.flag == "svg" })
	}
	err := writeAll(outputs)
	switch {
	case err != nil:
		return err
	case f.json:
		err = writeJSON(stdout, r)
	default:
		err = printCheck(stdout, v, r, f.written(len(outputs) > 0))
	}
	if err != nil {
		return err
	}
	return checked(r)
}

// outputs returns the files that --trace and --svg ask for: the first
// counterexample of what will be reported.
func (f *checkFlags) outputs(r **check.Report) []output {
	var all []output
	if f.trace != "" {
		all = append(all, output{"trace", f.trace, func() ([]byte, error) {
			return []byte(scenario.Format((*r).First().Counterexample)), nil
		}})
	}
	if f.svg != "" {
		all = append(all, output{"svg", f.svg, func() ([]byte, error) {
			back, err := (*r).First().Replay()
			if err != nil {
				return nil, err
			}
			return []byte(back.Trace().SVG(trace.SVGOptions{})), nil
		}})
	}
	return all
}

// written says what has become of the files that were asked for.
func (f *checkFlags) written(done bool) string {
	switch {
	case f.trace == "" && f.svg == "":
		return ""
	case !done:
		return "no counterexample to write"
	case f.trace == "":
		return f.svg
	}
	return fmt.Sprintf("%s (stile replay %s)", f.trace, f.trace)
}

// unfinished is the error of a check that could not come to an end.
type unfinished struct{ why string }

func (u unfinished) Error() string { return u.why }

// checked is the error of a check that did not find that all holds.
func checked(r *check.Report) error {
	switch r.Verdict {
	case check.Holds, check.HoldsBounded:
		return nil
	case check.Violated:
		var lines []string
		for _, p := range r.Properties {
			if p.Verdict == check.Violated {
				lines = append(lines, fmt.Sprintf("%s is violated: %s", p.Name, p.Note))
			}
		}
		return found{lines}
	}
	for _, p := range r.Properties {
		if p.Verdict == check.NotChecked && p.Verdict == r.Verdict {
			return fmt.Errorf("nothing was checked of %s: %s", p.Name, p.Note)
		}
		if p.Verdict == r.Verdict {
			return unfinished{fmt.Sprintf("%s %s: %s", p.Name, p.Verdict, p.Note)}
		}
	}
	return unfinished{"nothing was checked"}
}
