package storm

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
)

// A visit is a transfer, as its customer knows it: it reads two balances after it has
// entered, and writes them back before it releases the lock.
type visit struct {
	state uint8
	waits bool   // the holder would have released the lock by now
	a, b  uint64 // from account a to account b
	x, y  uint64 // their balances
}

// The stages of a visit.
const (
	idle    uint8 = iota // there is none, or it is done
	asked                // the balances are on their way
	fetched              // they are known
	posted               // they are written back, but not confirmed yet
)

// bankPatience is how long a holder stays inside for an answer of the bank.
const bankPatience = 50 * ms

// open reports whether there is something to be written.
func (e *visit) open() bool { return e.state == asked || e.state == fetched }

// survey lets a holder read two accounts.
func (w *world) survey(from algorithm.ID, lock int, t member.Token, e *visit) {
	a := w.store.chance.Below(accounts)
	b := (a + 1 + w.store.chance.Below(accounts-1)) % accounts
	*e = visit{state: asked, a: uint64(a), b: uint64(b)}
	w.tell(from, storeID, readMsg, uint64(lock), t.Epoch, t.Count, e.a, e.b)
}

// settled reports whether a holder that is ready to release may do so. Before it does, it
// moves an amount between the accounts that it has read, both balances in one write, and
// waits for the answer, but not forever. It does not check its clock again: it may have
// done so just before it was paused.
func (w *world) settled(from algorithm.ID, lock int, t member.Token, e *visit) bool {
	switch {
	case e.state == asked && !e.waits:
		e.waits = true
		return false
	case e.state == fetched && e.x > 0:
		amount := min(10*(1+uint64(w.store.chance.Below(100))), e.x)
		w.tell(from, storeID, writeMsg, uint64(lock), t.Epoch, t.Count, e.a, e.b, e.x-amount, e.y+amount, amount)
		e.state = posted
		return false
	}
	return true
}

// answered handles an answer of the bank, and reports whether it was awaited.
func (e *visit) answered(kind byte, l numbers) bool {
	switch {
	case kind == valueMsg && e.state == asked:
		_, _ = l.next(), l.next() // the accounts
		e.state, e.x, e.y = fetched, l.next(), l.next()
		return e.waits
	case kind == savedMsg && e.state == posted:
		e.state = idle
		return true
	}
	return false
}

// banked handles an answer of the bank to an application, if that is still inside as far as
// it knows.
func (q *proc) banked(kind byte, l numbers) {
	lock, t := l.next(), member.Token{Epoch: l.next(), Count: l.next()}
	for _, x := range q.asks {
		if x.app >= 0 && x.held && uint64(x.lock) == lock && x.token == t && x.errand.answered(kind, l) {
			q.later(x.app, 0)
		}
	}
}

// banked handles an answer of the bank to a client.
func (c *client) banked(kind byte, l numbers) {
	lock, t := l.next(), member.Token{Epoch: l.next(), Count: l.next()}
	for i := range c.hands {
		if h := &c.hands[i]; h.holds && uint64(h.lock) == lock && h.token == t && h.errand.answered(kind, l) {
			h.next = c.w.Now()
			c.pulse(0)
		}
	}
}

// settle makes a client release its lock, or do first what remains to be done.
func (h *hand) settle() {
	if w := h.c.w; w.settled(h.c.id, h.lock, h.token, &h.errand) {
		h.leave()
	} else {
		h.next = w.Now() + bankPatience
	}
}
