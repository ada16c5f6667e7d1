package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/live/replay"
	"github.com/stile-lock/stile/internal/world/document"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// maxUntil bounds after how many events or inputs to stop.
const maxUntil = 1_000_000_000

// replayFlags is what 'stile replay' can be told.
type replayFlags struct {
	scene Scene
	graph string
	until int
	json  bool
}

// replayNew returns the command.
func replayNew() *cobra.Command {
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
		Args: One("a scenario file, or a recording of a node: scenarios/ holds examples", "file", "replay them one by one"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: cobra.FixedCompletions([]string{"stile", "rec"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := c.Flags()
	fs.SortFlags = false
	f.scene.Define(fs)
	fs.Lookup("svg").Usage = "write a space-time diagram to this `FILE`; of a graph of resources that graph"
	fs.Var(askFile(&f.graph, ".svg"), "graph", "draw the wait-for graph of a scenario with sites to this `FILE`: the last one if stuck, else that of the first deadlock")
	fs.Var(Count(&f.until, 1, maxUntil), "until", "stop after so many events, or inputs of a recording, and show the states; what happens in one step is not torn apart")
	Unset(fs, "until")
	JSON(fs, &f.json)
	return c
}

// unreadable is the error of a file that cannot be read.
func unreadable(path string, err error) error {
	return fmt.Errorf("cannot read the scenario %q: %w: give a .stile file that exists", path, Reason(err))
}

// replayRead reads a scenario.
func replayRead(path string, r io.Reader) (*scenario.Scenario, error) {
	text, err := io.ReadAll(io.LimitReader(r, scenario.MaxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return scenario.Parse(path, string(text))
}

// same reports whether two names are of one file.
func same(one, other string) bool {
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
	sc, err := replayRead(path, file)
	if err != nil {
		return err
	}
	for _, out := range []string{f.scene.SVG, f.scene.Trace, f.graph} {
		if same(path, out) {
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
	return tellRun(c.OutOrStdout(), f.json, files, func() (Report, error) {
		if back, err = sim.Replay(spec, sc, sim.ReplayOptions{Until: f.until}); err != nil {
			return Report{}, err
		}
		r := Report{Text: func(p *Page) { replayShow(p, sc, back, f.scene.Text()) }, Wrong: Wrong(back.Differences, "difference", "", sim.Difference.String)}
		r.JSON = back.Report(spec, sc)
		return r, nil
	})
}

// files returns what is asked for of a scenario that will have been played by
// then.
func (f *replayFlags) files(sc *scenario.Scenario, back **sim.Playback) ([]tellFile, error) {
	var story func(t *trace.Trace) string
	lanes := sc.Processes
	if sc.Transacts() {
		lanes = sc.Sites
		story = func(t *trace.Trace) string { return sim.Story((*back).Sites.Run.Layout, t) }
	}
	f.scene.Prints = story == nil && !f.json
	files, err := f.scene.Files(lanes, story, func(algorithm.ID) (*trace.Trace, error) { return (*back).Trace(), nil })
	return append(files, Picture("graph", f.graph, func() string { return sim.Graph(&(*back).Sites.Run, (*back).Sites.Ledger, sc.Title) })...), err
}
