package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// runGraph shows a graph of resources: there is nothing to run.
func (f *replayFlags) runGraph(c *cobra.Command, sc *scenario.Scenario) error {
	if err := Refuse(c, "trace from to until graph clocks", "--FLAG does not fit "+sc.File+", which is a graph of resources and is not run: leave it out; --svg draws the graph"); err != nil {
		return err
	}
	v, err := sim.Reduce(sc)
	if err != nil {
		return err
	}
	files := Picture("svg", f.scene.SVG, func() string { return v.Graph.SVG(cmp.Or(sc.Title, "Resource-allocation graph")) })
	return tellRun(c.OutOrStdout(), f.json, files, func() (Report, error) {
		return Report{
			JSON: v.Report(sc), Text: func(p *Page) { showGraph(p, sc, v) },
			Wrong: Wrong(v.Differences, "difference", "", sim.Difference.String),
		}, nil
	})
}

// showGraph shows the graph, its cycles, and how it is reduced.
func showGraph(p *Page, sc *scenario.Scenario, v *sim.Verdict) {
	if sc.Title != "" {
		p.Text(0, sc.Title)
		p.Gap()
	}
	p.Line("Of each resource the units, with who has them, and who asks for more:")
	p.Line("%s", strings.TrimRight(v.Graph.Units(), "\n"))
	p.Gap()
	p.Line("Reduced, step by step:")
	for i, s := range v.Steps {
		text := fmt.Sprintf("%v; then free: %s", s, deadlock.Amounts(s.Free, true))
		for k, line := range Wrap(text, Width-6) {
			if k == 0 {
				p.Line("  %2d. %s", i+1, line)
			} else {
				p.Line("      %s", line)
			}
		}
	}
	if len(v.Steps) == 0 {
		p.Line("  nobody can end")
	}
	p.Gap()
	p.Row("cycles", "%s", replayListed(v.Cycles, deadlock.Round))
	p.Row("order", "%s", replayListed(v.Order(), algorithm.ID.String))
	p.Row("deadlocked", "%s", replayListed(v.Deadlocked, algorithm.ID.String))
	verdict := "all as expected"
	switch {
	case len(v.Differences) > 0:
		verdict = words.Plural(len(v.Differences), "difference")
	case len(sc.Expect) == 0:
		verdict = "nothing in particular"
	}
	p.Row("expected", "%s", verdict)
}
