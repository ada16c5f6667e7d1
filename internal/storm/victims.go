package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// What the oracle knows of transactions over kept locks, and how it judges victims.

// counts records a request that the member has accepted: what its logical clock shows, and
// which transaction it belongs to, by the member's own number.
func (q *proc) counts(x *ask) {
	kept := q.w.isKept(x.lock) && q.method() != nil
	if x.loose = q.resync; x.terms.Tx != 0 {
		for _, y := range slices.Backward(q.asks) {
			if y.terms.Tx == x.terms.Tx && y.session == x.session && y.held && y.lock != x.lock { // a client's that waits, or is repeated, is from an earlier session
				if q.now() >= q.lease-q.w.oracle.act { // the member lost that hold in this step, before the request
					x.loose, q.resync, q.unnumbered = true, true, true
					return
				}
				x.serial, x.born, x.loose = y.serial, y.born, y.loose
				return
			}
		}
	}
	if q.w.lostSome(q.inc, x.terms.Tx) {
		x.loose, q.resync, q.unnumbered = true, true, true
		return
	}
	q.lamport++
	if !kept {
		return
	}
	q.serial++
	if x.born = q.lamport; x.terms.Born != 0 {
		x.born = min(x.born, x.terms.Born)
	}
	if !q.unnumbered {
		x.serial = q.serial
	}
}

// countsClaim does the same for a claim of a kept lock. It begins a transaction, or is part of
// one that has claimed others in this session. If the client has requested locks of that
// transaction here before, the oracle cannot know which it is.
func (q *proc) countsClaim(x *ask) {
	if !q.w.isKept(x.lock) || q.method() == nil {
		return
	}
	x.loose = q.resync
	for _, y := range slices.Concat(q.claims, q.asks) {
		switch {
		case x.terms.Tx == 0 || y.terms.Tx != x.terms.Tx || y.moved && y.session != x.session:
		case y.moved:
			x.serial, x.born, x.loose = y.serial, y.born, y.loose
			return
		default:
			x.loose, q.resync, q.unnumbered = true, true, true
			return
		}
	}
	if q.w.lostSome(q.inc, x.terms.Tx) {
		x.loose, q.resync, q.unnumbered = true, true, true
		return
	}
	q.lamport++
	q.serial++
	if x.born = q.lamport; x.terms.Born != 0 {
		x.born = x.terms.Born
	}
	if !q.unnumbered {
		x.serial = q.serial
	}
}

// session returns the session that the current frame belongs to, if it is about a transaction.
func (q *proc) session(of *member.Terms) (number uint64) {
	if of.Tx != 0 {
		q.p.Clients(func(c session.ClientInfo) {
			if c.Conn == q.in.Number {
				number = c.Session
			}
		})
	}
	return number
}

// lostSome reports whether a transaction has lost a lock at its member. If a client does not
// know that yet and goes on, the member may take what it requests for the same transaction.
func (w *world) lostSome(inc, tx uint64) bool {
	i, ok := w.find(inc)
	return ok && tx != 0 && slices.ContainsFunc(w.incarnations[i].asks, func(x *ask) bool { return x.terms.Tx == tx && x.lost })
}

// remember keeps a request for a kept lock, to judge victims by.
func (w *world) remember(q *proc, x *ask) {
	if i, ok := w.find(q.inc); ok && w.isKept(x.lock) {
		w.incarnations[i].asks = append(w.incarnations[i].asks, x)
	}
}

// meant returns the requests that a description of a wait can mean.
func (w *world) meant(x member.Wait) (all []*ask) {
	i, ok := w.find(x.Inc)
	if !ok {
		return nil
	}
	for _, y := range w.incarnations[i].asks {
		if w.names[y.lock] == x.Lock && (y.serial == 0 || y.serial == x.Tx) {
			all = append(all, y)
		}
	}
	return all
}

// waitedAt reports whether a request waited at a time, and hadAt whether it held.
func (x *ask) waitedAt(t int64) bool {
	return x.asked <= t && (x.inside == 0 || t <= x.inside) && (x.ended == 0 || t <= x.ended)
}

func (x *ask) hadAt(t int64) bool {
	return x.inside > 0 && x.inside <= t && (x.ended == 0 || t <= x.ended || x.lost)
}

// victim judges a transaction that must abort: there must be a reason, by the method of the
// view.
func (o *oracle) victim(q *proc, x *ask, v *member.Victim) {
	w := o.w
	m := q.method()
	if m == nil {
		w.broken(Victims, "%s: a transaction of m%d must abort (%v), but the lock is not kept in epoch %d", w.names[x.lock], q.no, v, q.epoch())
		return
	}
	fits := false
	switch v.How {
	case member.InCycle:
		fits = m.Name == deadlock.DetectCentral().Name || m.Name == deadlock.DetectDistributed().Name
		o.cycle(q, x, v)
		if w.phase >= draining {
			o.ended++
		}
	case member.Wounded:
		fits = m.Name == deadlock.WoundWait().Name
		o.older(q, x, v)
	case member.Died:
		fits = m.Name == deadlock.WaitDie().Name
		o.older(q, x, v)
	case member.TimedOut:
		fits = m.Name == deadlock.Timeout().Name
	}
	if !fits {
		w.broken(Victims, "%s: a transaction of m%d must abort (%v), but the method is %s", w.names[x.lock], q.no, v, m.Name)
	}
}

// cycle judges a deadlock: there was a time at which every transaction in it waited for its
// lock, and the next one had that lock, or waited for it too. The victim is the youngest.
func (o *oracle) cycle(q *proc, x *ask, v *member.Victim) {
	w := o.w
	all := make([][]*ask, len(v.Cycle))
	for i, c := range v.Cycle {
		if all[i] = w.meant(c); len(all[i]) == 0 {
			w.broken(Victims, "%s: a transaction of m%d must abort, but this one never requested its lock: %v", w.names[x.lock], q.no, c)
			return
		}
		if !slices.ContainsFunc(all[i], func(y *ask) bool { return x.loose || y.loose || y.born <= x.born }) {
			w.broken(Victims, "%s: a transaction of m%d must abort, but this one in the deadlock is younger: %v", w.names[x.lock], q.no, c)
			return
		}
	}
	for _, c := range all { // if there was such a time, so there was when the last of them began
		for _, y := range c {
			if o.deadlocked(v, all, y.asked) {
				return
			}
		}
	}
	w.broken(Victims, "%s: a transaction of m%d must abort, but there was no time at which %v", w.names[x.lock], q.no, v)
}

// deadlocked reports whether a deadlock existed at a time.
func (o *oracle) deadlocked(v *member.Victim, all [][]*ask, t int64) bool {
	for i := range all {
		waits := false
		for _, y := range all[i] {
			waits = waits || y.waitedAt(t)
		}
		next := v.Cycle[(i+1)%len(v.Cycle)]
		next.Lock = v.Cycle[i].Lock
		blocks := false
		for _, y := range o.w.meant(next) {
			blocks = blocks || y.waitedAt(t) || y.hadAt(t)
		}
		if !waits || !blocks {
			return false
		}
	}
	return true
}

// older judges a transaction that must abort because of another one: that one requested the
// lock, and is older.
func (o *oracle) older(q *proc, x *ask, v *member.Victim) {
	w := o.w
	for _, y := range w.meant(v.Cycle[0]) {
		if x.loose || y.loose || y.born <= x.born {
			return
		}
	}
	w.broken(Victims, "%s: a transaction of m%d must abort, but this one is not older, or never requested its lock: %v", w.names[x.lock], q.no, v)
}

// txBound is how long a transaction may take with all its attempts, from when they must end
// within a bound, if so many deadlocks were broken meanwhile. All other transactions may go
// first. A deadlock that is older than that may still be there, and is looked for later, the
// longer its transactions have waited.
//
// Detection lets transactions run into deadlocks. So besides the time in which one attempt
// or another goes on, there is that in which all wait, until a victim has aborted. The
// number of victims is counted, not bounded: the victim is the youngest of its cycle, which
// cycle judges, whose end moves an older transaction forward in a queue. So victims come
// to an end, but in the worst case after more of them than a run could wait for.
//
// This holds while no request is given up: that sends its transaction to the end of a queue.
// So none is once applications begin no new transactions.
func (w *world) txBound(victims int) int64 {
	attempt := int64(w.Kept) * (shortHold + 8*slowest)
	return 4*int64(member.Second) + int64(w.transactions())*(attempt+longestHold) + int64(victims)*(attempt+breaks+retries)
}

// breaks is how long it takes at most to break a deadlock: it is looked for some time after
// the last of its requests. That is demanded by one message, and may have to wait for a round
// that has begun, and for a pause after it. A round takes two messages, and two more ask
// whether all still wait. Then the victim is notified, releases its locks some time later,
// and the homes hear of it. Distributed detection needs fewer messages, and no pause.
const breaks = int64(member.DetectAfter+member.DetectPause) + (1+2+2+2+1+1)*slowest + shortHold

// retries is the maximum pause after an attempt.
const retries = 20 * ms

// transactions is the maximum number of transactions at a time.
func (w *world) transactions() int { return len(w.procs)*w.Workers + w.Clients }

// mostVictims is after how many victims a run ends in which transactions must end. Seldom are
// there as many as transactions.
func (w *world) mostVictims() int { return w.transactions() * w.transactions() }

// tooLong judges how long transactions have taken. With some methods a stream of younger ones
// may keep an older one from its turn. There, the time counts from when applications begin no
// new ones.
func (o *oracle) tooLong(q *proc) {
	w := o.w
	from, ok := w.endless()
	if !ok {
		return
	}
	for i := range q.apps {
		t := q.apps[i].tx
		if t == nil || t.plan == nil {
			continue
		}
		if took := w.Now() - max(t.begun, from); took > w.txBound(o.ended) {
			w.broken(Waits, "m%d: a transaction has not ended after %d ms and %d attempts, above the bound of %d ms", q.no, took/ms, t.attempts, w.txBound(o.ended)/ms)
		}
	}
}

// endless returns the time from which transactions must end within the bound, and whether it
// has come.
func (w *world) endless() (from int64, ok bool) {
	m := w.method()
	if m != nil && (m.Family == deadlock.Detection || m.Name == deadlock.WaitDie().Name) {
		return w.times.drain, w.phase >= draining
	}
	return w.times.demand, w.phase >= demanding
}

// running reports whether a process runs a transaction.
func (q *proc) running() bool {
	for i := range q.apps {
		if t := q.apps[i].tx; t != nil && t.plan != nil && q.state == taking {
			return true
		}
	}
	return false
}
