package explore

import (
	"slices"
	"sort"
)

// The loop of a lasso: a closed walk through a component in which a fair run can stay
// forever. Repeating it must be fair in itself: it pays all that is owed where it begins.

// fewStarts is the size of a component from which on not all its states are tried as the
// beginning of a loop.
const fewStarts = 256

// Loop returns a loop through a bad component: among those with a short way there, the
// one that gives the shortest lasso. If nothing more need happen, it has no edges. It is
// nil if the search ends early.
func (c *Cut) Loop(members []uint32) *Walk {
	starts := slices.Clone(members)
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	var best *Walk
	size := 0
	for _, s := range starts[:min(fewStarts, len(starts))] {
		walk := Walk{From: s}
		if len(c.fair(s, nil)) > 0 {
			walk.Edges = c.search(s, c.comp[s], func(t uint32, _ uint64) bool { return t == s })
			if walk.Edges == nil || !c.fairWalk(walk) {
				continue
			}
		}
		if n := len(c.PathTo(s)) + len(walk.Edges); best == nil || n < size {
			best, size = &walk, n
		}
	}
	if best == nil {
		best = c.around(starts[0])
	}
	return best
}

// fairWalk reports whether repeating a closed walk is fair.
func (c *Cut) fairWalk(w Walk) bool {
	owed := c.fair(w.From, nil)
	for _, e := range w.Edges {
		owed = c.afterAll(owed, e)
	}
	return len(owed) == 0
}

// around returns a closed walk through the component of a state that pays all that is
// owed there, one action after the other, and returns. It is nil if the search ends
// early.
func (c *Cut) around(start uint32) *Walk {
	w := &Walk{From: start}
	at := start
	follow := func(edges []uint64, owed []uint32) []uint32 {
		for _, e := range edges {
			owed = c.afterAll(owed, e)
			at = c.to[e]
		}
		w.Edges = append(w.Edges, edges...)
		return owed
	}
	owed := c.fair(start, nil)
	for len(owed) > 0 && c.Unfinished == "" {
		edges := c.payment(at, owed[0])
		if edges == nil {
			return nil
		}
		owed = follow(edges, owed)
	}
	if at != start {
		follow(c.search(at, c.comp[start], func(t uint32, _ uint64) bool { return t == start }), nil)
	}
	if c.Unfinished != "" {
		return nil
	}
	return w
}
