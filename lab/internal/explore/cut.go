package explore

import (
	"math/bits"
	"slices"
	"sort"
)

// Infinite behaviours. A process starves if there is an infinite run, fair to every
// delivery and every exit, in which it waits forever. Such a run ends in a strongly
// connected part of the graph in which the process waits, so it is enough to look at the
// largest such parts: owed.go says which of them are bad.

// A Cut is the part of a graph in which one process waits, divided into components.
type Cut struct {
	*Graph
	bit   uint32
	comp  []int32  // component of each state; -1 outside
	order []uint32 // the states, component by component
	ends  []uint32 // end of each component in order
	via   []uint64 // search: 1 + the edge that each state was found by
	seen  []uint64 // search for payments: a set of edges
}

// Parts returns the number of components.
func (c *Cut) Parts() int { return len(c.ends) }

// Members returns the states of a component.
func (c *Cut) Members(id int) []uint32 {
	begin := uint32(0)
	if id > 0 {
		begin = c.ends[id-1]
	}
	return c.order[begin:c.ends[id]]
}

// Cut finds the components by Tarjan's algorithm. Components come in reverse topological
// order: edges lead to earlier ones. If it ends early, the graph is unfinished and the
// cut is unusable.
func (g *Graph) Cut(proc int) *Cut {
	c := &Cut{Graph: g, bit: 1 << proc, comp: make([]int32, len(g.waiting))}
	for i := range c.comp {
		c.comp[i] = -1
	}
	t := &tarjan{Cut: c, index: make([]uint32, len(g.waiting)), low: make([]uint32, len(g.waiting)), next: 1}
	defer func() { g.extra = 0 }()
	for root := range uint32(len(g.waiting)) {
		if g.waiting[root]&c.bit != 0 && t.index[root] == 0 && !t.descend(root) {
			break
		}
	}
	return c
}

// A tarjan is a run of Tarjan's algorithm.
type tarjan struct {
	*Cut
	index, low []uint32 // index is 0 for unseen states
	next       uint32
	stack      []uint32
	calls      []call
	rounds     int
}

// A call is a state on the path, and the first of its edges not yet followed.
type call struct {
	state uint32
	edge  uint64
}

func (t *tarjan) visit(s uint32) {
	t.index[s], t.low[s] = t.next, t.next
	t.next++
	t.stack = append(t.stack, s)
	t.calls = append(t.calls, call{s, t.first[s]})
}

// descend visits everything that can be reached from root. It reports whether to
// continue.
func (t *tarjan) descend(root uint32) bool {
	t.visit(root)
	for ; len(t.calls) > 0; t.rounds++ {
		if t.rounds&0xffff == 0xffff {
			t.extra = int64(cap(t.calls))*16 + int64(cap(t.stack))*4
			if !t.goOn() {
				return false
			}
		}
		f := &t.calls[len(t.calls)-1]
		s := f.state
		if f.edge < t.first[s+1] {
			to := t.to[f.edge]
			f.edge++
			switch {
			case t.waiting[to]&t.bit == 0:
			case t.index[to] == 0:
				t.visit(to)
			case t.comp[to] < 0:
				t.low[s] = min(t.low[s], t.index[to])
			}
			continue
		}
		t.calls = t.calls[:len(t.calls)-1]
		if len(t.calls) > 0 {
			up := t.calls[len(t.calls)-1].state
			t.low[up] = min(t.low[up], t.low[s])
		}
		if t.low[s] == t.index[s] {
			t.close(&t.stack, s)
		}
	}
	return true
}

// close pops the component of root off the stack.
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

// Starves returns a component in which a fair run can stay forever, or nil. If there are
// several, it is the one that is reached in the fewest steps; the state in which that
// happens is the last of the list. If it ends early, the graph is unfinished, and there
// may be others.
func (c *Cut) Starves() []uint32 {
	var worst []uint32
	for id := 0; id < c.Parts() && c.often(id); id++ {
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

// search finds a shortest walk through a component that ends with an edge, inside it or
// out of it, for which done holds. It returns nothing if there is no such walk or the
// search ends early.
func (c *Cut) search(from uint32, id int32, done func(to uint32, edge uint64) bool) []uint64 {
	if c.via == nil {
		c.via = make([]uint64, len(c.comp))
	}
	const start = ^uint64(0)
	c.via[from] = start
	queue := []uint32{from}
	defer func() {
		for _, s := range queue {
			c.via[s] = 0
		}
	}()
	for i := 0; i < len(queue) && c.often(i); i++ {
		s := queue[i]
		for e := c.first[s]; e < c.first[s+1]; e++ {
			t := c.to[e]
			if done(t, e) {
				walk := []uint64{e}
				for c.via[s] != start {
					walk = append(walk, c.via[s]-1)
					s = c.source(c.via[s] - 1)
				}
				slices.Reverse(walk)
				return walk
			}
			if c.via[t] == 0 && c.comp[t] == id {
				c.via[t] = e + 1
				queue = append(queue, t)
			}
		}
	}
	return nil
}

// source returns the state that an edge begins in.
func (g *Graph) source(edge uint64) uint32 {
	return uint32(sort.Search(len(g.first)-1, func(s int) bool { return g.first[s+1] > edge }))
}

// Waiters returns the processes that ever wait.
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
