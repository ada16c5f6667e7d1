package storm

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/sim/kernel"
)

// maxRest is how long a place stays empty at most, once all is healed.
const maxRest = 40 * ms

// boot starts another incarnation.
func (q *proc) boot() error {
	w := q.w
	if w.Crashed(q.id) {
		w.Restart(q.id)
	}
	if q.boots == 0 || !w.misreads(SameInc) {
		q.inc = uint64(len(w.at))
		w.at = append(w.at, q)
		w.service.known = append(w.service.known, standing{})
	}
	q.boots++
	var err error
	q.m, err = member.New(member.Config{Inc: q.inc, Settings: w.Settings, Limits: w.Limits, Spec: w.spec})
	if err != nil {
		return err
	}
	q.net = member.NewSessions(q.inc, member.SessionLimits{Patience: linkPatience, Complain: w.Settings.Lease / 4})
	if w.Made != nil {
		w.Made(q.m, q.net)
	}
	q.chance = kernel.NewRand(w.Seed, 1000+q.inc)
	if q.boots == 1 || !w.misreads(KeepHolds) {
		q.clock = clock{base: w.Now(), read: member.Instant(1 + q.chance.Below(1000*ms)), rate: w.rate(&q.chance)}
	}
	q.state, q.view, q.parting = joining, nil, false
	q.sent, q.lamport, q.wakeAt = q.sent[:0], 0, 0
	if !w.misreads(KeepHolds) {
		q.lease = 0
		q.begin()
	} else if q.apps == nil {
		q.begin()
	}
	w.At(w.Now()+q.chance.Below(5*ms), say, q.id, q.boots)
	return nil
}

// again is boot for a place that is empty.
func (q *proc) again() {
	if q.state == dead && (q.w.phase < draining) {
		if err := q.boot(); err != nil {
			q.w.broken(Errors, "m%d cannot start: %v", q.inc, err)
		}
	}
}

// rate draws how fast a clock is.
func (w *world) rate(r *kernel.Rand) int64 {
	most := w.Settings.Drift
	switch {
	case w.Faults.has(Beyond):
		most = min(20*most, 300_000)
	case !w.Faults.has(Drift):
		return 0
	}
	switch r.Below(4) {
	case 0:
		return -most
	case 1:
		return most
	}
	return r.Below(2*most+1) - most
}

// say says to the service what it has to hear.
func (q *proc) say() {
	kind := joinMsg
	switch q.state {
	case joining:
	case leaving:
		kind = leaveMsg
	default:
		if q.parting {
			q.part()
		}
		return
	}
	q.w.tell(q.id, serviceID, kind, q.inc)
	q.w.At(q.w.Now()+int64(q.w.Settings.Renew), say, q.id, q.boots)
}

// gone is told that it is a member no more. It starts again as another one.
func (q *proc) gone() {
	w := q.w
	switch {
	case q.state == dead:
		return
	case q.state == joining && w.misreads(ReadmitGhosts|SameInc|KeepHolds):
		return
	case q.state == joining: // it was admitted and evicted before it heard of it
		q.stop()
		return
	}
	if w.misreads(ReadmitGhosts) {
		q.state = joining
		q.say()
		return
	}
	if !w.misreads(KeepHolds) {
		q.m.Gone(q.now())
		q.take()
		w.oracle.stopped(q)
	}
	q.stop()
}

// stop empties the place, and fills it again some time later.
func (q *proc) stop() {
	q.state, q.view = dead, nil
	rest := ms + q.chance.Below(maxRest-ms)
	if q.rest > 0 && q.w.phase == stormy {
		rest = q.rest
	}
	q.rest = 0
	if q.place() < q.w.Nodes || q.w.phase == stormy {
		q.w.At(q.w.Now()+rest, boot, core.None, q.place())
	}
}

// crash ends the process without a word.
func (q *proc) crash() {
	q.w.oracle.died(q)
	q.w.Crash(q.id)
	q.stop()
}

// part begins to leave: first its clients must let go, or their sessions end. A
// client acts by its own clock, and cannot be told at once that it has lost.
func (q *proc) part() {
	if q.state != taking {
		return
	}
	q.parting = true
	for i := range q.guests {
		if g := &q.guests[i]; g.ask != nil {
			q.w.tell(q.id, g.id, refuseMsg, g.session, g.request)
		}
	}
	for _, x := range q.asks {
		if x.app < 0 && x.held {
			q.w.At(q.w.Now()+int64(q.w.Settings.Renew), say, q.id, q.boots)
			return
		}
	}
	q.leave()
}

// leave promises never to enter again, and then says so.
func (q *proc) leave() {
	q.m.Leave(q.now())
	q.take()
	q.w.oracle.acted(q) // whoever leaves has seen to it that nobody acts any more
	q.state = leaving
	q.w.oracle.stopped(q)
	q.say()
}
