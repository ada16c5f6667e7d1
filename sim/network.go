package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// How often a weak network harms a message: one in so many.
const (
	lossOneIn      = 100
	duplicateOneIn = 10
)

// A network decides when messages arrive, and holds them until then.
type network struct {
	n        int
	latency  scenario.Dist
	links    map[link]scenario.Dist // where a link has a latency of its own
	model    core.Network
	constant bool // every message takes latency.A, and all arrive
	chance   Rand
	last     []int64        // FIFO with varying latency: the last arrival on each link
	lastOf   map[link]int64 // the same for large groups
	slots    []slot
	free     []int32
	timers   map[timer]uint64 // the event that each timer last set will be
}

type link struct{ from, to core.ID }

type timer struct {
	proc core.ID
	id   int
}

// A slot holds the bytes of a message until its last receiver has it.
type slot struct {
	bytes []byte
	refs  int32
	knows []uint64 // what the sender knew; see order
	at    uint64
	round int // elections: in which the election began that it belongs to
}

func (s *slot) say(knows []uint64, at uint64) {
	s.knows = append(s.knows[:0], knows...)
	s.at = at
}

// denseLimit is the largest group that keeps a table of all links.
const denseLimit = 1024

func (w *network) init(n int, latency scenario.Dist, model core.Network, seed uint64) {
	if latency.Shape == scenario.Constant && model != core.FIFO && model != core.Lossy {
		// A network that reorders cannot have one latency for all.
		latency = scenario.Dist{Shape: scenario.Uniform, A: 1, B: 2 * latency.A}
	}
	w.n, w.latency, w.model = n, latency, model
	w.constant = latency.Shape == scenario.Constant && model == core.FIFO
	w.chance = NewRand(seed, 0)
	if w.ordered() && latency.Shape != scenario.Constant {
		w.remember()
	}
}

// setLinks gives single links a latency of their own.
func (w *network) setLinks(links []Link) {
	w.constant = false
	w.links = make(map[link]scenario.Dist)
	for _, l := range links {
		w.links[link{l.From, l.To}] = l.Latency
		if w.ordered() && l.Latency.Shape != scenario.Constant && w.last == nil && w.lastOf == nil {
			w.remember()
		}
	}
}

func (w *network) ordered() bool { return w.model == core.FIFO || w.model == core.Lossy }

func (w *network) remember() {
	if w.n <= denseLimit {
		w.last = make([]int64, w.n*w.n)
	} else {
		w.lastOf = make(map[link]int64)
	}
}

func (w *network) delay(from, to core.ID) int64 {
	d := w.latency
	if w.links != nil {
		if own, ok := w.links[link{from, to}]; ok {
			d = own
		}
	}
	if d.Shape == scenario.Constant {
		return d.A
	}
	return max(1, w.chance.Sample(d))
}

// arrival returns when a message that is ready to arrive at a time does so: on
// a FIFO link not before the one sent before it.
func (w *network) arrival(from, to core.ID, at int64) int64 {
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
	return w.model == core.Lossy && w.chance.Below(lossOneIn) == 0
}

func (w *network) doubles() bool {
	return w.model == core.Duplicating && w.chance.Below(duplicateOneIn) == 0
}

// keep stores a message, with one reference.
func (w *network) keep(b []byte) int32 {
	var i int32
	if n := len(w.free); n > 0 {
		i = w.free[n-1]
		w.free = w.free[:n-1]
	} else {
		i = int32(len(w.slots))
		w.slots = append(w.slots, slot{})
	}
	s := &w.slots[i]
	s.bytes = append(s.bytes[:0], b...)
	s.refs = 1
	return i
}

// drop gives up one reference.
func (w *network) drop(i int32) {
	s := &w.slots[i]
	s.refs--
	if s.refs == 0 {
		w.free = append(w.free, i)
	}
}
