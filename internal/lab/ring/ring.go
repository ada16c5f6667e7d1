package ring

import (
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/internal/lab/explore"
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

// A Ring is Dijkstra's ring as a Model. It starts from every state.
type Ring struct {
	N     int // number of processes
	K     int // number of values of a flag; for Check, 0 means as few as are enough
	Mover Mover
}

// brokenClosure is violated by a step from a right state to a wrong one.
const brokenClosure explore.Broken = 1

// Worker implements Model.
func (r Ring) Worker() explore.Worker {
	return &worker{Ring: r, flags: make([]byte, r.N), links: make([][]byte, r.N)}
}

// shared reports whether processes read the flags themselves.
func (r Ring) shared() bool { return r.Mover < EmptyLinks }

// A worker explores a ring. The content of a link is a list: the receiver's copy, then
// the messages, oldest first. With shared flags a copy is always that of the flag, so a
// state is only the flags.
//
// With messages there are two reductions. A message with the same flag as the one before
// it or, if there is none, as the copy has no effect and is left out. And because flags
// are only compared and incremented, adding a number to all of them changes nothing, so
// the flag of process 0 is always made 0.
type worker struct {
	Ring
	flags []byte
	links [][]byte // links[i] leads to i
	buf   []byte
}

// Init implements explore.Worker.
func (w *worker) Init(emit func(state []byte) bool) error {
	digits := make([]byte, 3*w.N) // flags, copies, and messages: K stands for none
	base := w.K
	switch {
	case w.shared():
		digits = digits[:w.N]
	case w.Mover == EmptyLinks:
		digits = digits[:2*w.N]
	default:
		base++
	}
	count(digits, base, func() bool {
		if w.shared() {
			return emit(digits)
		}
		if digits[0] != 0 || slices.Contains(digits[:2*w.N], byte(w.K)) {
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

// count calls f with every value of the digits, each below base, as long as f returns
// true.
func count(digits []byte, base int, f func() bool) {
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

// send puts a message on the link to a process, unless it would have no effect.
func (w *worker) send(to int, flag byte) {
	if l := w.links[to]; l[len(l)-1] != flag {
		w.links[to] = append(l, flag)
	}
}

func (w *worker) pack() []byte {
	if w.shared() {
		return w.flags
	}
	w.buf = w.buf[:0]
	zero := w.K - int(w.flags[0])
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

func (w *worker) unpack(b []byte) {
	copy(w.flags, b)
	b = b[w.N:]
	for i := range w.links {
		if w.shared() {
			w.links[i] = append(w.links[i][:0], w.flags[(i+w.N-1)%w.N])
			continue
		}
		n := int(b[0])
		w.links[i] = append(w.links[i][:0], b[1:1+n]...)
		b = b[1+n:]
	}
}

// privileged returns the privileged processes, as far as their copies show, one bit for
// each.
func (w *worker) privileged() uint32 {
	var set uint32
	for i, f := range w.flags {
		if (f == w.links[i][0]) == (i == 0) {
			set |= 1 << i
		}
	}
	return set
}

// right reports whether there is one privilege: a privileged process, or a message that
// changes what its receiver knows, counting those that resending a flag would create.
func (w *worker) right(state []byte) bool {
	w.unpack(state)
	news := 0
	for i, l := range w.links {
		for j := 1; j < len(l); j++ {
			if l[j] != l[j-1] {
				news++
			}
		}
		if l[len(l)-1] != w.flags[(i+w.N-1)%w.N] {
			news++
		}
	}
	return news+bits.OnesCount32(w.privileged()) == 1
}

// Next implements explore.Worker.
func (w *worker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	right := w.right(state)
	try := func(s explore.Step, do func()) {
		w.unpack(state)
		do()
		next := w.pack()
		if s.Fair = true; right && !w.right(next) {
			s.Broken = brokenClosure
		}
		emit(s, next)
	}
	all := w.privileged()
	if w.shared() {
		for who := all; who != 0; who = (who - 1) & all {
			if w.Mover == SeveralMove || w.Mover == OneMoves && bits.OnesCount32(who) == 1 || w.Mover == AllMove && who == all {
				try(explore.Step{Label: who}, func() { w.move(who) }) // one class: some process moves
			}
		}
		return 0, nil
	}
	for i := range w.N {
		class := func(kind int) explore.Step {
			l := uint32(kind*w.N + i)
			return explore.Step{Label: l, Class: l}
		}
		w.unpack(state)
		to := (i + 1) % w.N
		l := w.links[to]
		deliver, again := len(w.links[i]) > 1, l[len(l)-1] != w.flags[i]
		if deliver {
			try(class(0), func() { w.links[i] = append(w.links[i][:0], w.links[i][1:]...) })
		}
		if all>>i&1 == 1 {
			try(class(1), func() { w.move(1 << i) })
		}
		if again {
			try(class(2), func() { w.send(to, w.flags[i]) })
		}
	}
	return 0, nil
}

// move lets processes move at once.
func (w *worker) move(who uint32) {
	for i := range w.flags {
		switch {
		case who>>i&1 == 0:
			continue
		case i == 0:
			w.flags[0] = byte((int(w.flags[0]) + 1) % w.K)
		default:
			w.flags[i] = w.links[i][0]
		}
		if !w.shared() {
			w.send((i+1)%w.N, w.flags[i])
		}
	}
}

// Waiting implements explore.Waits: the ring as a whole waits to be right.
func (w *worker) Waiting(state []byte) (waiting, calm uint32) {
	if w.right(state) {
		return 0, 0
	}
	return 1, 1
}
