package sim

import (
	"fmt"
	"math/bits"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A Violation is one way in which a run broke a property.
type Violation struct {
	Property string // mutual-exclusion, order, lost-request or unasked-entry; elections: one-leader or agreement
	At       int64  // ticks
	Proc     core.ID
	Other    core.ID // mutual-exclusion: who was inside. order: who asked before. one-leader: who won too.
}

// String tells the violation in words.
func (v Violation) String() string {
	switch v.Property {
	case "mutual-exclusion":
		return fmt.Sprintf("%v entered while %v was inside", v.Proc, v.Other)
	case "order":
		return fmt.Sprintf("%v entered before %v, whose request happened before", v.Proc, v.Other)
	case "lost-request":
		return fmt.Sprintf("%v asked and was never granted", v.Proc)
	case "unasked-entry":
		return fmt.Sprintf("%v entered without having asked", v.Proc)
	case scenario.OneLeader:
		return fmt.Sprintf("%v and %v won in the same round", v.Proc, v.Other)
	case scenario.Agreement:
		return fmt.Sprintf("all is quiet, but not everybody alive follows %v, the highest", v.Proc)
	}
	return v.Property
}

type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

// An oracle judges a run by what can be seen from outside.
type oracle struct {
	procs  []process
	nWait  int
	nIn    int
	asks   int        // requests so far
	log    []logEntry // entries so far
	bypass int
	seen   []int32 // scratch: how often each process has overtaken
	found  []Violation
	order  *order // nil if happened-before is not watched
}

type process struct {
	phase phase
	ask   int // the number of its request
	since int // how many entries there had been when it asked
}

type logEntry struct {
	proc core.ID
	ask  int
}

func newOracle(n int, watchOrder bool) *oracle {
	o := &oracle{procs: make([]process, n), seen: make([]int32, n)}
	if watchOrder {
		o.order = newOrder(n)
	}
	return o
}

func (o *oracle) violate(v Violation) { o.found = append(o.found, v) }

func (o *oracle) asked(p core.ID) {
	o.asks++
	o.procs[p] = process{waiting, o.asks, len(o.log)}
	o.nWait++
	if o.order != nil {
		o.order.asked(p)
	}
}

func (o *oracle) entered(p core.ID, now int64) {
	if o.nIn > 0 {
		for q := range o.procs {
			if o.procs[q].phase == inside {
				o.violate(Violation{"mutual-exclusion", now, p, core.ID(q)})
				break
			}
		}
	}
	if o.order != nil {
		if q := o.order.enter(p); q != core.None {
			o.violate(Violation{"order", now, p, q})
		}
	}
	o.overtaken(p)
	o.log = append(o.log, logEntry{p, o.procs[p].ask})
	o.procs[p].phase = inside
	o.nWait--
	o.nIn++
}

// overtaken counts how often another process that asked later than p has
// entered while p waited.
func (o *oracle) overtaken(p core.ID) {
	me := o.procs[p]
	passed := o.log[me.since:]
	for _, e := range passed {
		if e.ask > me.ask {
			o.seen[e.proc]++
			o.bypass = max(o.bypass, int(o.seen[e.proc]))
		}
	}
	for _, e := range passed {
		o.seen[e.proc] = 0
	}
}

func (o *oracle) left(p core.ID) {
	o.procs[p].phase = idle
	o.nIn--
}

func (o *oracle) denied(p core.ID) {
	o.procs[p].phase = idle
	o.nWait--
	if o.order != nil {
		o.order.forget(p)
	}
}

// crashed forgets a process: its request is lost with it.
func (o *oracle) crashed(p core.ID) {
	switch o.procs[p].phase {
	case waiting:
		o.denied(p)
	case inside:
		o.left(p)
	}
}

// ended reports the requests that nobody will grant any more.
func (o *oracle) ended(now int64) {
	for p := range o.procs {
		if o.procs[p].phase == waiting {
			o.violate(Violation{"lost-request", now, core.ID(p), core.None})
		}
	}
}

// An order watches ME3: a request that happened before another is granted
// first. For each process it keeps whose waiting requests it knows of (they
// happened before whatever it does next), and for each waiting request which
// others it knew of when it was made (they must be granted first). Messages
// carry what their sender knows.
type order struct {
	words int
	knows []uint64 // a set of seats for each process
	ahead []uint64 // a set of seats for each process
	gone  []uint64 // when each process's last wait ended, in message times
	now   uint64   // counts messages
}

func newOrder(n int) *order {
	w := (n + 63) / 64
	return &order{words: w, knows: make([]uint64, n*w), ahead: make([]uint64, n*w), gone: make([]uint64, n)}
}

func (o *order) set(sets []uint64, p core.ID) []uint64 {
	return sets[int(p)*o.words : (int(p)+1)*o.words]
}

func (o *order) asked(p core.ID) {
	knows := o.set(o.knows, p)
	copy(o.set(o.ahead, p), knows)
	knows[p/64] |= 1 << (uint(p) % 64)
}

// sent returns what p knows, to travel with a message, and the message's time.
func (o *order) sent(p core.ID) ([]uint64, uint64) {
	o.now++
	return o.set(o.knows, p), o.now
}

// received adds what the sender of a message knew. What it said of a request
// that has been granted since does not count any more.
func (o *order) received(p core.ID, said []uint64, at uint64) {
	for w, knows := range o.set(o.knows, p) {
		for fresh := said[w] &^ knows; fresh != 0; fresh &= fresh - 1 {
			q := w*64 + bits.TrailingZeros64(fresh)
			if o.gone[q] < at {
				o.knows[int(p)*o.words+w] |= fresh & -fresh
			}
		}
	}
}

// enter returns a process that had to be granted before p, or None.
func (o *order) enter(p core.ID) core.ID {
	first := core.None
	for w, x := range o.set(o.ahead, p) {
		if x != 0 {
			first = core.ID(w*64 + bits.TrailingZeros64(x))
			break
		}
	}
	o.forget(p)
	return first
}

// forget drops p's request everywhere: it waits no more.
func (o *order) forget(p core.ID) {
	o.gone[p] = o.now
	w, bit := int(p)/64, uint64(1)<<(uint(p)%64)
	for i := w; i < len(o.knows); i += o.words {
		o.knows[i] &^= bit
		o.ahead[i] &^= bit
	}
	clear(o.set(o.ahead, p))
}
