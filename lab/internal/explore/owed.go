package explore

import "slices"

// Fairness. A fair action that is possible in a state is owed there. An edge pays it by
// taking it, or by leading to a state in which it is not possible; otherwise it stays
// owed, under the class that the edge's renaming gives it. A run is fair if all that is
// owed anywhere along it is paid later on.
//
// A component is bad, which means that a fair run can stay in it forever, if from one of
// its states, whichever that is, each action owed there can be paid by some walk inside
// the component. One state is enough: what no walk pays stays owed along all of them,
// hence is owed in every state. And if all can be paid, from any state, a run that always
// pays what has been owed longest is fair.
//
// Models that renumber messages must rename them. A message is one action until it
// arrives, whatever it is called meanwhile, and another one that is called as it was
// before is another action.

// Bad reports whether a fair run can stay in a component forever. It also returns false
// if the graph is unfinished.
func (c *Cut) Bad(members []uint32) bool {
	var least, here []uint32 // the fewest actions owed in any state
	at := members[0]
	for i, s := range members {
		if !c.often(i) {
			return false
		}
		if here = c.fair(s, here[:0]); i == 0 || len(here) < len(least) {
			least, here, at = here, least, s
		}
		if len(least) == 0 {
			return true // nothing more need happen
		}
	}
	for _, k := range least {
		if c.payment(at, k) == nil {
			return false
		}
	}
	return true
}

// action returns the class of an edge with classFair, if it is fair.
func (g *Graph) action(edge uint64) uint32 { return g.class[edge] &^ classEnters }

// fair appends the fair actions that are possible in a state.
func (g *Graph) fair(s uint32, actions []uint32) []uint32 {
	for e := g.first[s]; e < g.first[s+1]; e++ {
		if k := g.action(e); k&classFair != 0 && !slices.Contains(actions, k) {
			actions = append(actions, k)
		}
	}
	return actions
}

// possible returns the first edge out of a state that takes a fair action, if there is
// one. The edge identifies both.
func (g *Graph) possible(s, action uint32) (edge uint64, ok bool) {
	for e := g.first[s]; e < g.first[s+1]; e++ {
		if g.action(e) == action {
			return e, true
		}
	}
	return 0, false
}

// after returns what an action that is owed becomes by an edge: the first edge that takes
// it in the next state. It is not owed any more if the edge pays it.
func (g *Graph) after(action uint32, edge uint64) (next uint64, owed bool) {
	if g.action(edge) == action {
		return 0, false
	}
	if g.renamed != nil && g.renamed[edge] != 0 {
		action = g.worker.(Renames).Renamed(g.renamed[edge], action&^classFair) | classFair
	}
	return g.possible(g.to[edge], action)
}

// afterAll returns what remains owed after an edge.
func (g *Graph) afterAll(owed []uint32, edge uint64) []uint32 {
	var rest []uint32
	for _, k := range owed {
		if next, ok := g.after(k, edge); ok && !slices.Contains(rest, g.action(next)) {
			rest = append(rest, g.action(next))
		}
	}
	return rest
}

// An owing is an action that is owed in a state on the way to its payment.
type owing struct {
	edge  uint64 // first edge that takes the action: it identifies the action
	by    uint64 // edge that led here
	state uint32
	up    int32 // where that edge came from, in the queue; -1 for the first
}

// owingBytes is the size of an owing.
const owingBytes = 24

// payment returns a shortest walk inside the component of a state that pays an action
// owed there. It returns nothing if there is none or the search ends early.
func (c *Cut) payment(s, action uint32) []uint64 {
	if c.seen == nil {
		c.seen = make([]uint64, len(c.to)/64+1)
	}
	id := c.comp[s]
	first, _ := c.possible(s, action)
	queue := []owing{{edge: first, state: s, up: -1}}
	c.seen[first/64] |= 1 << (first % 64)
	defer func() {
		for _, o := range queue {
			c.seen[o.edge/64] &^= 1 << (o.edge % 64)
		}
		c.extra = 0
	}()
	for i := 0; i < len(queue); i++ {
		c.extra = int64(cap(queue))*owingBytes + int64(len(c.seen))*8
		if !c.often(i) {
			return nil
		}
		o := queue[i]
		for e := c.first[o.state]; e < c.first[o.state+1]; e++ {
			if c.comp[c.to[e]] != id {
				continue
			}
			next, owed := c.after(c.action(o.edge), e)
			if !owed {
				walk := []uint64{e}
				for at := o; at.up >= 0; at = queue[at.up] {
					walk = append(walk, at.by)
				}
				slices.Reverse(walk)
				return walk
			}
			if c.seen[next/64]>>(next%64)&1 == 0 {
				c.seen[next/64] |= 1 << (next % 64)
				queue = append(queue, owing{next, e, c.to[e], int32(i)})
			}
		}
	}
	return nil
}
