package storm

import (
	"encoding/binary"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// The kinds of messages, by their first byte.
const (
	packetMsg  byte = iota // between members: what a session sends
	joinMsg                // to the service: incarnation
	leaveMsg               // incarnation
	renewMsg               // incarnation, number, epoch, whether to forget, complaints
	fetchMsg               // incarnation
	renewedMsg             // from the service: incarnation, number, epoch
	goneMsg                // incarnation
	viewMsg                // incarnation, epoch
	helloMsg               // from a client: incarnation, session, number
	spanMsg                // to a client: session, number, span
	lockMsg                // from a client: incarnation, session, request, lock, whether it tries
	grantMsg               // to a client: session, request, token
	refuseMsg              // session, request
	unlockMsg              // from a client: incarnation, session, request, token
	doneMsg                // to a client: session, request
	readMsg                // to the store: lock, token, who asks
	valueMsg               // from the store: lock, token, value, who asked
	writeMsg               // lock, token, value, deposit
	savedMsg               // from the store, if it has a bank: lock, token
)

var msgNames = [...]string{
	"PACKET", "JOIN", "LEAVE", "RENEW", "FETCH", "RENEWED", "GONE", "VIEW",
	"HELLO", "SPAN", "LOCK", "GRANT", "REFUSE", "UNLOCK", "DONE", "READ", "VALUE", "WRITE", "SAVED",
}

// A wire is what happens to messages under way.
type wire struct {
	w         *world
	n         int
	chance    kernel.Rand
	cuts      []uint8  // by sender and receiver: how many strikes keep them apart
	down      []uint8  // by sender and receiver: how many strikes leave them without a connection
	broken    []uint32 // by sender and receiver: how often the connection has broken
	loss      int64    // of a thousand
	twice     int64    // of a thousand
	late      int64    // of a thousand
	lateViews bool     // only what the view service sends
	lateBy    int64
	slow      []int64 // by process: how much longer all takes
}

func newWire(w *world, n int) wire {
	return wire{w: w, n: n, chance: kernel.NewRand(w.Seed, 3), cuts: make([]uint8, n*n), broken: make([]uint32, n*n), down: make([]uint8, n*n), slow: make([]int64, n)}
}

// cut reports whether messages from one process do not reach another.
func (x *wire) cut(from, to core.ID) bool { return x.cuts[int(from)*x.n+int(to)] > 0 }

// part lets a strike keep two processes apart, or no more.
func (x *wire) part(from, to core.ID, on bool) {
	c := &x.cuts[int(from)*x.n+int(to)]
	if on {
		*c++
	} else if *c > 0 {
		*c--
	}
}

// snap lets the connection between two processes break, with all that is under
// way on it; or lets there be one again.
func (x *wire) snap(a, b core.ID, up bool) {
	for _, at := range [...]int{int(a)*x.n + int(b), int(b)*x.n + int(a)} {
		if up {
			x.down[at]--
		} else {
			x.down[at]++
			x.broken[at]++
		}
	}
}

// isDown reports whether two processes have no connection.
func (x *wire) isDown(a, b core.ID) bool { return x.down[int(a)*x.n+int(b)] > 0 }

// heal ends all that happens to messages.
func (x *wire) heal() {
	clear(x.cuts)
	clear(x.slow)
	x.loss, x.twice, x.late = 0, 0, 0
}

// send sends a message, if nothing happens to it.
func (x *wire) send(from, to core.ID, b []byte) {
	w := x.w
	slot := w.Keep(b, 0, kernel.Tag(x.broken[int(from)*x.n+int(to)]), 1)
	if x.cut(from, to) || x.isDown(from, to) || x.loss > 0 && x.chance.Below(1000) < x.loss {
		w.Lose(from, to, slot)
		return
	}
	more := x.slow[from] + x.slow[to]
	if x.late > 0 && (!x.lateViews || from == serviceID) && x.chance.Below(1000) < x.late {
		more += x.chance.Below(x.lateBy)
	}
	w.SendLate(from, to, slot, more)
	if x.twice > 0 && b[0] < readMsg && x.chance.Below(1000) < x.twice {
		w.SendLate(from, to, w.Keep(b, 0, kernel.Tag(x.broken[int(from)*x.n+int(to)]), 1), more+x.chance.Below(20*ms))
	}
}

// tell sends a message that is made of a kind and some numbers.
func (w *world) tell(from, to core.ID, kind byte, values ...uint64) {
	b := append(w.buf[:0], kind)
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	w.buf = b
	w.wire.send(from, to, b)
}

// A letter is the numbers of a message, taken off one after the other.
type letter []byte

func (l *letter) next() uint64 {
	v, n := binary.Uvarint(*l)
	*l = (*l)[max(n, 0):]
	return v
}

func (l *letter) more() bool { return len(*l) > 0 }

// Deliver implements kernel.Handler.
func (w *world) Deliver(from, to core.ID, slot int32) {
	s := w.Slot(slot)
	if s.Tag != kernel.Tag(w.wire.broken[int(from)*w.wire.n+int(to)]) {
		return // the connection that it was on is no more
	}
	b := s.Bytes // which stays where it is
	w.note(uint64(from)<<32|uint64(to)<<16|uint64(b[0]), uint64(len(b)))
	switch {
	case to == serviceID:
		w.service.receive(b[0], letter(b[1:]))
	case to == storeID:
		w.store.receive(w, from, b[0], letter(b[1:]))
	case w.isClient(to):
		w.clientAt(to).receive(b[0], letter(b[1:]))
	default:
		w.procOf(to).receive(from, b)
	}
}

// Expired implements kernel.Handler.
func (*world) Expired(core.ID, kernel.Timer, kernel.Tag) {}

// Believed implements kernel.Handler.
func (*world) Believed(core.ID, core.ID) {}

// Called implements kernel.Handler.
func (*world) Called(m *kernel.Slot) string { return msgNames[m.Bytes[0]] }

// Describe implements kernel.Handler.
func (w *world) Describe(e *trace.Event, m *kernel.Slot) { w.describe(e, m.Bytes) }
