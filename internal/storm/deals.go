package storm

import (
	"slices"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
)

// Transactions of clients. A client has a hand for each kept lock, besides those of its other
// applications, and runs one transaction at a time.

// A deal is the transaction of a client.
type deal struct {
	transaction
	chance kernel.Rand
	at     int64 // true time of its next action; 0 if it waits for something
}

// parts returns the hands of the client's transaction, by kept lock.
func (c *client) parts() []hand { return c.hands[hands:] }

// isPart reports whether a hand is one of the client's transaction.
func (h *hand) isPart() bool { return h.c.w.isKept(h.lock) }

// method returns the newest method of kept locks, as far as a process has installed it; nil
// if they are ordinary locks.
func (w *world) method() (m *deadlock.Method) {
	epoch := uint64(0)
	for _, q := range w.procs {
		if q.epoch() > epoch {
			epoch, m = q.epoch(), q.method()
		}
	}
	return m
}

// transact lets the transaction of a client do what is due.
func (c *client) transact() {
	w, d := c.w, &c.deal
	if w.Workers == 0 || w.phase == forming {
		return
	}
	sorts := w.method()
	if d.plan != nil && !d.aborts && mustSort(sorts, w.phase) && sorts.Name != deadlock.Timeout().Name && !d.sorted() {
		d.fails(w)
	}
	if d.at > w.Now() || d.at == 0 && d.plan != nil {
		return
	}
	session, _, _ := c.session.Session()
	switch {
	case !d.aborts && c.waitsForDeal():
		d.fails(w)
	case d.aborts:
		c.endDeal()
		if d.attempt(w, mustSort(sorts, w.phase)); d.gives {
			d.transaction = transaction{}
		}
		d.at = w.Now() + 1 + d.chance.Below(20*ms)
	case d.plan != nil && d.next == len(d.plan):
		c.endDeal()
		d.transaction = transaction{}
		w.result.Commits++
		d.at = w.Now() + d.chance.Below(2*int64(w.Think)+ms)
	case d.plan == nil && (w.phase >= draining || sorts == nil):
		d.at = w.Now() + ms + d.chance.Below(20*ms)
	case session == 0 || slices.ContainsFunc(c.parts(), func(h hand) bool { return h.leaves }):
		d.at = w.Now() + ms + d.chance.Below(10*ms)
	default:
		if d.plan == nil {
			w.resolve(&d.transaction, &d.chance, mustSort(sorts, w.phase))
		}
		c.extend()
	}
}

// extend requests the next lock of the client's transaction.
func (c *client) extend() {
	w, d := c.w, &c.deal
	goal, patience := d.plan[d.next], int64(0)
	o := talk.Opts{Terms: w.terms(w.method(), goal, &d.transaction)}
	switch how := d.chance.Below(12); {
	case w.phase >= draining: // see txBound
	case how == 0:
		o.Try = true
	case how == 1:
		o.Wait = member.Span(1 + d.chance.Below(80*ms))
	case how <= 3:
		patience = w.Now() + 1 + d.chance.Below(80*ms)
	}
	h := &c.parts()[goal.lock-w.Locks]
	*h = hand{c: c, lock: goal.lock, asked: w.Now(), mark: w.oracle.mark(goal.lock), terms: o.Terms}
	d.at = patience
	var err error
	if h.request, err = c.session.Lock(c.now(), w.names[h.lock], o); err != nil {
		w.broken(Errors, "%s cannot request %s: %v", w.Name(c.id), w.names[h.lock], err)
	}
	c.take()
}

// waitsForDeal reports whether the client's transaction waits.
func (c *client) waitsForDeal() bool {
	return slices.ContainsFunc(c.parts(), func(h hand) bool { return h.request != 0 && !h.holds && !h.leaves })
}

// endDeal releases and withdraws everything of the client's transaction.
func (c *client) endDeal() {
	for i := range c.parts() {
		if h := &c.parts()[i]; h.request != 0 && !h.leaves {
			h.leave()
		}
	}
}

// fails makes the client abort its transaction soon.
func (d *deal) fails(w *world) {
	d.aborts, d.at = true, w.Now()+1+d.chance.Below(shortHold)
	if w.phase == stormy && d.chance.Below(8) == 0 {
		d.at += d.chance.Below(int64(w.Settings.Lease))
	}
}

// toldDeal handles an event of the session for the client's transaction.
func (c *client) toldDeal(e *talk.Event) {
	w, d := c.w, &c.deal
	if e.Born != 0 {
		d.born = e.Born
	}
	switch e.Kind {
	case talk.Granted:
		d.next++
		d.at = w.Now() + 1 + d.chance.Below(shortHold)
		if w.phase == stormy && w.Hold > 0 {
			d.at = w.Now() + 1 + d.chance.Below(int64(w.Hold))
		}
	case talk.Doomed, talk.Taken, talk.Refused:
		if e.Kind == talk.Doomed || e.Why == talk.Deadlock && e.Kind == talk.Refused {
			w.result.Victims++
		}
		d.gives = d.gives || e.Kind == talk.Refused && (e.Why == talk.Ordinary || e.Why == talk.OtherKind || e.Why == talk.OtherUnits)
		if d.plan != nil && !d.aborts {
			d.fails(w)
		}
	}
}

// deals judges how long the client's transaction has taken, and reports whether there is one.
func (c *client) deals() bool {
	w, d := c.w, &c.deal
	if !c.up || d.plan == nil {
		return false
	}
	from, ok := w.endless()
	if took := w.Now() - max(d.begun, from); ok && took > w.txBound(w.oracle.ended) {
		w.broken(Waits, "%s: a transaction has not ended after %d ms and %d attempts, above the bound of %d ms", w.Name(c.id), took/ms, d.attempts, w.txBound(w.oracle.ended)/ms)
	}
	return true
}
