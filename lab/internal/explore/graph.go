package explore

import (
	"cmp"
	"slices"
)

// A Graph is the whole state graph of a model, for questions about infinite behaviours
// and about paths. States are numbered in breadth-first order.
type Graph struct {
	// Unfinished is why building the graph, or answering a question about it since, ended
	// early; it is empty if all is complete.
	Unfinished string

	watch   watch
	model   Model
	worker  Worker
	edges   bool
	roomy   bool     // the arrays need not grow
	slots   []uint32 // open addressing: 1 + the number of a state
	prints  []uint64 // fingerprint of each state
	parent  []uint32 // state that each state was found from; the first are their own
	waiting []uint32 // processes that wait in each state
	calm    []uint32 // processes that wait with none of their messages in flight
	first   []uint64 // first edge of each state
	to      []uint32 // targets of edges, by source
	class   []uint32 // what each edge does: see Step.Class
	renamed []uint32 // how each edge renames fair actions: see Step.Renaming; nil if none does
	found   map[Broken]Place
	queue   frontier
	extra   int64 // bytes that a question about the graph takes
}

// A Place is where a property is first violated: in a state, or by a step out of it.
type Place struct {
	State uint32
	Step  *Step
}

const (
	classFair   = 1 << 31
	classEnters = 1 << 30
)

// GraphLimits say when to stop building a graph: like other limits, except that Stop
// takes effect as soon as one of these properties is found violated.
type GraphLimits struct {
	Limits
	Edges bool // keep edges, for infinite behaviours

	// Seen is notified of the first violation of a property, as soon as it is found: the
	// way there is in the graph. It may be nil.
	Seen func(g *Graph, now Broken) error

	States, Transitions int64 // expected numbers, if known
}

// perState, perEdge and perRenamed are the maximum numbers of bytes that the graph and its
// components take, if room was made beforehand.
const (
	perState   = 28 + 16 + perPart
	perPart    = 32
	perEdge    = 8
	perRenamed = 4 // more for an edge, if some edges rename fair actions
)

// GraphBytes returns the memory that a graph of this size takes, with its components.
func GraphBytes(states, transitions int64, renames bool) int64 {
	all := states*perState + transitions*perEdge
	if renames {
		all += transitions * perRenamed
	}
	return all
}

// BuildGraph explores a model in one thread, remembering everything. An error ends it;
// but if it should stop at a violation, the error ends it only at the end of the level,
// because a violation found by then is what was looked for.
func BuildGraph(m Model, l GraphLimits) (*Graph, error) {
	g := &Graph{watch: l.watch(), model: m, worker: m.Worker(), edges: l.Edges, roomy: l.States > 0, slots: make([]uint32, 1<<12), found: map[Broken]Place{}}
	g.makeRoom(l)
	err := g.worker.Init(func(state []byte) bool {
		if n, isNew := g.number(state); isNew {
			g.parent = append(g.parent, n)
			g.queue.put(state)
		}
		return len(g.prints)&0x3ff != 0 || g.goOn()
	})
	waits, _ := g.worker.(Waits)
	var failed error // may still become irrelevant
	last := 0        // level in which it failed
	for at := uint32(0); err == nil && g.Unfinished == "" && g.queue.more(); at++ {
		if failed != nil && g.queue.level > last {
			break
		}
		state := g.queue.take()
		if waits != nil {
			w, c := waits.Waiting(state)
			g.waiting, g.calm = append(g.waiting, w), append(g.calm, c)
		}
		var now Broken
		if now, err = g.expand(at, state); err != nil && l.Stop == 0 {
			break
		}
		if err != nil && failed == nil {
			failed, last = err, g.queue.level
		}
		err = nil
		if now != 0 && l.Seen != nil {
			err = l.Seen(g, now)
		}
		if now&l.Stop != 0 {
			g.Unfinished, failed = "the search stopped at a violation", nil
		} else if at&0x3ff == 0x3ff {
			g.goOn()
		}
	}
	for waits != nil && len(g.waiting) < len(g.prints) { // nothing is known about states that were seen but not expanded
		g.waiting, g.calm = append(g.waiting, 0), append(g.calm, 0)
	}
	for len(g.first) <= len(g.prints) {
		g.first = append(g.first, uint64(len(g.to)))
	}
	return g, cmp.Or(err, failed)
}

// makeRoom allocates everything at once, if the size is known.
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

// expand adds the steps out of a state. It returns the properties violated there for the
// first time.
func (g *Graph) expand(at uint32, state []byte) (now Broken, err error) {
	g.first = append(g.first, uint64(len(g.to)))
	broken, err := g.worker.Next(state, func(s Step, b []byte) {
		n, isNew := g.number(b)
		if isNew {
			g.parent = append(g.parent, at)
			g.queue.put(b)
		}
		if s.Broken != 0 {
			step := s // a copy, so that s itself need not be on the heap
			now |= g.saw(s.Broken, Place{at, &step})
		}
		if g.edges {
			if s.Renaming != 0 && g.renamed == nil {
				g.renamed = make([]uint32, len(g.to), cap(g.to)+1)
			}
			if g.renamed != nil {
				g.renamed = append(g.renamed, s.Renaming)
			}
			g.to = append(g.to, n)
			g.class = append(g.class, classOf(s))
		}
	})
	return now | g.saw(broken, Place{at, nil}), err
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

// saw notes violations, and returns those not seen before.
func (g *Graph) saw(b Broken, p Place) (now Broken) {
	for bit := Broken(1); b != 0; bit <<= 1 {
		if b&bit == 0 {
			continue
		}
		b &^= bit
		if _, ok := g.found[bit]; !ok {
			g.found[bit] = p
			now |= bit
		}
	}
	return now
}

// goOn reports progress, and returns whether no limit is reached.
func (g *Graph) goOn() bool {
	memory := g.bytes()
	if why := g.watch.over(memory); why != "" {
		g.Unfinished = why
	}
	g.watch.tell(Progress{
		States: g.States(), Transitions: g.Transitions(), Queue: g.queue.blocks(), Depth: g.queue.level, Memory: memory,
	})
	return g.Unfinished == ""
}

// bytes returns how much memory the graph takes, with its components if there are edges,
// and with what it takes to grow the largest of its arrays.
func (g *Graph) bytes() int64 {
	all := int64(len(g.slots))*4 + g.queue.bytes() + g.extra + bytesOf(g.model) + bytesOf(g.worker)
	most := int64(len(g.slots)) * 8
	for _, array := range []int{cap(g.prints) * 8, cap(g.first) * 8, cap(g.parent) * 4, cap(g.waiting) * 4, cap(g.calm) * 4, cap(g.to) * 4, cap(g.class) * 4, cap(g.renamed) * 4} {
		all += int64(array)
		most = max(most, int64(array)*5/4)
	}
	if !g.roomy {
		all += most
	}
	if g.edges {
		all += int64(len(g.prints)) * perPart
	}
	return all
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

// A Walk is a way through a graph. It consists of edges, not only of states: steps between
// the same two states may be different actions.
type Walk struct {
	From  uint32
	Edges []uint64
}

// Along returns the states along a path of state numbers and a walk that continues it,
// the number of the start that the path begins with, and the labels of the walk's steps.
func (g *Graph) Along(path []uint32, walk []uint64) (start int, states [][]byte, labels []uint32, err error) {
	i := 0
	err = g.worker.Init(func(s []byte) bool {
		if g.prints[path[0]] == Fingerprint(s) {
			states = [][]byte{slices.Clone(s)}
			start = i
		}
		i++
		return states == nil
	})
	follow := func(wanted func(edge uint64, to []byte) bool) (label uint32) {
		if err != nil {
			return 0
		}
		var next []byte
		n := uint64(0)
		_, err = g.worker.Next(states[len(states)-1], func(s Step, b []byte) {
			if next == nil && wanted(n, b) {
				next, label = slices.Clone(b), s.Label
			}
			n++
		})
		states = append(states, next)
		return label
	}
	for _, want := range path[1:] {
		follow(func(_ uint64, to []byte) bool { return Fingerprint(to) == g.prints[want] })
	}
	at := path[len(path)-1]
	for _, e := range walk {
		labels = append(labels, follow(func(edge uint64, _ []byte) bool { return g.first[at]+edge == e }))
		at = g.to[e]
	}
	if err != nil {
		return 0, nil, nil, err
	}
	return start, states, labels, nil
}

// States returns the number of states.
func (g *Graph) States() int64 { return int64(len(g.prints)) }

// Transitions returns the number of edges, if they are kept.
func (g *Graph) Transitions() int64 { return int64(len(g.to)) }

// Levels returns the number of levels of the breadth-first search: the last state found
// is as deep as any.
func (g *Graph) Levels() int {
	if len(g.prints) == 0 {
		return 0
	}
	return len(g.PathTo(uint32(len(g.prints) - 1)))
}

// Whole returns the number of levels that were explored completely.
func (g *Graph) Whole() int { return g.queue.level }

// Found returns where a property is first violated.
func (g *Graph) Found(b Broken) (at Place, ok bool) {
	at, ok = g.found[b]
	return at, ok
}

// Worker returns the worker that built the graph.
func (g *Graph) Worker() Worker { return g.worker }

// Waiting returns the processes that wait in a state, one bit for each.
func (g *Graph) Waiting(state uint32) uint32 { return g.waiting[state] }
