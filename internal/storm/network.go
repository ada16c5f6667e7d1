package storm

import (
	"encoding/binary"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/lab/trace"
)

// The kinds of messages, by their first byte: those between processes, and then these.
const (
	clientMsg = process.Messages + iota // from a client to a node: connection and frame; no frame if it is closed
	nodeMsg                             // from a node to a client
	readMsg                             // to the store: lock, fencing token (token below); with a bank, two accounts
	valueMsg                            // from the store: lock, token, value; with a bank, two accounts and their balances
	writeMsg                            // lock, token, value, deposit; with a bank, two accounts, their balances, the amount
	savedMsg                            // from the store, if it has a bank: lock, token
)

var msgNames = [...]string{
	"PACKET", "SERVICE", "RAFT",
	"CLOSED", "CLOSED", "READ", "VALUE", "WRITE", "SAVED",
}

// A network is what happens to messages in flight.
type network struct {
	w         *world
	n         int
	chance    kernel.Rand
	cuts      []uint8      // by sender and receiver: number of strikes that keep them apart
	down      []uint8      // by sender and receiver: number of strikes that leave them without a connection
	broken    []uint32     // by sender and receiver: how often the connection has broken
	loss      int64        // per thousand
	twice     int64        // per thousand
	late      int64        // per thousand
	lateViews bool         // only messages about views
	mute      []uint8      // by process: number of strikes that keep its messages about views from others
	deaf      []uint8      // by process: number of strikes that keep others' messages about views from it
	skipper   algorithm.ID // process that is not notified of views; None if there is none
	lateBy    int64
	slow      []int64         // by process: additional time of everything
	blocked   int64           // when the last late message has arrived
	garble    []int64         // by process: malformed messages per thousand
	garbled   map[uint64]bool // hashes of malformed messages
}

func newWire(w *world, n int) network {
	return network{w: w, n: n, chance: kernel.NewRand(w.Seed, 3), cuts: make([]uint8, n*n), broken: make([]uint32, n*n), down: make([]uint8, n*n), slow: make([]int64, n), garble: make([]int64, n), garbled: map[uint64]bool{}, mute: make([]uint8, n), deaf: make([]uint8, n), skipper: algorithm.None}
}

// cut reports whether messages from one process do not reach another.
func (x *network) cut(from, to algorithm.ID) bool { return x.cuts[int(from)*x.n+int(to)] > 0 }

// part lets a strike keep two processes apart, or ends that.
func (x *network) part(from, to algorithm.ID, on bool) {
	c := &x.cuts[int(from)*x.n+int(to)]
	if on {
		*c++
	} else if *c > 0 {
		*c--
	}
}

// cutOff reports whether a process is cut off from the view service, in either direction.
func (x *network) cutOff(id algorithm.ID) bool { return x.mute[id] > 0 || x.deaf[id] > 0 }

// silence lets a strike keep a process's messages about views from others, or theirs from
// it; or ends that.
func (x *network) silence(all []uint8, id algorithm.ID, on bool) {
	if on {
		all[id]++
	} else if all[id] > 0 {
		all[id]--
	}
}

// withheld reports whether a message about views does not arrive.
func (x *network) withheld(from, to algorithm.ID, b []byte) bool {
	if !official(b) {
		return false
	}
	m, service := process.IsService(b)
	view := service && len(m) > 0 && views.Kind(m[0]) == views.View
	return x.mute[from] > 0 || x.deaf[to] > 0 || view && to == x.skipper
}

// official reports whether a message is between members and voters, or among voters.
func official(b []byte) bool { return b[0] != process.Packet && b[0] < process.Messages }

// snap breaks the connection between two processes, with everything in flight on it; or
// restores it.
func (x *network) snap(a, b algorithm.ID, up bool) {
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
func (x *network) isDown(a, b algorithm.ID) bool { return x.down[int(a)*x.n+int(b)] > 0 }

// heal ends everything that happens to messages.
func (x *network) heal() {
	clear(x.cuts)
	clear(x.slow)
	clear(x.garble)
	clear(x.mute)
	clear(x.deaf)
	x.skipper = algorithm.None
	x.loss, x.twice, x.late = 0, 0, 0
}

// send sends a message, unless a fault prevents it, and reports whether it did. A message
// lost on a connection of a client is only late, because it is resent.
func (x *network) send(from, to algorithm.ID, b []byte) bool {
	w := x.w
	if g := x.garble[from]; g > 0 && b[0] < process.Messages && !w.isClient(to) && x.chance.Below(1000) < g {
		b = x.garbles(b)
	}
	w.note(uint64(from)<<32|uint64(to)<<16, sum(b))
	slot := w.Keep(b, 0, kernel.Tag(x.broken[int(from)*x.n+int(to)]), 1)
	lost := x.loss > 0 && x.chance.Below(1000) < x.loss
	if x.cut(from, to) || x.isDown(from, to) || x.withheld(from, to, b) || lost && !spoken(b) {
		w.Lose(from, to, slot)
		return false
	}
	more := x.slow[from] + x.slow[to]
	if lost {
		more += x.chance.Below(20 * ms)
	}
	if x.late > 0 && (!x.lateViews || official(b)) && x.chance.Below(1000) < x.late {
		more += x.chance.Below(x.lateBy)
	}
	if w.SendLate(from, to, slot, more); more > 0 {
		x.blocked = max(x.blocked, w.Now()+more+slowest)
	}
	if x.twice > 0 && b[0] < clientMsg && x.chance.Below(1000) < x.twice {
		more += x.chance.Below(20 * ms)
		w.SendLate(from, to, w.Keep(b, 0, kernel.Tag(x.broken[int(from)*x.n+int(to)]), 1), more)
		x.blocked = max(x.blocked, w.Now()+more+slowest)
	}
	return true
}

// sum is a hash of bytes, eight at a time, because there are many.
func sum(b []byte) uint64 {
	h := uint64(len(b)) * 0x9e3779b97f4a7c15
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * 0xbf58476d1ce4e5b9
		h ^= h >> 32
	}
	last := uint64(0)
	for _, x := range b {
		last = last<<8 | uint64(x)
	}
	h = (h ^ last) * 0x94d049bb133111eb
	return h ^ h>>32
}

// spoken reports whether a message is on a connection of a client.
func spoken(b []byte) bool { return b[0] == clientMsg || b[0] == nodeMsg }

// tell sends a message made of a kind and some numbers.
func (w *world) tell(from, to algorithm.ID, kind byte, values ...uint64) {
	b := append(w.buf[:0], kind)
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	w.buf = b
	w.network.send(from, to, b)
}

// numbers are the numbers of a message, removed one after another.
type numbers []byte

func (l *numbers) next() uint64 {
	v, n := binary.Uvarint(*l)
	*l = (*l)[max(n, 0):]
	return v
}

func (l *numbers) more() bool { return len(*l) > 0 }

// Deliver implements kernel.Handler.
func (w *world) Deliver(from, to algorithm.ID, slot int32) {
	s := w.Slot(slot)
	if s.Tag != kernel.Tag(w.network.broken[int(from)*w.network.n+int(to)]) {
		return // its connection no longer exists
	}
	b := s.Bytes // stays in place
	w.note(uint64(from)<<32|uint64(to)<<16|uint64(b[0]), uint64(len(b)))
	switch {
	case to == storeID:
		w.store.receive(w, from, b[0], numbers(b[1:]))
	case w.isClient(to) && b[0] == process.Service:
		w.clientAt(to).answered(b[1:])
	case spoken(b):
		w.arrived(to, b)
	case w.isClient(to):
		w.clientAt(to).receive(b[0], numbers(b[1:]))
	default:
		w.procOf(to).receive(from, b)
	}
}

// Expired implements kernel.Handler.
func (*world) Expired(algorithm.ID, kernel.Timer, kernel.Tag) {}

// Believed implements kernel.Handler.
func (*world) Believed(algorithm.ID, algorithm.ID) {}

// Called implements kernel.Handler.
func (w *world) Called(m *kernel.Slot) string {
	if w.network.isGarbled(m.Bytes) {
		return malformed
	}
	if b, ok := process.IsService(m.Bytes); ok {
		return views.Kind(b[0]).String()
	}
	if f, ok := frameOf(m.Bytes); ok {
		return f.Kind.String()
	}
	return msgNames[m.Bytes[0]]
}

// Describe implements kernel.Handler.
func (w *world) Describe(e *trace.Event, m *kernel.Slot) { w.describe(e, m.Bytes) }
