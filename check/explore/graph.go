package explore

import (
	"slices"
)

// A Graph is the whole state graph of a model, for questions about infinite
// behaviours and about paths. States are numbered in breadth-first order.
type Graph struct {
	Unfinished string // why building it ended early; empty if it is complete

	watch   watch
	worker  Worker
	slots   []uint32 // open addressing: 1 + the number of a state
	prints  []uint64 // the fingerprint of each state
	parent  []uint32 // where each state was found from; the first are their own
	waiting []uint32 // who waits in each state
	calm    []uint32 // who waits with none of its messages under way
	first   []uint64 // where the edges of each state begin
	to      []uint32 // edges, by source
	class   []uint32 // what each edge does: see Step.Class
	found   map[Broken]Place
}

// A Place is where a property is broken first: in a state, or by a step out of
// it.
type Place struct {
	State uint32
	Step  *Step
}

const (
	classFair   = 1 << 31
	classEnters = 1 << 30
)

// GraphLimits say when to stop building a graph: as other limits do, but with
// Stop as soon as one of these properties is found broken.
type GraphLimits struct {
	Limits
	Edges bool // keep edges, for infinite behaviours

	States, Transitions int64 // how many there will be, if that is known
}

// makeRoom allocates all at once, if it is known how much there will be.
func (g *Graph) makeRoom(l GraphLimits) {
	for int64(len(g.slots)) < 2*l.States {
		g.slots = make([]uint32, 2*len(g.slots))
	}
	g.prints = make([]uint64, 0, l.States)
	g.parent = make([]uint32, 0, l.States)
	g.waiting = make([]uint32, 0, l.States)
	g.calm = make([]uint32, 0, l.States)
	g.first = make([]uint64, 0, l.States+1)
	g.to = make([]uint32, 0, l.Transitions)
	g.class = make([]uint32, 0, l.Transitions)
}

// perState and perEdge are how many bytes the graph and its components take, at
// most, if room was made beforehand.
const (
	perState = 28 + 16 + 20
	perEdge  = 8
)

// GraphBytes returns how much memory a graph of this size takes, at most, with
// its components.
func GraphBytes(states, transitions int64) int64 { return states*perState + transitions*perEdge }

// BuildGraph explores a model in one thread, remembering everything.
func BuildGraph(m Model, l GraphLimits) (*Graph, error) {
	g := &Graph{watch: l.watch(), worker: m.Worker(), slots: make([]uint32, 1<<12), found: map[Broken]Place{}}
	g.makeRoom(l)
	var frontier, next []byte
	err := g.worker.Init(func(state []byte) bool {
		if n, isNew := g.number(state); isNew {
			g.parent = append(g.parent, n)
			frontier = AppendState(frontier, state)
		}
		return true
	})
	waits, _ := g.worker.(Waits)
	for at := uint32(0); err == nil && len(frontier) > 0; {
		state := TakeState(&frontier)
		if waits != nil {
			w, c := waits.Waiting(state)
			g.waiting, g.calm = append(g.waiting, w), append(g.calm, c)
		}
		g.first = append(g.first, uint64(len(g.to)))
		broken, e := g.worker.Next(state, func(s Step, b []byte) {
			n, isNew := g.number(b)
			if isNew {
				g.parent = append(g.parent, at)
				next = AppendState(next, b)
			}
			if s.Broken != 0 {
				step := s // a copy, so that s itself need not be on the heap
				g.saw(s.Broken, Place{at, &step})
			}
			if l.Edges {
				g.to = append(g.to, n)
				g.class = append(g.class, classOf(s))
			}
		})
		err = e
		g.saw(broken, Place{at, nil})
		at++
		if g.enough(l) {
			break
		}
		if len(frontier) == 0 {
			frontier, next = next, frontier[:0]
		}
	}
	g.first = append(g.first, uint64(len(g.to)))
	return g, err
}

func classOf(s Step) uint32 {
	c := s.Class
	if s.Fair {
		c |= classFair
	}
	if s.Enters != 0 {
		c |= classEnters
	}
	return c
}

func (g *Graph) saw(b Broken, p Place) {
	for bit := Broken(1); b != 0; bit <<= 1 {
		if b&bit == 0 {
			continue
		}
		b &^= bit
		if _, ok := g.found[bit]; !ok {
			if p.Step != nil {
				s := *p.Step
				p.Step = &s
			}
			g.found[bit] = p
		}
	}
}

// enough reports whether building should end.
func (g *Graph) enough(l GraphLimits) bool {
	for bit := Broken(1); bit <= l.Stop && bit != 0; bit <<= 1 {
		if _, ok := g.found[bit]; ok && l.Stop&bit != 0 {
			g.Unfinished = "it ended where something was broken"
			return true
		}
	}
	if len(g.first)&0xfff != 0 {
		return false
	}
	g.Unfinished = g.watch.over(g.bytes(l.Edges))
	return g.Unfinished != ""
}

// bytes returns how much memory the graph takes, and with edges its components.
func (g *Graph) bytes(edges bool) int64 {
	memory := int64(len(g.slots))*4 + int64(cap(g.prints)+cap(g.first))*8 +
		int64(cap(g.parent)+cap(g.waiting)+cap(g.calm)+cap(g.to)+cap(g.class))*4
	if edges {
		memory += int64(len(g.prints)) * 20 // for the components
	}
	return memory
}

// number returns the number of a state, which may be new.
func (g *Graph) number(state []byte) (n uint32, isNew bool) {
	fp := Fingerprint(state)
	last := uint64(len(g.slots) - 1)
	i := fp & last
	for g.slots[i] != 0 {
		if n := g.slots[i] - 1; g.prints[n] == fp {
			return n, false
		}
		i = (i + 1) & last
	}
	g.prints = append(g.prints, fp)
	g.slots[i] = uint32(len(g.prints))
	if len(g.prints)*2 > len(g.slots) {
		g.rehash()
	}
	return uint32(len(g.prints) - 1), true
}

func (g *Graph) rehash() {
	g.slots = make([]uint32, 2*len(g.slots))
	last := uint64(len(g.slots) - 1)
	for n, fp := range g.prints {
		i := fp & last
		for g.slots[i] != 0 {
			i = (i + 1) & last
		}
		g.slots[i] = uint32(n + 1)
	}
}

// PathTo returns the numbers of the states on a shortest path to a state.
func (g *Graph) PathTo(n uint32) []uint32 {
	path := []uint32{n}
	for g.parent[n] != n {
		n = g.parent[n]
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

// Along returns the states along a path of state numbers, and the
// number of the start it begins with.
func (g *Graph) Along(path []uint32) (start int, states [][]byte, err error) {
	i := 0
	err = g.worker.Init(func(s []byte) bool {
		if g.prints[path[0]] == Fingerprint(s) {
			states = [][]byte{slices.Clone(s)}
			start = i
		}
		i++
		return states == nil
	})
	for _, want := range path[1:] {
		if err != nil {
			return 0, nil, err
		}
		var next []byte
		_, err = g.worker.Next(states[len(states)-1], func(_ Step, b []byte) {
			if next == nil && Fingerprint(b) == g.prints[want] {
				next = slices.Clone(b)
			}
		})
		states = append(states, next)
	}
	return start, states, err
}

// MarkBefore sets bit mark of who waits in each state from which one with bit
// target can be reached, in no step or more.
func (g *Graph) MarkBefore(target, mark int) {
	first := make([]uint64, len(g.waiting)+1)
	for _, t := range g.to {
		first[t+1]++
	}
	for s := range g.waiting {
		first[s+1] += first[s]
	}
	from := make([]uint32, len(g.to))
	at := make([]uint64, len(g.waiting))
	copy(at, first)
	for s := range g.waiting {
		for _, t := range g.to[g.first[s]:g.first[s+1]] {
			from[at[t]] = uint32(s)
			at[t]++
		}
	}
	var queue []uint32
	for s, w := range g.waiting {
		if w>>target&1 == 1 {
			g.waiting[s] |= 1 << mark
			queue = append(queue, uint32(s))
		}
	}
	for len(queue) > 0 {
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

// States returns how many states there are.
func (g *Graph) States() int64 { return int64(len(g.prints)) }

// Transitions returns how many edges there are, if they are kept.
func (g *Graph) Transitions() int64 { return int64(len(g.to)) }

// Levels returns how many levels the breadth-first search had: the state that
// was found last is as deep as any.
func (g *Graph) Levels() int {
	if len(g.prints) == 0 {
		return 0
	}
	return len(g.PathTo(uint32(len(g.prints) - 1)))
}

// Found returns where a property is broken first.
func (g *Graph) Found(b Broken) (at Place, ok bool) {
	at, ok = g.found[b]
	return at, ok
}

// Worker returns what the graph was built with.
func (g *Graph) Worker() Worker { return g.worker }

// Waiting returns who waits in a state, one bit for each process.
func (g *Graph) Waiting(state uint32) uint32 { return g.waiting[state] }
