package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// A crash stalls the locks that the dead process may be inside until its lease has expired.
// It must not stall locks that the process had nothing to do with: they continue after a
// round of reports. That is judged where nothing else keeps a lock from being passed on.

// A spared is a lock that an eviction must not stall.
type spared struct {
	from  int64 // when the view without the evicted member was committed
	epoch uint64
}

// reporting is how long a lock may be idle, in total, after a view that evicts a member:
// members report to homes, homes ask witnesses (see viewing), and the lock is passed on.
func (w *world) reporting() int64 { return w.viewing() + w.passing() }

// uses records that a member has requested a lock. If it does not know the latest view, the
// home may release the lock in an older one, and then no member can rule out that the
// evicted one is inside.
func (w *world) uses(inc uint64, lock int) {
	i, ok := w.find(inc)
	if !ok {
		return
	}
	if l := &w.oracle.locks[lock]; w.incarnations[i].q.epoch() < l.spared.epoch {
		l.spared = spared{}
	}
	u := &w.incarnations[i].used
	for len(*u) <= lock/64 {
		*u = append(*u, 0)
	}
	(*u)[lock/64] |= 1 << (lock % 64)
}

// used reports whether a member has ever requested a lock.
func (w *world) used(inc uint64, lock int) bool {
	i, ok := w.find(inc)
	return ok && lock/64 < len(w.incarnations[i].used) && w.incarnations[i].used[lock/64]&(1<<(lock%64)) != 0
}

// spares records which locks an eviction must not stall: those that the evicted member has
// never requested, whose home is another member that had its report in the previous view,
// and that were neither awaited nor passed on lately. Kept locks have no witnesses. Nothing else may happen meanwhile, no
// other evicted member may still have a lease, and all members must know the previous view.
func (o *oracle) spares(r *views.Record) {
	w := o.w
	quiet := w.Now() - w.passing()
	if w.phase != stormy || !w.within() || o.since > quiet || w.stirred > quiet || w.disturbed() || len(o.agreed) == 0 {
		return
	}
	last := o.agreed[len(o.agreed)-1]
	for _, m := range r.Members {
		if q := w.at(m.Inc); !q.serves(m.Inc) || q.epoch() != o.epoch() || !slices.Contains(last.members, m.Inc) {
			return
		}
	}
	for _, g := range r.Ghosts {
		if !slices.Contains(last.members, g.Inc) {
			return
		}
	}
	before := w.at(r.Members[0].Inc).view
	for i := range o.locks {
		home := before.Members[before.Home(w.names[i])].Inc
		if l := &o.locks[i]; !w.isKept(i) && r.Rank(home) >= 0 && l.usage.touched <= quiet && !w.waitedFor(i) && w.clear(w.at(home), r, i) {
			l.spared = spared{w.Now(), r.Epoch}
		}
	}
}

// clear reports whether the evicted members have never requested a lock, and its home knows
// by their reports that they were not inside before. The lock must have come to rest before
// they crashed: a member that has not requested it may still have to pass it on.
func (w *world) clear(home *proc, r *views.Record, lock int) bool {
	return !slices.ContainsFunc(r.Ghosts, func(g views.Ghost) bool {
		i, ok := w.find(g.Inc)
		moved := ok && w.incarnations[i].died > 0 && w.oracle.locks[lock].usage.touched > w.incarnations[i].died-w.passing()
		return moved || w.used(g.Inc, lock) || !slices.ContainsFunc(home.reports, func(x report) bool { return x.from == g.Inc })
	})
}

// serves reports whether a member runs here and does not leave.
func (q *proc) serves(inc uint64) bool { return q.inc == inc && q.state == taking && !q.draining }

// complete reports whether all members of the last view run.
func (o *oracle) complete() bool {
	return !slices.ContainsFunc(o.agreed[len(o.agreed)-1].members, func(inc uint64) bool { return !o.w.at(inc).serves(inc) })
}

// waitedFor reports whether a request waits for a lock.
func (w *world) waitedFor(lock int) bool {
	for _, q := range w.procs {
		if slices.ContainsFunc(q.asks, func(x *ask) bool { return x.lock == lock && !x.held }) {
			return true
		}
	}
	return false
}

// harmless are the faults that keep no message between members from arriving in time, and
// no member from answering, unless they end its process.
const harmless = Crash | Wipe | Gone | Join | Leave | Roll | Stop | Drift | Client | Stall | Release | Evict | Switch | Forget | Move

// disturbed reports whether anything delays messages or processes.
func (w *world) disturbed() bool {
	if w.network.blocked > w.Now() || w.severed || w.orders.hurry > 0 || w.network.skipper != algorithm.None {
		return true
	}
	for i := range w.Strikes {
		if s := &w.Strikes[i]; w.active[i] && s.For > 0 && !s.Kind.has(harmless) {
			return true
		}
	}
	return false
}

// stirs records that a fault begins or ends.
func (w *world) stirs(s *Strike) {
	if !s.Kind.has(harmless) {
		w.stirred = w.Now()
	}
}

// stalls judges whether an eviction stalls a lock that it must not. It is called when a
// request is granted, and when one has waited long enough.
func (o *oracle) stalls(lock int, granted *ask) {
	w, l := o.w, &o.locks[lock]
	s := &l.spared
	if s.from == 0 || l.usage.inside > 0 {
		return
	}
	if s.epoch != o.epoch() || w.phase != stormy || w.stirred > s.from || w.disturbed() || !o.complete() || w.Now() > s.from+int64(w.Settings.Lease) {
		*s = spared{}
		return
	}
	first, at := w.firstWaiting(lock, granted)
	if first == nil {
		return
	}
	if idle := w.Now() - max(first.asked, l.usage.since, s.from); idle > w.reporting() {
		w.broken(Spared, "%s: free for %.1f ms after epoch %d began while m%d waits, although the evicted member had never used it", w.names[lock], millis(idle), o.epoch(), at.no)
	}
	w.result.Spared++
}

// firstWaiting returns the request that has waited longest for a lock, except tries, and
// its process; nil if none waits. One may be granted in this moment.
func (w *world) firstWaiting(lock int, granted *ask) (first *ask, at *proc) {
	for _, q := range w.procs {
		for _, x := range q.asks {
			if x.lock == lock && (!x.held || x == granted) && !x.try && (first == nil || x.asked < first.asked) {
				first, at = x, q
			}
		}
	}
	return first, at
}

func millis(d int64) float64 { return float64(d) / float64(member.Millisecond) }
