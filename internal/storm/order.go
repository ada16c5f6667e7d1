package storm

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// What the oracle learns from the frames that members send each other.

// A channel is what one member has sent another in an epoch, and what has not been
// delivered yet.
type channel struct {
	sent []sentFrame
	next int // the one of them to be delivered next
}

type sentFrame struct {
	hash    uint64
	report  bool
	lamport uint64 // the sender's logical clock
}

// A report is a report that was delivered to a member in its epoch.
type report struct{ from, seq uint64 }

// channel returns the channel between two members of a view; nil if they are not members.
func (o *oracle) channel(v *member.View, from, to uint64) *channel {
	at, ok := o.place(v.Epoch)
	if !ok {
		return nil
	}
	for len(o.channels) <= at {
		o.channels = append(o.channels, nil)
	}
	n := len(v.Members)
	all := &o.channels[at]
	if *all == nil {
		*all = make([]channel, n*n)
	}
	i, j := v.Rank(from), v.Rank(to)
	if i < 0 || j < 0 {
		return nil
	}
	return &(*all)[i*n+j]
}

// sent judges a frame that a member sends.
func (o *oracle) sent(q *proc, to uint64, b []byte) {
	w := o.w
	if q.view == nil {
		w.broken(Epochs, "m%d sends a frame before it has a view", q.no)
		return
	}
	c := o.channel(q.view, q.inc, to)
	if c == nil {
		w.broken(Epochs, "m%d sends a frame to m%d, which is not a member of epoch %d", q.no, w.no(to), q.epoch())
		return
	}
	s, err := member.Look(b)
	if err != nil {
		w.broken(Errors, "m%d sends m%d a malformed frame: %v", q.no, w.no(to), err)
		return
	}
	if q.resync { // the member has counted requests that became another kind of request
		q.lamport, q.resync = max(q.lamport, s.Clock), false
	}
	// What is due by time happens first in a step, and what it sends is older than the
	// subject of the step itself: a request, or a frame that has arrived.
	if s.Clock > q.lamport {
		w.broken(Order, "m%d sends a frame with logical time %d, but its clock shows %d", q.no, s.Clock, q.lamport)
	}
	c.sent = append(c.sent, sentFrame{sum(b), s.Kind == "REPORT" && !s.More, s.Clock})
	w.result.Frames[frameNumber(s.Kind)]++
	if s.Kind == "LEND" || s.Kind == "DONE" || s.Kind == "ALG" && s.Cleared {
		if i := w.lockOf(s.Name); i >= 0 {
			o.letsGo(q, i, to, s.Kind)
		}
	}
}

// FrameNames returns the kinds of frames, in the order of Result.Frames.
func FrameNames() []string { return slices.Clone(frameNames[:]) }

// kinds is the number of kinds of frames, and one more for others.
const kinds = member.FrameKinds + 1

var frameNames = func() (all [kinds]string) {
	names := member.FrameNames()
	copy(all[:], append(names[:], "OTHER"))
	return all
}()

func frameNumber(kind string) int {
	for i, name := range frameNames {
		if name == kind {
			return i
		}
	}
	return len(frameNames) - 1
}

// letsGo judges a home that releases or lends a lock: no process may be inside by an older
// epoch with a running lease, unless its client has claimed the lock in a later epoch: then
// every process that could enter in this one is gone, or leaves. The release shows in the
// home's first frame that implies it: one of the algorithm, or a DONE to a member that
// reported later.
func (o *oracle) letsGo(q *proc, lock int, to uint64, kind string) {
	w := o.w
	l := &o.locks[lock]
	home := q.view.Members[q.view.Home(w.names[lock])].Inc
	if home != q.inc {
		if kind != "ALG" {
			w.broken(Clearing, "%s: m%d lends it or reports that it is released, but its home is m%d", w.names[lock], q.no, w.no(home))
		}
		return
	}
	e := q.epoch()
	if kind == "LEND" {
		if o.seq++; e >= l.loan.epoch { // an older home may not know yet that it no longer is one
			l.loan = loan{e, to, o.seq}
		}
	} else if l.free < e {
		o.servedAll(q, lock)
		l.free = e
	}
	if e <= l.letGo || !w.within() {
		return
	}
	l.letGo = e
	for i := range l.holds {
		if h := &l.holds[i]; h.token.Epoch < e && !h.freed && h.valid() && l.claims[h.token] <= e {
			w.broken(Clearing, "%s: the home m%d of epoch %d releases or lends it while %s holds it with %v", w.names[lock], q.no, e, h.name(), h.token)
		}
	}
}

// delivered judges a frame that is delivered: channels are FIFO, whatever the connections
// do. It reports whether the frame is a report.
func (o *oracle) delivered(q *proc, from uint64, b []byte) (isReport bool) {
	w := o.w
	if q.view == nil {
		w.broken(Epochs, "m%d receives a frame before it has a view", q.no)
		return false
	}
	c := o.channel(q.view, from, q.inc)
	if c == nil || c.next >= len(c.sent) || c.sent[c.next].hash != sum(b) {
		w.broken(Channels, "m%d receives a frame that m%d did not send in epoch %d, or out of order", q.no, w.no(from), q.epoch())
		return false
	}
	f := c.sent[c.next]
	q.lamport = max(q.lamport, f.lamport)
	c.next++
	return f.report
}

// reported records that a member knows a report: after the step in which it arrived,
// because what is due by time comes first in that step.
func (o *oracle) reported(q *proc, from uint64) {
	o.seq++
	q.reports = append(q.reports, report{from, o.seq})
}

// inOrder judges an entry before the home of the epoch has released the lock.
//
// What is promised: only the home enters then, or the member to which it has lent the lock.
// At an entry under a loan, or of the home itself, no earlier request still waits at
// another member: one made in an older epoch, whose first request has an earlier stamp, and
// whose report the home had when it lent the lock, or when it entered. That covers local
// handovers too: a loan ends at the next stamp that the home knows.
func (o *oracle) inOrder(q *proc, x *ask) {
	w := o.w
	l := &o.locks[x.lock]
	e := q.epoch()
	if l.free >= e || w.isKept(x.lock) && q.method() != nil {
		return
	}
	home := w.at(q.view.Members[q.view.Home(w.names[x.lock])].Inc)
	o.seq++
	known := o.seq
	if home != q {
		if l.loan.epoch > e && !w.within() {
			return // its clock says that it may still act, and a later home believes that it cannot
		}
		if l.loan.epoch != e || l.loan.to != q.inc {
			w.broken(Clearing, "%s: m%d enters with %v, but the home of epoch %d has neither released nor lent it", w.names[x.lock], q.no, x.token, e)
			return
		}
		known = l.loan.seq
	}
	if home.view == nil || home.epoch() != e || x.loose {
		return // it no longer knows what it knew, or the order is not known
	}
	if y := o.before(home, home, x); y != nil && home != q {
		o.overtaken(home, q, x, y)
	}
	for _, r := range home.reports {
		p := w.at(r.from)
		if r.seq > known || p == q || p.inc != r.from {
			continue
		}
		if y := o.before(p, home, x); y != nil {
			o.overtaken(p, q, x, y)
		}
	}
}

// before returns a request of a process that has waited since before the view and precedes
// another one.
func (o *oracle) before(p, home *proc, x *ask) *ask {
	if p.state == dead || p.view == nil || p.epoch() != home.epoch() {
		return nil
	}
	for _, y := range p.asks {
		if y.lock == x.lock && !y.held && !y.back && !y.try && !y.loose && y.stamp.Epoch < p.epoch() && y.stamp.Less(x.stamp) {
			return y
		}
	}
	return nil
}

func (o *oracle) overtaken(p, q *proc, x, y *ask) {
	o.w.broken(Order, "%s: m%d enters with %v, requested at %v, while m%d still waits with a request at %v", o.w.names[x.lock], q.no, x.token, x.stamp, p.no, y.stamp)
}

// servedAll judges a home that releases a lock: no request that waited across the view and
// was reported to it is left.
func (o *oracle) servedAll(home *proc, lock int) {
	end := &ask{lock: lock, stamp: member.Stamp{Epoch: home.epoch()}}
	for _, r := range home.reports {
		p := o.w.at(r.from)
		if p.inc != r.from {
			continue
		}
		if y := o.before(p, home, end); y != nil {
			o.w.broken(Order, "%s: the home m%d of epoch %d releases it while m%d still waits with a request at %v", o.w.names[lock], home.no, home.epoch(), p.no, y.stamp)
		}
	}
	if y := o.before(home, home, end); y != nil {
		o.w.broken(Order, "%s: the home m%d of epoch %d releases it while its own application still waits with a request at %v", o.w.names[lock], home.no, home.epoch(), y.stamp)
	}
}
