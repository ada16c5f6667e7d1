package explore

import (
	"math/bits"
	"slices"
)

// Infinite behaviours. A process starves if there is an infinite run, fair to
// every delivery and every exit, in which it waits for ever. Such a run ends
// in a strongly connected part of the graph in which it waits, so it is enough
// to look at the largest such parts: one is bad if each fair action that is
// possible in all its states is also taken inside it.

// A Cut is the part of a graph in which one process waits, taken apart into
// components.
type Cut struct {
	*Graph
	bit   uint32
	comp  []int32  // of each state; -1 outside
	order []uint32 // the states, component by component
	ends  []uint32 // where each component ends in order
}

// Parts returns how many components there are.
func (c *Cut) Parts() int { return len(c.ends) }

// Members returns the states of a component.
func (c *Cut) Members(id int) []uint32 {
	begin := uint32(0)
	if id > 0 {
		begin = c.ends[id-1]
	}
	return c.order[begin:c.ends[id]]
}

// Cut finds the components by Tarjan's algorithm. Components come in
// reverse topological order: edges lead to earlier ones.
func (g *Graph) Cut(proc int) *Cut {
	c := &Cut{Graph: g, bit: 1 << proc, comp: make([]int32, len(g.waiting))}
	for i := range c.comp {
		c.comp[i] = -1
	}
	index := make([]uint32, len(g.waiting)) // 0: not seen
	low := make([]uint32, len(g.waiting))
	var stack []uint32
	type frame struct {
		state uint32
		edge  uint64
	}
	var frames []frame
	next := uint32(1)
	visit := func(s uint32) {
		index[s], low[s] = next, next
		next++
		stack = append(stack, s)
		frames = append(frames, frame{s, g.first[s]})
	}
	for root := range uint32(len(g.waiting)) {
		if g.waiting[root]&c.bit == 0 || index[root] != 0 {
			continue
		}
		visit(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			s := f.state
			if f.edge < g.first[s+1] {
				t := g.to[f.edge]
				f.edge++
				if g.waiting[t]&c.bit == 0 {
					continue
				}
				if index[t] == 0 {
					visit(t)
				} else if c.comp[t] < 0 {
					low[s] = min(low[s], index[t])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].state
				low[up] = min(low[up], low[s])
			}
			if low[s] == index[s] {
				c.close(&stack, s)
			}
		}
	}
	return c
}

// close takes the component of root off the stack.
func (c *Cut) close(stack *[]uint32, root uint32) {
	id := int32(c.Parts())
	for {
		n := len(*stack) - 1
		s := (*stack)[n]
		*stack = (*stack)[:n]
		c.comp[s] = id
		c.order = append(c.order, s)
		if s == root {
			break
		}
	}
	c.ends = append(c.ends, uint32(len(c.order)))
}

// inner calls f for each edge inside a component.
func (c *Cut) inner(members []uint32, f func(edge uint64)) {
	id := c.comp[members[0]]
	for _, s := range members {
		for e := c.first[s]; e < c.first[s+1]; e++ {
			if c.comp[c.to[e]] == id {
				f(e)
			}
		}
	}
}

// Starves returns a component in which a fair run can stay for ever, or nil. Of
// several it is the one that is reached in the fewest steps; the state in which
// that happens is the last of the list.
func (c *Cut) Starves() []uint32 {
	var worst []uint32
	for id := range c.Parts() {
		members := c.Members(id)
		first := slices.Min(members)
		if worst != nil && first > worst[len(worst)-1] || !c.Bad(members) {
			continue
		}
		i, last := slices.Index(members, first), len(members)-1
		members[i], members[last] = members[last], members[i]
		worst = members
	}
	return worst
}

// Bad reports whether a fair run can stay in a component for ever.
func (c *Cut) Bad(members []uint32) bool {
	g := c.Graph
	taken := map[uint32]bool{}
	edges := 0
	c.inner(members, func(e uint64) {
		edges++
		if g.class[e]&classFair != 0 {
			taken[g.class[e]&^classEnters] = true
		}
	})
	if edges == 0 {
		return len(c.fair(members[0], nil)) == 0 // nothing need happen any more
	}
	enabled := map[uint32]int{} // in how many states
	var classes []uint32
	for _, s := range members {
		classes = c.fair(s, classes[:0])
		if len(classes) == 0 {
			return true
		}
		for _, k := range classes {
			enabled[k]++
		}
	}
	for k, n := range enabled {
		if n == len(members) && !taken[k] {
			return false
		}
	}
	return true
}

// fair appends the fair actions that are possible in a state.
func (c *Cut) fair(s uint32, classes []uint32) []uint32 {
	for e := c.first[s]; e < c.first[s+1]; e++ {
		if k := c.class[e] &^ classEnters; k&classFair != 0 && !slices.Contains(classes, k) {
			classes = append(classes, k)
		}
	}
	return classes
}

// search finds a shortest path through a component that ends with an edge, in
// it or out of it, for which done holds. It returns the states after the first, and the class of
// the last edge.
func (c *Cut) search(from uint32, id int32, done func(to uint32, edge uint64) bool) ([]uint32, uint32) {
	g := c.Graph
	parent := map[uint32]uint32{from: from}
	for queue := []uint32{from}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for e := g.first[s]; e < g.first[s+1]; e++ {
			t := g.to[e]
			if done(t, e) {
				path := []uint32{t}
				for s != from {
					path = append(path, s)
					s = parent[s]
				}
				slices.Reverse(path)
				return path, g.class[e] &^ classEnters
			}
			if _, ok := parent[t]; !ok && c.comp[t] == id {
				parent[t] = s
				queue = append(queue, t)
			}
		}
	}
	return nil, 0
}

// Waiters returns which processes ever wait.
func (g *Graph) Waiters() []int {
	var all uint32
	for _, w := range g.waiting {
		all |= w
	}
	var procs []int
	for ; all != 0; all &= all - 1 {
		procs = append(procs, bits.TrailingZeros32(all))
	}
	return procs
}
