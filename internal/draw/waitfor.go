package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// The look of graphs.
const (
	amber  = "#b86e00" // who waits
	alarm  = "#c8102e" // deadlocks
	radius = 16.0      // radius of a transaction
)

// A Caption says what is written and marked in the picture of a wait-for graph.
type Caption struct {
	Title  string
	Note   string       // line below the title
	Victim algorithm.ID // transaction chosen to break the deadlock, or None

	// Reported is a cycle that is taken for a deadlock: its edges that are not in the
	// graph are drawn dashed.
	Reported []algorithm.ID

	// Layout, if given, has the sites of the locks. If they are at several sites, the graph
	// of each is drawn below.
	Layout deadlock.Layout
}

// WaitFor draws a wait-for graph: each cycle as a ring of its own, the transactions that
// wait for its members around it, and the others beside.
func WaitFor(g *deadlock.Graph, p Caption) string {
	shown := &deadlock.Graph{}
	shown.Union(g)
	for i, tx := range p.Reported {
		shown.Add(tx, p.Reported[(i+1)%len(p.Reported)], "")
	}
	d := &drawing{
		g: shown, real: g, p: p, nodes: shown.Nodes(), edges: shown.Edges(), cycles: shown.Cycles(),
		at: map[algorithm.ID]point{}, ring: map[algorithm.ID]int{}, done: map[algorithm.ID]bool{}, far: map[algorithm.ID]int{},
	}
	d.place()
	c := &Canvas{}
	if len(d.nodes) == 0 {
		c.Text("16", "84", "No process waits.", "fill", Ink)
	}
	for _, e := range d.edges {
		d.edge(c, e)
	}
	for _, tx := range d.nodes {
		d.node(c, tx)
	}
	if parts := locals(g, p.Layout); len(parts) > 0 && len(p.Reported) == 0 {
		right, bottom, signs := drawLocals(c, parts, d.height)
		d.width, d.height, d.signs = max(d.width, right+8), bottom, append(d.signs, signs...)
	}
	bottom := legend(c, d.signs, d.height, d.width)
	return graphPage(p.Title, p.Note, d.width, bottom, c)
}

// graphPage puts the drawing of a graph on a page with a title and a note.
func graphPage(title, note string, width, height float64, drawn *Canvas) string {
	whole := func(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }
	c := &Canvas{}
	c.Begin(whole(width), whole(height))
	c.Background()
	heads(c)
	c.Text("16", "24", title, "font-size", "14", "font-weight", "600", "fill", Ink)
	c.Text("16", "43", note, "fill", Grey)
	c.b.WriteString(drawn.String())
	c.Close("svg")
	return c.String()
}

type point struct{ x, y float64 }

func (p point) polar(r, a float64) point { return point{p.x + r*math.Cos(a), p.y + r*math.Sin(a)} }

// String formats a position for use in paths.
func (p point) String() string { return px(p.x) + " " + px(p.y) }

type drawing struct {
	g             *deadlock.Graph // the graph drawn
	real          *deadlock.Graph // the real graph
	p             Caption
	nodes         []algorithm.ID
	edges         []deadlock.Edge
	cycles        [][]algorithm.ID
	at            map[algorithm.ID]point
	ring          map[algorithm.ID]int // 1 + the number of the cycle it is part of
	done          map[algorithm.ID]bool
	far           map[algorithm.ID]int // what steps has found
	width, height float64
	signs         []sign // entries for the legend
}

// place assigns each transaction a place: rings from left to right, each with its waiters
// around it, and then the rest in columns.
func (d *drawing) place() {
	const top = 64.0
	x, bottom := 16.0, top
	for i, cycle := range d.cycles {
		depth, most := d.around(cycle)
		r := max(52, 42*float64(len(cycle))/math.Pi)
		share := 2 * math.Pi / float64(len(cycle))
		step := outward
		out := r + radius + 14
		if depth > 0 { // room for the waiters around, side by side
			step = max(step, 44*float64(most)/share-r)
			out += step + outward*float64(depth-1)
		}
		c := point{x + out, top + out}
		for k, tx := range cycle {
			turn := share*float64(k) - math.Pi/2
			d.ring[tx] = i + 1
			d.at[tx] = c.polar(r, turn)
			d.fan(tx, c, r, step, turn, share)
		}
		right, low := d.tighten(x, top)
		x = right + 24
		bottom = max(bottom, low)
	}
	x, bottom = d.rest(x, top, bottom)
	d.width = max(x+8, 360, 32+max(8.7*float64(len(d.p.Title)), 7*float64(len(d.p.Note))))
	d.height = max(bottom+12, 100)
}

// tighten moves a ring, and all transactions that lead to it, to the upper left corner
// that is left for them. It returns how far they reach.
func (d *drawing) tighten(x, y float64) (right, low float64) {
	const edge = radius + 14
	left, high := math.Inf(1), math.Inf(1)
	var moved []algorithm.ID
	for _, tx := range d.nodes {
		at, placed := d.at[tx]
		if !placed || d.done[tx] {
			continue
		}
		moved = append(moved, tx)
		d.done[tx] = true
		left, high = min(left, at.x), min(high, at.y)
	}
	for _, tx := range moved {
		at := d.at[tx]
		d.at[tx] = point{at.x - left + x + edge, at.y - high + y + edge}
		right, low = max(right, d.at[tx].x+edge), max(low, d.at[tx].y+edge)
	}
	return right, low
}

// outward is how much further out a transaction is than the one it waits for.
const outward = 82.0

// waiters returns the transactions that wait for tx and are part of no cycle.
func (d *drawing) waiters(tx algorithm.ID) []algorithm.ID {
	var ids []algorithm.ID
	for _, e := range d.edges {
		if e.To == tx && !d.cyclic(e.From) {
			ids = append(ids, e.From)
		}
	}
	return ids
}

func (d *drawing) cyclic(tx algorithm.ID) bool {
	return slices.ContainsFunc(d.cycles, func(c []algorithm.ID) bool { return slices.Contains(c, tx) })
}

// around returns the length of the longest chain that leads to a cycle, and the largest
// number of chains that lead to one member.
func (d *drawing) around(cycle []algorithm.ID) (depth, most int) {
	for _, tx := range cycle {
		most = max(most, d.leaves(tx))
	}
	seen := slices.Clone(cycle)
	for level := cycle; ; depth++ {
		var next []algorithm.ID
		for _, tx := range level {
			for _, w := range d.waiters(tx) {
				if !slices.Contains(seen, w) {
					next, seen = append(next, w), append(seen, w)
				}
			}
		}
		if len(next) == 0 {
			return depth, most
		}
		level = next
	}
}

// leaves counts the chains that lead to tx.
func (d *drawing) leaves(tx algorithm.ID) int { return d.count(tx, nil) }

func (d *drawing) count(tx algorithm.ID, seen []algorithm.ID) int {
	n := 0
	for _, w := range d.waiters(tx) {
		if !slices.Contains(seen, w) {
			n += max(1, d.count(w, append(seen, tx)))
		}
	}
	return n
}

// fan places the transactions that wait for tx further out, within its share of the
// circle.
func (d *drawing) fan(tx algorithm.ID, c point, r, step, a, share float64) {
	var all []algorithm.ID
	total := 0
	for _, w := range d.waiters(tx) {
		if _, placed := d.at[w]; !placed {
			all = append(all, w)
			total += max(1, d.leaves(w))
			d.at[w] = point{}
		}
	}
	turn := a - share/2
	for _, w := range all {
		each := share * float64(max(1, d.leaves(w))) / float64(total)
		d.at[w] = c.polar(r+step, turn+each/2)
		d.fan(w, c, r+step, outward, turn+each/2, each)
		turn += each
	}
}

// rest places the transactions that lead to no cycle: those that wait for none at the
// right, the others before them.
func (d *drawing) rest(x, top, bottom float64) (float64, float64) {
	var columns [][]algorithm.ID
	for _, tx := range d.nodes {
		if _, placed := d.at[tx]; placed {
			continue
		}
		n := d.steps(tx)
		for len(columns) <= n {
			columns = append(columns, nil)
		}
		columns[n] = append(columns[n], tx)
	}
	for i := len(columns) - 1; i >= 0; i-- {
		for k, tx := range columns[i] {
			y := top + radius + 14 + 58*float64(k)
			d.at[tx] = point{x + radius + 14, y}
			bottom = max(bottom, y+radius+14)
		}
		x += 96
	}
	return x, bottom
}

// steps returns the distance of tx from a transaction that waits for none.
func (d *drawing) steps(tx algorithm.ID) int {
	n, known := d.far[tx]
	if known {
		return n
	}
	for _, e := range d.g.From(tx) {
		n = max(n, 1+d.steps(e.To))
	}
	d.far[tx] = n
	return n
}

// sound reports whether a drawn cycle is real.
func (d *drawing) sound(cycle []algorithm.ID) bool {
	for i, tx := range cycle {
		if !d.real.Has(tx, cycle[(i+1)%len(cycle)]) {
			return false
		}
	}
	return true
}

func (d *drawing) edge(c *Canvas, e deadlock.Edge) {
	from, to := d.at[e.From], d.at[e.To]
	dx, dy := to.x-from.x, to.y-from.y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return
	}
	ux, uy := dx/length, dy/length
	// In a ring of two the edges would coincide.
	bend := 0.0
	if d.g.Has(e.To, e.From) {
		bend = 24
	}
	start := point{from.x + ux*(radius+3), from.y + uy*(radius+3)}
	end := point{to.x - ux*(radius+5), to.y - uy*(radius+5)}
	mid := point{(start.x+end.x)/2 - uy*bend, (start.y+end.y)/2 + ux*bend}
	s, tip := waitSign(), fmt.Sprintf("%v waits for %s, held by %v", e.From, e.Label, e.To)
	switch n := d.ring[e.From]; {
	case !d.real.Has(e.From, e.To):
		s, tip = saidSign(), fmt.Sprintf("%v was reported to wait for %v", e.From, e.To)
	case n != 0 && n == d.ring[e.To] && d.sound(d.cycles[n-1]):
		s = ringSign()
	}
	d.signs = append(d.signs, s)
	s.edge.arrow(c, fmt.Sprintf("M%v Q%v %v", start, mid, end), tip)
	if e.Label != "" { // beside the edge: outside of a ring, which runs clockwise
		aside := -6.5 - 2.2*float64(len(e.Label))
		if bend > 0 {
			aside = bend/2 - aside
		}
		onEdge(c, point{(start.x+end.x)/2 - uy*aside, (start.y+end.y)/2 + ux*aside + 3.8}, "11", e.Label)
	}
}

// onEdge writes what belongs to an edge, readable on top of lines.
func onEdge(c *Canvas, at point, size, words string) {
	c.Text(px(at.x), px(at.y), words, "font-size", size, "fill", Grey, "stroke", Paper, "stroke-width", "3", "paint-order", "stroke", "text-anchor", "middle")
}

func (d *drawing) node(c *Canvas, tx algorithm.ID) {
	look := circle{fill: Paper, text: Ink, line: Ink}
	switch {
	case tx == d.p.Victim:
		look = circle{fill: Ink, text: Paper, line: Ink, means: "chosen to abort"}
	case len(d.real.From(tx)) > 0:
		look = circle{fill: Paper, text: Ink, line: amber, waits: true, means: "waiting"}
	}
	look.draw(c, d.at[tx], radius)
	look.label(c, d.at[tx], tx.String())
	if look.means != "" {
		d.signs = append(d.signs, sign{means: look.means, draw: func(c *Canvas, at point) { look.draw(c, at, 5) }})
	}
}

// A circle is the look of a transaction.
type circle struct {
	fill, text, line string
	waits            bool // whether it has a dashed ring around it
	means            string
}

func (l circle) draw(c *Canvas, at point, r float64) {
	x, y := px(at.x), px(at.y)
	if l.waits {
		c.Leaf("circle", "", "cx", x, "cy", y, "r", px(r+3.5), "fill", "none", "stroke", l.line, "stroke-width", "1.6", "stroke-dasharray", "2.5 2")
	}
	c.Leaf("circle", "", "cx", x, "cy", y, "r", px(r), "fill", l.fill, "stroke", l.line, "stroke-width", "1.6")
}

// label writes into a circle.
func (l circle) label(c *Canvas, at point, words string) {
	c.Text(px(at.x), px(at.y+4.2), words, "fill", l.text, "text-anchor", "middle")
}
