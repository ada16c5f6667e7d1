package storm

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
)

// A store is the resource that the locks protect: a cell for each, with an amount of money.
// A holder reads it and writes it back with something added; or, if the run has a bank,
// reads two accounts and moves something from one to the other. The store refuses
// everything with a fencing token lower than the highest it has seen, unless the run has no
// fence; so no money is lost, whatever clocks and messages do.
type store struct {
	cells    []cell
	branches []branch    // of the bank, by lock; nil without one
	chance   kernel.Rand // draws the amounts moved
}

type cell struct {
	amount   uint64
	deposits uint64       // sum of all accepted deposits
	seen     member.Token // the highest fencing token
	written  member.Token // the highest fencing token that has written
}

func newStore(c *Config) store {
	s := store{cells: make([]cell, c.Locks), chance: kernel.NewRand(c.Seed, 23)}
	if c.Bank {
		s.branches = openBranches(c.Locks)
	}
	return s
}

func (s *store) receive(w *world, from algorithm.ID, kind byte, l numbers) {
	lock := l.next()
	c := &s.cells[lock]
	t := member.Token{Epoch: l.next(), Count: l.next()}
	stale := t.Less(c.seen)
	if w.Bank && stale {
		w.staleAtBank(from, kind, lock, t)
	}
	if stale && !w.Unfenced {
		w.result.Refused++
		return
	}
	if c.seen.Less(t) {
		c.seen = t
	}
	switch {
	case kind == readMsg && w.Bank:
		w.balances(from, lock, t, l)
	case kind == readMsg:
		w.tell(storeID, from, valueMsg, lock, t.Epoch, t.Count, c.amount)
	default:
		w.result.Deposits++
		if t.Less(c.written) && !(w.Bank && w.Unfenced) { // such a bank is judged by its money
			w.broken(Fence, "%s: a write with %v is accepted after one with %v", w.names[lock], t, c.written)
		}
		c.written = t
		if w.Bank {
			w.post(from, lock, t, l)
			return
		}
		c.deposited(w, lock, t, l)
	}
}

// deposited handles a deposit, and judges the sum.
func (c *cell) deposited(w *world, lock uint64, t member.Token, l numbers) {
	amount, deposit := l.next(), l.next()
	c.amount = amount
	if c.deposits += deposit; c.amount != c.deposits {
		w.broken(Bank, "%s: the balance is %d after %v, but %d was deposited", w.names[lock], c.amount, t, c.deposits)
	}
}

// visit lets a holder read what the lock protects.
func (w *world) visit(from algorithm.ID, lock int, t member.Token, e *visit) {
	if w.Bank {
		w.survey(from, lock, t, e)
		return
	}
	w.tell(from, storeID, readMsg, uint64(lock), t.Epoch, t.Count)
}

// deposit writes back what was read, with something added.
func (w *world) deposit(from algorithm.ID, l numbers) {
	lock, epoch, count, amount := l.next(), l.next(), l.next(), l.next()
	gift := 1 + (epoch^count)%7
	w.tell(from, storeID, writeMsg, lock, epoch, count, amount+gift, gift)
}
