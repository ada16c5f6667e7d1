package kernel

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// How often a weak network harms a message: one in this many.
const (
	lossOneIn      = 100
	duplicateOneIn = 10
)

// A network decides when messages arrive, and holds them until then.
type network struct {
	n        int
	latency  scenario.Dist
	links    map[link]scenario.Dist // links with a latency of their own
	unit     int64                  // maximum time that a message may take
	model    algorithm.Network
	constant bool // every message takes latency.A, and all arrive
	chance   Rand
	last     []int64        // FIFO with varying latency: the last arrival on each link
	lastOf   map[link]int64 // the same for large groups
	slots    []Slot
	free     []int32
}

type link struct{ from, to algorithm.ID }

// A Slot holds the bytes of a message until its last receiver has it.
type Slot struct {
	Bytes []byte
	Group int // group it belongs to
	Tag   Tag
	refs  int32 // receptions, or sends, still to come
}

// denseLimit is the largest group that keeps a table of all links.
const denseLimit = 1024

func (w *network) init(c Config) {
	if c.Latency.Shape == script.Constant && !ordered(c.Network) && !c.Exact {
		// A network that reorders cannot have a single latency for all messages.
		c.Latency = scenario.Uniform(1, 2*c.Latency.A)
	}
	w.n, w.latency, w.model, w.unit = c.Processes, c.Latency, c.Network, c.Latency.Max()
	w.constant = c.Latency.Shape == script.Constant && c.Network == algorithm.FIFO && len(c.Links) == 0
	w.chance = NewRand(c.Seed, 0)
	varies := c.Latency.Shape != script.Constant
	if len(c.Links) > 0 {
		w.links = make(map[link]scenario.Dist)
	}
	for _, l := range c.Links {
		w.links[link{l.From, l.To}] = l.Latency // the last one given counts
		varies = varies || l.Latency.Shape != script.Constant
	}
	for _, l := range c.Links {
		w.unit = max(w.unit, w.links[link{l.From, l.To}].Max())
	}
	if ordered(c.Network) && varies {
		w.remember()
	}
}

func ordered(n algorithm.Network) bool { return n == algorithm.FIFO || n == algorithm.Lossy }

// remember makes room for the last arrival on each link.
func (w *network) remember() {
	switch {
	case w.last != nil || w.lastOf != nil:
	case w.n <= denseLimit:
		w.last = make([]int64, w.n*w.n)
	default:
		w.lastOf = make(map[link]int64)
	}
}

func (w *network) delay(from, to algorithm.ID) int64 {
	d := w.latency
	if w.links != nil {
		if own, ok := w.links[link{from, to}]; ok {
			d = own
		}
	}
	if d.Shape == script.Constant {
		return d.A
	}
	return max(1, w.chance.Sample(d))
}

// arrival returns when a message that could arrive at a given time does so: on a FIFO
// link not before the one sent before it.
func (w *network) arrival(from, to algorithm.ID, at int64) int64 {
	if w.last != nil {
		l := &w.last[int(from)*w.n+int(to)]
		*l = max(*l, at)
		return *l
	}
	if w.lastOf != nil {
		at = max(at, w.lastOf[link{from, to}])
		w.lastOf[link{from, to}] = at
	}
	return at
}

func (w *network) loses() bool {
	return w.model == algorithm.Lossy && w.chance.Below(lossOneIn) == 0
}

func (w *network) doubles() bool {
	return w.model == algorithm.Duplicating && w.chance.Below(duplicateOneIn) == 0
}

// Keep stores a message for the given number of sends, which must follow.
func (w *network) Keep(b []byte, group int, tag Tag, times int) int32 {
	var i int32
	if n := len(w.free); n > 0 {
		i = w.free[n-1]
		w.free = w.free[:n-1]
	} else {
		i = int32(len(w.slots))
		w.slots = append(w.slots, Slot{})
	}
	s := &w.slots[i]
	s.Bytes = append(s.Bytes[:0], b...)
	s.refs, s.Group, s.Tag = int32(times), group, tag
	return i
}

// Slot returns a stored message. Another Keep may move it.
func (w *network) Slot(i int32) *Slot { return &w.slots[i] }

// retag changes the tags of the messages of a group.
func (w *network) retag(group int, f func(t Tag) Tag) {
	for i := range w.slots {
		if s := &w.slots[i]; s.refs > 0 && s.Group == group {
			s.Tag = f(s.Tag)
		}
	}
}

// drop releases one reference to a message.
func (w *network) drop(i int32) {
	s := &w.slots[i]
	s.refs--
	if s.refs == 0 {
		w.free = append(w.free, i)
	}
}
