package check

import (
	"encoding/binary"
	"slices"
)

// A graph is the whole state graph of a model, for questions about infinite
// behaviours and about paths. States are numbered in breadth-first order.
type graph struct {
	model   Model
	worker  Worker
	slots   []uint32 // open addressing: 1 + the number of a state
	prints  []uint64 // the fingerprint of each state
	parent  []uint32 // where each state was found from; the first are their own
	waiting []uint32 // who waits in each state
	calm    []uint32 // who waits with none of its messages under way
	first   []uint64 // where the edges of each state begin
	to      []uint32 // edges, by source
	class   []uint32 // what each edge does: see Step.Class
	full    bool     // false if building ended early
	memory  int64
	found   map[Broken]place
}

// A place is where a property is broken first: in a state, or by a step out of
// it.
type place struct {
	state uint32
	step  *Step
}

const (
	classFair   = 1 << 31
	classEnters = 1 << 30
)

// A graphLimit says when to stop building.
type graphLimit struct {
	stop   Broken // as soon as all of these are found
	memory int64  // bytes; 0 means no limit
	edges  bool   // keep edges
	quit   func() bool

	states, transitions int64 // how many there will be, if that is known
}

// makeRoom allocates all at once, if it is known how much there will be.
func (g *graph) makeRoom(l graphLimit) {
	for int64(len(g.slots)) < 2*l.states {
		g.slots = make([]uint32, 2*len(g.slots))
	}
	g.prints = make([]uint64, 0, l.states)
	g.parent = make([]uint32, 0, l.states)
	g.waiting = make([]uint32, 0, l.states)
	g.calm = make([]uint32, 0, l.states)
	g.first = make([]uint64, 0, l.states+1)
	g.to = make([]uint32, 0, l.transitions)
	g.class = make([]uint32, 0, l.transitions)
}

// perState and perEdge are how many bytes the graph and its components take, at
// most, if room was made beforehand.
const (
	perState = 28 + 16 + 20
	perEdge  = 8
)

// buildGraph explores a model in one thread, remembering everything. With
// stop, it ends as soon as one of these properties is found broken.
func buildGraph(m Model, l graphLimit) (*graph, error) {
	g := &graph{model: m, worker: m.Worker(), slots: make([]uint32, 1<<12), found: map[Broken]place{}, full: true}
	g.makeRoom(l)
	var frontier, next []byte
	err := g.worker.Init(func(state []byte) {
		if n, isNew := g.number(state); isNew {
			g.parent = append(g.parent, n)
			frontier = appendState(frontier, state)
		}
	})
	waits, _ := g.worker.(Waits)
	for at := uint32(0); err == nil && len(frontier) > 0; {
		state := frontierState(&frontier)
		if waits != nil {
			w, c := waits.Waiting(state)
			g.waiting, g.calm = append(g.waiting, w), append(g.calm, c)
		}
		g.first = append(g.first, uint64(len(g.to)))
		broken, e := g.worker.Next(state, func(s Step, b []byte) {
			n, isNew := g.number(b)
			if isNew {
				g.parent = append(g.parent, at)
				next = appendState(next, b)
			}
			if s.Broken != 0 {
				step := s // a copy, so that s itself need not be on the heap
				g.saw(s.Broken, place{at, &step})
			}
			if l.edges {
				g.to = append(g.to, n)
				g.class = append(g.class, classOf(s))
			}
		})
		err = e
		g.saw(broken, place{at, nil})
		at++
		if g.enough(l) {
			g.full = false
			break
		}
		if len(frontier) == 0 {
			frontier, next = next, frontier[:0]
		}
	}
	g.first = append(g.first, uint64(len(g.to)))
	return g, err
}

func frontierState(f *[]byte) []byte {
	size, n := binary.Uvarint(*f)
	state := (*f)[n : n+int(size)]
	*f = (*f)[n+int(size):]
	return state
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

func (g *graph) saw(b Broken, p place) {
	for bit := Broken(1); b != 0; bit <<= 1 {
		if b&bit == 0 {
			continue
		}
		b &^= bit
		if _, ok := g.found[bit]; !ok {
			if p.step != nil {
				s := *p.step
				p.step = &s
			}
			g.found[bit] = p
		}
	}
}

// enough reports whether building should end.
func (g *graph) enough(l graphLimit) bool {
	for bit := Broken(1); bit <= l.stop && bit != 0; bit <<= 1 {
		if _, ok := g.found[bit]; ok && l.stop&bit != 0 {
			return true
		}
	}
	if len(g.first)&0xfff != 0 {
		return false
	}
	if l.quit != nil && l.quit() {
		return true
	}
	g.memory = int64(len(g.slots))*4 + int64(cap(g.prints)+cap(g.first))*8 +
		int64(cap(g.parent)+cap(g.waiting)+cap(g.calm)+cap(g.to)+cap(g.class))*4
	if l.edges {
		g.memory += int64(len(g.prints)) * 20 // for the components
	}
	return l.memory > 0 && g.memory > l.memory
}

// number returns the number of a state, which may be new.
func (g *graph) number(state []byte) (n uint32, isNew bool) {
	fp := fingerprint(state)
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

func (g *graph) rehash() {
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

// pathTo returns the numbers of the states on a shortest path to a state.
func (g *graph) pathTo(n uint32) []uint32 {
	path := []uint32{n}
	for g.parent[n] != n {
		n = g.parent[n]
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}
