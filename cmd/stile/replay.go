package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// replayFlags is what 'stile replay' can be told.
type replayFlags struct {
	svg   string
	graph string
	until int
	json  bool
}

func newReplay(stdout io.Writer) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE [flags]",
		Short: "Run a scenario file, and check what it expects",
		Long: `Runs a scenario: a .stile file that says who asks and leaves when, how long
messages take, which faults happen and what is expected. Prints the space-time
diagram, and exits with 1 and what differed if an expectation fails.

A scenario with sites is about transactions over several locks, and deadlocks:
it prints the story, and the graph of who waits for whom.

With --until the run stops after so many events, nothing is checked, and the
state of each process or site is shown. The folder scenarios/ holds worked
examples.`,
		Example: `  stile replay scenarios/raymond-a.stile
  stile replay scenarios/raymond-a.stile --until 12
  stile replay scenarios/none-ring.stile --graph ring.svg`,
		Args: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return fmt.Errorf("%s needs a scenario file: scenarios/ holds examples", c.CommandPath())
			case 1:
				return nil
			}
			return fmt.Errorf("%s takes one file, but got %q too: replay them one by one", c.CommandPath(), args[1])
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], stdout) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.svg, "svg", "", "write the space-time diagram to this `FILE`")
	fs.StringVar(&f.graph, "graph", "", "draw the wait-for graph of a scenario with sites to this `FILE`: the last one if stuck, else that of the first deadlock")
	fs.Var(count{&f.until, 1, maxEvents}, "until", "stop after so many events, and show the states")
	fs.Lookup("until").DefValue = ""
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs")
	return c
}

// readScenario reads a scenario.
func readScenario(path string) (*scenario.Scenario, error) {
	fail := func(err error) (*scenario.Scenario, error) {
		return nil, fmt.Errorf("cannot read the scenario %q: %w: give a .stile file that exists", path, reason(err))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, scenario.MaxSize+1))
	if err != nil {
		return fail(err)
	}
	return scenario.Parse(path, string(text))
}

// specOf makes the algorithm of a scenario, or the method if there are sites.
func specOf(sc *scenario.Scenario) (core.Spec, error) {
	spec, err := catalog.Make(sc.Algorithm, sc.Options)
	_, noMethod := deadlock.Find(sc.Algorithm)
	switch {
	case sc.Transacts() && err == nil:
		err = fmt.Errorf("%s is no method against deadlocks, but there are sites: remove the lines that say site, or choose a method such as wait-die", sc.Algorithm)
	case sc.Transacts():
		return sim.SiteSpec(sc)
	case err == nil:
		return spec, nil
	case noMethod == nil:
		err = fmt.Errorf("%s is a method against deadlocks, and its transactions run at sites: say where processes and locks are, by lines such as site 1 P1 L1", sc.Algorithm)
	}
	return core.Spec{}, fmt.Errorf("%s: %w", sc.File, err)
}

func (f *replayFlags) run(path string, stdout io.Writer) error {
	sc, err := readScenario(path)
	if err != nil {
		return err
	}
	if f.graph != "" && !sc.Transacts() {
		return fmt.Errorf("--graph %q: %s has no sites, so nobody waits for a lock of another: leave --graph out, or draw the run with --svg", f.graph, path)
	}
	spec, err := specOf(sc)
	if err != nil {
		return err
	}
	var back *sim.Playback
	outputs := f.outputs(sc, &back)
	if err := checkAll(outputs); err != nil {
		return err
	}
	if back, err = sim.Replay(spec, sc, sim.ReplayOptions{Until: f.until}); err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	switch {
	case f.json && sc.Transacts():
		err = writeJSON(stdout, newSitesReport(sc, back))
	case f.json:
		err = writeJSON(stdout, newReplayReport(sc, spec, back))
	case sc.Transacts():
		err = printSites(stdout, sc, back)
	default:
		err = printReplay(stdout, sc, back)
	}
	if err != nil {
		return err
	}
	return differences(back.Differences)
}

// outputs returns the pictures that were asked for, of a run that will have
// been made by then.
func (f *replayFlags) outputs(sc *scenario.Scenario, back **sim.Playback) []output {
	var all []output
	if f.svg != "" {
		all = append(all, output{"svg", f.svg, func() ([]byte, error) {
			return []byte((*back).Trace().SVG(trace.SVGOptions{})), nil
		}})
	}
	if f.graph != "" {
		all = append(all, output{"graph", f.graph, func() ([]byte, error) {
			return []byte(sim.Graph(&(*back).Sites.Run, (*back).Sites.Ledger, sc.Title)), nil
		}})
	}
	return all
}

// differences is the error of a run that was not as expected, or nil.
func differences(all []sim.Difference) error {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, d := range all[:min(len(all), tellAtMost)] {
		lines = append(lines, d.String())
	}
	if more := len(all) - tellAtMost; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", plural(more, "more difference")))
	}
	return found{lines}
}

// What a replay says to programs.
type (
	replayReport struct {
		File        string              `json:"file"`
		Title       string              `json:"title"`
		Algorithm   string              `json:"algorithm"`
		Nodes       int                 `json:"nodes"`
		Events      int                 `json:"events"`
		Stopped     bool                `json:"stopped"` // by --until: nothing was checked
		Entries     []replayEntry       `json:"entries"`
		Messages    int                 `json:"messages"`
		ByKind      map[string]int      `json:"messages_by_kind"`
		MaxBypass   int                 `json:"max_bypass"`
		Deadlock    bool                `json:"deadlock"`
		Violations  []string            `json:"violations"`
		Differences []replayDifference  `json:"differences"`
		States      []map[string]string `json:"states"` // of each process, at the end
	}
	replayEntry struct {
		Process int         `json:"process"` // from 1
		At      json.Number `json:"at"`      // in T, or in steps the number of the action
		Section string      `json:"section,omitempty"`
	}
	replayDifference struct {
		Line int    `json:"line"`
		Want string `json:"want"`
		Got  string `json:"got"`
	}
)

func newReplayReport(sc *scenario.Scenario, spec core.Spec, b *sim.Playback) replayReport {
	r := replayReport{
		File: sc.File, Title: sc.Title, Algorithm: spec.Name, Nodes: sc.Processes, Events: len(b.Events), Stopped: b.Stopped,
		Messages: b.Messages, MaxBypass: b.MaxBypass, Deadlock: b.Deadlock, ByKind: map[string]int{},
		Entries: []replayEntry{}, Violations: []string{}, Differences: []replayDifference{},
	}
	for _, e := range b.Entries {
		r.Entries = append(r.Entries, replayEntry{int(e.Proc) + 1, json.Number(momentOf(sc, e.At)), e.Section})
	}
	for k, n := range b.ByKind {
		r.ByKind[spec.Kinds[k]] += n
	}
	for _, v := range b.Violations {
		r.Violations = append(r.Violations, v.Property+": "+v.String())
	}
	for _, d := range b.Differences {
		r.Differences = append(r.Differences, replayDifference(d))
	}
	for _, fields := range b.States {
		state := map[string]string{}
		for _, f := range fields {
			state[f.Name] = f.Value
		}
		r.States = append(r.States, state)
	}
	return r
}

// momentOf writes when something happened.
func momentOf(sc *scenario.Scenario, at int64) string {
	if sc.Steps {
		return fmt.Sprint(at)
	}
	return scenario.FormatTime(at)
}
