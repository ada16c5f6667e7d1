package storm

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
)

// Transactions over kept locks. The kept locks of a run have names of their own, after those
// of the other locks, so that one choice of the view serves all of them: a kept method, or
// for a while an ordinary algorithm. Some applications of every process run transactions
// over them.

// keptNames is the prefix of the names of kept locks.
const keptNames = "tx/"

// Methods returns the choices for kept locks.
func Methods() []member.Choice {
	var all []member.Choice
	for _, m := range member.KeptMethods() {
		all = append(all, member.Choice{Prefix: keptNames, Algorithm: member.Kept(m), Version: 1})
	}
	return all
}

// keep gives a run kept locks, and transactions over them.
func (c *Config) keep(r *kernel.Rand) {
	c.Kept = 2 + int(r.Below(3))
	c.Workers = 1 + int(r.Below(3))
	all := Methods()
	at := r.Below(int64(len(all)))
	c.Methods = append(slices.Clone(all[at:]), all[:at]...)
}

// keptChoice returns the choice number n for the kept locks, or none: then the locks are
// ordinary ones.
func (w *world) keptChoice(n int) []member.Choice {
	const ordinary = 5 // one in so many
	if w.Kept == 0 || n%ordinary == ordinary-1 {
		return nil
	}
	return []member.Choice{w.Methods[n%len(w.Methods)]}
}

// keptOf returns the choice for the kept locks among those of a view.
func keptOf(all []member.Choice) []member.Choice {
	i := slices.IndexFunc(all, func(c member.Choice) bool { return c.Prefix == keptNames })
	if i < 0 {
		return nil
	}
	return slices.Clone(all[i : i+1])
}

// isKept reports whether a lock is one that can be kept.
func (w *world) isKept(lock int) bool { return lock >= w.Locks }

// nameKept names the kept locks, and draws which of them are semaphores.
func (w *world) nameKept() {
	r := kernel.NewRand(w.Seed, 19)
	for i := range w.Kept {
		w.numbers[keptNames+strconv.Itoa(i)] = len(w.names)
		w.names = append(w.names, keptNames+strconv.Itoa(i))
		units := 0
		if r.Below(3) == 0 {
			units = 2 + int(r.Below(3))
		}
		w.units = append(w.units, units)
	}
}

// method returns the method of kept locks in the installed view; nil if they are ordinary
// locks in it.
func (q *proc) method() *deadlock.Method {
	if q.view == nil {
		return nil
	}
	for _, c := range q.view.Choices {
		if c.Prefix != keptNames {
			continue
		}
		name, kept := member.IsKept(c.Algorithm)
		for i := range q.w.methods {
			if m := &q.w.methods[i]; kept && name == m.Name {
				return m
			}
		}
	}
	return nil
}

// A wish is a lock that a transaction needs, and how.
type wish struct {
	lock int
	mode deadlock.Mode
}

// A transaction is what a worker runs: it acquires several locks, one after the other, and
// then releases all of them. If it must abort it releases what it has, and begins again with
// the same age.
type transaction struct {
	plan     []wish // nil if there is none
	next     int    // number of them that it has
	number   uint64 // of this attempt
	born     uint64 // its age, as the member knows it; 0 before that is known
	begun    int64  // when the first attempt began
	attempts int
	waits    *ask
	has      []*ask // those that were lost too, until the transaction has aborted
	aborts   bool   // it must abort
	gives    bool   // and not begin again: its locks have become ordinary ones, or one is in use with other units
}

// transact lets a worker do its next action.
func (q *proc) transact(i int) {
	w, t := q.w, q.apps[i].tx
	switch {
	case t.aborts:
		q.abort(i)
	case t.waits != nil:
		switch x := t.waits; {
		case x.patience == 0 || w.Now() < x.patience:
		case q.chance.Below(2) == 0:
			q.abort(i)
		default:
			q.withdraw(x)
		}
	case t.plan != nil && (t.next == len(t.plan) || len(t.has) > 0 && !q.mayExtend(t)):
		q.commit(i)
	case t.plan == nil && w.phase >= draining:
	case q.state != taking || w.phase == forming:
		q.rested(i)
	default:
		if t.plan == nil {
			w.resolve(t, &q.chance, q.mustSort())
		}
		q.extend(i)
	}
}

// mayExtend reports whether a transaction may request another lock: not if its locks have
// become ordinary ones, or were, because no method would know of a deadlock.
func (q *proc) mayExtend(t *transaction) bool {
	return q.method() != nil && !slices.ContainsFunc(t.has, func(x *ask) bool { return x.terms.Tx != t.number })
}

// resolve begins a transaction.
func (w *world) resolve(t *transaction, r *kernel.Rand, sorted bool) {
	*t = transaction{begun: w.Now()}
	for i := range w.Kept {
		if r.Below(2) == 0 {
			t.plan = append(t.plan, wish{lock: w.Locks + i})
		}
	}
	if t.plan == nil {
		t.plan = []wish{{lock: w.Locks + int(r.Below(int64(w.Kept)))}}
	}
	for i := range t.plan {
		j := i + int(r.Below(int64(len(t.plan)-i)))
		t.plan[i], t.plan[j] = t.plan[j], t.plan[i]
		switch units := w.units[t.plan[i].lock-w.Locks]; {
		case units > 0:
			t.plan[i].mode = deadlock.Mode(r.Below(int64(units) + 1))
		case r.Below(2) == 0:
			t.plan[i].mode = deadlock.Shared
		}
	}
	t.attempt(w, sorted)
}

// attempt begins another attempt of a transaction.
func (t *transaction) attempt(w *world, sorted bool) {
	w.attempts++
	t.number, t.next, t.aborts, t.waits, t.has = w.attempts, 0, false, nil, nil
	if t.attempts++; sorted {
		slices.SortFunc(t.plan, func(a, b wish) int { return cmp.Compare(a.lock, b.lock) })
	}
}

// mustSort reports whether transactions must acquire locks in order, because there would be
// deadlocks otherwise that end late or never.
func mustSort(m *deadlock.Method, p phase) bool {
	return m != nil && (m.Sorted || m.Name == deadlock.None().Name || m.Name == deadlock.Timeout().Name && p > stormy)
}

func (q *proc) mustSort() bool { return mustSort(q.method(), q.w.phase) }

// sorted reports whether a transaction has and wants its locks in order.
func (t *transaction) sorted() bool {
	return slices.IsSortedFunc(t.plan[:min(t.next+1, len(t.plan))], func(a, b wish) int { return cmp.Compare(a.lock, b.lock) })
}

// extend requests the next lock of a transaction.
func (q *proc) extend(i int) {
	w, t := q.w, q.apps[i].tx
	if q.mustSort() && !t.sorted() {
		q.abort(i)
		return
	}
	goal := t.plan[t.next]
	x := &ask{lock: goal.lock, app: i, deadline: member.Never}
	if q.method() != nil {
		x.terms = w.terms(q.method(), goal, t)
	}
	switch how := q.chance.Below(12); { // many give up at about the time at which deadlocks are looked for
	case w.phase >= draining: // none does: see txBound
	case how == 0:
		x.try = true
	case how == 1:
		x.deadline = q.now() + member.Instant(q.chance.Below(80*ms))
	case how <= 3:
		x.patience = w.Now() + 1 + q.chance.Below(80*ms)
	}
	t.waits = x
	if err := q.lock(x); err != nil {
		t.waits = nil
		q.fails(i)
		return
	}
	if t.waits == x && x.patience > 0 {
		q.later(i, x.patience-w.Now())
	}
}

// terms returns on which terms a transaction requests a lock. If the method does not know
// semaphores, units are shares.
func (w *world) terms(m *deadlock.Method, goal wish, t *transaction) member.Terms {
	x := member.Terms{Mode: goal.mode, Units: w.units[goal.lock-w.Locks], Tx: t.number, Born: t.born}
	if m == nil {
		return x
	}
	if _, err := m.Keeper(deadlock.KeeperConfig{Units: x.Units}); err != nil {
		if x.Units = 0; x.Mode > deadlock.Exclusive {
			x.Mode = deadlock.Shared
		}
	}
	return x
}

// acquired is what a worker does with a grant.
func (q *proc) acquired(x *ask) {
	w, t := q.w, q.apps[x.app].tx
	t.waits, t.has = nil, append(t.has, x)
	t.next++
	rest := q.chance.Below(shortHold)
	if w.phase == stormy && q.chance.Below(16) == 0 {
		rest = q.chance.Below(int64(w.Settings.Lease))
	}
	q.later(x.app, rest)
}

// misses is what a worker does when a request of it has ended. Some go on with what they
// have, and request the lock again.
//
// Others give up if the semaphore is in use with another number of units: a transaction that
// asked for it before the method changed. If this one began again and again with its age, and
// is older, it would always precede that one in the queue for another lock.
func (q *proc) misses(x *ask, why member.Cause) {
	t := q.apps[x.app].tx
	t.waits = nil
	t.gives = t.gives || why == member.Units
	if t.gives || q.chance.Below(2) == 0 {
		q.fails(x.app)
		return
	}
	q.later(x.app, q.chance.Below(shortHold))
}

// fails makes a worker abort its transaction soon. Some take their time.
func (q *proc) fails(i int) {
	rest := q.chance.Below(shortHold)
	if q.w.phase == stormy && q.chance.Below(8) == 0 {
		rest = q.chance.Below(int64(q.w.Settings.Lease))
	}
	q.apps[i].tx.aborts = true
	q.later(i, rest)
}

// abort ends an attempt, and begins another one some time later.
func (q *proc) abort(i int) {
	t := q.apps[i].tx
	if t.waits != nil && q.chance.Below(2) == 0 {
		q.withdraw(t.waits)
	}
	q.releaseAll(t)
	if t.waits != nil { // it had no other lock, with whose release the request ends
		q.withdraw(t.waits)
	}
	q.releaseAll(t) // it may have been granted in this moment
	if t.gives {
		*t = transaction{}
		q.rested(i)
		return
	}
	t.attempt(q.w, q.mustSort())
	q.later(i, q.chance.Below(20*ms)) // so that those it met have gone on
}

// commit ends a transaction.
func (q *proc) commit(i int) {
	t := q.apps[i].tx
	q.releaseAll(t)
	*t = transaction{}
	q.w.result.Commits++
	q.rested(i)
}

// releaseAll releases what a transaction has. It declares of what it has lost that it no
// longer acts by it.
func (q *proc) releaseAll(t *transaction) {
	for len(t.has) > 0 && q.state != dead {
		x := t.has[0]
		if t.has = t.has[1:]; !x.lost {
			q.unlock(x)
			q.waitEnds(t, x)
			continue
		}
		if q.state == taking || q.state == leaving {
			q.unlockLost(x.lock, x.token)
		}
		q.w.oracle.locks[x.lock].out(q, nil, x.token)
	}
}

// waitEnds judges a release: the request with which its transaction waits ends before it,
// because detectors rely on what those hold that wait.
func (q *proc) waitEnds(t *transaction, x *ask) {
	if y := t.waits; y != nil && y.terms.Tx == x.terms.Tx && x.terms.Tx != 0 && q.has(y) {
		q.w.broken(Events, "m%d: a transaction still waits for %s after it has released %s", q.no, q.w.names[y.lock], q.w.names[x.lock])
	}
}

// isWorker reports whether a request is part of a transaction.
func (q *proc) isWorker(x *ask) bool { return x.app >= 0 && q.apps[x.app].tx != nil }

// abandon handles an event after which a transaction must abort: it is a victim, or has lost
// a lock.
func (q *proc) abandon(e *member.Event, x *ask) {
	if e.Victim != nil {
		q.w.oracle.victim(q, x, e.Victim)
	}
	if x.app < 0 {
		return // the session server notifies the client
	}
	t := q.apps[x.app].tx
	if t.waits == x {
		t.waits = nil
	}
	if e.Victim != nil && !t.aborts {
		q.w.result.Victims++
	}
	q.fails(x.app)
}

// changed is what happens to requests for kept locks when a view is installed that serves
// them otherwise: as the oracle counts, and as workers react.
func (q *proc) changed(was *deadlock.Method) {
	now := q.method()
	for _, x := range q.asks {
		if !q.w.isKept(x.lock) {
			continue
		}
		if (was == nil) != (now == nil) { // the member counts it as another transaction, or as none
			x.terms.Tx, x.loose, x.serial = 0, true, 0
		}
	}
	if (was == nil) != (now == nil) {
		q.resync = true
		q.unnumbered = q.unnumbered || now != nil
	}
	for i := range q.apps {
		if t := q.apps[i].tx; t != nil && t.plan != nil && q.mustSort() && now.Name != deadlock.Timeout().Name && !t.sorted() {
			q.fails(i) // it may be in a deadlock that the former method would have ended
		}
	}
}
