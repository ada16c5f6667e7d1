package deadlock

import (
	"slices"
	"sort"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// An Edge means that one transaction waits for another.
type Edge struct {
	From, To algorithm.ID
	Label    string // label for people, such as the lock
}

// A Graph is a wait-for graph. The zero Graph is empty. Its edges are kept in order, so
// that the same edges always give the same results.
type Graph struct{ edges []Edge }

func before(a, b Edge) int {
	if a.From != b.From {
		return int(a.From - b.From)
	}
	return int(a.To - b.To)
}

// Add adds an edge, if it is not there yet.
func (g *Graph) Add(from, to algorithm.ID, label string) {
	e := Edge{from, to, label}
	if i, found := slices.BinarySearchFunc(g.edges, e, before); !found {
		g.edges = slices.Insert(g.edges, i, e)
	}
}

// Remove removes an edge.
func (g *Graph) Remove(from, to algorithm.ID) {
	if i, found := slices.BinarySearchFunc(g.edges, Edge{From: from, To: to}, before); found {
		g.edges = slices.Delete(g.edges, i, i+1)
	}
}

// Drop removes a transaction with all its edges.
func (g *Graph) Drop(tx algorithm.ID) {
	g.edges = slices.DeleteFunc(g.edges, func(e Edge) bool { return e.From == tx || e.To == tx })
}

// Has reports whether there is an edge between two transactions.
func (g *Graph) Has(from, to algorithm.ID) bool {
	_, found := slices.BinarySearchFunc(g.edges, Edge{From: from, To: to}, before)
	return found
}

// Edges returns all edges, in order.
func (g *Graph) Edges() []Edge { return slices.Clone(g.edges) }

// Union adds every edge of h to g. The global graph is the union of the local ones.
func (g *Graph) Union(h *Graph) {
	for _, e := range h.edges {
		g.Add(e.From, e.To, e.Label)
	}
}

// Nodes returns the transactions in the graph, in order.
func (g *Graph) Nodes() []algorithm.ID {
	var ids []algorithm.ID
	for _, e := range g.edges {
		ids = append(ids, e.From, e.To)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// From returns the edges that leave a transaction.
func (g *Graph) From(tx algorithm.ID) []Edge {
	i, _ := slices.BinarySearchFunc(g.edges, tx, func(e Edge, tx algorithm.ID) int { return int(e.From - tx) })
	j := i
	for j < len(g.edges) && g.edges[j].From == tx {
		j++
	}
	return g.edges[i:j]
}

// Cycles returns a shortest cycle of each part of the graph in which all transactions
// wait for each other, directly or not. Each begins with its smallest member. Where every
// transaction waits for at most one other, these are all cycles.
func (g *Graph) Cycles() [][]algorithm.ID {
	var cycles [][]algorithm.ID
	for _, part := range g.components() {
		if len(part) > 1 || g.Has(part[0], part[0]) {
			cycles = append(cycles, g.shortest(part))
		}
	}
	sort.SliceStable(cycles, func(i, j int) bool { return cycles[i][0] < cycles[j][0] })
	return cycles
}

// Knots returns the parts of the graph in which all transactions wait for each other and
// none for one outside. Where waiting ends as soon as one of those waited for releases, a
// deadlock is a knot, and a cycle is not enough.
func (g *Graph) Knots() [][]algorithm.ID {
	var knots [][]algorithm.ID
	for _, part := range g.components() {
		leaves := func(tx algorithm.ID) bool {
			return slices.ContainsFunc(g.From(tx), func(e Edge) bool { return !slices.Contains(part, e.To) })
		}
		if (len(part) > 1 || g.Has(part[0], part[0])) && !slices.ContainsFunc(part, leaves) {
			slices.Sort(part)
			knots = append(knots, part)
		}
	}
	sort.SliceStable(knots, func(i, j int) bool { return knots[i][0] < knots[j][0] })
	return knots
}

// shortest returns a shortest cycle inside a component, from its smallest member on. Of
// equally short cycles it returns the first found, trying the members in order.
func (g *Graph) shortest(part []algorithm.ID) []algorithm.ID {
	slices.Sort(part)
	var best []algorithm.ID
	for _, start := range part {
		if c := g.around(start, part); c != nil && (best == nil || len(c) < len(best)) {
			best = c
		}
	}
	least := slices.Index(best, slices.Min(best))
	return append(slices.Clone(best[least:]), best[:least]...)
}

// around returns a shortest cycle through one transaction, breadth first.
func (g *Graph) around(start algorithm.ID, part []algorithm.ID) []algorithm.ID {
	came := make([]algorithm.ID, len(part)) // the member from which each was reached
	for i := range came {
		came[i] = algorithm.None
	}
	at := func(tx algorithm.ID) int { i, _ := slices.BinarySearch(part, tx); return i }
	for queue := []algorithm.ID{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range g.From(queue[0]) {
			if e.To == start {
				cycle := []algorithm.ID{queue[0]}
				for tx := queue[0]; tx != start; tx = came[at(tx)] {
					cycle = append(cycle, came[at(tx)])
				}
				slices.Reverse(cycle)
				return cycle
			}
			if i, inside := slices.BinarySearch(part, e.To); inside && came[i] == algorithm.None {
				came[i] = queue[0]
				queue = append(queue, e.To)
			}
		}
	}
	return nil
}

// components returns the strongly connected components, by Tarjan's algorithm.
func (g *Graph) components() [][]algorithm.ID {
	nodes := g.Nodes()
	t := &tarjan{g: g, nodes: nodes, index: make([]int, len(nodes)), low: make([]int, len(nodes)), on: make([]bool, len(nodes))}
	for i := range nodes {
		if t.index[i] == 0 {
			t.visit(i)
		}
	}
	return t.parts
}

type tarjan struct {
	g     *Graph
	nodes []algorithm.ID
	index []int // order of the visit, from 1
	low   []int
	on    []bool
	stack []int
	next  int
	parts [][]algorithm.ID
}

func (t *tarjan) visit(i int) {
	t.next++
	t.index[i], t.low[i], t.on[i] = t.next, t.next, true
	t.stack = append(t.stack, i)
	for _, e := range t.g.From(t.nodes[i]) {
		j, _ := slices.BinarySearch(t.nodes, e.To)
		switch {
		case t.index[j] == 0:
			t.visit(j)
			t.low[i] = min(t.low[i], t.low[j])
		case t.on[j]:
			t.low[i] = min(t.low[i], t.index[j])
		}
	}
	if t.low[i] != t.index[i] {
		return
	}
	var part []algorithm.ID
	for {
		j := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[j] = false
		part = append(part, t.nodes[j])
		if j == i {
			break
		}
	}
	t.parts = append(t.parts, part)
}

// Chain formats transactions one after the other: P1->P5->P2.
func Chain(ids []algorithm.ID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, "->")
}

// Round formats a cycle, with the first member again at its end.
func Round(cycle []algorithm.ID) string {
	if len(cycle) == 0 {
		return ""
	}
	return Chain(append(slices.Clone(cycle), cycle[0]))
}
