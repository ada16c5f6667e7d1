package sim

import (
	"math/bits"

	"github.com/stile-lock/stile/algorithm"
)

// An order checks ME3: a request that happened before another is granted first. For each
// process it keeps the waiting requests that it knows of (they happened before whatever
// it does next), and for each waiting request the others it knew of when it was made
// (they must be granted first). Messages carry what their sender knows.
type order struct {
	words int
	knows []uint64 // a set of seats for each process
	ahead []uint64 // a set of seats for each process
	gone  []uint64 // when each process's last wait ended, in message times
	now   uint64   // number of messages
	said  []said   // knowledge carried by the message in each slot
}

// said is what the sender of a message knew, and when it was sent.
type said struct {
	knows []uint64
	at    uint64
}

func newOrder(n int) *order {
	w := (n + 63) / 64
	return &order{words: w, knows: make([]uint64, n*w), ahead: make([]uint64, n*w), gone: make([]uint64, n)}
}

func (o *order) set(sets []uint64, p algorithm.ID) []uint64 {
	return sets[int(p)*o.words : (int(p)+1)*o.words]
}

func (o *order) asked(p algorithm.ID) {
	knows := o.set(o.knows, p)
	copy(o.set(o.ahead, p), knows)
	knows[p/64] |= 1 << (uint(p) % 64)
}

// sent records that p sends the message in a slot.
func (o *order) sent(p algorithm.ID, slot int32) {
	o.now++
	for len(o.said) <= int(slot) {
		o.said = append(o.said, said{})
	}
	s := &o.said[slot]
	s.knows, s.at = append(s.knows[:0], o.set(o.knows, p)...), o.now
}

// received adds what the sender of the message in a slot knew.
func (o *order) received(p algorithm.ID, slot int32) {
	s := &o.said[slot]
	o.learn(p, s.knows, s.at)
}

// told records that p's application talks to peer's.
func (o *order) told(p, peer algorithm.ID) {
	o.now++
	o.learn(peer, o.set(o.knows, p), o.now)
}

// learn adds what another process knew. A request that has been granted since no longer
// counts.
func (o *order) learn(p algorithm.ID, said []uint64, at uint64) {
	mine := int(p) * o.words
	for w, x := range said {
		if fresh := x &^ o.knows[mine+w]; fresh != 0 {
			o.knows[mine+w] |= o.waiting(w, fresh, at)
		}
	}
}

// waiting returns those requests of a word, as known at a given time, that still wait.
func (o *order) waiting(w int, set, at uint64) uint64 {
	still := set
	for ; set != 0; set &= set - 1 {
		if q := w*64 + bits.TrailingZeros64(set); o.gone[q] >= at {
			still &^= set & -set
		}
	}
	return still
}

// enter returns a process that should have been granted before p, or None.
func (o *order) enter(p algorithm.ID) algorithm.ID {
	first := algorithm.None
	for w, x := range o.set(o.ahead, p) {
		if x != 0 {
			first = algorithm.ID(w*64 + bits.TrailingZeros64(x))
			break
		}
	}
	o.forget(p)
	return first
}

// forget drops p's request everywhere: it no longer waits.
func (o *order) forget(p algorithm.ID) {
	o.gone[p] = o.now
	w, bit := int(p)/64, uint64(1)<<(uint(p)%64)
	for i := w; i < len(o.knows); i += o.words {
		o.knows[i] &^= bit
		o.ahead[i] &^= bit
	}
	clear(o.set(o.ahead, p))
}
