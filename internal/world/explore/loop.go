package explore

import "slices"

// The loop of a lasso: a closed walk through a component in which a fair run can stay
// forever. Repeating it must be fair in itself: every fair action that is possible in all
// its states is taken in it.

// fewStarts is the size of a component from which on not all its states are tried as the
// beginning of a loop.
const fewStarts = 256

// Loop returns a loop through a bad component: among those with a short way there, the
// one that gives the shortest lasso. It begins and ends with the same state; if nothing
// more need happen, that state is all of it. It is nil if the search ends early.
func (c *Cut) Loop(members []uint32) []uint32 {
	first := members[len(members)-1]
	starts := slices.Sorted(slices.Values(members))
	var best []uint32
	size := 0
	for _, s := range starts[:min(fewStarts, len(starts))] {
		walk := []uint32{s}
		if len(c.fair(s, nil)) > 0 {
			back, _ := c.search(s, c.comp[s], func(t uint32, _ uint64) bool { return t == s })
			if walk = append(walk, back...); back == nil || !c.fairWalk(walk) {
				continue
			}
		}
		if n := len(c.PathTo(s)) + len(walk); best == nil || n < size {
			best, size = walk, n
		}
	}
	if best == nil {
		best = c.around(members, first)
	}
	return best
}

// fairWalk reports whether repeating a closed walk is fair.
func (c *Cut) fairWalk(walk []uint32) bool {
	always := c.fair(walk[0], nil)
	var here []uint32
	for i, s := range walk[1:] {
		here = c.fair(s, here[:0])
		always = slices.DeleteFunc(always, func(k uint32) bool {
			return !slices.Contains(here, k) || c.takes(walk[i], s, k)
		})
	}
	return len(always) == 0
}

// takes reports whether there is a step from s to t of a fair action.
func (c *Cut) takes(s, t, action uint32) bool {
	for e := c.first[s]; e < c.first[s+1]; e++ {
		if c.to[e] == t && c.class[e]&^classEnters == action {
			return true
		}
	}
	return false
}

// around returns a closed walk from a state through its component that takes each fair
// action taken inside the component, and for each other one visits a state in which it is
// not possible. It is nil if the search ends early.
func (c *Cut) around(members []uint32, start uint32) []uint32 {
	id := c.comp[start]
	need := map[uint32]bool{}
	c.inner(members, func(e uint64) {
		if k := c.class[e] &^ classEnters; k&classFair != 0 {
			need[k] = true
		}
	})
	walk := []uint32{start}
	at := start
	for len(need) > 0 {
		path, class := c.search(at, id, func(t uint32, e uint64) bool {
			return c.comp[t] == id && need[c.class[e]&^classEnters]
		})
		if path == nil {
			break
		}
		walk = append(walk, path...)
		at = path[len(path)-1]
		delete(need, class)
	}
	for _, s := range c.pauses(members, walk) {
		path, _ := c.search(at, id, func(t uint32, _ uint64) bool { return t == s })
		walk = append(walk, path...)
		at = s
	}
	if at != start {
		path, _ := c.search(at, id, func(t uint32, _ uint64) bool { return t == start })
		walk = append(walk, path...)
	}
	if c.Unfinished != "" {
		return nil
	}
	return walk
}

// pauses returns states to visit, besides those of a walk, such that each fair action
// that is never taken inside the component is not possible in one of them.
func (c *Cut) pauses(members, walk []uint32) []uint32 {
	always := c.fair(walk[0], nil)
	c.inner(members, func(e uint64) {
		always = slices.DeleteFunc(always, func(k uint32) bool { return k == c.class[e]&^classEnters })
	})
	var here, visit []uint32
	drop := func(s uint32) (dropped bool) {
		here = c.fair(s, here[:0])
		n := len(always)
		always = slices.DeleteFunc(always, func(k uint32) bool { return !slices.Contains(here, k) })
		return len(always) < n
	}
	for _, s := range walk {
		drop(s)
	}
	for _, s := range members {
		if len(always) > 0 && drop(s) {
			visit = append(visit, s)
		}
	}
	return visit
}
