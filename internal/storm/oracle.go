package storm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
)

// An oracle sees true time and every message, and judges. It never asks a member: it counts
// leases itself, from the moment a renewal was sent by the member, by that process's clock.
type oracle struct {
	cluster
	w     *world
	act   member.Instant // time before the end of a lease in which no process may enter
	locks []judged
	views int    // committed views, in all clusters
	seq   uint64 // numbers the events that concern the order of waiters
	idle  int64  // time since which no lock is held or awaited; 0 if one is
	quiet bool   // members must no longer send anything
	still stillness
	wrote int // batches while nothing seemed to happen
	ended int // victims of detection since transactions must end within a bound
	buf   []byte
}

// A judged is what the oracle knows of one lock.
type judged struct {
	holds  []hold
	last   member.Token
	alone  member.Token // the last one of an exclusive hold
	letGo  uint64       // last epoch whose home has released or lent the lock
	free   uint64       // last epoch whose home has released it
	loan   loan
	turn   uint64 // current turn: the incarnation that entered last
	row    int    // its entries in a row while another member waits
	freed  []freed
	claims map[member.Token]uint64 // last epoch in which an entry was claimed
	done   []member.Token          // of clients that have released or lost the lock
	grants map[member.Token]bool   // of clients that have not entered yet
	blocks []block
	usage  usage
	spared spared
}

// A freed is an entry that an operator has ended. A client that is not notified yet may
// still act, and only the fence stops it: that is the operator's responsibility.
type freed struct {
	token  member.Token
	at     int64
	inc    uint64 // of the process at which it ended
	undone bool   // the client's claim was honoured when that process was no longer a member
}

// A hold is a process inside a lock, or a client through one. The member that a client
// holds through counts as inside too, with the same fencing token.
type hold struct {
	q         *proc
	c         *hand
	inc       uint64         // of the process; of a client, the number of its starts
	token     member.Token   // of a delegated lock: that of its client's last entry
	granted   member.Token   // with which the process was granted the lock
	until     member.Instant // if not 0: it was notified of the loss, and may still act until then, by its clock
	freed     bool           // an operator has ended it
	forClient bool           // of a process: for a client
	mode      deadlock.Mode
	units     int
}

// A loan is the last loan of a lock.
type loan struct {
	epoch, to, seq uint64
}

func newOracle(w *world) oracle {
	return oracle{w: w, act: member.Instant(w.Settings.Lease / 100 * member.Span(w.Settings.Act)), locks: make([]judged, len(w.names)), cluster: newCluster(len(w.names), 0)}
}

// valid reports whether the holder sees its lock as valid: its full lease runs, by its own
// clock.
func (h *hold) valid() bool {
	switch {
	case h.c != nil && h.until > 0:
		return h.c.c.up && uint64(h.c.c.boots) == h.inc && h.c.c.now() < h.until
	case h.c != nil:
		return h.c.valid()
	case h.until > 0:
		return h.q.now() < h.until
	}
	return h.q.now() < h.q.lease
}

// name names the holder.
func (h *hold) name() string {
	if h.c != nil {
		return h.c.c.w.Name(h.c.c.id)
	}
	return "m" + strconv.Itoa(h.q.w.no(h.inc))
}

// entered judges an entry.
func (o *oracle) entered(q *proc, x *ask) {
	w := o.w
	w.result.Entries++
	l := &o.locks[x.lock]
	name, t := w.names[x.lock], x.token
	if q.now() >= q.lease-o.act {
		w.broken(Leased, "%s: m%d enters with %v at %d by its clock, but its lease expires at %d, and %d before that is reserved to act", name, q.no, t, q.now(), q.lease, o.act)
	}
	if t.Epoch != q.epoch() {
		w.broken(Epochs, "%s: m%d enters with %v in epoch %d", name, q.no, t, q.epoch())
	}
	h := hold{q: q, inc: q.inc, token: t, granted: t, forClient: x.app < 0, mode: x.terms.Mode, units: x.terms.Units}
	o.count(x.lock, &h)
	if t.Epoch < l.letGo && w.within() {
		w.broken(Clearing, "%s: m%d enters with %v after the home of epoch %d has released or lent the lock", name, q.no, t, l.letGo)
	}
	o.exclude(l, name, &h)
	o.idled(x.lock, x)
	o.stalls(x.lock, x)
	l.holds = append(l.holds, h)
	if x.app < 0 {
		o.granted(q, x)
	}
	o.inOrder(q, x)
	o.waited(q, x)
	l.usage.enters(w.Now(), q.inc)
	o.turn(l, q, x)
	q.watch()
}

// claimed judges a claim that was honoured: the process is inside for a client, with the
// fencing token of the client's entry.
func (o *oracle) claimed(q *proc, x *ask) {
	l := &o.locks[x.lock]
	f := l.freedBy(x.token)
	h := hold{q: q, inc: q.inc, token: x.token, granted: x.token, forClient: true, freed: f != nil, mode: x.terms.Mode, units: x.terms.Units}
	o.undone(l, o.w.names[x.lock], &h)
	if f != nil && q.view.Rank(f.inc) < 0 {
		f.undone = true // the home cannot have known
	}
	o.exclude(l, o.w.names[x.lock], &h)
	l.holds = append(l.holds, h)
	if l.claims == nil {
		l.claims = map[member.Token]uint64{}
	}
	l.claims[x.token] = max(l.claims[x.token], q.epoch())
	l.usage.enters(o.w.Now(), q.inc)
	q.watch()
}

// undone judges a claim of a lock that an operator had taken from the client: whatever the
// client does until it is notified, no home confirms its hold beside a later one that was
// reported to it.
func (o *oracle) undone(l *judged, name string, h *hold) {
	if !h.freed || !o.w.within() {
		return
	}
	for i := range l.holds {
		other := &l.holds[i]
		if other.c == nil && h.token.Less(other.token) && other.q.epoch() == h.q.epoch() && other.valid() && !l.idle(other) {
			o.w.broken(Exclusion, "%s: %s holds the lock with %v by a claim, although an operator had taken it, while %s holds it with %v", name, h.name(), h.token, other.name(), other.token)
		}
	}
}

// count judges the fencing token of an entry. Whatever clocks do, counts are dense, so no
// token occurs twice; those of kept locks are not, because what is granted may be withdrawn.
// Tokens rise from epoch to epoch if clocks are within the margin: exclusive ones above all
// others, and shared ones above those of exclusive holds.
func (o *oracle) count(lock int, h *hold) {
	l, name, t := &o.locks[lock], o.w.names[lock], h.token
	c := o.counted(lock, t.Epoch)
	if kept := o.w.isKept(lock) && h.q.method() != nil; *c+1 != t.Count && !kept {
		o.w.broken(Tokens, "%s: token %v follows %d.%d in its epoch", name, t, t.Epoch, *c)
	}
	*c = max(*c, t.Count)
	last := l.last
	if h.mode != deadlock.Exclusive {
		last = l.alone
	}
	again := slices.ContainsFunc(l.holds, func(o hold) bool { return o.token == t })
	if (!last.Less(t) || again) && o.w.within() {
		o.w.broken(Tokens, "%s: token %v (%v) follows %v", name, t, h.mode, last)
	}
	if l.last.Less(t) {
		l.last = t
	}
	if h.mode == deadlock.Exclusive && l.alone.Less(t) {
		l.alone = t
	}
}

// exclude judges whether a process may be inside beside the others. Those whose holds are
// not compatible with its own must have no time left, what their applications see must say
// so, and those that run must have been notified.
func (o *oracle) exclude(l *judged, name string, h *hold) {
	if !o.w.within() {
		return
	}
	left := h.room()
	var others []member.Token // a client's hold is that of its member too
	for i := range l.holds {
		other := &l.holds[i]
		if other.token == h.token || other.freed || h.freed || l.idle(other) || l.idle(h) {
			continue
		}
		what, how := other.stays()
		if what == "" || slices.Contains(others, other.token) {
			continue
		}
		others = append(others, other.token)
		if left -= h.beside(other); left < 0 {
			o.w.broken(what, "%s: %s holds the lock with %v while %s", name, h.name(), h.token, how)
		}
	}
}

// stays returns what is violated, and how, if another process holds the lock exclusively
// beside this hold; none if this one is over.
func (h *hold) stays() (what Invariant, how string) {
	switch {
	case h.valid():
		return Exclusion, fmt.Sprintf("%s holds it with %v", h.name(), h.token)
	case h.sees():
		return Exclusion, fmt.Sprintf("the application of %s still believes that it holds it with %v", h.name(), h.token)
	case h.until == 0 && h.runs():
		return Told, fmt.Sprintf("%s runs and has not been notified that it lost %v", h.name(), h.token)
	}
	return "", ""
}

// room returns how much of the lock others may hold beside a hold, and beside how much of
// that another one is.
func (h *hold) room() int {
	amount, whole := h.mode.Of(h.units)
	return whole - amount
}

func (h *hold) beside(other *hold) int {
	amount, whole := other.mode.Of(other.units)
	if h.units != other.units {
		return whole + h.room() // they do not mean the same lock
	}
	return amount
}

// idle reports whether a process is inside only for a client that no longer is. A client
// that holds a lock through several processes releases it at one after the other.
func (l *judged) idle(h *hold) bool {
	return h.forClient && slices.Contains(l.done, h.token)
}

// sees reports whether the application sees its lock as held, by what it can query and its
// own clock, even if its process is paused.
func (h *hold) sees() bool {
	switch {
	case h.until > 0:
		return false // it was notified
	case h.c != nil:
		return h.c.c.up && h.c.c.session.Valid(h.c.request, h.c.c.now())
	}
	m := h.q.p.Member()
	return m != nil && h.q.now() < m.Deadline()
}

// runs reports whether the process runs: it is not paused, and has not been resumed at this
// moment, at which its overdue timer may still be to come.
func (h *hold) runs() bool {
	if h.c != nil {
		return h.c.c.up && h.c.c.w.runs(h.c.c.id)
	}
	return h.q.w.runs(h.q.id)
}

func (w *world) runs(id algorithm.ID) bool {
	at, resumed := w.resumed[id]
	return !w.Paused(id) && !(resumed && at == w.Now())
}

// extended judges a lease that had expired and runs again: no process that was inside by it
// before may still be.
func (o *oracle) extended(q *proc) {
	for i := range o.locks {
		l := &o.locks[i]
		for j := range l.holds {
			if h := l.holds[j]; h.q == q && h.c == nil && h.until == 0 {
				o.exclude(l, o.w.names[i], &h)
			}
		}
	}
}

// out removes a hold.
func (l *judged) out(q *proc, c *hand, t member.Token) {
	for i := range l.holds {
		if h := &l.holds[i]; h.q == q && h.c == c && h.granted == t {
			if c == nil && h.until == 0 {
				l.usage.leaves(q.w.Now())
			}
			l.holds = append(l.holds[:i], l.holds[i+1:]...)
			return
		}
	}
}

// present returns the token of what a process holds: of a delegated lock, that of its
// client's last entry.
func (l *judged) present(q *proc, x *ask) member.Token {
	for i := range l.holds {
		if h := &l.holds[i]; h.q == q && h.c == nil && h.granted == x.token {
			return h.token
		}
	}
	return x.token
}

// left records a release.
func (o *oracle) left(q *proc, x *ask) { o.locks[x.lock].out(q, nil, x.token) }

// lost records that a holder was notified of a loss. If the lease is about to expire, an
// application that has checked just before may act until it does: no other process may be
// inside. A client acts by its own time.
func (o *oracle) lost(q *proc, x *ask, why member.Cause) {
	l := &o.locks[x.lock]
	l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return h.until > 0 && !h.valid() })
	o.usedUp(x, true)
	token := l.present(q, x)
	moved := false // the client holds it through a later process
	for i := range l.holds {
		if h := &l.holds[i]; h.c == nil && h.token == token {
			moved = h.q != q
		}
	}
	o.left(q, x)
	switch {
	case (why == member.Lease || why == member.Changed) && x.app >= 0 && !x.back: // an application that releases it no longer acts
		l.holds = append(l.holds, hold{q: q, inc: q.inc, token: token, granted: token, until: cmp.Or(q.ended, q.lease), mode: x.terms.Mode, units: x.terms.Units})
	case why == member.Released && !moved:
		o.freed(l, token, q.inc)
	}
	if o.w.calm() && !moved && !x.thief {
		o.w.broken(Calm, "m%d loses %s, although there is no fault", q.no, o.w.names[x.lock])
	}
}

// freed records that an operator has taken a lock from its holder. A client may act until
// it is notified, or until its session expires.
func (o *oracle) freed(l *judged, t member.Token, inc uint64) {
	l.freed = append(l.freed, freed{token: t, at: o.w.Now(), inc: inc})
	for i := range l.holds {
		if h := &l.holds[i]; h.c != nil && h.token == t {
			h.freed = true
			o.w.At(o.w.Now()+o.w.freedFor(), hear, algorithm.None, h.c.c.number)
		}
	}
}

// freedFor is how long a client may act on a lock that an operator has taken from it: until
// its session has expired, or everything late on its connection has arrived.
func (w *world) freedFor() int64 { return 2 * int64(w.Settings.Lease) }

// freedBy returns how an operator ended an entry, or nil.
func (l *judged) freedBy(t member.Token) *freed {
	i := slices.IndexFunc(l.freed, func(f freed) bool { return f.token == t })
	if i < 0 {
		return nil
	}
	return &l.freed[i]
}

// heard judges whether a running client was notified of what an operator has taken from it.
func (c *client) heard() {
	w := c.w
	if w.Paused(c.id) {
		w.At(w.Now()+int64(w.Settings.Lease), hear, algorithm.None, c.number)
		return
	}
	for i := range c.hands {
		h := &c.hands[i]
		if !c.up || !h.holds {
			continue
		}
		if f := w.oracle.locks[h.lock].freedBy(h.token); f != nil && !f.undone && w.Now()-f.at >= w.freedFor() {
			w.broken(Told, "%s: an operator took it from %s %[3]d ms ago, and %[2]s has not been notified", w.names[h.lock], w.Name(c.id), (w.Now()-f.at)/ms)
		}
	}
}

// died records the end of a process, with everything it held.
func (o *oracle) died(q *proc) {
	if i, ok := o.w.find(q.inc); ok {
		o.w.incarnations[i].died = o.w.Now()
	}
	o.acted(q)
	for _, x := range q.asks {
		if x.ended = o.w.Now(); x.held {
			o.left(q, x)
		}
	}
	q.asks, q.claims = q.asks[:0], q.claims[:0]
}

// acted records that applications of a process no longer act by what it has lost.
func (o *oracle) acted(q *proc) {
	for i := range o.locks {
		l := &o.locks[i]
		l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return h.until > 0 && h.q == q })
	}
}

// stopped judges a process that is no longer a member, or leaves: all holders and waiters
// here were notified.
func (o *oracle) stopped(q *proc) {
	if len(q.asks) > 0 {
		x := q.asks[0]
		o.w.broken(Events, "m%d is no longer a member, but a holder of %s or a waiter has not been notified", q.no, o.w.names[x.lock])
	}
}

// clientEntered judges a client that has entered.
func (o *oracle) clientEntered(c *hand) {
	l := &o.locks[c.lock]
	h := hold{c: c, inc: uint64(c.c.boots), token: c.token, granted: c.token, freed: l.freedBy(c.token) != nil, mode: c.terms.Mode, units: c.terms.Units}
	if o.next(l, o.w.names[c.lock], &h); h.freed {
		o.w.At(o.w.Now()+o.w.freedFor(), hear, algorithm.None, c.c.number)
	}
	o.exclude(l, o.w.names[c.lock], &h)
	l.holds = append(l.holds, h)
	if o.w.phase >= demanding {
		o.w.result.Longest = max(o.w.result.Longest, member.Span(o.w.Now()-c.mark.at))
	}
}

// clientLeft records that a client is no longer inside, if it was.
func (o *oracle) clientLeft(c *hand) {
	if c.holds {
		l := &o.locks[c.lock]
		l.out(nil, c, c.token)
		l.done = append(l.done, c.token)
	}
}

// clientLost records that a client was notified of a loss. If the loss is by its own time,
// an application that has checked just before may act until that expires: no other process
// may be inside.
func (o *oracle) clientLost(c *hand, why member.Cause) {
	l := &o.locks[c.lock]
	l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return h.until > 0 && !h.valid() })
	if why == member.Released && l.freedBy(c.token) == nil && o.w.within() {
		o.w.broken(Owners, "%s: it is taken from %s, which holds it with %v, and no operator has asked for that", o.w.names[c.lock], c.c.w.Name(c.c.id), c.token)
	}
	if o.clientLeft(c); why == member.Session {
		l.holds = append(l.holds, hold{c: c, inc: uint64(c.c.boots), token: c.token, granted: c.token, until: c.until, freed: l.freedBy(c.token) != nil, mode: c.terms.Mode, units: c.terms.Units})
	}
}

// clientGone records that a client no longer acts.
func (o *oracle) clientGone(c *client) {
	for i := range o.locks {
		l := &o.locks[i]
		l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return h.c != nil && h.c.c == c })
	}
}

// watch makes sure that a holder is notified of a loss in time.
func (q *proc) watch() {
	if !q.checking {
		q.checking = true
		q.w.At(max(q.w.Now(), q.clock.when(q.lease)), check, algorithm.None, q.place())
	}
}

// checkTold judges whether a running process was notified of its losses: when its clock
// shows the end of its lease, it must no longer hold anything. A process that is paused
// then is judged when it resumes.
func (q *proc) checkTold() {
	q.checking = false
	w := q.w
	if q.state == dead || w.Paused(q.id) {
		return
	}
	for _, x := range q.asks {
		if !x.held {
			continue
		}
		if q.now() >= q.lease {
			w.broken(Told, "%s: m%d holds the lock with %v, its lease has expired, and it has not been notified", w.names[x.lock], q.no, x.token)
		}
		q.watch()
		return
	}
}

// final judges the end of a run.
func (o *oracle) final() {
	w := o.w
	w.judgeDisks()
	switch w.phase {
	case drained:
		return
	case forming:
		w.broken(Waits, "after %d ms the cluster has not formed: epoch %d", w.Now()/ms, o.epoch())
		return
	}
	for _, q := range w.procs {
		if len(q.asks) > 0 && !o.excused(q) {
			o.waitsTooLong(q, q.asks[0])
			return
		}
		if q.running() && !o.excused(q) {
			w.broken(Waits, "m%d: a transaction has not ended", q.no)
			return
		}
	}
	for _, c := range w.clients {
		if h := c.waits(); h == nil && c.deals() {
			w.broken(Waits, "%s: a transaction has not ended", w.Name(c.id))
			return
		} else if h != nil {
			w.broken(Waits, "%s: %s is still acquiring or releasing it, at %s", w.names[h.lock], w.Name(c.id), w.Name(c.node().id))
			return
		}
	}
}
