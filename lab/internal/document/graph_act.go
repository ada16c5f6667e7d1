package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/lab/scenario"
)

// graphVerbs are the verbs for a graph of resources.
func graphVerbs() []string { return []string{"ask", "withdraw", "grant", "release"} }

// actGraph changes a graph of resources by one unit: a process asks for one, withdraws its
// request, is granted one, or releases one. It changes, adds or removes the line that says
// so.
func actGraph(text string, d UserAction, o Options) (*Edit, error) {
	graph, err := parseGraph(text, o)
	if err != nil {
		return nil, located(err)
	}
	if !slices.Contains(graphVerbs(), d.Verb) {
		return nil, fmt.Errorf("unknown verb %q: want %s in a resource graph", d.Verb, spell.Either(graphVerbs()...))
	}
	if d.Proc < 0 || d.Proc >= graph.Processes || len(d.Locks) != 1 || d.Locks[0] < 0 || d.Locks[0] >= len(graph.Resources) {
		return nil, fmt.Errorf("%s: want a process from 0 to %d, and one resource from 0 to %d", d.Verb, graph.Processes-1, len(graph.Resources)-1)
	}
	g := grapher{lines: strings.Split(text, "\n"), graph: graph}
	asks := script.Arc{Proc: algorithm.ID(d.Proc), Resource: d.Locks[0]}
	has := asks
	has.Has = true
	h, name := holdingsOf(graph), deadlock.ResourceName(d.Locks[0])
	switch own, wish := h.have[d.Proc][d.Locks[0]], h.want[d.Proc][d.Locks[0]]; {
	case d.Verb == "ask":
		g.more(asks)
	case d.Verb == "grant":
		if wish > 0 {
			g.less(asks)
		}
		g.more(has)
	case d.Verb == "withdraw" && wish == 0:
		return nil, fmt.Errorf("%v does not ask for %s", asks.Proc, name)
	case d.Verb == "withdraw":
		g.less(asks)
	case own == 0:
		return nil, fmt.Errorf("%v does not hold %s", has.Proc, name)
	default:
		g.less(has)
	}
	e := &Edit{Text: joined(g.lines), Line: g.changed}
	if _, err := parseGraph(e.Text, o); err != nil {
		if at := located(err); at.Line == e.Line {
			return nil, errors.New(at.Text)
		}
		return nil, located(err)
	}
	return e, nil
}

// A grapher edits the lines of a graph of resources.
type grapher struct {
	lines   []string
	graph   *scenario.Graph
	changed int // last line changed or added; 0 if one was removed
}

// find returns the last arc of the same kind, or nil.
func (g *grapher) find(a script.Arc) *script.Arc {
	for i, b := range slices.Backward(g.graph.Arcs) {
		if b.Proc == a.Proc && b.Has == a.Has && b.Resource == a.Resource {
			return &g.graph.Arcs[i]
		}
	}
	return nil
}

// more adds a unit to the line of an arc, or adds the line.
func (g *grapher) more(a script.Arc) {
	if b := g.find(a); b != nil {
		b.Units++
		g.rewrite(b)
		return
	}
	a.Units = 1
	at := g.spot()
	g.lines = slices.Insert(g.lines, at, a.String())
	g.changed = at + 1
}

// less takes a unit from the line of an arc, or removes the line.
func (g *grapher) less(a script.Arc) {
	b := g.find(a)
	if b.Units--; b.Units > 0 {
		g.rewrite(b)
		return
	}
	at := b.Line - 1
	g.lines = slices.Delete(g.lines, at, at+1)
	g.graph.Arcs = slices.DeleteFunc(g.graph.Arcs, func(x script.Arc) bool { return x.Line == at+1 })
	for i := range g.graph.Arcs {
		if x := &g.graph.Arcs[i]; x.Line > at {
			x.Line--
		}
	}
	g.changed = 0
}

// rewrite writes an arc into its line, and keeps a comment there.
func (g *grapher) rewrite(a *script.Arc) {
	line := a.String()
	if _, comment, ok := strings.Cut(g.lines[a.Line-1], "#"); ok {
		line += " #" + comment
	}
	g.lines[a.Line-1], g.changed = line, a.Line
}

// spot returns the line, from 0, before which a new one goes: after the last line that says
// which process has or asks for what, or else after the line of the resources.
func (g *grapher) spot() int {
	last := 0
	for _, a := range g.graph.Arcs {
		last = max(last, a.Line)
	}
	if last > 0 {
		return last
	}
	return 1 + slices.IndexFunc(g.lines, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "resources") })
}
