package storm

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// A state is the stage of a process, as its effects have shown so far.
type state uint8

const (
	dead    state = iota // no process runs in this place
	joining              // it asks to become a member
	taking               // it is a member
	leaving              // it has promised never to enter again
)

// A proc is one place for a process, and the process that runs there now, with its clock
// and its applications. The disk stays in its place, whichever process runs.
type proc struct {
	w        *world
	id       algorithm.ID
	inc      uint64 // of the member, or of the last one if there is none now
	no       int    // number of the incarnation in reports
	state    state
	draining bool // it leaves or stops as soon as no lock is held through it
	halts    bool // it is to stop rather than to leave
	boots    int  // number of processes that have run here
	p        *process.Process
	in       process.Input // the current input
	drive    drive
	clock    clock
	chance   kernel.Rand
	view     *member.View // the installed view; nil before the first

	apps   []app
	asks   []*ask // waiting and holding requests, in the order in which they were made
	claims []*ask // claims of clients that wait

	lease    member.Instant // how long it may act, by its own clock, as the oracle counts
	ended    member.Instant // in the step that renews the lease: when it ended before; otherwise 0
	lapsed   bool           // in that step: it had ended
	sent     []renewal      // not confirmed yet
	counted                 // as the oracle counts
	reports  []report
	report   bool  // the frame being delivered is a report
	wakeNo   int   // of the scheduled wake
	wakeAt   int64 // time of the scheduled wake; 0 if there is none
	checking bool
	rest     int64 // how long the place stays empty
	late     bool  // its timers fire late
	garbled  bool  // the current input is malformed
	forked   bool  // its log does not match the others' any more
}

// A counted is what a member counts.
type counted struct {
	lamport    uint64 // its logical clock
	resync     bool   // it has counted more than can be known, until it next sends its clock
	serial     uint64 // number of its last transaction
	unnumbered bool   // that is not known, because requests have become transactions
}

type renewal struct {
	number uint64
	at     member.Instant
	when   int64 // by a true clock
}

func (q *proc) place() int { return int(q.id - firstProc) }

func (q *proc) now() member.Instant { return q.clock.at(q.w.Now()) }

// epoch returns the installed epoch.
func (q *proc) epoch() uint64 {
	if q.view == nil {
		return 0
	}
	return q.view.Epoch
}

// voter returns the voter of a running process, or nil. That of a lost cluster is none.
func (q *proc) voter() *views.Replica {
	if q.state == dead || q.isRelic() {
		return nil
	}
	return q.p.Voter()
}

// happen does what was scheduled.
func (q *proc) happen(kind kernel.EventKind, arg int) {
	if q.state == dead {
		return
	}
	switch kind {
	case wake:
		if arg == q.wakeNo {
			q.wakes()
		}
	case act:
		q.act(arg)
	case link:
		q.linked(q.w.procs[arg>>1], arg&1 == 1)
	case saved:
		q.saved(arg)
	case depart:
		if arg == q.boots && q.state == taking && !q.draining {
			q.draining = true
			in := process.Input{Kind: process.Leave}
			if q.halts {
				in.Kind = process.Stop
			}
			q.step(in)
		}
	}
}

// take hands an input to the process. Its effects must be carried out next.
func (q *proc) take(in process.Input) *process.Output {
	q.in, q.in.At = in, q.now()
	q.p.Step(&q.in)
	return &q.p.Out
}

// step hands an input to the process, carries out its effects, and returns why the process
// refuses it.
func (q *proc) step(in process.Input) error {
	err := q.take(in).Err
	q.carryOut()
	return err
}

// carryOut carries out the effects of a step, in their order, and schedules the next wake.
func (q *proc) carryOut() {
	w, out := q.w, &q.p.Out
	for i := range out.Effects {
		q.effect(&out.Effects[i])
	}
	switch phase := q.p.Phase(); {
	case q.state == dead: // it has failed
		return
	case q.forked:
		q.forked = false
		q.empties("it notices that the cluster has gone back")
		return
	case phase == process.Over:
		q.exit()
		return
	case phase == process.Leaving && q.state == taking:
		q.state = leaving
		if i, ok := w.find(q.inc); ok {
			w.incarnations[i].promised = true
		}
		w.oracle.stopped(q)
	}
	if q.isRelic() {
		q.judgeRelic()
	} else if v := q.p.Voter(); v != nil {
		w.oracle.reigns(v.Lead())
		if slices.Contains(w.wiped, v.ID()) {
			w.broken(Voters, "%s is voter %d again, although the disk of that voter was lost", w.Name(q.id), v.ID())
		}
	}
	q.rewake()
}

// effect carries out an effect, or shows the oracle what it judges by.
func (q *proc) effect(e *process.Effect) {
	o := &q.w.oracle
	switch e.Kind {
	case process.Notify, process.ClientEvent:
		q.told(&e.Event)
	case process.View:
		q.installed(e.Record)
	case process.Ended:
		q.gone(e.How)
	case process.Send:
		q.send(e.To, e.Bytes)
	case process.Reply:
		q.reply(e)
	case process.Save, process.Erase, process.Remember:
		q.drive.add(e)
	case process.FrameSent:
		o.sent(q, e.Peer, e.Bytes)
	case process.Delivering:
		q.report = o.delivered(q, e.Peer, e.Bytes)
	case process.Delivered:
		if q.report {
			o.reported(q, e.Peer)
		}
	case process.Renewing:
		q.renewing(e.Number)
	case process.Confirming:
		q.confirming(e.Number)
	case process.Confirmed:
		q.confirmed()
	case process.Applied:
		if !q.isRelic() {
			o.applied(q, e.Number, e.Record)
		}
	case process.Asked:
		q.stands(&ask{ticket: e.Event.Ticket, lock: q.w.lockOf(e.To), app: -1, try: e.Lossy, deadline: member.Never, terms: e.Terms, session: q.session(&e.Terms), thief: e.Client.Who == thiefName})
	case process.Claimed:
		x := &ask{ticket: e.Event.Ticket, lock: q.w.lockOf(e.To), app: -1, token: e.Event.Token, deadline: member.Never, terms: e.Terms, session: q.session(&e.Terms), moved: true, asked: q.w.Now(), thief: e.Client.Who == thiefName}
		q.countsClaim(x)
		q.w.remember(q, x) // its home may honour it long before the process hears of that
		q.claims = append(q.claims, x)
	case process.ClaimEnded: // a client event, or what was withdrawn, has shown it
		o.refusedBeside(q, e)
	case process.Cancelled:
		if q.disclaimed(e.Event.Ticket) != nil {
			return
		}
		q.known(e.Event.Ticket, q.takenBack)
	case process.Kept:
		q.known(e.Event.Ticket, func(x *ask) { q.kept(x, e.Event.Token) })
	case process.Unlocked:
		q.known(e.Event.Ticket, func(x *ask) {
			if e.Number > 0 {
				o.named(q, x, e.Number)
			} else {
				o.usedUp(x, false)
			}
			q.exits(x)
		})
	default:
		q.trouble(e)
	}
}

// trouble carries out an effect that no process may have unless a fault explains it.
func (q *proc) trouble(e *process.Effect) {
	w := q.w
	switch e.Kind {
	case process.Failed:
		if q.obeys(e.Err) {
			return
		}
		if !q.drive.ill {
			w.broken(Errors, "m%d in epoch %d fails: %v", q.no, q.epoch(), e.Err)
		}
		w.remark(q.id, "its disk fails, and it stops")
		q.crash()
	case process.RolledBack:
		if w.oracle.former == nil {
			w.broken(Errors, "m%d reports that epoch %d is lost", q.no, e.Number)
		}
		q.forked = slices.Contains(w.kept, q)
	case process.HangUp:
		if q.garbled {
			w.hangUp(q, w.addressed(e.To))
			return
		}
		w.broken(Errors, "m%d in epoch %d closes the connection to %s: %v", q.no, q.epoch(), e.To, e.Err)
	case process.Cut:
		if w.lines[e.Conn-1].c == nil { // the thief's
			return
		}
		w.broken(Errors, "m%d in epoch %d closes the connection to %s: %v", q.no, q.epoch(), w.Name(w.lines[e.Conn-1].c.id), e.Err)
	case process.LinkEnded:
		if w.Links.Bytes > 0 && w.phase <= healing && errors.Is(e.Err, member.ErrFull) {
			w.result.Full++
			return
		}
		w.broken(Errors, "m%d in epoch %d ends its link to m%d: %v", q.no, q.epoch(), w.no(e.Peer), e.Err)
	default:
		w.broken(Errors, "m%d has an unexpected effect of kind %d", q.no, e.Kind)
	}
}

// wakes lets the process do what is due.
func (q *proc) wakes() {
	if q.wakeAt = 0; q.now() < q.p.Out.Wake {
		q.rewake() // the wake has moved to a later time
		return
	}
	q.step(process.Input{Kind: process.Wake})
}

// rewake schedules the next wake.
func (q *proc) rewake() {
	x := q.p.Out.Wake
	if x == member.Never {
		return
	}
	w := q.w
	t := max(w.Now()+1, q.clock.when(x)) + q.lateness()
	if q.wakeAt != 0 && q.wakeAt <= t {
		return
	}
	q.wakeNo++
	q.wakeAt = t
	w.At(t, wake, q.id, q.wakeNo)
}

// lateness draws how late a timer fires: never by more than the act margin, by the
// process's own clock.
func (q *proc) lateness() int64 {
	s := &q.w.Settings
	if q.w.Paused(q.id) {
		return 0 // what is due comes as soon as it resumes
	}
	margin := int64(s.Lease) / 100 * s.Act
	late := min(q.w.network.slow[q.id], margin/4)
	if q.late {
		late += q.chance.Below(margin)
	}
	return min(late, margin*million/(million+max(s.Drift, q.clock.rate))-us)
}

// receive handles a message.
func (q *proc) receive(from algorithm.ID, b []byte) {
	switch {
	case q.state == dead:
	case b[0] == valueMsg || b[0] == savedMsg:
		q.value(b[0], numbers(b[1:]))
	default:
		q.garbled = q.w.network.isGarbled(b)
		q.step(process.Input{Kind: process.Message, Text: q.w.Name(from), Bytes: b})
		q.garbled = false
	}
}

// send sends a message to a process, or to a client that has asked a question.
func (q *proc) send(to string, b []byte) {
	w := q.w
	id, ok := w.lane(to)
	if !ok {
		w.broken(Errors, "m%d sends a message to %q, where no process is", q.no, to)
		return
	}
	if b[0] == process.Packet {
		q.transmits(b)
	} else if m, ok := process.IsService(b); ok {
		w.oracle.said(q, m)
	}
	w.network.send(q.id, id, b)
}

// transmits judges a packet that is sent.
func (q *proc) transmits(b []byte) {
	if e, _, _, err := member.PacketEnds(b[1:]); err != nil || e != q.epoch() {
		q.w.broken(Epochs, "m%d sends a packet of epoch %d in epoch %d", q.no, e, q.epoch())
	}
	if q.w.oracle.quiet && !q.w.severed { // a severed member is asked again and again, and then evicted
		q.w.oracle.noise(q, b)
	}
}

// linked notifies the process that it has, or no longer has, a connection to another one.
func (q *proc) linked(o *proc, up bool) {
	switch {
	case !up:
		q.step(process.Input{Kind: process.Down, Text: q.w.Name(o.id)})
	case !q.w.network.isDown(q.id, o.id):
		q.step(process.Input{Kind: process.Up, Text: q.w.Name(o.id)})
	}
}

// installed records that the member has installed a view.
func (q *proc) installed(r *views.Record) {
	w := q.w
	if i := slices.IndexFunc(r.Members, func(m views.Member) bool { return m.Address == w.Name(q.id) }); q.view == nil && i >= 0 {
		q.inc = r.Members[i].Inc
		q.no = w.no(q.inc)
	}
	if q.state == joining {
		q.state = taking
	}
	v := r.View()
	was, first := q.method(), q.view == nil
	if q.view = &v; !first {
		q.changed(was)
	}
	w.oracle.installing(q, r)
	w.remark(q.id, "m%d installs epoch %d", q.no, v.Epoch)
}

// gone records that the process is no longer a member. Unless it was leaving, it asks to
// join again, as another incarnation.
func (q *proc) gone(how views.Ending) {
	q.w.oracle.stopped(q)
	q.w.remark(q.id, "m%d %s", q.no, [...]string{"is still a member", "is evicted", "has left", "finds another cluster", "has stopped"}[how])
	q.state, q.view, q.draining = joining, nil, false
	q.lease, q.sent, q.counted = 0, q.sent[:0], counted{}
}

// renewing records a renewal that is sent: the lease counts from now.
func (q *proc) renewing(number uint64) {
	q.sent = append(q.sent, renewal{number, q.now(), q.w.Now()})
	if len(q.sent) > 32 {
		q.sent = slices.Delete(q.sent, 0, 16)
	}
}

// confirming records that a renewal is confirmed, before the member knows it.
func (q *proc) confirming(number uint64) {
	if q.state != taking {
		return
	}
	q.ended, q.lapsed = q.lease, false // what is due comes first: its losses are by the previous lease
	if i := slices.IndexFunc(q.sent, func(r renewal) bool { return r.number == number }); i >= 0 {
		q.lapsed = q.now() >= q.lease
		q.lease = max(q.lease, q.sent[i].at+member.Instant(q.w.Settings.Lease))
	}
}

// confirmed judges the result.
func (q *proc) confirmed() {
	o := &q.w.oracle
	if q.ended = 0; q.lapsed {
		q.lapsed = false
		o.extended(q)
	}
	if i := slices.IndexFunc(o.limits, func(l limit) bool { return l.inc == q.inc }); i >= 0 {
		o.outlives(q, &o.limits[i])
	}
}
