package storm

import (
	"slices"

	talk "github.com/stile-lock/stile/internal/client"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
	"github.com/stile-lock/stile/sim/kernel"
)

// A state says how far a process is.
type state uint8

const (
	dead    state = iota
	resting       // it was a member, and will ask to join again
	joining
	taking  // part
	leaving // it has promised never to enter again
)

// A proc is one place for a process, and whoever is there now: a peer, its clock
// and its applications. The disk stays in its place whoever is there.
type proc struct {
	w      *world
	id     core.ID
	inc    uint64 // of the member; that of the last one if there is none now
	no     int    // the number of the incarnation in what is told
	state  state
	boots  int // how many have been here
	tries  int // how often it has asked to join, in all
	peer   *peer.Peer
	disk   Disk
	ill    bool // the disk will fail soon, or has
	rotten bool // what is on it is not what was written
	clock  clock
	chance kernel.Rand
	view   *member.View // that it has installed; nil before the first

	apps []app
	desk *talk.Desk
	asks []*ask // who waits and who holds, in the order in which they asked

	lease    member.Instant // by the own clock: until when it may act, as the oracle counts
	ended    member.Instant // in the step that renews it: when it ended before; else 0
	lapsed   bool           // in that step: it had ended
	sent     []renewal      // that were not confirmed yet
	lamport  uint64         // its logical clock, as the oracle counts
	reports  []report
	report   bool  // what is being delivered is one
	wakeNo   int   // of the wake that is scheduled
	wakeAt   int64 // when it is; 0 if none is
	parting  bool  // it leaves as soon as its clients have let go
	checking bool
	rest     int64 // how long the place stays empty
}

type renewal struct {
	number uint64
	at     member.Instant
	when   int64 // by a true clock
}

// linkPatience is after how long links ask again.
const linkPatience = 10 * member.Millisecond

func (q *proc) place() int { return int(q.id - firstProc) }

func (q *proc) now() member.Instant { return q.clock.at(q.w.Now()) }

// epoch returns the epoch that it has installed.
func (q *proc) epoch() uint64 {
	if q.view == nil {
		return 0
	}
	return q.view.Epoch
}

// happen does what was scheduled.
func (q *proc) happen(kind kernel.EventKind, arg int) {
	if q.state == dead {
		return
	}
	switch kind {
	case wake:
		if arg == q.wakeNo {
			q.wakeAt = 0
			q.peer.Wake(q.now())
			q.settled()
			q.wakeDesk()
		}
	case act:
		q.act(arg)
	case say:
		if arg == q.boots {
			q.say()
		}
	}
}

// use lets somebody use the member. There must be one.
func (q *proc) use(f func(m *member.Member)) {
	q.peer.Do(q.now(), f)
	q.settled()
}

// wakeDesk lets the desk do what is due.
func (q *proc) wakeDesk() {
	switch {
	case q.state == dead || q.desk.Out.Wake > q.now():
	case q.peer.Member() == nil:
		q.desk.Wake(q.now(), nil)
		q.settled()
	default:
		q.use(func(m *member.Member) { q.desk.Wake(q.now(), m) })
	}
}

// settled is called after each use of the peer: it ends the process if its disk
// has failed, and schedules the next wake.
func (q *proc) settled() {
	if q.state == dead {
		return
	}
	if err := q.peer.Err; err != nil {
		if !q.ill {
			q.w.broken(Errors, "m%d in epoch %d: %v", q.no, q.epoch(), err)
		}
		q.w.remark(q.id, "its disk fails, and it ends")
		q.crash()
		return
	}
	if c := q.peer.Clerk(); c != nil {
		q.w.oracle.reigns(c.Lead())
		if slices.Contains(q.w.wiped, c.ID()) {
			q.w.broken(Voters, "%s is voter %d, whose disk was lost, again", q.w.Name(q.id), c.ID())
		}
	}
	q.flush()
	q.rewake()
}

// rewake schedules the next wake.
func (q *proc) rewake() {
	x := min(q.peer.Due(), q.desk.Out.Wake)
	if x == member.Never {
		return
	}
	w := q.w
	t := max(w.Now()+1, q.clock.when(x)) + min(w.wire.slow[q.id], int64(w.Settings.Lease)*w.Settings.Act/100/4)
	if q.wakeAt != 0 && q.wakeAt <= t {
		return
	}
	q.wakeNo++
	q.wakeAt = t
	w.At(t, wake, q.id, q.wakeNo)
}

// Send implements peer.Host.
func (q *proc) Send(to string, b []byte) {
	w := q.w
	id, ok := w.lane(to)
	if !ok {
		w.broken(Errors, "m%d sends something to %q, where nobody is", q.no, to)
		return
	}
	switch b[0] {
	case peer.Packet:
		q.transmits(b)
	case peer.Service:
		w.oracle.said(q, b[1:])
	}
	w.wire.send(q.id, id, b)
}

// transmits judges a packet that is sent.
func (q *proc) transmits(b []byte) {
	if e, _, _, err := member.PacketEnds(b[1:]); err != nil || e != q.epoch() {
		q.w.broken(Epochs, "m%d sends a packet of epoch %d in epoch %d", q.no, e, q.epoch())
	}
	if q.w.oracle.quiet && !q.w.severed { // whoever is severed is asked again and again, and then evicted
		q.w.oracle.noise(q, b)
	}
}

// Told implements peer.Host.
func (q *proc) Told(e *member.Event) {
	if e.Cause == member.Evicted && q.w.misreads(KeepHolds) {
		return
	}
	q.told(e)
	q.desk.Told(e)
}

// Linked implements peer.Host.
func (q *proc) Linked(address string) bool {
	o := q.w.addressed(address)
	return o != nil && !q.w.wire.isDown(q.id, o.id)
}

// Installed implements peer.Host.
func (q *proc) Installed(r *engine.Record) {
	w := q.w
	if q.view == nil {
		q.inc = q.peer.Inc()
		q.no = w.no(q.inc)
	}
	if q.state == joining {
		q.state = taking
	}
	v := r.View()
	q.view = &v
	w.oracle.installing(q, r)
	w.remark(q.id, "m%d begins epoch %d", q.no, v.Epoch)
}

// Sent implements peer.Watcher.
func (q *proc) Sent(to uint64, b []byte) { q.w.oracle.sent(q, to, b) }

// Delivering implements peer.Watcher.
func (q *proc) Delivering(from uint64, b []byte) { q.report = q.w.oracle.delivered(q, from, b) }

// Delivered implements peer.Watcher.
func (q *proc) Delivered(from uint64, _ []byte) {
	if q.report {
		q.w.oracle.reported(q, from)
	}
}

// LinkEnded implements peer.Watcher: no process finds another one broken.
func (q *proc) LinkEnded(peer uint64, why error) {
	q.w.broken(Errors, "m%d in epoch %d ends its link to m%d: %v", q.no, q.epoch(), q.w.no(peer), why)
}

// Renewing implements peer.Watcher. The lease counts from now.
func (q *proc) Renewing(number uint64) {
	q.sent = append(q.sent, renewal{number, q.now(), q.w.Now()})
	if len(q.sent) > 32 {
		q.sent = slices.Delete(q.sent, 0, 16)
	}
}

// Confirming implements peer.Watcher.
func (q *proc) Confirming(number uint64) {
	if q.state != taking {
		return
	}
	q.ended, q.lapsed = q.lease, false // what time brings comes first: what is lost in this step is by the lease before
	if i := slices.IndexFunc(q.sent, func(r renewal) bool { return r.number == number }); i >= 0 {
		q.lapsed = q.now() >= q.lease
		q.lease = max(q.lease, q.sent[i].at+member.Instant(q.w.Settings.Lease))
	}
}

// Confirmed implements peer.Watcher.
func (q *proc) Confirmed(uint64) {
	o := &q.w.oracle
	if q.ended = 0; q.lapsed {
		q.lapsed = false
		o.extended(q)
	}
	if i := slices.IndexFunc(o.limits, func(l limit) bool { return l.inc == q.inc }); i >= 0 {
		o.outlives(q, &o.limits[i])
	}
}

// Applied implements peer.Watcher.
func (q *proc) Applied(index uint64, r *engine.Record) { q.w.oracle.applied(q, index, r) }

// receive takes a message.
func (q *proc) receive(from core.ID, b []byte) {
	if q.state == dead {
		return
	}
	l := letter(b[1:])
	switch {
	case b[0] <= peer.Post:
		q.failed(q.peer.Receive(q.now(), q.w.Name(from), b))
		q.settled()
	case b[0] == valueMsg || b[0] == savedMsg:
		q.value(b[0], l)
	}
}

func (q *proc) failed(err error) {
	if err != nil && q.peer.Err == nil {
		q.w.broken(Errors, "m%d in epoch %d: %v", q.no, q.epoch(), err)
	}
}
