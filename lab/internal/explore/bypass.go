package explore

// Unbounded is a bypass without limit.
const Unbounded = -1

// A Bypass is the maximum number of entries of other processes while a process waits.
type Bypass struct {
	*Cut
	best        []int // for each component, from any of its states
	FromRequest int   // from its request on
	FromCalm    int   // from when none of its messages is in flight
}

// count returns 1 for an edge by which another process enters.
func (c *Cut) count(edge uint64) int {
	if c.class[edge]&classEnters != 0 {
		return 1
	}
	return 0
}

// Bypass finds the longest paths, counting entries. Components come in reverse
// topological order, so the successors of a component are known before it. If it ends
// early, the graph is unfinished.
func (c *Cut) Bypass() *Bypass {
	g := c.Graph
	b := &Bypass{Cut: c, best: make([]int, c.Parts())}
	for id := 0; id < c.Parts() && c.often(id); id++ {
		calm := false
		for _, s := range c.Members(id) {
			calm = calm || g.calm[s]&c.bit != 0
			for e := g.first[s]; e < g.first[s+1]; e++ {
				b.follow(int32(id), e)
			}
		}
		b.FromRequest = Worse(b.FromRequest, b.best[id])
		if calm {
			b.FromCalm = Worse(b.FromCalm, b.best[id])
		}
	}
	return b
}

// follow takes one edge of a component into account.
func (b *Bypass) follow(id int32, edge uint64) {
	next := b.comp[b.to[edge]]
	switch {
	case next < 0: // its own entry
	case next == id:
		if b.count(edge) > 0 {
			b.best[id] = Unbounded
		}
	case b.best[next] == Unbounded:
		b.best[id] = Unbounded
	case b.best[id] != Unbounded:
		b.best[id] = max(b.best[id], b.count(edge)+b.best[next])
	}
}

// Worse returns the larger of two bypasses.
func Worse(a, b int) int {
	if a == Unbounded || b == Unbounded {
		return Unbounded
	}
	return max(a, b)
}

// Run returns a run in which the process, with none of its messages in flight, is
// overtaken as often as possible: the states up to that point, and the edges from there
// on. If the bypass is unbounded, the run ends where it can be repeated from edge number
// loop on; otherwise loop is -1. There is no run if it ends early.
func (b *Bypass) Run() (stem []uint32, rest []uint64, loop int) {
	at := uint32(0)
	for b.calm[at]&b.bit == 0 || b.best[b.comp[at]] != b.FromCalm {
		at++
	}
	stem = b.PathTo(at)
	for b.best[b.comp[at]] != 0 {
		id := b.comp[at]
		inner := b.search(at, id, func(t uint32, e uint64) bool { return b.comp[t] == id && b.count(e) > 0 })
		if inner != nil {
			loop = len(rest)
			rest = append(rest, inner...)
			if last := b.to[inner[len(inner)-1]]; last != at {
				rest = append(rest, b.search(last, id, func(t uint32, _ uint64) bool { return t == at })...)
			}
			if b.Unfinished != "" {
				break
			}
			return stem, rest, loop
		}
		on := b.search(at, id, func(t uint32, e uint64) bool {
			next := b.comp[t]
			switch {
			case next < 0 || next == id:
				return false
			case b.best[id] == Unbounded:
				return b.best[next] == Unbounded
			}
			return b.count(e)+b.best[next] == b.best[id]
		})
		if on == nil {
			break
		}
		rest = append(rest, on...)
		at = b.to[on[len(on)-1]]
	}
	if b.Unfinished != "" {
		return nil, nil, -1
	}
	return stem, rest, -1
}
