package mutex

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
)

// A Tree connects n processes without a cycle. It lists the parent of each; seat 0 is the
// root, whose parent is None.
type Tree []algorithm.ID

// A TreeOf returns the tree for n processes.
type TreeOf func(n int) (Tree, error)

// links returns the pairs of neighbours among n processes, or nothing if there is no such
// tree.
func (of TreeOf) links(n int) [][2]algorithm.ID {
	t, err := of(n)
	if err != nil {
		return nil
	}
	var all [][2]algorithm.ID
	for i, parent := range t {
		if parent != algorithm.None {
			all = append(all, [2]algorithm.ID{parent, algorithm.ID(i)})
		}
	}
	return all
}

// Kary returns trees in which the children of seat i are k*i+1 .. k*i+k. Kary(1) is a
// line.
func Kary(k int) TreeOf {
	return func(n int) (Tree, error) {
		if k < 1 {
			return nil, fmt.Errorf("a tree with %d children per process: want at least 1", k)
		}
		t := make(Tree, n)
		for i := range t {
			t[i] = algorithm.ID((i+k-1)/k) - 1
		}
		return t, nil
	}
}

// Star returns the tree in which all are neighbours of the first process.
func Star(n int) (Tree, error) { return Kary(max(n, 1))(n) }

// Edges returns the tree with the given pairs of neighbours.
func Edges(pairs [][2]algorithm.ID) TreeOf {
	return func(n int) (Tree, error) {
		next := make([][]algorithm.ID, n)
		for _, p := range pairs {
			for _, id := range p {
				if int(id) >= n || id < 0 {
					return nil, fmt.Errorf("edge %d-%d of a tree of %d processes: there is no process %d", p[0]+1, p[1]+1, n, id+1)
				}
			}
			next[p[0]] = append(next[p[0]], p[1])
			next[p[1]] = append(next[p[1]], p[0])
		}
		if len(pairs) != n-1 {
			return nil, fmt.Errorf("a tree of %d processes has %d edges, not %d", n, n-1, len(pairs))
		}
		t := make(Tree, n)
		for i := range t {
			t[i] = algorithm.None
		}
		seen := algorithm.SetOf(0)
		for reach := []algorithm.ID{0}; len(reach) > 0; reach = reach[1:] {
			at := reach[0]
			for _, id := range next[at] {
				if !seen.Has(id) {
					seen.Add(id)
					t[id] = at
					reach = append(reach, id)
				}
			}
		}
		for id := range algorithm.ID(n) {
			if !seen.Has(id) {
				return nil, fmt.Errorf("the edges do not form a tree: process %d is not connected to process 1", id+1)
			}
		}
		return t, nil
	}
}

// Toward returns the neighbour of from that is nearest to d.
func (t Tree) Toward(from, d algorithm.ID) algorithm.ID {
	for d != algorithm.None && t[d] != from {
		d = t[d]
	}
	if d == algorithm.None {
		return t[from]
	}
	return d
}

// Path returns the seats from a to b, both included.
func (t Tree) Path(a, b algorithm.ID) []algorithm.ID {
	path := []algorithm.ID{a}
	for a != b {
		a = t.Toward(a, b)
		path = append(path, a)
	}
	return path
}

// Diameter returns the longest distance between two processes, in edges.
func (t Tree) Diameter() int {
	far := func(from algorithm.ID) (algorithm.ID, int) {
		next := make([][]algorithm.ID, len(t))
		for i, p := range t {
			if p != algorithm.None {
				next[i] = append(next[i], p)
				next[p] = append(next[p], algorithm.ID(i))
			}
		}
		depth := make([]int, len(t))
		for i := range depth {
			depth[i] = -1
		}
		depth[from] = 0
		last := from
		for reach := []algorithm.ID{from}; len(reach) > 0; reach = reach[1:] {
			last = reach[0]
			for _, id := range next[last] {
				if depth[id] < 0 {
					depth[id] = depth[last] + 1
					reach = append(reach, id)
				}
			}
		}
		return last, depth[last]
	}
	end, _ := far(0)
	_, d := far(end)
	return d
}
