package storm

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/sim/kernel"
)

// A state says how far a process is.
type state uint8

const (
	dead state = iota
	joining
	taking  // part
	leaving // it has promised never to enter again
)

// A proc is one place for a process, and whoever is there now: a member with its
// links, its clock and its applications.
type proc struct {
	w      *world
	id     core.ID
	inc    uint64
	state  state
	boots  int // how many have been here
	m      *member.Member
	net    *member.Sessions
	clock  clock
	chance kernel.Rand
	view   *member.View // that it has installed; nil before the first

	apps   []app
	guests []guest
	asks   []*ask // who waits and who holds, in the order in which they asked

	lease    member.Instant // by the own clock: until when it may act, as the oracle counts
	ended    member.Instant // in the step that renews it: when it ended before; else 0
	sent     []renewal      // that were not confirmed yet
	lamport  uint64         // its logical clock, as the oracle counts
	reports  []report
	wakeNo   int   // of the wake that is scheduled
	wakeAt   int64 // when it is; 0 if none is
	within   bool  // the links are calling back
	parting  bool  // it leaves as soon as its clients have let go
	checking bool
	fetched  int64 // when it last fetched a view
	rest     int64 // how long the place stays empty
}

type renewal struct {
	number uint64
	at     member.Instant
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
			q.m.Wake(q.now())
			q.take()
		}
	case act:
		q.act(arg)
	case say:
		if arg == q.boots {
			q.say()
		}
	}
}

// take does what the member wants done. What applications hear comes first: a
// holder that has lost is told before anybody else can learn that it has.
func (q *proc) take() {
	out := &q.m.Out
	for i := range out.Events {
		q.told(&out.Events[i])
	}
	for i := range out.Frames {
		f := &out.Frames[i]
		q.w.oracle.sent(q, f.To, f.Bytes)
		if err := q.net.Send(f.To, f.Bytes); err != nil {
			q.w.broken(Errors, "m%d to m%d: %v", q.inc, f.To, err)
		}
	}
	if out.Renew != 0 {
		q.renew(out.Renew, out.Forget)
	}
	out.Reset()
	q.flush()
}

// rewake schedules the next wake.
func (q *proc) rewake() {
	x := min(q.m.Out.Wake, q.net.Wake())
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

// flush sends what the links have to send, unless they are being used right now.
func (q *proc) flush() {
	if q.within {
		return
	}
	w := q.w
	now := q.now()
	for {
		to, b, ok := q.net.Next(now, append(w.buf[:0], packetMsg))
		w.buf = b
		if !ok {
			break
		}
		q.transmit(to, b)
	}
	q.rewake()
}

// transmit sends a packet.
func (q *proc) transmit(to uint64, b []byte) {
	if e, _, _, err := member.PacketEnds(b[1:]); err != nil || e != q.epoch() {
		q.w.broken(Epochs, "m%d sends a packet of epoch %d in epoch %d", q.inc, e, q.epoch())
	}
	if q.w.oracle.quiet && !q.w.severed { // whoever is severed is asked again and again, and then evicted
		q.w.oracle.noise(q, b)
	}
	q.w.wire.send(q.id, q.w.at[to].id, b)
}

// renew sends a renewal. The lease counts from now.
func (q *proc) renew(number uint64, forget bool) {
	w := q.w
	q.sent = append(q.sent, renewal{number, q.now()})
	if len(q.sent) > 32 {
		q.sent = slices.Delete(q.sent, 0, 16)
	}
	values := append(make([]uint64, 0, 16), q.inc, number, q.epoch(), 0)
	if forget {
		values[3] = 1
	}
	if !w.misreads(NoComplaint) {
		values = append(values, q.net.Complaints(q.now())...)
	}
	w.tell(q.id, serviceID, renewMsg, values...)
}

// receive takes a message.
func (q *proc) receive(from core.ID, b []byte) {
	if q.state == dead {
		return
	}
	l := letter(b[1:])
	switch b[0] {
	case packetMsg:
		q.packet(b[1:])
	case valueMsg, savedMsg:
		q.value(b[0], l)
	case helloMsg, lockMsg, unlockMsg:
		if l.next() == q.inc && q.state == taking {
			q.serve(from, b[0], l)
		}
	default:
		if l.next() == q.inc {
			q.official(b[0], l)
		}
	}
}

// official takes what the service says.
func (q *proc) official(kind byte, l letter) {
	switch kind {
	case renewedMsg:
		number, epoch := l.next(), l.next()
		q.renewed(number)
		if epoch > q.epoch() {
			q.fetch()
		}
	case viewMsg:
		q.install(&q.w.service.views[l.next()-1])
	case goneMsg:
		q.gone()
	}
}

func (q *proc) renewed(number uint64) {
	if q.state != taking {
		return
	}
	i := slices.IndexFunc(q.sent, func(r renewal) bool { return r.number == number })
	q.ended = q.lease // what time brings comes first: what is lost in this step is by the lease before
	if i >= 0 {
		over := q.now() >= q.lease
		q.lease = max(q.lease, q.sent[i].at+member.Instant(q.w.Settings.Lease))
		if over {
			defer q.w.oracle.extended(q)
		}
	}
	q.m.Renewed(q.now(), number)
	q.take()
	q.ended = 0
}

// fetch asks for the view, but not too often.
func (q *proc) fetch() {
	if now := q.w.Now(); now-q.fetched > 5*ms {
		q.fetched = now
		q.w.tell(q.id, serviceID, fetchMsg, q.inc)
	}
}

// install begins a view. One that leaves takes part until it is in none.
func (q *proc) install(v *member.View) {
	if q.state == dead || v.Epoch <= q.epoch() || v.Rank(q.inc) < 0 {
		return
	}
	if q.state == joining {
		q.state = taking
	}
	q.view = v
	now := q.now()
	if err := q.m.Install(now, *v); err != nil {
		q.failed(err)
		return
	}
	q.failed(q.net.Install(now, *v))
	for _, m := range v.Members {
		if o := q.w.at[m.Inc]; o != q && !q.w.wire.isDown(q.id, o.id) {
			q.net.Up(now, m.Inc)
		}
	}
	q.w.oracle.installing(q)
	q.w.remark(q.id, "m%d begins epoch %d", q.inc, v.Epoch)
	q.within = true
	q.take()
	err := q.net.Early(now, q.deliver)
	q.within = false
	q.failed(err)
	q.flush()
}

// packet takes what a link brings, unless it is for somebody who was here before.
func (q *proc) packet(b []byte) {
	_, _, to, err := member.PacketEnds(b)
	if err == nil && to != q.inc {
		return
	}
	q.within = true
	err = q.net.Receive(q.now(), b, q.deliver)
	q.within = false
	q.failed(err)
	if q.net.Newer() > q.epoch() {
		q.fetch()
	}
	q.flush()
}

func (q *proc) failed(err error) {
	if err != nil {
		q.w.broken(Errors, "m%d in epoch %d: %v", q.inc, q.epoch(), err)
	}
}

// deliver hands a frame to the member.
func (q *proc) deliver(from uint64, f []byte) error {
	isReport := q.w.oracle.delivered(q, from, f)
	err := q.m.Deliver(q.now(), from, f)
	q.take()
	if isReport {
		q.w.oracle.reported(q, from)
	}
	return err
}
