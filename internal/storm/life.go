package storm

import (
	talk "github.com/stile-lock/stile/internal/client"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
	"github.com/stile-lock/stile/sim/kernel"
)

// maxRest is how long a place stays empty at most, once all is healed.
const maxRest = 40 * ms

// boot starts another process, with the disk that is there.
func (q *proc) boot() error {
	w := q.w
	if w.Crashed(q.id) {
		w.Restart(q.id)
	}
	q.boots++
	q.chance = kernel.NewRand(w.Seed, uint64(1000+1000*q.place()+q.boots))
	if q.boots == 1 || !w.misreads(KeepHolds) {
		q.clock = clock{base: w.Now(), read: member.Instant(1 + q.chance.Below(1000*ms)), rate: w.rate(&q.chance)}
	}
	if q.disk == nil {
		q.disk = w.Disk()
	}
	q.state, q.view, q.parting = resting, nil, false
	q.wakeAt = 0
	if err := q.open(); err != nil {
		return err
	}
	if w.oracle.epoch() == 0 && q.place() == 0 && q.boots == 1 {
		if err := q.found(); err != nil {
			return err
		}
	}
	q.join()
	return nil
}

// found begins the cluster.
func (q *proc) found() error {
	w := q.w
	me := engine.Joiner{Name: w.Name(q.id), Address: w.Name(q.id), Nonce: w.nonce(q, q.tries+1)} // it joins with this one
	return q.peer.Found(engine.Record{}, engine.Birth(engine.Start{Cluster: 1, Epoch: 1, Settings: w.Settings}, w.Voters, w.choices(0), me))
}

// open starts the peer. If its disk has rotted, whoever looks after it empties it.
func (q *proc) open() (err error) {
	w := q.w
	c := peer.Config{
		Name: w.Name(q.id), Address: w.Name(q.id), Contacts: w.contacts(q), Store: q.disk,
		Seed: w.Seed ^ uint64(q.boots)<<32, Tick: member.Span(tickEvery),
		Links:  member.SessionLimits{Patience: linkPatience, Complain: w.Settings.Lease / 4, Window: w.Window},
		Limits: w.Limits, Spec: w.spec, Host: q, Watch: q, Made: w.Made, Wrong: w.Wrong,
	}
	id := q.disk.Voter()
	q.peer, err = peer.New(q.now(), c)
	if err != nil && q.rotten {
		w.wiped = append(w.wiped, id)
		w.remark(q.id, "its disk is damaged, and is emptied")
		q.disk = w.Disk()
		c.Store = q.disk
		q.peer, err = peer.New(q.now(), c)
	}
	q.ill, q.rotten = false, false
	return err
}

// join asks to join, as another incarnation.
func (q *proc) join() {
	w := q.w
	q.tries++
	q.state, q.view = joining, nil
	q.sent, q.lamport = q.sent[:0], 0
	if q.apps == nil || !w.misreads(KeepHolds) {
		q.lease = 0
		q.begin()
	}
	q.failed(q.peer.Join(q.now(), w.nonce(q, q.tries)))
	q.settled()
}

// nonce returns what names an attempt to join, by its number.
func (w *world) nonce(q *proc, try int) uint64 {
	if w.misreads(SameInc) {
		return uint64(q.place() + 1)
	}
	return uint64(q.place()+1)<<32 | uint64(try)
}

// contacts returns where a process may ask for the cluster.
func (w *world) contacts(q *proc) []string {
	var all []string
	for _, o := range w.procs {
		if o != q {
			all = append(all, w.Name(o.id))
		}
	}
	return all
}

// again fills a place some time later, if it is one of those that must be filled.
func (w *world) again(q *proc, rest int64) {
	if q.place() < w.Nodes || w.phase <= stormy || q.votes() {
		w.At(w.Now()+rest, boot, core.None, q.place())
	}
}

// votes reports whether a voter has its log on the disk of a place.
func (q *proc) votes() bool {
	return q.disk != nil && q.disk.Voter() != 0
}

// again is boot for a place that is empty, and join for one who may.
func (q *proc) again() {
	switch {
	case q.w.phase >= draining:
	case q.state == dead:
		if err := q.boot(); err != nil {
			q.w.broken(Errors, "%s cannot start: %v", q.w.Name(q.id), err)
		}
	case q.state == resting:
		q.join()
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

// say goes on with leaving.
func (q *proc) say() {
	if q.state == taking && q.parting {
		q.part()
	}
}

// Ended implements peer.Host: it is a member no more. Unless it has left it asks
// to join again, as another one.
func (q *proc) Ended(how engine.Ending) {
	w := q.w
	if how == engine.Left {
		w.oracle.acted(q)
		w.oracle.stopped(q)
		q.disk.Restart(false, nil)
		q.vacate()
		return
	}
	if !w.misreads(KeepHolds) && q.view != nil {
		w.oracle.stopped(q)
	}
	q.desk.End(talk.Evicted)
	q.state, q.view, q.parting = resting, nil, false
	w.again(q, ms+q.chance.Below(maxRest-ms))
}

// vacate empties the place, and fills it again some time later.
func (q *proc) vacate() {
	q.state, q.view = dead, nil
	rest := ms + q.chance.Below(maxRest-ms)
	if q.rest > 0 && q.w.phase == stormy {
		rest = q.rest
	}
	q.rest = 0
	q.w.again(q, rest)
}

// crash ends the process without a word.
func (q *proc) crash() { q.die(q.ill && q.chance.Below(2) == 0) }

// die ends the process without a word; the power of its machine may fail, too.
func (q *proc) die(power bool) {
	q.w.oracle.died(q)
	q.w.Crash(q.id)
	q.disk.Restart(power, func() bool { return q.chance.Below(2) == 0 })
	q.vacate()
}

// part begins to leave: first its clients must let go, or their sessions end. A
// client acts by its own clock, and cannot be told at once that it has lost.
func (q *proc) part() {
	if q.state != taking {
		return
	}
	if !q.parting {
		q.parting = true
		q.use(func(m *member.Member) { q.desk.Drain(q.now(), m) })
	}
	if q.state == taking && q.desk.Holds() > 0 {
		q.w.At(q.w.Now()+int64(q.w.Settings.Renew), say, q.id, q.boots)
		return
	}
	q.leave()
}

// leave promises never to enter again, and then says so.
func (q *proc) leave() {
	q.peer.Leave(q.now())
	if q.state == taking {
		q.state = leaving
		q.w.oracle.acted(q) // whoever leaves has seen to it that nobody acts any more
		q.w.oracle.stopped(q)
		q.desk.End(talk.Leaving)
	}
	q.settled()
}
