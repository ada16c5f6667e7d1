package explore

// MarkBefore sets bit mark of the waiting set in each state from which a state with bit
// target can be reached, in zero or more steps. If it ends early, the graph is
// unfinished.
func (g *Graph) MarkBefore(target, mark int) {
	n := len(g.waiting)
	g.extra = int64(n)*20 + int64(len(g.to))*4
	defer func() { g.extra = 0 }()
	if !g.goOn() {
		return
	}
	first, from := g.backwards()
	var queue []uint32
	for s, w := range g.waiting {
		if w>>target&1 == 1 {
			g.waiting[s] |= 1 << mark
			queue = append(queue, uint32(s))
		}
	}
	for i := 0; len(queue) > 0 && g.often(i); i++ {
		t := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, s := range from[first[t]:first[t+1]] {
			if g.waiting[s]>>mark&1 == 0 {
				g.waiting[s] |= 1 << mark
				queue = append(queue, s)
			}
		}
	}
}

// backwards returns the edges by target: those to state t come from
// from[first[t]:first[t+1]].
func (g *Graph) backwards() (first []uint64, from []uint32) {
	n := len(g.waiting)
	first = make([]uint64, n+1)
	for _, t := range g.to {
		first[t+1]++
	}
	for s := range n {
		first[s+1] += first[s]
	}
	from = make([]uint32, len(g.to))
	at := make([]uint64, n)
	copy(at, first)
	for s := 0; s < n && g.often(s); s++ {
		for _, t := range g.to[g.first[s]:g.first[s+1]] {
			from[at[t]] = uint32(s)
			at[t]++
		}
	}
	return first, from
}

// often is goOn for every round of a long loop: it checks the limits only now and then.
func (g *Graph) often(round int) bool {
	if round&0xffff != 0xffff {
		return g.Unfinished == ""
	}
	return g.goOn()
}
