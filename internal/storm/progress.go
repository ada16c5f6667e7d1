package storm

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
)

// Once all faults are healed, and after the grace period, no awaited lock is idle for
// longer than it takes to pass it on, and no waiting request is overtaken for long. So
// every wait has a bound of its own. When applications make no new requests, all must have
// entered, and members must fall silent.

// lookEvery is the interval at which the oracle checks all waiting requests.
const lookEvery = 20 * ms

// settleFor is how long members may continue after the last release: withdrawn requests are
// still granted and released.
const settleFor = 150 * ms

// silentFor is how long they must then be silent.
const silentFor = 60 * ms

// A usage is how members use a lock: how long it was held, and in how many turns.
type usage struct {
	inside int    // number of members inside
	since  int64  // time since which there are that many
	held   int64  // time with any inside, before that
	turns  int    // number of entries of another member than before
	passes int    // number of entries after the lock had been idle
	last   uint64 // the incarnation that entered last

	touched int64 // when a request was last made or ended
}

// A mark is the usage of a lock at some time.
type mark struct {
	at     int64
	held   int64
	turns  int
	passes int
	views  int
}

func (u *usage) enters(now int64, inc uint64) {
	if u.inside == 0 && now > u.since {
		u.passes++
	}
	if u.total(now); u.last != inc {
		u.last = inc
		u.turns++
	}
	u.inside++
}

func (u *usage) leaves(now int64) {
	u.total(now)
	u.inside--
}

// stirs records that something happens to a lock.
func (o *oracle) stirs(lock int) { o.locks[lock].usage.touched = o.w.Now() }

// total returns how long the lock has been held until now.
func (u *usage) total(now int64) int64 {
	if u.inside > 0 {
		u.held += now - u.since
	}
	u.since = now
	return u.held
}

// mark returns the present usage of a lock.
func (o *oracle) mark(lock int) mark {
	u := o.locks[lock].usage
	return mark{o.w.Now(), u.total(o.w.Now()), u.turns, u.passes, o.views}
}

// demand marks all requests that wait when the grace period ends.
func (o *oracle) demand() {
	for _, q := range o.w.procs {
		for _, x := range q.asks {
			x.mark = o.mark(x.lock)
		}
	}
	for _, c := range o.w.clients {
		for i := range c.hands {
			c.hands[i].mark = o.mark(c.hands[i].lock)
		}
	}
}

// passing is how long it may take to pass a lock on: at most one message for every member,
// and a few more.
func (w *world) passing() int64 { return int64(len(w.procs)+4) * slowest }

// passed is the maximum of that on average: no algorithm needs that many messages again and
// again, and few of them are the slowest.
const passed = 4 * slowest

// viewing is how long a view may additionally keep a lock from being passed on: it must be
// known everywhere, and members report to homes, which ask witnesses. If links have little
// room, both take as many rounds as there are parts.
func (w *world) viewing() int64 {
	const entry = 16 // bytes of a request in a report, besides its name
	requests := w.Apps + hands*w.Clients
	room := max(cmp.Or(w.Links.Window, 1<<20), cmp.Or(w.Limits.Part, 32<<10))
	rounds := requests * (len(w.names[len(w.names)-1]) + entry) / room
	return 4*slowest + 2*int64(rounds)*(2*slowest+int64(w.Settings.Renew)/16)
}

// rounds is how many turns others may have while a request waits. Its own member has a turn
// after each other member has had at most two: one that was in flight in the algorithm's
// order, and one by its own request, because no algorithm lets a later request go first
// twice. In each turn as many of the member's requests enter as are handed over locally,
// and the first turn may be almost over, so it may take several turns until it is this
// request's.
func (w *world) rounds() int {
	local := w.Apps + hands*w.Clients
	return ((local+w.Settings.Handover-1)/w.Settings.Handover + 1) * 2 * len(w.procs)
}

// allowed returns how long a request may have waited until now: the time that others were
// inside, that it took to pass the lock on between them, and that views took.
func (o *oracle) allowed(lock int, m mark) int64 {
	w, now := o.w, o.mark(lock)
	bound := now.held - m.held + w.passing() + int64(now.passes-m.passes)*passed + int64(now.views-m.views+1)*w.viewing()
	if w.severed {
		bound += 4 * int64(w.Settings.Lease) // for complaints, an eviction, and its lease
	}
	return bound
}

// idled judges a lock that no member is inside, or was before a request was granted.
func (o *oracle) idled(lock int, granted *ask) {
	w, l := o.w, &o.locks[lock]
	if w.phase < demanding || w.severed || l.usage.inside > 0 {
		return
	}
	first, at := w.firstWaiting(lock, granted)
	if first == nil {
		return
	}
	if idle := w.Now() - max(first.mark.at, l.usage.since, o.since+w.viewing()); idle > w.passing() {
		w.broken(Waits, "%s: free for %.1f ms while m%d waits, but passing it on takes at most %.1f ms", w.names[lock], millis(idle), at.no, millis(w.passing()))
	}
}

// waiting returns how long a request has waited since the grace period.
func (o *oracle) waiting(since int64) int64 { return o.w.Now() - max(since, o.w.times.demand) }

// waited judges the wait of a request that is granted.
func (o *oracle) waited(q *proc, x *ask) {
	w := o.w
	if w.phase < demanding {
		return
	}
	wait, bound := w.Now()-x.mark.at, o.allowed(x.lock, x.mark)
	w.result.Longest = max(w.result.Longest, member.Span(wait))
	if !w.severed {
		w.result.Bound = max(w.result.Bound, member.Span(bound))
	}
	o.overtakes(q, x)
	if wait > bound {
		w.broken(Waits, "%s: m%d enters with %v after %d ms, above the bound of %d ms", w.names[x.lock], q.no, x.token, wait/ms, bound/ms)
	}
}

// overtakes judges how many turns others have had while a request waits.
func (o *oracle) overtakes(q *proc, x *ask) {
	w := o.w
	if turns := o.locks[x.lock].usage.turns - x.mark.turns; !w.isKept(x.lock) && turns > w.rounds() && !w.severed {
		w.broken(Turns, "%s: other members entered %d times while m%d waits, above the bound of %d", w.names[x.lock], turns, q.no, w.rounds())
	}
}

// turn judges how often a member enters in a row while a request waits at another one. When
// that request has had the time to be known everywhere, a member hands over locally for at
// most the rest of its turn; another turn may have been on its way. Before the home has
// released the lock, requests of an older view are granted in the order of first requests,
// however many of them wait at one member: inOrder judges them.
func (o *oracle) turn(l *judged, q *proc, x *ask) {
	w := o.w
	if l.turn != q.inc || w.phase < demanding || w.severed {
		l.turn, l.row = q.inc, 0
	}
	if l.free < q.epoch() && x.stamp.Epoch < q.epoch() || w.isKept(x.lock) {
		return
	}
	known := w.Now() - 2*int64(len(w.procs)+4)*slowest
	if w.Links.Window > 0 { // a request may be queued behind reports about all locks
		known -= 2 * slowest * int64(w.Locks) * 16 / int64(w.Links.Window)
	}
	for _, p := range w.procs {
		if p == q || p.state != taking || p.epoch() != q.epoch() {
			continue
		}
		for _, y := range p.asks {
			if y.lock == x.lock && !y.held && !y.try && y.asked < known && o.since < known {
				if l.row++; l.row > 2*w.Settings.Handover+1 {
					w.broken(Turns, "%s: m%d enters with %v, for the %dth time in a row while m%d waits", w.names[x.lock], q.no, x.token, l.row, p.no)
				}
				return
			}
		}
	}
	l.row = 0
}

// tryBound is how long a try may take: a few rounds of questions to all members, each
// answered by a member whose links are not idle.
func (w *world) tryBound() int64 { return 24 * 2 * slowest }

// decided judges a try that was refused.
func (o *oracle) decided(q *proc, x *ask) {
	if o.w.phase >= demanding && !o.w.severed && o.waiting(x.asked) > o.w.tryBound() {
		o.waitsTooLong(q, x)
	}
}

// excused reports whether requests at a process cannot be helped: it was severed from a
// voter, perhaps the only one, and is no longer a member.
func (o *oracle) excused(q *proc) bool {
	return o.w.severed && len(o.agreed) > 0 && !slices.Contains(o.agreed[len(o.agreed)-1].members, q.inc)
}

// waitsTooLong reports a request that waits too long.
func (o *oracle) waitsTooLong(q *proc, x *ask) {
	w := o.w
	what, bound := Waits, o.allowed(x.lock, x.mark)
	if x.try {
		what, bound = Tries, w.tryBound()
	}
	if x.held {
		w.broken(what, "%s: m%d holds the lock with %v and does not release it", w.names[x.lock], q.no, x.token)
		return
	}
	w.broken(what, "%s: m%d has waited for %d ms in epoch %d of %d, above the bound of %d ms", w.names[x.lock], q.no, o.waiting(x.asked)/ms, q.epoch(), o.epoch(), bound/ms)
}

// look checks all waiting requests.
func (o *oracle) look() {
	w := o.w
	w.At(w.Now()+lookEvery, look, algorithm.None, 0)
	busy := false
	for _, q := range w.procs {
		if o.excused(q) {
			continue
		}
		o.tooLong(q)
		busy = busy || q.running()
		for _, x := range q.asks {
			busy = true
			if x.held {
				continue
			}
			if wait := w.Now() - x.mark.at; wait > o.allowed(x.lock, x.mark) || x.try && !w.severed && wait > w.tryBound() {
				o.waitsTooLong(q, x)
			}
			o.overtakes(q, x)
		}
	}
	for _, c := range w.clients {
		busy = c.deals() || busy
		for i := range c.hands {
			h := &c.hands[i]
			if h.request == 0 {
				continue
			}
			busy = true
			if wait := w.Now() - h.mark.at; !h.holds && wait > o.allowed(h.lock, h.mark)+4*int64(w.Settings.Renew) {
				w.broken(Waits, "%s: %s has waited for %d ms at %s", w.names[h.lock], w.Name(c.id), wait/ms, w.Name(c.node().id))
			}
		}
	}
	for _, q := range w.procs {
		for _, x := range q.asks {
			if !x.held {
				o.idled(x.lock, nil)
			}
		}
	}
	switch {
	case busy || w.phase < draining:
		o.idle = 0
	case o.idle == 0:
		o.idle = w.Now()
	case w.Now()-o.idle > settleFor+silentFor:
		w.phase = drained
	default:
		o.quiet = w.Now()-o.idle > settleFor
		o.writes()
	}
}

// noise judges a packet that is sent when all members should be silent.
func (o *oracle) noise(q *proc, b []byte) {
	o.w.broken(Silence, "m%d sends %d bytes to another member, although no request was made for a long time", q.no, len(b))
}
