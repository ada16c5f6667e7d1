package command

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
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// maxUntil is the maximum of --until.
const maxUntil = 1_000_000_000

// replayFlags holds the flags of 'stile-lab replay'.
type replayFlags struct {
	output traceOutput
	graph  string
	until  int
	check  bool
	json   bool
}

func newReplay() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE... [flags]",
		Short: "Run a scenario file, or replay a recording of a node",
		Long: `Runs a scenario: a .stile file that says when processes request and leave, how
long messages take, which faults happen and what is expected. Prints the
space-time diagram. If an expectation fails, prints the differences and exits
with code 1.

A scenario with sites is about transactions over several locks, and deadlocks.
Its events are printed one by one, with the graph of who waits for whom.

A file that declares resources is a resource-allocation graph, such as
lab/scenarios/graph-deadlock.stile. It is not run: stile prints the graph, its
cycles, its reduction and the deadlocked processes, and --svg draws it.

With --until the run stops after that many events, at the end of a step. Nothing
is checked, and the state of each process or site is printed. The directory
scenarios/ holds worked examples.

FILE can also be a recording of a node, made by 'stile serve --record'. Replay
feeds the recorded inputs to the same code, without network, disk or clock, and
compares every step. If one differs, it prints the input, the difference and
what the code does now, and exits with code 1. With --until it stops after that
many inputs and prints the members and the locks in use.

With --check, give the recordings of all nodes of a cluster. What each lock's
algorithm did in each view, at all nodes together, must then be a run of the
model that 'stile-lab check' explores. If a step is not, stile prints it and what
the model allows instead, and exits with code 1. Steps that depend on a node
without a recording are counted as unchecked.`,
		Example: `  stile-lab replay lab/scenarios/raymond-a.stile
  stile-lab replay lab/scenarios/raymond-a.stile --until 12
  stile-lab replay lab/scenarios/raymond-a.stile --clocks
  stile-lab replay lab/scenarios/raymond-a.stile --why
  stile-lab replay lab/scenarios/none-ring.stile --graph ring.svg
  stile-lab replay node.rec
  stile-lab replay --check a.rec b.rec c.rec`,
		Args: func(c *cobra.Command, args []string) error {
			if f.check && len(args) > 1 {
				return nil
			}
			return terminal.OneArg("a scenario file, or a recording of a node: scenarios/ holds examples", "file", "replay them one at a time; only --check takes several recordings")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.check {
				return f.runCheck(c, args)
			}
			return f.run(c, args[0])
		},

		ValidArgsFunction: cobra.FixedCompletions([]string{"stile", "rec"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := c.Flags()
	fs.SortFlags = false
	f.output.define(fs)
	f.output.defineWhy(fs)
	fs.Lookup("svg").Usage = "SVG `FILE` for a space-time diagram or a resource-allocation graph"
	fs.Var(terminal.OutputFileFlag(&f.graph, ".svg"), "graph", "SVG `FILE` for the wait-for graph of a scenario with sites: the last one if stuck, otherwise that of the first deadlock")
	fs.Var(terminal.CountFlag(&f.until, 1, maxUntil), "until", "number of events, or of inputs of a recording, after which to stop and print the states; steps are completed")
	terminal.HideDefaults(fs, "until")
	fs.BoolVar(&f.check, "check", false, "check recordings of a cluster's nodes against the model of each lock")
	terminal.JSONFlag(fs, &f.json)
	return c
}

// unreadable is the error if a file cannot be read.
func unreadable(path string, err error) error {
	return fmt.Errorf("cannot read scenario %q: %w: give an existing .stile file", path, terminal.FileReason(err))
}

// sameFile reports whether two paths name the same file.
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
	if head, _ := r.Peek(len(replay.Magic)); string(head) == replay.Magic { // errors show up in the next read
		return f.runRecording(c, path, r)
	}
	text, err := io.ReadAll(io.LimitReader(r, script.MaxSize+1))
	if err != nil {
		return unreadable(path, err)
	}
	for _, out := range []string{f.output.svg, f.output.trace, f.graph} {
		if sameFile(path, out) {
			return fmt.Errorf("%q is the scenario itself and would be overwritten: give another file", out)
		}
	}
	if scenario.IsGraph(string(text)) {
		return f.runGraph(c, path, string(text))
	}
	return f.runScenario(c, path, string(text))
}

func (f *replayFlags) runScenario(c *cobra.Command, path, text string) error {
	sc, err := scenario.Parse(path, text)
	if err != nil {
		return err
	}
	if f.graph != "" && !sc.Transacts() {
		return fmt.Errorf("--graph %q: %s has no sites, so it has no wait-for graph: leave out --graph, or draw the run with --svg", f.graph, path)
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
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		if back, err = sim.Replay(spec, sc, sim.ReplayOptions{Until: f.until, Explain: f.output.why}); err != nil {
			return terminal.Outcome{}, err
		}
		r := terminal.Outcome{Text: func(p *terminal.Printer) { printReplay(p, sc, back, f.output.textOptions()) }, Wrong: terminal.FindingsOf(back.Differences, "difference", "", sim.Difference.String)}
		r.JSON = back.Report(spec, sc)
		return r, nil
	})
}

// files returns the requested files of a scenario, whose run will be in back.
func (f *replayFlags) files(sc *scenario.Scenario, back **sim.Playback) ([]terminal.OutputFile, error) {
	var story func(t *trace.Trace) string
	lanes := sc.Processes
	if sc.Transacts() {
		lanes = sc.Sites
		story = func(t *trace.Trace) string { return sim.Story((*back).Sites.Run.Layout, t) }
	}
	f.output.prints = story == nil && !f.json
	files, err := f.output.files(lanes, story, func(algorithm.ID) (*trace.Trace, error) { return (*back).Captioned(), nil })
	return append(files, terminal.PictureFile("graph", f.graph, func() string { return sim.Graph(&(*back).Sites.Run, (*back).Sites.Ledger, sc.Title) })...), err
}

// printReplay prints what happened, what came of it, and whether it came out as
// expected.
func printReplay(p *terminal.Printer, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	name := func(i int) string { return algorithm.ID(i).String() }
	if sc.Transacts() {
		name = func(i int) string { return fmt.Sprintf("site %d", i+1) }
		printSites(p, sc, b)
	} else {
		printProcesses(p, sc, b, look)
	}
	if early := b.Early(sc); early != "" {
		p.Row("ended", "%s", early)
	}
	verdict := "all as expected"
	switch {
	case b.Stopped:
		printStates(p, b.States, name)
		verdict = fmt.Sprintf("stopped after %s: nothing was checked", words.Plural(len(b.Events), "event"))
	case len(b.Differences) > 0:
		verdict = words.Plural(len(b.Differences), "difference")
	case len(sc.Expect) == 0:
		verdict = "nothing specified"
	}
	p.Row("expected", "%s", verdict)
}

// printProcesses prints the diagram and the entries.
func printProcesses(p *terminal.Printer, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	p.Lines(b.Trace().Text(look))
	p.Gap()
	if lead := leaderText(b.Events); len(b.Entries) == 0 && lead != "" {
		p.Row("leader", "%s", lead)
	} else {
		p.Row("entries", "%s", listOrNone(b.Entries, func(e sim.Entry) string {
			return strings.TrimSpace(e.Proc.String()+" "+e.Section) + " at " + scenarioMoment(sc, e.At)
		}))
	}
	p.Row("messages", "%d", b.Messages)
	for _, v := range b.Violations {
		p.Line("%-11s%s", "violation", violationLine(v))
	}
	if b.Deadlock {
		p.Row("deadlock", "processes wait for each other forever")
	}
}

// scenarioMoment formats a time of a scenario, or a step.
func scenarioMoment(sc *scenario.Scenario, at int64) string {
	if sc.Steps {
		return fmt.Sprint(at)
	}
	return scenario.FormatTime(at)
}

// listOrNone formats a list, or returns none.
func listOrNone[T any](all []T, format func(T) string) string {
	return cmp.Or(strings.Join(mapEach(all, format), ", "), "none")
}

// leaderText says which leader each process follows in the end, or returns "" if none
// follows any.
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

// printSites prints the events, the wait-for graph, the commits and the aborts.
func printSites(p *terminal.Printer, sc *scenario.Scenario, b *sim.Playback) {
	s, l := b.Sites, b.Sites.Ledger
	if sc.Title != "" {
		p.Line("%s", sc.Title)
		p.Gap()
	}
	p.Lines(sim.Story(s.Run.Layout, b.Trace()))
	p.Gap()
	p.Line("%s:", l.When())
	p.Graph(l.Graph)
	p.Gap()
	if local := draw.LocalText(l.Graph, s.Run.Layout); local != "" {
		p.Line("The local graphs, where EXT stands for the other sites:")
		p.Lines(local)
		p.Gap()
	}
	if f := l.False; f != nil {
		p.Line("%s was reported by %s, but never existed. The actual graph:", deadlock.Round(f.Cycle), l.Moment(f.At))
		p.Graph(f.Graph)
		p.Gap()
	}
	end := func(e sim.Ending) string { return fmt.Sprintf("%v at %s", e.Proc, l.Moment(e.At)) }
	p.Row("commits", "%s", listOrNone(s.Commits, end))
	p.Row("aborts", "%s", listOrNone(s.Aborts, end))
	p.Row("deadlocks", "%s", listOrNone(s.Cycles, deadlock.Round))
	if len(s.False) > 0 {
		p.Row("false", "%s", listOrNone(s.False, deadlock.Round))
	}
	if len(s.Phantoms) > 0 {
		p.Row("phantoms", "%s", listOrNone(s.Phantoms, deadlock.Round))
	}
	if len(s.Stuck) > 0 {
		p.Row("stuck", "%s", processNames(s.Stuck))
	}
	if l.Lost > 0 {
		p.Row("lost", "%s of crashed sites", words.Plural(l.Lost, "transaction"))
	}
	var kinds []string
	for k, n := range b.ByKind {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, b.Trace().Kinds[k]))
		}
	}
	p.Row("messages", "%s", strings.TrimSuffix(fmt.Sprintf("%d: %s", b.Messages, strings.Join(kinds, ", ")), ": "))
	for _, v := range b.Violations {
		p.Row("violation", "%s", violationLine(v))
	}
}

// printStates prints the state of each process or site.
func printStates(p *terminal.Printer, states [][]host.Field, name func(i int) string) {
	for i, fields := range states {
		p.Row(name(i), "%s", strings.Join(mapEach(fields, func(f host.Field) string { return f.Name + " " + f.Value }), ", "))
	}
}

// mapEach applies a function to each element of a list.
func mapEach[T, U any](all []T, of func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = of(x)
	}
	return list
}

func violationLine(v sim.Violation) string { return v.Property + ": " + v.String() }

// runGraph analyses a resource-allocation graph, which is not run.
func (f *replayFlags) runGraph(c *cobra.Command, path, text string) error {
	g, err := scenario.ParseGraph(path, text)
	if err != nil {
		return err
	}
	if err := terminal.RefuseFlags(c, "trace from to until graph clocks", "--FLAG does not apply to "+path+", which is a resource-allocation graph and is not run: leave it out, or draw the graph with --svg"); err != nil {
		return err
	}
	v, err := sim.Reduce(g)
	if err != nil {
		return err
	}
	files := terminal.PictureFile("svg", f.output.svg, func() string { return draw.Allocation(v.Graph, cmp.Or(g.Title, "Resource-allocation graph")) })
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		return terminal.Outcome{
			JSON: v.Report(g), Text: func(p *terminal.Printer) { printResourceGraph(p, g, v) },
			Wrong: terminal.FindingsOf(v.Differences, "difference", "", sim.Difference.String),
		}, nil
	})
}

// printResourceGraph prints the graph, its cycles and its reduction.
func printResourceGraph(p *terminal.Printer, g *scenario.Graph, v *sim.Verdict) {
	if g.Title != "" {
		p.Text(0, g.Title)
		p.Gap()
	}
	p.Line("Units of each resource, the processes that hold them, and requests for more:")
	p.Lines(draw.UnitsText(v.Graph))
	p.Gap()
	p.Line("Reduced, step by step:")
	for i, s := range v.Steps {
		text := fmt.Sprintf("%v; then free: %s", s, deadlock.Amounts(s.Free, true))
		for k, line := range words.Wrap(text, terminal.ScreenWidth-6) {
			if k == 0 {
				p.Line("  %2d. %s", i+1, line)
			} else {
				p.Line("      %s", line)
			}
		}
	}
	if len(v.Steps) == 0 {
		p.Line("  no process can finish")
	}
	p.Gap()
	p.Row("cycles", "%s", listOrNone(v.Cycles, deadlock.Round))
	p.Row("order", "%s", listOrNone(v.Order(), algorithm.ID.String))
	p.Row("deadlocked", "%s", listOrNone(v.Deadlocked, algorithm.ID.String))
	verdict := "all as expected"
	switch {
	case len(v.Differences) > 0:
		verdict = words.Plural(len(v.Differences), "difference")
	case len(g.Expect) == 0:
		verdict = "nothing specified"
	}
	p.Row("expected", "%s", verdict)
}
