package ring

import (
	"math/bits"

	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Mover says which privileged processes move in one step of the ring.
type Mover uint8

// The ways to move.
const (
	OneMoves    Mover = iota // one at a time
	SeveralMove              // any number at once
	AllMove                  // all at once
)

// String describes it in words.
func (m Mover) String() string {
	return [...]string{"one mover", "several movers", "all move"}[m]
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
func (r Ring) Worker() explore.Worker { return &worker{Ring: r, next: make([]byte, r.N)} }

// A worker explores a ring. A state is the flags.
type worker struct {
	Ring
	next []byte
}

// Init implements explore.Worker.
func (w *worker) Init(emit func(state []byte) bool) error {
	count(make([]byte, w.N), w.K, emit)
	return nil
}

// count calls f with every value of the digits, each below base, as long as f returns
// true.
func count(digits []byte, base int, f func(digits []byte) bool) {
	for f(digits) {
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
func privileged(flags []byte) uint32 {
	var set uint32
	for i, f := range flags {
		if (f == flags[(i+len(flags)-1)%len(flags)]) == (i == 0) {
			set |= 1 << i
		}
	}
	return set
}

// right reports whether there is one privilege.
func right(flags []byte) bool { return bits.OnesCount32(privileged(flags)) == 1 }

// Next implements explore.Worker.
func (w *worker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	all := privileged(state)
	for who := all; who != 0; who = (who - 1) & all {
		if w.Mover == SeveralMove || w.Mover == OneMoves && bits.OnesCount32(who) == 1 || w.Mover == AllMove && who == all {
			w.move(state, who)
			s := explore.Step{Label: who, Fair: true} // one class: some process moves
			if right(state) && !right(w.next) {
				s.Broken = brokenClosure
			}
			emit(s, w.next)
		}
	}
	return 0, nil
}

// move puts into w.next what the flags are after these processes have moved at once.
func (w *worker) move(flags []byte, who uint32) {
	copy(w.next, flags)
	for i := range flags {
		switch {
		case who>>i&1 == 0:
		case i == 0:
			w.next[0] = byte((int(flags[0]) + 1) % w.K)
		default:
			w.next[i] = flags[i-1]
		}
	}
}

// Waiting implements explore.Waits: the ring as a whole waits to be right.
func (w *worker) Waiting(state []byte) (waiting, calm uint32) {
	if right(state) {
		return 0, 0
	}
	return 1, 1
}
