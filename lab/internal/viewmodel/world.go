package viewmodel

import (
	"encoding/binary"
	"errors"

	"github.com/stile-lock/stile/internal/member"
)

// A world is one state of the model.
type world struct {
	procs   []proc
	links   [][]byte // by epoch, sender and receiver: frames, each preceded by its length
	last    member.Token
	opened  uint64 // last epoch whose home has released, lent or entered
	ordered bool   // it had all reports by then
	cancels int
	late    int
	lapses  int
	client  client
}

// A proc is a process in a world.
type proc struct {
	bytes  []byte       // encoding of its member
	state  member.State // what can be seen of it
	seen   []byte       // bytes of which state is
	dead   bool
	ended  bool         // it is evicted, and its lease has expired
	left   bool         // it has promised never to enter again
	asks   int          // requests it may still make
	inside member.Token // what its application holds or, after losing it, acts on until the lease expires
	lost   bool         // it was notified of the loss
	stale  member.Token // what it released last, if it may do so again
}

// link returns the number of a link.
func (m *Model) link(view, from, to int) int { return (view*len(m.procs)+from)*len(m.procs) + to }

func (w *world) make(m *Model) {
	*w = world{procs: make([]proc, len(m.procs))}
	w.links = make([][]byte, len(m.Views)*len(m.procs)*len(m.procs))
}

// copy makes w equal to o. What they share is never changed, only replaced.
func (w *world) copy(o *world) {
	procs, links := w.procs, w.links
	*w = *o
	w.procs, w.links = procs, links
	copy(w.links, o.links)
	for i := range procs {
		p, q := &procs[i], &o.procs[i]
		p.bytes, p.dead, p.ended, p.left, p.asks, p.inside, p.lost, p.stale = q.bytes, q.dead, q.ended, q.left, q.asks, q.inside, q.lost, q.stale
	}
}

// append writes a world.
func (w *world) append(b []byte) []byte {
	b = appendToken(b, w.last)
	b = binary.AppendUvarint(b, w.opened)
	b = append(b, bit(w.ordered, 1), byte(w.cancels), byte(w.late), byte(w.lapses))
	b = w.client.append(b)
	for i := range w.procs {
		p := &w.procs[i]
		b = append(b, bit(p.dead, 1)|bit(p.ended, 2)|bit(p.left, 4)|bit(p.lost, 8), byte(p.asks))
		b = appendToken(b, p.inside)
		b = appendToken(b, p.stale)
		b = binary.AppendUvarint(b, uint64(len(p.bytes)))
		b = append(b, p.bytes...)
	}
	for _, l := range w.links {
		b = binary.AppendUvarint(b, uint64(len(l)))
		b = append(b, l...)
	}
	return b
}

func bit(v bool, one byte) byte {
	if v {
		return one
	}
	return 0
}

func appendToken(b []byte, t member.Token) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, t.Epoch), t.Count)
}

// A reader reads what append wrote.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() int {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return int(v)
}

func (r *reader) token() member.Token { return member.Token{Epoch: r.number(), Count: r.number()} }

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

var errState = errors.New("this is not a state of the model")

// read reads a world, except the states of its members. It refers to b.
func (w *world) read(b []byte) error {
	r := reader{b: b}
	w.last = r.token()
	w.opened, w.ordered = r.number(), r.number() == 1
	w.cancels, w.late, w.lapses = int(r.number()), int(r.number()), int(r.number())
	w.client.read(&r)
	for i := range w.procs {
		p := &w.procs[i]
		flags := r.number()
		p.dead, p.ended, p.left, p.lost = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
		p.asks = int(r.number())
		p.inside, p.stale = r.token(), r.token()
		p.bytes = r.bytes()
	}
	for i := range w.links {
		w.links[i] = r.bytes()
	}
	if r.bad || len(r.b) > 0 {
		return errState
	}
	return nil
}

// first returns the first frame of a link, and what comes after it.
func first(link []byte) (frame, rest []byte) {
	r := reader{b: link}
	frame = r.bytes()
	return frame, r.b
}
