package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// manyEdges is the number of edges from which local graphs are not shown.
const manyEdges = 12

// A local is the part of a wait-for graph that one site knows: who waits for its locks. A
// transaction that also waits at another site has an edge to EXT, which stands for all
// other sites, and one that is waited for there has an edge from EXT.
type local struct {
	site  algorithm.ID
	paths []path
}

// A path leads along edges of a local graph.
type path struct {
	fromEXT, toEXT bool
	nodes          []algorithm.ID
	labels         []string // of the edges between them
}

// locals splits a wait-for graph into those of the sites. There are none if all locks in it
// are at one site, or if the graph is too large to be read.
func locals(g *deadlock.Graph, l deadlock.Layout) []local {
	edges := g.Edges()
	if len(edges) >= manyEdges {
		return nil
	}
	at := map[string]algorithm.ID{}
	var sites []algorithm.ID
	for _, e := range edges {
		name, isLock := strings.CutPrefix(e.Label, "L")
		lock, err := strconv.Atoi(name)
		if !isLock || err != nil || lock < 1 || lock > len(l.At) {
			return nil
		}
		at[e.Label] = l.At[lock-1]
		if !slices.Contains(sites, at[e.Label]) {
			sites = append(sites, at[e.Label])
		}
	}
	if len(sites) < 2 {
		return nil
	}
	slices.Sort(sites)
	var all []local
	for _, site := range sites {
		here := local{site: site}
		var own []deadlock.Edge
		in, out := map[algorithm.ID]bool{}, map[algorithm.ID]bool{}
		for _, e := range edges {
			if at[e.Label] == site {
				own = append(own, e)
			} else {
				out[e.From], in[e.To] = true, true
			}
		}
		for len(own) > 0 {
			var p path
			p, own = follow(own)
			here.paths = append(here.paths, withEXT(p, in, out)...)
		}
		all = append(all, here)
	}
	return all
}

// follow returns a path along edges, if possible one that begins where no edge ends, and
// the edges that are left.
func follow(edges []deadlock.Edge) (path, []deadlock.Edge) {
	start := max(0, slices.IndexFunc(edges, func(e deadlock.Edge) bool {
		return !slices.ContainsFunc(edges, func(o deadlock.Edge) bool { return o.To == e.From })
	}))
	p := path{nodes: []algorithm.ID{edges[start].From}}
	for i := start; i >= 0; {
		p.nodes, p.labels = append(p.nodes, edges[i].To), append(p.labels, edges[i].Label)
		last := edges[i].To
		edges = slices.Delete(edges, i, i+1)
		i = slices.IndexFunc(edges, func(e deadlock.Edge) bool { return e.From == last })
	}
	return p, edges
}

// withEXT joins a path with EXT: at its ends where possible, and elsewhere by paths of
// their own. Each edge of EXT is used once.
func withEXT(p path, in, out map[algorithm.ID]bool) []path {
	first, last := p.nodes[0], p.nodes[len(p.nodes)-1]
	p.fromEXT, p.toEXT = in[first], out[last]
	delete(in, first)
	delete(out, last)
	all := []path{p}
	for _, tx := range p.nodes {
		if in[tx] || out[tx] {
			all = append(all, path{nodes: []algorithm.ID{tx}, fromEXT: in[tx], toEXT: out[tx]})
			delete(in, tx)
			delete(out, tx)
		}
	}
	return all
}

func (p path) String() string {
	var b strings.Builder
	if p.fromEXT {
		b.WriteString("EXT --> ")
	}
	for i, tx := range p.nodes {
		if i > 0 {
			fmt.Fprintf(&b, " %s ", arrow(p.labels[i-1]))
		}
		b.WriteString(tx.String())
	}
	if p.toEXT {
		b.WriteString(" --> EXT")
	}
	return b.String()
}

// LocalText writes the part of a wait-for graph that each site knows, for a terminal. It is
// empty if the locks in the graph are all at one site, or if there are too many.
func LocalText(g *deadlock.Graph, l deadlock.Layout) string {
	var b strings.Builder
	for _, here := range locals(g, l) {
		label := fmt.Sprintf("site %d", here.site+1)
		for _, p := range here.paths {
			fmt.Fprintf(&b, "  %-8s%v\n", label, p)
			label = ""
		}
	}
	return b.String()
}

// drawLocals draws the part of a wait-for graph that each site knows, row by row, from y
// on. It returns how far that reaches, and what the legend must explain.
func drawLocals(c *Canvas, all []local, y float64) (right, bottom float64, signs []sign) {
	const left, apart, row = 76.0, 96.0, 58.0
	wait, outside := waitSign(), extSign()
	for _, here := range all {
		c.Text("16", px(y+radius+18.2), fmt.Sprintf("site %d", here.site+1), "fill", Ink)
		for _, p := range here.paths {
			at := point{left + radius + 14, y + radius + 14}
			next := func(label, tip string) {
				from := at
				at.x += apart
				wait.edge.arrow(c, fmt.Sprintf("M%v L%v", point{from.x + radius + 3, from.y}, point{at.x - radius - 5, at.y}), tip)
				if label != "" {
					onEdge(c, point{(from.x + at.x) / 2, at.y - 4}, "11", label)
				}
			}
			ext := func() { extBox(c, at, radius); signs = append(signs, outside) }
			if p.fromEXT {
				ext()
				next("", fmt.Sprintf("another site waits for %v", p.nodes[0]))
			}
			for i, tx := range p.nodes {
				if i > 0 {
					next(p.labels[i-1], fmt.Sprintf("%v waits for %s, held by %v", p.nodes[i-1], p.labels[i-1], tx))
				}
				look := circle{fill: Paper, text: Ink, line: Ink}
				look.draw(c, at, radius)
				look.label(c, at, tx.String())
			}
			if p.toEXT {
				next("", fmt.Sprintf("%v waits at another site", p.nodes[len(p.nodes)-1]))
				ext()
			}
			right = max(right, at.x+radius+14)
			y += row
		}
	}
	return right, y, append(signs, wait)
}

// extBox draws EXT.
func extBox(c *Canvas, at point, r float64) {
	c.Leaf("rect", "", "x", px(at.x-r), "y", px(at.y-r), "width", px(2*r), "height", px(2*r), "fill", Paper, "stroke", Grey, "stroke-width", "1.6", "stroke-dasharray", "4 3")
	if r == radius {
		c.Text(px(at.x), px(at.y+4.2), "EXT", "font-size", "11", "fill", Grey, "text-anchor", "middle")
	}
}

func extSign() sign {
	return sign{means: "EXT: the other sites", draw: func(c *Canvas, at point) { extBox(c, at, 5) }}
}
