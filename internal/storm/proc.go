package storm

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
)

// A proc is one process: a member with its links, its clock and its
// applications.
type proc struct {
	w     *world
	p     core.ID
	inc   uint64
	m     *member.Member
	rate  int64 // how much faster than true time its clock is, in millionths
	shift int64
	epoch uint64
	links map[uint64]*member.Link
	early [][]byte // packets of epochs that it has not installed
	view  member.View
	apps  map[member.Ticket]string // who waits or holds
	held  map[string]member.Token
	asked map[member.Ticket]int64 // when, by true time
	sent  int64                   // clock at the last renewal
	woken member.Instant
	busy  bool // a flush is scheduled
	gone  bool
}

// The kinds of messages, by their first byte.
const (
	packet = iota
	join
	renew
	leaving
	renewed
	view
	out // you are no member
)

func (w *world) boot(p core.ID) (member.Who, error) {
	w.service.incs++
	inc := w.service.incs
	q := &proc{
		w: w, p: p, inc: inc, links: map[uint64]*member.Link{}, apps: map[member.Ticket]string{}, held: map[string]member.Token{}, asked: map[member.Ticket]int64{},
		rate: w.chance.Below(2*w.Faults.Drift+1) - w.Faults.Drift, shift: w.chance.Below(second), woken: member.Never,
	}
	var err error
	q.m, err = member.New(member.Config{Inc: inc, Settings: w.Settings, Spec: w.Spec})
	if err != nil {
		return member.Who{}, err
	}
	w.procs[p] = q
	w.service.at[inc] = p
	w.At(w.Now()+1+w.chance.Below(10*ms), beat, p, int(inc))
	w.At(w.Now()+1+w.chance.Below(20*ms), act, p, int(inc))
	return member.Who{Name: fmt.Sprint("m", inc), Inc: inc}, nil
}

// clock reads the own clock.
func (q *proc) clock() member.Instant {
	now := q.w.Now()
	return member.Instant(q.shift + now + now/1_000_000*q.rate)
}

// when returns the true time of a reading of the own clock, or later.
func (q *proc) when(at member.Instant) int64 {
	d := int64(at - q.clock())
	if d < 0 {
		return q.w.Now() + 1
	}
	return q.w.Now() + d + d/1_000_000*max(0, -q.rate)*2 + 1
}

// done does what the member wants done.
func (q *proc) done() {
	out := &q.m.Out
	for _, f := range out.Frames {
		if l := q.links[f.To]; l != nil {
			if err := l.Send(f.Bytes); err != nil {
				q.w.broken("m%d: %v", q.inc, err)
			}
		}
	}
	for _, e := range out.Events {
		q.told(e)
	}
	wakeAt := out.Wake
	*out = member.Out{Wake: wakeAt}
	for _, l := range q.ordered() {
		wakeAt = min(wakeAt, l.Wake())
		if l.Due(q.clock()) && !q.busy {
			q.busy = true
			q.w.At(q.w.Now()+1, flush, q.p, int(q.inc))
		}
	}
	if wakeAt < q.woken || q.woken <= q.clock() {
		if q.woken = wakeAt; wakeAt != member.Never {
			q.w.At(q.when(wakeAt), wake, q.p, int(q.inc))
		}
	}
}

// ordered returns the links in a fixed order.
func (q *proc) ordered() []*member.Link {
	var all []*member.Link
	for _, m := range q.view.Members {
		if l := q.links[m.Inc]; l != nil {
			all = append(all, l)
		}
	}
	return all
}

// flush sends what the links have to send.
func (q *proc) flush() {
	q.busy = false
	for _, m := range q.view.Members {
		l := q.links[m.Inc]
		for l != nil && l.Due(q.clock()) {
			q.w.transmit(q.p, q.w.service.at[m.Inc], l.Append([]byte{packet}, q.clock()))
		}
	}
	q.m.Wake(q.clock())
	q.done()
}

// told is what an application hears.
func (q *proc) told(e member.Event) {
	name := q.apps[e.Ticket]
	switch e.Kind {
	case member.Held:
		q.held[name] = e.Token
		q.w.oracle.entered(q, name, e.Token, q.asked[e.Ticket])
	case member.Lost:
		q.w.result.Lost++
		q.w.oracle.left(q, name)
		delete(q.held, name)
		delete(q.apps, e.Ticket)
		delete(q.asked, e.Ticket)
	default:
		delete(q.apps, e.Ticket)
		delete(q.asked, e.Ticket)
	}
}

// act lets applications do something.
func (q *proc) act() {
	w := q.w
	if q.gone {
		return
	}
	w.At(w.Now()+ms+w.chance.Below(30*ms), act, q.p, int(q.inc))
	name := fmt.Sprint("lock", w.chance.Below(int64(w.Locks)))
	if t, ok := q.held[name]; ok {
		w.oracle.left(q, name)
		delete(q.held, name)
		for _, k := range tickets(q.apps) {
			if q.apps[k] == name {
				if _, waits := q.asked[k]; waits && w.oracle.isHolder(q, k) {
					delete(q.apps, k)
					delete(q.asked, k)
				}
			}
		}
		if err := q.m.Unlock(q.clock(), name, t); err != nil && q.valid() {
			w.broken("m%d unlocks %s with %v: %v", q.inc, name, t, err)
		}
		q.done()
		return
	}
	if q.epoch == 0 || len(q.apps) > 3 {
		return
	}
	a := member.Ask{Deadline: member.Never}
	switch w.chance.Below(8) {
	case 0:
		a.Try = true
	case 1:
		a.Deadline = q.clock() + member.Instant(w.chance.Below(200*ms))
	case 2:
		if all := tickets(q.apps); len(all) > 0 {
			k := all[w.chance.Below(int64(len(all)))]
			if _, holds := q.held[q.apps[k]]; !holds {
				q.m.Cancel(q.clock(), k)
				delete(q.apps, k)
				delete(q.asked, k)
				q.done()
			}
			return
		}
	}
	if _, waits := q.waitsFor(name); waits {
		return
	}
	t, err := q.m.Lock(q.clock(), name, a)
	if err == nil {
		q.apps[t], q.asked[t] = name, w.Now()
	}
	q.done()
}

func (q *proc) waitsFor(name string) (member.Ticket, bool) {
	for _, k := range tickets(q.apps) {
		if q.apps[k] == name {
			return k, true
		}
	}
	return 0, false
}

func tickets(m map[member.Ticket]string) []member.Ticket {
	var all []member.Ticket
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// beat renews the lease.
func (q *proc) beat() {
	if q.gone {
		return
	}
	q.w.At(q.w.Now()+int64(q.w.Settings.Renew), beat, q.p, int(q.inc))
	q.tell(renew, uint64(q.clock()))
}

// tell sends something to the service.
func (q *proc) tell(kind byte, x uint64) {
	b := binary.AppendUvarint([]byte{kind}, q.inc)
	q.w.transmit(q.p, 0, binary.AppendUvarint(b, x))
}

func (q *proc) join(who member.Who) { q.tell(join, 0) }

// leave promises never to enter again, and then says so.
func (q *proc) leave() {
	if q.gone || q.epoch == 0 {
		return
	}
	q.gone = true
	q.m.Gone(q.clock())
	q.done()
	q.tell(leaving, 0)
}

// reconnect breaks a connection: what was under way is lost in parts, and the
// links begin again.
func (q *proc) reconnect() {
	for _, l := range q.ordered() {
		l.Down()
		l.Up()
	}
	q.done()
}

// receive takes a message.
func (q *proc) receive(from core.ID, b []byte) {
	switch b[0] {
	case packet:
		q.packet(b[1:])
	case renewed:
		inc, n := binary.Uvarint(b[1:])
		t0, _ := binary.Uvarint(b[1+n:])
		if inc == q.inc && !q.gone {
			q.m.Leased(q.clock(), member.Instant(t0)+member.Instant(q.w.Settings.Lease))
			q.done()
		}
	case view:
		epoch, _ := binary.Uvarint(b[1:])
		q.install(q.w.service.views[epoch-1])
	case out:
		inc, _ := binary.Uvarint(b[1:])
		if inc == q.inc {
			q.gone = true
			q.m.Gone(q.clock())
			q.done()
			q.w.crash(q.p) // it would begin again as another one
		}
	}
}

// install begins a view.
func (q *proc) install(v member.View) {
	if v.Epoch <= q.epoch || v.Rank(q.inc) < 0 {
		return
	}
	q.epoch, q.view = v.Epoch, v
	clear(q.links)
	for _, m := range v.Members {
		if m.Inc != q.inc {
			q.links[m.Inc] = member.NewLink(v.Epoch, q.inc, m.Inc, 1<<20, member.Span(20*ms))
			q.links[m.Inc].Up()
		}
	}
	if err := q.m.Install(q.clock(), v); err != nil {
		q.w.broken("m%d: %v", q.inc, err)
	}
	q.done()
	early := q.early
	q.early = nil
	for _, b := range early {
		q.packet(b)
	}
}

func (q *proc) packet(b []byte) {
	epoch, from, to, err := member.PacketEnds(b)
	if err != nil {
		q.w.broken("m%d: %v", q.inc, err)
		return
	}
	l := q.links[from]
	switch {
	case to != q.inc:
		return // for somebody who was here before
	case epoch > q.epoch:
		if len(q.early) < 100 {
			q.early = append(q.early, b)
		}
		return
	case epoch < q.epoch || l == nil:
		return
	}
	err = l.Receive(b, q.clock(), func(f []byte) error { return q.m.Deliver(q.clock(), from, f) })
	if err != nil {
		q.w.broken("m%d, epoch %d: from m%d: %v", q.inc, q.epoch, from, err)
	}
	q.done()
}
