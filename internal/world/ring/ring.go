package ring

import (
	"slices"

	"github.com/stile-lock/stile/internal/world/explore"
)

// A Mover says which processes move in one step of Dijkstra's ring, and how processes
// read each other's flags.
type Mover uint8

// The ways to move. The first three read the predecessor's flag itself. In the last two
// each process has a copy of it, updated by messages over FIFO links, and sends its own
// flag when it moves and again now and then; initially flags and copies are arbitrary.
const (
	OneMoves      Mover = iota // one privileged process at a time
	SeveralMove                // any number of the privileged processes at once
	AllMove                    // all privileged processes at once
	EmptyLinks                 // messages; initially none is in flight
	LitteredLinks              // messages; initially up to one, with any content, is on each link
)

// String describes it in words.
func (m Mover) String() string {
	return [...]string{"one mover", "several movers", "all move", "messages, links empty", "messages, one on each link"}[m]
}

// Movers lists the ways to move.
func Movers() []Mover { return []Mover{OneMoves, SeveralMove, AllMove, EmptyLinks, LitteredLinks} }

// A Ring is Dijkstra's ring as a Model. It starts from every state.
type Ring struct {
	N, K  int
	Mover Mover

	plain bool // messages: without the reductions, for tests
}

// brokenClosure is violated by a step from a right state to a wrong one.
const brokenClosure explore.Broken = 1

// Worker implements Model.
func (r Ring) Worker() explore.Worker {
	if r.Mover >= EmptyLinks {
		return &courierWorker{Ring: r}
	}
	return &ringWorker{Ring: r, next: make([]byte, r.N)}
}

// A ringWorker explores rings with shared flags. A state is one byte for each flag.
type ringWorker struct {
	Ring
	next []byte
}

func (w *ringWorker) Init(emit func(state []byte) bool) error {
	count(w.next, w.K, func() bool { return emit(w.next) })
	return nil
}

// count calls f with every value of the digits, each below base, as long as f returns
// true.
func count(digits []byte, base int, f func() bool) {
	clear(digits)
	for f() {
		i := 0
		for i < len(digits) && int(digits[i]) == base-1 {
			digits[i] = 0
			i++
		}
		if i == len(digits) {
			return
		}
		digits[i]++
	}
}

// privileged returns the privileged processes, one bit for each.
func (r Ring) privileged(flags []byte) uint32 {
	var set uint32
	for i, f := range flags {
		left := flags[(i+r.N-1)%r.N]
		if (f == left) == (i == 0) {
			set |= 1 << i
		}
	}
	return set
}

// one reports whether a set has exactly one member.
func one(set uint32) bool { return set != 0 && set&(set-1) == 0 }

func (w *ringWorker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	all := w.privileged(state)
	for who := all; who != 0; who = (who - 1) & all {
		if w.Mover == OneMoves && !one(who) || w.Mover == AllMove && who != all {
			continue
		}
		copy(w.next, state)
		for i := range state {
			switch {
			case who>>i&1 == 0:
			case i == 0:
				w.next[0] = byte((int(state[0]) + 1) % w.K)
			default:
				w.next[i] = state[i-1]
			}
		}
		s := explore.Step{Label: who, Fair: true} // one action: some process moves
		if one(all) && !one(w.privileged(w.next)) {
			s.Broken = brokenClosure
		}
		emit(s, w.next)
	}
	return 0, nil
}

// Waiting implements Waits: the ring as a whole waits to be right.
func (w *ringWorker) Waiting(state []byte) (waiting, calm uint32) {
	if one(w.privileged(state)) {
		return 0, 0
	}
	return 1, 1
}

// A courierWorker explores rings with messages. The content of a link is a list: the
// receiver's copy, then the messages, oldest first.
//
// There are two reductions. A message with the same flag as the one before it or, if
// there is none, as the copy has no effect and is left out. And because flags are only
// compared and incremented, adding a number to all of them changes nothing, so the flag
// of process 0 is always made 0.
type courierWorker struct {
	Ring
	flags []byte
	links [][]byte // links[i] leads to i
	buf   []byte
}

func (w *courierWorker) Init(emit func(state []byte) bool) error {
	w.flags, w.links = make([]byte, w.N), make([][]byte, w.N)
	digits := make([]byte, 3*w.N) // flags, copies, and messages: K stands for none
	base := w.K
	if w.Mover == LitteredLinks {
		base++
	} else {
		digits = digits[:2*w.N]
	}
	count(digits, base, func() bool {
		if slices.Contains(digits[:2*w.N], byte(w.K)) || !w.plain && digits[0] != 0 {
			return true
		}
		copy(w.flags, digits)
		for i := range w.links {
			w.links[i] = append(w.links[i][:0], digits[w.N+i])
			if w.Mover == LitteredLinks && digits[2*w.N+i] != byte(w.K) {
				w.send(i, digits[2*w.N+i])
			}
		}
		return emit(w.pack())
	})
	return nil
}

// send puts a message on the link to a process, unless it would have no effect.
func (w *courierWorker) send(to int, flag byte) {
	l := w.links[to]
	if l[len(l)-1] != flag || w.plain && len(l) == 1 {
		w.links[to] = append(l, flag)
	}
}

func (w *courierWorker) pack() []byte {
	w.buf = w.buf[:0]
	zero := 0
	if !w.plain {
		zero = w.K - int(w.flags[0])
	}
	put := func(v byte) { w.buf = append(w.buf, byte((int(v)+zero)%w.K)) }
	for _, f := range w.flags {
		put(f)
	}
	for _, l := range w.links {
		w.buf = append(w.buf, byte(len(l)))
		for _, v := range l {
			put(v)
		}
	}
	return w.buf
}

func (w *courierWorker) unpack(b []byte) {
	if w.flags == nil {
		w.flags, w.links = make([]byte, w.N), make([][]byte, w.N)
	}
	copy(w.flags, b)
	b = b[w.N:]
	for i := range w.links {
		n := int(b[0])
		w.links[i] = append(w.links[i][:0], b[1:1+n]...)
		b = b[1+n:]
	}
}

// may reports whether i is privileged, as far as its copy shows.
func (w *courierWorker) may(i int) bool { return (w.flags[i] == w.links[i][0]) == (i == 0) }

// news counts the privileged processes, and the messages that change what their receivers
// know, including those that resending a flag would create.
func (w *courierWorker) news() int {
	n := 0
	for i, l := range w.links {
		if w.may(i) {
			n++
		}
		for j := 1; j < len(l); j++ {
			if l[j] != l[j-1] {
				n++
			}
		}
		if l[len(l)-1] != w.flags[(i+w.N-1)%w.N] {
			n++
		}
	}
	return n
}

func (w *courierWorker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	w.unpack(state)
	right := w.news() == 1
	try := func(class int, do func()) {
		w.unpack(state)
		do()
		s := explore.Step{Label: uint32(class), Fair: true, Class: uint32(class)}
		if right && w.news() != 1 {
			s.Broken = brokenClosure
		}
		emit(s, w.pack())
	}
	for i := range w.N {
		w.unpack(state)
		to := (i + 1) % w.N
		l := w.links[to]
		deliver, move, again := len(w.links[i]) > 1, w.may(i), w.plain || l[len(l)-1] != w.flags[i]
		if deliver {
			try(i, func() { w.links[i] = append(w.links[i][:0], w.links[i][1:]...) })
		}
		if move {
			try(w.N+i, func() { w.move(i) })
		}
		if again {
			try(2*w.N+i, func() { w.send(to, w.flags[i]) })
		}
	}
	return 0, nil
}

func (w *courierWorker) move(i int) {
	if i == 0 {
		w.flags[0] = byte((int(w.flags[0]) + 1) % w.K)
	} else {
		w.flags[i] = w.links[i][0]
	}
	w.send((i+1)%w.N, w.flags[i])
}

// Waiting implements Waits.
func (w *courierWorker) Waiting(state []byte) (waiting, calm uint32) {
	w.unpack(state)
	if w.news() == 1 {
		return 0, 0
	}
	return 1, 1
}
