package survey

import "slices"

// A lock that is held outside of transactions is a vertex of its own, so a process that holds
// one such lock and waits for another is two vertices, and the graph has no cycle. If its
// process holds the first until it has the second, there is a deadlock all the same. No node
// can know that: another goroutine may be about to release the first. So a cycle that exists
// only if all vertices of one process are one is a possible deadlock.

// A processKey identifies a process: the session of a client, or the node itself.
type processKey struct {
	node    string
	session uint64
}

// possible finds the possible deadlocks: for each process, a shortest cycle through it, unless
// a vertex of that is in a deadlock, or in a possible one that was found before.
func (g *Graph) possible() {
	of := make([]int, len(g.Vertices)) // by vertex: its process
	known := map[processKey]int{}
	count := 0
	for i, v := range g.Vertices {
		k := processKey{v.Node, v.Session}
		p, ok := known[k]
		if !ok || !v.known {
			p = count
			count++
		}
		if v.known {
			known[k] = p
		}
		of[i] = p
	}
	out := make([][]Edge, count) // by process: the edges to others
	for _, e := range g.Edges {
		if of[e.From] != of[e.To] {
			out[of[e.From]] = append(out[of[e.From]], e)
		}
	}
	found := map[int]bool{} // processes of cycles
	for _, cycle := range g.Deadlocks {
		for _, v := range cycle {
			found[of[v]] = true
		}
	}
	for p := range count {
		if found[p] {
			continue
		}
		var cycle []int
		for _, e := range around(p, out, of) {
			found[of[e.From]] = true
			if last := len(cycle) - 1; last < 0 || cycle[last] != e.From {
				cycle = append(cycle, e.From)
			}
			cycle = append(cycle, e.To)
		}
		if last := len(cycle) - 1; last > 0 && cycle[last] == cycle[0] {
			cycle = cycle[:last]
		}
		if cycle != nil {
			g.Possible = append(g.Possible, cycle)
		}
	}
}

// around returns the edges of a shortest cycle of processes that begins at one of them; nil if
// there is none.
func around(start int, out [][]Edge, of []int) []Edge {
	by := map[int]Edge{} // process: the edge by which it was reached
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range out[queue[0]] {
			to := of[e.To]
			if _, seen := by[to]; seen {
				continue
			}
			by[to] = e
			if to != start {
				queue = append(queue, to)
				continue
			}
			var cycle []Edge
			for at := start; ; {
				cycle = append(cycle, by[at])
				if at = of[by[at].From]; at == start {
					slices.Reverse(cycle)
					return cycle
				}
			}
		}
	}
	return nil
}
