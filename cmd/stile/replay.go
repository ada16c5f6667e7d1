package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/live/replay"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/document"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// maxUntil bounds after how many events or inputs to stop.
const maxUntil = 1_000_000_000

// replayFlags is what 'stile replay' can be told.
type replayFlags struct {
	output traceOutput
	graph  string
	until  int
	json   bool
}

// newReplay returns the command.
func newReplay() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE [flags]",
		Short: "Run a scenario file, or a recording of a node, and check it",
		Long: `Runs a scenario: a .stile file that says who asks and leaves when, how long
messages take, which faults happen and what is expected. Prints the space-time
diagram, and exits with 1 and what differed if an expectation fails.

A scenario with sites is about transactions over several locks, and deadlocks:
it prints the story, and the graph of who waits for whom. One with resources is
a resource-allocation graph, and is not run: it prints the graph, its cycles and
how it is reduced, and who is deadlocked; --svg draws it. Such a one is
scenarios/graph-deadlock.stile.

With --until the run stops after so many events, or at the end of the step that
has the last of them; nothing is checked, and the state of each process or site
is shown. The folder scenarios/ holds worked
examples.

FILE can also be a recording of a node, made by 'stile serve --record'. Replay
feeds the recorded inputs to the same code, without network, disk or clock, and
compares every step. If one differs, it exits with 1 and prints the input, what
differs, and what the code does now. With --until it stops after so many inputs
and prints the members and the locks in use.`,
		Example: `  stile replay scenarios/raymond-a.stile
  stile replay scenarios/raymond-a.stile --until 12
  stile replay scenarios/raymond-a.stile --clocks
  stile replay scenarios/none-ring.stile --graph ring.svg
  stile replay node.rec`,
		Args: oneArg("a scenario file, or a recording of a node: scenarios/ holds examples", "file", "replay them one by one"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: cobra.FixedCompletions([]string{"stile", "rec"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := c.Flags()
	fs.SortFlags = false
	f.output.define(fs)
	fs.Lookup("svg").Usage = "write a space-time diagram to this `FILE`; of a graph of resources that graph"
	fs.Var(outputFileFlag(&f.graph, ".svg"), "graph", "draw the wait-for graph of a scenario with sites to this `FILE`: the last one if stuck, else that of the first deadlock")
	fs.Var(countFlag(&f.until, 1, maxUntil), "until", "stop after so many events, or inputs of a recording, and show the states; what happens in one step is not torn apart")
	hideDefaults(fs, "until")
	jsonFlag(fs, &f.json)
	return c
}

// unreadable is the error of a file that cannot be read.
func unreadable(path string, err error) error {
	return fmt.Errorf("cannot read the scenario %q: %w: give a .stile file that exists", path, fileReason(err))
}

// readScenario reads a scenario.
func readScenario(path string, r io.Reader) (*scenario.Scenario, error) {
	text, err := io.ReadAll(io.LimitReader(r, scenario.MaxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return scenario.Parse(path, string(text))
}

// sameFile reports whether two names are of one file.
func sameFile(one, other string) bool {
	a, err1 := os.Stat(one)
	b, err2 := os.Stat(other)
	return err1 == nil && err2 == nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

func (f *replayFlags) run(c *cobra.Command, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<16)
	if head, _ := r.Peek(len(replay.Magic)); string(head) == replay.Magic { // who reads on hears of an error
		return f.runRecording(c, path, r)
	}
	return f.runScenario(c, path, r)
}

func (f *replayFlags) runScenario(c *cobra.Command, path string, file io.Reader) error {
	sc, err := readScenario(path, file)
	if err != nil {
		return err
	}
	for _, out := range []string{f.output.svg, f.output.trace, f.graph} {
		if sameFile(path, out) {
			return fmt.Errorf("%q is the scenario itself, which would be lost: write to another file", out)
		}
	}
	if sc.IsGraph() {
		return f.runGraph(c, sc)
	}
	if f.graph != "" && !sc.Transacts() {
		return fmt.Errorf("--graph %q: %s has no sites, so nobody waits for a lock of another: leave --graph out, or draw the run with --svg", f.graph, path)
	}
	spec, err := document.SpecOf(sc, nil)
	if err != nil {
		return err
	}
	var back *sim.Playback
	files, err := f.files(sc, &back)
	if err != nil {
		return err
	}
	return runAndReport(c.OutOrStdout(), f.json, files, func() (outcome, error) {
		if back, err = sim.Replay(spec, sc, sim.ReplayOptions{Until: f.until}); err != nil {
			return outcome{}, err
		}
		r := outcome{text: func(p *printer) { printReplay(p, sc, back, f.output.textOptions()) }, wrong: findingsOf(back.Differences, "difference", "", sim.Difference.String)}
		r.json = back.Report(spec, sc)
		return r, nil
	})
}

// files returns what is asked for of a scenario that will have been played by
// then.
func (f *replayFlags) files(sc *scenario.Scenario, back **sim.Playback) ([]outputFile, error) {
	var story func(t *trace.Trace) string
	lanes := sc.Processes
	if sc.Transacts() {
		lanes = sc.Sites
		story = func(t *trace.Trace) string { return sim.Story((*back).Sites.Run.Layout, t) }
	}
	f.output.prints = story == nil && !f.json
	files, err := f.output.files(lanes, story, func(algorithm.ID) (*trace.Trace, error) { return (*back).Trace(), nil })
	return append(files, pictureFile("graph", f.graph, func() string { return sim.Graph(&(*back).Sites.Run, (*back).Sites.Ledger, sc.Title) })...), err
}

// printReplay prints what happened, what came of it, and whether it came out as
// expected.
func printReplay(p *printer, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	name := func(i int) string { return algorithm.ID(i).String() }
	if sc.Transacts() {
		name = func(i int) string { return fmt.Sprintf("site %d", i+1) }
		printSites(p, sc, b)
	} else {
		printProcesses(p, sc, b, look)
	}
	if early := b.Early(sc); early != "" {
		p.row("ended", "%s", early)
	}
	verdict := "all as expected"
	switch {
	case b.Stopped:
		printStates(p, b.States, name)
		verdict = fmt.Sprintf("stopped after %s: nothing was checked", words.Plural(len(b.Events), "event"))
	case len(b.Differences) > 0:
		verdict = words.Plural(len(b.Differences), "difference")
	case len(sc.Expect) == 0:
		verdict = "nothing in particular"
	}
	p.row("expected", "%s", verdict)
}

// printProcesses shows the diagram, and who entered when.
func printProcesses(p *printer, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	p.line("%s", strings.TrimRight(b.Trace().Text(look), "\n"))
	p.gap()
	if lead := leaderText(b.Events); len(b.Entries) == 0 && lead != "" {
		p.row("leader", "%s", lead)
	} else {
		p.row("entries", "%s", listOrNone(b.Entries, func(e sim.Entry) string {
			return strings.TrimSpace(e.Proc.String()+" "+e.Section) + " at " + scenarioMoment(sc, e.At)
		}))
	}
	p.row("messages", "%d", b.Messages)
	for _, v := range b.Violations {
		p.line("%-11s%s", "violation", violationLine(v))
	}
	if b.Deadlock {
		p.row("deadlock", "processes wait for each other for ever")
	}
}

// scenarioMoment writes when something happened.
func scenarioMoment(sc *scenario.Scenario, at int64) string {
	if sc.Steps {
		return fmt.Sprint(at)
	}
	return scenario.FormatTime(at)
}

// listOrNone writes a list, or none.
func listOrNone[T any](all []T, say func(T) string) string {
	return cmp.Or(strings.Join(mapEach(all, say), ", "), "none")
}

// leaderText says whom each process follows in the end, or nothing if nobody
// follows anybody.
func leaderText(events []trace.Event) string {
	follow := map[algorithm.ID]algorithm.ID{}
	for _, e := range events {
		switch e.Kind {
		case trace.Lead:
			follow[e.Proc] = e.Peer
		case trace.Crash, trace.Restart:
			delete(follow, e.Proc)
		}
	}
	followers := map[algorithm.ID][]algorithm.ID{}
	for _, p := range slices.Sorted(maps.Keys(follow)) {
		followers[follow[p]] = append(followers[follow[p]], p)
	}
	var list []string
	for _, l := range slices.Sorted(maps.Keys(followers)) {
		list = append(list, fmt.Sprintf("%v of %s", l, processNames(followers[l])))
	}
	return strings.Join(list, "; ")
}

// printSites tells the story, who waited for whom, who committed and who aborted.
func printSites(p *printer, sc *scenario.Scenario, b *sim.Playback) {
	s, l := b.Sites, b.Sites.Ledger
	if sc.Title != "" {
		p.line("%s", sc.Title)
		p.gap()
	}
	p.line("%s", strings.TrimRight(sim.Story(s.Run.Layout, b.Trace()), "\n"))
	p.gap()
	p.line("%s:", l.When())
	p.graph(l.Graph)
	p.gap()
	if f := l.False; f != nil {
		p.line("%s was reported by %s, but never there. What was true then:", deadlock.Round(f.Cycle), l.Moment(f.At))
		p.graph(f.Graph)
		p.gap()
	}
	end := func(e sim.Ending) string { return fmt.Sprintf("%v at %s", e.Proc, l.Moment(e.At)) }
	p.row("commits", "%s", listOrNone(s.Commits, end))
	p.row("aborts", "%s", listOrNone(s.Aborts, end))
	p.row("deadlocks", "%s", listOrNone(s.Cycles, deadlock.Round))
	if len(s.False) > 0 {
		p.row("false", "%s", listOrNone(s.False, deadlock.Round))
	}
	if len(s.Phantoms) > 0 {
		p.row("phantoms", "%s", listOrNone(s.Phantoms, deadlock.Round))
	}
	if len(s.Stuck) > 0 {
		p.row("stuck", "%s", processNames(s.Stuck))
	}
	if l.Lost > 0 {
		p.row("lost", "%s of dead sites", words.Plural(l.Lost, "transaction"))
	}
	var kinds []string
	for k, n := range b.ByKind {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, b.Trace().Kinds[k]))
		}
	}
	p.row("messages", "%s", strings.TrimSuffix(fmt.Sprintf("%d: %s", b.Messages, strings.Join(kinds, ", ")), ": "))
	for _, v := range b.Violations {
		p.row("violation", "%s", violationLine(v))
	}
}

// printStates shows what each process or site remembers.
func printStates(p *printer, states [][]algorithm.Field, name func(i int) string) {
	for i, fields := range states {
		p.row(name(i), "%s", strings.Join(mapEach(fields, func(f algorithm.Field) string { return f.Name + " " + f.Value }), ", "))
	}
}

// mapEach makes a list of a list.
func mapEach[T, U any](all []T, of func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = of(x)
	}
	return list
}

func violationLine(v sim.Violation) string { return v.Property + ": " + v.String() }

// runGraph shows a graph of resources: there is nothing to run.
func (f *replayFlags) runGraph(c *cobra.Command, sc *scenario.Scenario) error {
	if err := refuseFlags(c, "trace from to until graph clocks", "--FLAG does not fit "+sc.File+", which is a graph of resources and is not run: leave it out; --svg draws the graph"); err != nil {
		return err
	}
	v, err := sim.Reduce(sc)
	if err != nil {
		return err
	}
	files := pictureFile("svg", f.output.svg, func() string { return v.Graph.SVG(cmp.Or(sc.Title, "Resource-allocation graph")) })
	return runAndReport(c.OutOrStdout(), f.json, files, func() (outcome, error) {
		return outcome{
			json: v.Report(sc), text: func(p *printer) { printResourceGraph(p, sc, v) },
			wrong: findingsOf(v.Differences, "difference", "", sim.Difference.String),
		}, nil
	})
}

// printResourceGraph shows the graph, its cycles, and how it is reduced.
func printResourceGraph(p *printer, sc *scenario.Scenario, v *sim.Verdict) {
	if sc.Title != "" {
		p.text(0, sc.Title)
		p.gap()
	}
	p.line("Of each resource the units, with who has them, and who asks for more:")
	p.line("%s", strings.TrimRight(v.Graph.Units(), "\n"))
	p.gap()
	p.line("Reduced, step by step:")
	for i, s := range v.Steps {
		text := fmt.Sprintf("%v; then free: %s", s, deadlock.Amounts(s.Free, true))
		for k, line := range wrap(text, screenWidth-6) {
			if k == 0 {
				p.line("  %2d. %s", i+1, line)
			} else {
				p.line("      %s", line)
			}
		}
	}
	if len(v.Steps) == 0 {
		p.line("  nobody can end")
	}
	p.gap()
	p.row("cycles", "%s", listOrNone(v.Cycles, deadlock.Round))
	p.row("order", "%s", listOrNone(v.Order(), algorithm.ID.String))
	p.row("deadlocked", "%s", listOrNone(v.Deadlocked, algorithm.ID.String))
	verdict := "all as expected"
	switch {
	case len(v.Differences) > 0:
		verdict = words.Plural(len(v.Differences), "difference")
	case len(sc.Expect) == 0:
		verdict = "nothing in particular"
	}
	p.row("expected", "%s", verdict)
}
