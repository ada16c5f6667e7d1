package storm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/lab/trace"
)

// How long an application stays inside.
const (
	shortHold   = 2 * ms
	longestHold = 10 * ms // once all faults are healed
)

// An ask is a request that waits or holds, as its application knows it.
type ask struct {
	ticket   member.Ticket
	lock     int
	app      int // application that made it; -1 if none of this process did
	try      bool
	deadline member.Instant
	asked    int64        // true time
	mark     mark         // of the lock, then or at the end of the grace period
	stamp    member.Stamp // as the oracle counts
	back     bool         // it is being withdrawn or released in this step
	held     bool
	token    member.Token
	last     uint64 // last count, if the lock is delegated to a client; otherwise 0
	errand   visit  // visit to the bank

	terms    member.Terms // of a kept lock
	session  uint64       // of the client, if it belongs to a transaction; 0 for an application of the process
	patience int64        // when it is withdrawn, if it still waits; 0 if it is not
	inside   int64        // when it was granted; 0 if it was not
	ended    int64        // when it ended, whether it was granted or not; 0 if it has not
	lost     bool
	serial   uint64 // number of its transaction at its member; 0 if that is not known
	born     uint64 // of its transaction
	loose    bool   // its stamp is not known exactly
	moved    bool   // it is a claim, or was one
	thief    bool   // it is the thief's
}

// An app is an application of a process: it requests one lock after another.
type app struct {
	seq   int // of its next action; others are void
	ask   *ask
	lost  member.Token // fencing token of a lost lock, for a late unlock
	where int          // the lock of that token
	tx    *transaction // it is a worker, and runs transactions; otherwise nil
}

// begin starts the applications of a new process.
func (q *proc) begin() {
	if q.apps == nil {
		q.apps = make([]app, q.w.Apps+q.w.Workers)
	}
	q.asks, q.claims = q.asks[:0], q.claims[:0]
	for i := range q.apps {
		if q.apps[i] = (app{seq: q.apps[i].seq}); i >= q.w.Apps {
			q.apps[i].tx = &transaction{}
		}
		q.later(i, q.chance.Below(int64(q.w.Think)+1))
	}
}

// later schedules the next action of an application.
func (q *proc) later(i int, d int64) {
	a := &q.apps[i]
	a.seq++
	q.w.At(q.w.Now()+1+d, act, q.id, a.seq<<appBits|i)
}

// rested schedules the next request of an application.
func (q *proc) rested(i int) {
	q.apps[i].ask = nil
	d := q.chance.Below(2*int64(q.w.Think) + 1)
	if q.chance.Below(4) == 0 {
		d /= 16 // again at once
	}
	q.later(i, d)
}

// act lets an application do its next action.
func (q *proc) act(arg int) {
	i := arg & (1<<appBits - 1)
	a := &q.apps[i]
	switch {
	case a.seq != arg>>appBits:
	case a.tx != nil:
		q.transact(i)
	case a.ask == nil && !a.lost.IsNone():
		q.lateUnlock(a)
		q.rested(i)
	case a.ask == nil:
		q.request(i)
	case a.ask.held && !q.w.settled(q.id, a.ask.lock, a.ask.token, &a.ask.errand):
		q.later(i, bankPatience)
	case a.ask.held:
		q.unlock(a.ask)
		q.rested(i)
	default:
		q.withdraw(a.ask)
	}
}

// request requests a lock.
func (q *proc) request(i int) {
	w := q.w
	if w.phase >= draining {
		return
	}
	if q.state != taking || w.phase == forming {
		q.rested(i)
		return
	}
	x := &ask{lock: w.somewhere(&q.chance), app: i, deadline: member.Never}
	patience := int64(0)
	switch q.chance.Below(10) {
	case 0:
		x.try = true
	case 1:
		x.deadline = q.now() + member.Instant(q.chance.Below(60*ms))
	case 2:
		patience = 1 + q.chance.Below(60*ms)
	}
	if err := q.lock(x); err != nil {
		q.rested(i)
		return
	}
	if q.has(x) && !x.held && patience > 0 {
		q.later(i, patience)
	}
}

// somewhere chooses a lock: the first is the hottest.
func (w *world) somewhere(r interface{ Below(n int64) int64 }) int {
	return int(min(r.Below(int64(w.Locks)), r.Below(int64(w.Locks))))
}

// lock requests a lock for an application.
func (q *proc) lock(x *ask) error {
	w := q.w
	out := q.take(process.Input{Kind: process.Lock, Text: w.names[x.lock], Late: x.deadline, Try: x.try, Terms: x.terms})
	err := out.Err
	if x.ticket = out.Ticket; err == nil { // before it can be granted
		if x.app >= 0 {
			q.apps[x.app].ask = x
		}
		q.stands(x)
	}
	q.carryOut()
	if err != nil && !errors.Is(err, member.ErrGone) && !errors.Is(err, process.ErrLeaving) {
		w.broken(Errors, "m%d cannot request %s: %v", q.no, w.names[x.lock], err)
	}
	return err
}

// stands records a request that the member has accepted.
func (q *proc) stands(x *ask) {
	q.counts(x)
	x.mark = q.w.oracle.mark(x.lock)
	x.asked, x.stamp = q.w.Now(), member.Stamp{Epoch: q.epoch(), Clock: q.lamport, Inc: q.inc}
	q.asks = append(q.asks, x)
	q.w.remember(q, x)
	q.w.uses(q.inc, x.lock)
	q.w.oracle.stirs(x.lock)
	if q.w.oracle.locks[x.lock].spared.from > 0 && !x.try {
		q.w.At(q.w.Now()+q.w.reporting()+1, stalled, algorithm.None, x.lock)
	}
	q.w.mark(trace.Ask, q, x.lock, "")
}

func (q *proc) has(x *ask) bool {
	for _, y := range q.asks {
		if x == y {
			return true
		}
	}
	return false
}

func (q *proc) asked(t member.Ticket) *ask {
	for _, x := range q.asks {
		if x.ticket == t {
			return x
		}
	}
	return nil
}

// forget removes a request that has ended.
func (q *proc) forget(x *ask) {
	for i, y := range q.asks {
		if x == y {
			q.asks = append(q.asks[:i], q.asks[i+1:]...)
			x.ended = q.w.Now()
			q.w.oracle.stirs(x.lock)
			return
		}
	}
}

// withdraw withdraws a request, unless it is granted in this moment.
func (q *proc) withdraw(x *ask) {
	x.back = true
	q.step(process.Input{Kind: process.Cancel, Number: uint64(x.ticket)})
	x.back = false
	if !x.held && q.has(x) {
		q.takenBack(x)
		q.over(x, member.NoCause)
	}
}

// takenBack records that a request was withdrawn.
func (q *proc) takenBack(x *ask) {
	q.forget(x)
	q.w.mark(trace.Deny, q, x.lock, "")
}

// over notifies the application that made a request that it has ended. The session server
// notifies clients.
func (q *proc) over(x *ask, why member.Cause) {
	switch {
	case q.isWorker(x):
		q.misses(x, why)
	case x.app >= 0:
		q.rested(x.app)
	}
}

// unlock releases a lock. It succeeds unless the holder is notified that it has lost the
// lock.
func (q *proc) unlock(x *ask) {
	w := q.w
	x.back = true
	err := q.take(process.Input{Kind: process.Unlock, Text: w.names[x.lock], Token: x.token}).Err
	if err == nil {
		q.exits(x) // before another process can enter
	}
	if q.carryOut(); err != nil {
		w.oracle.locks[x.lock].out(q, nil, x.token) // it declares that it no longer acts
	}
	if err != nil && (!errors.Is(err, member.ErrNotHeld) || q.has(x)) {
		w.broken(Errors, "m%d cannot release %s with %v, and was not notified that it lost it: %v", q.no, w.names[x.lock], x.token, err)
	}
}

// exits records a release.
func (q *proc) exits(x *ask) {
	q.forget(x)
	q.w.oracle.left(q, x)
	q.w.mark(trace.Exit, q, x.lock, "")
}

// lateUnlock unlocks with the fencing token of an entry that has long ended: this must not
// harm other holders.
func (q *proc) lateUnlock(a *app) {
	where, lost := a.where, a.lost
	a.lost = member.Token{}
	if q.state == taking || q.state == leaving {
		q.unlockLost(where, lost)
	}
}

// unlockLost unlocks with the fencing token of a lost lock.
func (q *proc) unlockLost(where int, lost member.Token) {
	err := q.take(process.Input{Kind: process.Unlock, Text: q.w.names[where], Token: lost}).Err
	if !errors.Is(err, member.ErrNotHeld) {
		q.w.broken(Events, "m%d releases %s with %v, which it had lost, and gets the answer %v", q.no, q.w.names[where], lost, err)
	}
	q.w.oracle.locks[where].out(q, nil, lost) // it declares that it no longer acts
	q.carryOut()
}

// told handles an event of the member.
func (q *proc) told(e *member.Event) {
	w := q.w
	if x := q.disclaimed(e.Ticket); x != nil {
		q.toldClaim(e, x)
		return
	}
	x := q.asked(e.Ticket)
	if x == nil {
		w.broken(Events, "m%d reports %s for a finished request", q.no, eventNames[e.Kind])
		return
	}
	w.note(uint64(e.Kind)<<32|uint64(x.lock), q.inc<<32|e.Token.Count)
	if q.isWorker(x) && e.Born != 0 {
		q.apps[x.app].tx.born = e.Born // its age
	}
	switch wrong := q.misplaced(e, x); {
	case wrong != "":
		w.broken(Events, "m%d reports %s for %s: %s", q.no, eventNames[e.Kind], w.names[x.lock], wrong)
	case e.Kind == member.Held:
		x.last = e.Last
		q.entered(x, e.Token)
	case e.Kind == member.Wanted:
	case e.Kind == member.Doomed:
		q.abandon(e, x)
	case e.Kind == member.Lost:
		if e.Cause != member.Moved && !x.thief {
			w.result.Lost++
		}
		x.lost = true
		q.forget(x)
		w.oracle.lost(q, x, e.Cause)
		w.mark(trace.Exit, q, x.lock, "lost")
		if q.isWorker(x) {
			q.abandon(e, x)
			return
		}
		if x.app >= 0 && q.chance.Below(3) == 0 {
			q.apps[x.app].lost, q.apps[x.app].where = x.token, x.lock
		}
		q.over(x, e.Cause)
	default:
		if x.try {
			w.result.Tries++
			w.oracle.decided(q, x)
		}
		q.forget(x)
		w.mark(trace.Deny, q, x.lock, eventNames[e.Kind])
		if e.Cause == member.Deadlock {
			q.abandon(e, x)
			return
		}
		q.over(x, e.Cause)
	}
}

// disclaimed removes a claim from those that wait, and returns it; nil if there is none.
func (q *proc) disclaimed(t member.Ticket) *ask {
	for i, x := range q.claims {
		if x.ticket == t {
			q.claims = slices.Delete(q.claims, i, i+1)
			x.ended = q.w.Now()
			return x
		}
	}
	return nil
}

// toldClaim handles the outcome of a claim: it is honoured or refused.
func (q *proc) toldClaim(e *member.Event, x *ask) {
	switch {
	case e.Kind == member.Held && (e.Token != x.token || q.state == leaving):
		q.w.broken(Events, "m%d reports a claim of %s with %v as honoured with %v", q.no, q.w.names[x.lock], x.token, e.Token)
	case e.Kind == member.Held:
		x.held, x.asked, x.inside, x.ended = true, q.w.Now(), q.w.Now(), 0
		if x.thief {
			q.w.oracle.robs(q, x)
			q.w.thief.granted(&q.w.oracle.locks[x.lock], x)
		}
		q.asks = append(q.asks, x)
		q.w.oracle.claimed(q, x)
		if q.w.result.Claims++; q.w.isKept(x.lock) && q.method() != nil {
			q.w.result.KeptClaims++
		}
	case e.Kind != member.Lost && e.Kind != member.Stopped:
		q.w.broken(Events, "m%d reports %s for a claim of %s", q.no, eventNames[e.Kind], q.w.names[x.lock])
	}
}

var eventNames = [...]string{"held", "lost", "busy", "recovering", "late", "stopped", "doomed", "wanted"}

// misplaced says why an event cannot be right.
func (q *proc) misplaced(e *member.Event, x *ask) string {
	if (e.Victim != nil) != (e.Cause == member.Deadlock) || e.Victim != nil && !q.w.isKept(x.lock) {
		return "it is no victim"
	}
	if e.Born != 0 && e.Born != x.born && !x.loose {
		return fmt.Sprintf("its transaction began at %d, not at %d", x.born, e.Born)
	}
	switch e.Kind {
	case member.Held:
		if x.held {
			return "it is already held"
		}
		if q.state == leaving {
			return "the member is leaving and must not enter again"
		}
	case member.Lost, member.Doomed:
		if !x.held || x.token != e.Token {
			return "it is not held with this token"
		}
	case member.Wanted:
		if !x.held || x.token != e.Token || x.last == 0 {
			return "it is not delegated with this token"
		}
	case member.Busy, member.Recovering:
		if x.held || !x.try {
			return "it is not a pending try"
		}
	case member.Late:
		if x.held || x.deadline > q.now() {
			return "its deadline has not passed"
		}
	case member.Stopped:
		if x.held {
			return "it is held"
		}
	}
	return ""
}

// entered is what an application does when it has entered.
func (q *proc) entered(x *ask, t member.Token) {
	w := q.w
	x.held, x.token, x.inside = true, t, w.Now()
	if x.thief {
		w.thief.granted(&w.oracle.locks[x.lock], x)
	}
	w.oracle.entered(q, x)
	w.mark(trace.Enter, q, x.lock, "")
	if x.app < 0 {
		return // the session server notifies the client
	}
	if q.isWorker(x) {
		q.acquired(x)
		return
	}
	hold := q.chance.Below(shortHold)
	switch q.chance.Below(16) {
	case 0, 1, 2:
		hold = q.chance.Below(longestHold)
	case 3, 4:
		if w.phase == stormy {
			hold = q.chance.Below(int64(w.Settings.Lease) * 3 / 2)
		}
	}
	if w.phase == stormy && w.Hold > 0 {
		hold = q.chance.Below(int64(w.Hold))
	}
	if w.phase == stormy && w.network.cutOff(q.id) {
		hold = int64(w.Settings.Lease) // it will lose the lock
	}
	if q.chance.Below(2) == 0 {
		w.visit(q.id, x.lock, t, &x.errand)
	}
	q.later(x.app, hold)
}

// value handles an answer of the resource, and deposits an amount. It does so even if the
// lock was lost meanwhile: the fence must withstand that. Customers of a bank are more
// careful.
func (q *proc) value(kind byte, l numbers) {
	if q.w.Bank {
		q.banked(kind, l)
		return
	}
	q.w.deposit(q.id, l)
}
