package storm

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
)

// A store is the resource that the locks protect: a cell for each, with an
// amount of money. Whoever is inside reads it and writes it back with something
// added. The store refuses whatever comes with a token that is lower than the
// highest it has seen; and so no deposit is lost, whatever clocks and messages
// do.
type store struct{ cells []cell }

type cell struct {
	amount   uint64
	deposits uint64       // the sum of all that were accepted
	seen     member.Token // the highest
	written  member.Token // the highest that has written
}

func (s *store) receive(w *world, from core.ID, kind byte, l letter) {
	lock := l.next()
	c := &s.cells[lock]
	t := member.Token{Epoch: l.next(), Count: l.next()}
	if t.Less(c.seen) && !w.misreads(NoFence) {
		w.result.Refused++
		return
	}
	if c.seen.Less(t) {
		c.seen = t
	}
	if kind == readMsg {
		w.tell(storeID, from, valueMsg, lock, t.Epoch, t.Count, c.amount)
		return
	}
	amount, deposit := l.next(), l.next()
	w.result.Deposits++
	if t.Less(c.written) {
		w.broken(Fence, "%s: a write with %v is accepted after one with %v", w.names[lock], t, c.written)
	}
	c.amount, c.written = amount, t
	if c.deposits += deposit; c.amount != c.deposits {
		w.broken(Bank, "%s: %d is there with %v, and %d was deposited", w.names[lock], c.amount, t, c.deposits)
	}
}

// deposit writes back what was read, with something added.
func (w *world) deposit(from core.ID, l letter) {
	lock, epoch, count, amount := l.next(), l.next(), l.next(), l.next()
	gift := 1 + (epoch^count)%7
	w.tell(from, storeID, writeMsg, lock, epoch, count, amount+gift, gift)
}
