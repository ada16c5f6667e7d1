package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/process"
)

// What a process sends may be malformed, because of a bug or of a version that is not known
// yet. The receiver closes the connection, and does nothing else: the connection is made
// again, and what was in flight on it is resent.

// unknownKind is the first byte of a message of an unknown kind.
const unknownKind = 0xfe

// garbles returns a message as no correct process sends it: of an unknown kind, truncated,
// or with an extra byte. Of messages between voters only the head is left, because a Raft
// message truncated later may be a valid other one.
func (x *network) garbles(b []byte) []byte {
	b = slices.Clone(b)
	switch how := x.chance.Below(3); {
	case how == 0:
		b[0] = unknownKind
	case process.IsVoters(b):
		b = b[:1+x.chance.Below(min(8, int64(len(b)-1)))]
	case how == 1:
		b = b[:1+x.chance.Below(int64(len(b)-1))]
	default:
		b = append(b, byte(x.chance.Below(256)))
	}
	x.garbled[sum(b)] = true
	return b
}

// malformed is the name of such messages in diagrams.
const malformed = "MALFORMED"

// isGarbled reports whether a message is malformed.
func (x *network) isGarbled(b []byte) bool { return len(x.garbled) > 0 && x.garbled[sum(b)] }

// hangUp makes a process close its connection to another one. They reconnect soon.
func (w *world) hangUp(q, o *proc) {
	if w.network.isDown(q.id, o.id) {
		return // it is already closed
	}
	w.reconnect(q, o, false)
	w.At(w.Now()+1+q.chance.Below(4*slowest), redial, algorithm.None, q.place()<<placeBits|o.place())
}

// redial gives two processes a connection again.
func (w *world) redial(arg int) {
	w.reconnect(w.procs[arg>>placeBits], w.procs[arg&(1<<placeBits-1)], true)
	w.stirred = w.Now()
}
