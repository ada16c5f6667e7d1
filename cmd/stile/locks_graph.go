package main

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// Bounds of a wait-for graph that is shown.
const (
	maxLabel    = 24  // columns of a lock's name
	maxVertices = 100 // in a picture
)

// A graphReport is the JSON output of --graph.
type graphReport struct {
	*survey.Graph
	Unasked []survey.Silent `json:"unasked"`
}

// waitsFor returns a graph whose processes are the first vertices, numbered from P1 on.
func waitsFor(g *survey.Graph, most int) *deadlock.Graph {
	shown := &deadlock.Graph{}
	for _, e := range g.Edges {
		if e.From < most && e.To < most {
			shown.Add(algorithm.ID(e.From), algorithm.ID(e.To), terminal.Truncate(words.Quoted(e.Lock), maxLabel))
		}
	}
	return shown
}

// drawGraph draws a wait-for graph.
func drawGraph(g *survey.Graph) string {
	c := draw.Caption{Title: "Wait-for graph", Note: graphSummary(g), Victim: algorithm.None}
	if more := len(g.Vertices) - maxVertices; more > 0 {
		c.Note += fmt.Sprintf("; %d not shown", more)
	}
	return draw.WaitFor(waitsFor(g, maxVertices), c)
}

// graphSummary says how many wait, and whether there are deadlocks.
func graphSummary(g *survey.Graph) string {
	waiting := map[int]bool{}
	for _, e := range g.Edges {
		waiting[e.From] = true
	}
	deadlocks := "no deadlock"
	if n := len(g.Deadlocks); n > 0 {
		deadlocks = words.Plural(n, "deadlock")
	}
	if n := len(g.Possible); n > 0 {
		deadlocks += ", " + words.Plural(n, "possible deadlock")
	}
	return fmt.Sprintf("%s, %s", words.Plural(len(waiting), "waiting process"), deadlocks)
}

// printGraph prints a wait-for graph, and what its processes are.
func printGraph(p *terminal.Printer, g *survey.Graph, unasked []survey.Silent) {
	p.Line("%s", graphSummary(g))
	if len(g.Edges) > 0 {
		p.Gap()
		p.Graph(waitsFor(g, len(g.Vertices)))
		p.Gap()
	}
	for _, cycle := range g.Deadlocks {
		var ids []algorithm.ID
		for _, i := range append(cycle, cycle[0]) {
			ids = append(ids, algorithm.ID(i))
		}
		p.Text(0, "deadlock: "+deadlock.Chain(ids))
	}
	for _, cycle := range g.Possible {
		p.Text(0, "possible deadlock: "+possibleChain(g, cycle))
	}
	if len(g.Possible) > 0 {
		p.Text(0, "= joins requests of one process, which may hold a lock while it waits for another.")
	}
	for i, v := range g.Vertices[:min(len(g.Vertices), maxVertices)] {
		p.Line("%s", terminal.Truncate(fmt.Sprintf("%-4v %s", algorithm.ID(i), vertexText(&v)), terminal.ScreenWidth))
		if len(v.Holds) > 0 {
			p.Line("%s", terminal.Truncate("       holds "+listNames(v.Holds, words.Quoted), terminal.ScreenWidth))
		}
	}
	if more := len(g.Vertices) - maxVertices; more > 0 {
		p.Line("and %s", words.Plural(more, "more process"))
	}
	if g.Cut {
		p.Text(0, "A lock has so many waiting requests that some are missing here, and deadlocks with them.")
	}
	printUnasked(p, unasked)
}

// possibleChain describes a possible deadlock: an arrow is a wait, and an equals sign joins
// requests of one process.
func possibleChain(g *survey.Graph, cycle []int) string {
	text := algorithm.ID(cycle[0]).String()
	for i, from := range cycle {
		to := cycle[(i+1)%len(cycle)]
		sign := "="
		if slices.ContainsFunc(g.Edges, func(e survey.Edge) bool { return e.From == from && e.To == to }) {
			sign = "->"
		}
		text += sign + algorithm.ID(to).String()
	}
	return text
}

// vertexText says what a vertex is.
func vertexText(v *survey.Vertex) string {
	if v.Tx == 0 {
		return v.Who
	}
	return fmt.Sprintf("transaction %d of %s: %s", v.Tx, v.Node, v.Who)
}
