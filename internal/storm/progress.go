package storm

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
)

// Once all is healed, and after the time of grace, everybody who waits must enter
// within the bound that plan derives; and when nobody asks any more, all must
// have entered, and members must fall silent.

// lookEvery is how often the oracle looks at all who wait.
const lookEvery = 20 * ms

// settleFor is how long members may go on after the last one has let go: what was
// taken back is granted and given back still.
const settleFor = 150 * ms

// silentFor is how long they must then be silent.
const silentFor = 60 * ms

// waiting returns for how long a request has waited since the time of grace.
func (o *oracle) waiting(since int64) int64 { return o.w.Now() - max(since, o.w.times.demand) }

// waited judges the wait of one who enters.
func (o *oracle) waited(q *proc, x *ask) {
	w := o.w
	if w.phase < demanding {
		return
	}
	wait := o.waiting(x.asked)
	w.result.Longest = max(w.result.Longest, member.Span(wait))
	if wait > w.times.bound {
		w.broken(Waits, "%s: m%d enters with %v after %d ms, and %d ms is the bound", w.names[x.lock], q.no, x.token, wait/ms, w.times.bound/ms)
	}
}

// turn judges how often a member enters in a row while somebody waits at another
// one. When a request has had the time to be known everywhere, a member hands over
// locally for the rest of its turn at most; another turn may have been on its way.
func (o *oracle) turn(l *judged, q *proc, x *ask) {
	w := o.w
	if l.turn != q.inc || w.phase < demanding || w.severed {
		l.turn, l.row = q.inc, 0
	}
	known := w.Now() - 2*int64(len(w.procs)+4)*slowest
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

// tryBound is how long a try may take: as long as a few rounds of questions to
// everybody, each answered by someone whose links are not idle.
func (w *world) tryBound() int64 { return 24 * 2 * slowest }

// decided judges a try that was refused.
func (o *oracle) decided(q *proc, x *ask) {
	if o.w.phase >= demanding && !o.w.severed && o.waiting(x.asked) > o.w.tryBound() {
		o.waitsTooLong(q, x)
	}
}

// excused reports whether nobody can help those who wait at a process: it was
// severed from a voter, perhaps the only one, and is a member no more.
func (o *oracle) excused(q *proc) bool {
	return o.w.severed && o.epoch() > 0 && !slices.Contains(o.agreed[o.epoch()-1].members, q.inc)
}

// waitsTooLong notes that somebody does.
func (o *oracle) waitsTooLong(q *proc, x *ask) {
	w := o.w
	what, bound := Waits, w.times.bound
	if x.try {
		what, bound = Tries, w.tryBound()
	}
	if x.held {
		w.broken(what, "%s: m%d is inside with %v and does not let go", w.names[x.lock], q.no, x.token)
		return
	}
	w.broken(what, "%s: m%d has waited for %d ms in epoch %d of %d, and %d ms is the bound", w.names[x.lock], q.no, o.waiting(x.asked)/ms, q.epoch(), o.epoch(), bound/ms)
}

// look looks at all who wait.
func (o *oracle) look() {
	w := o.w
	w.At(w.Now()+lookEvery, look, core.None, 0)
	busy := false
	for _, q := range w.procs {
		if o.excused(q) {
			continue
		}
		for _, x := range q.asks {
			busy = true
			if wait := o.waiting(x.asked); !x.held && (wait > w.times.bound || x.try && !w.severed && wait > w.tryBound()) {
				o.waitsTooLong(q, x)
			}
		}
	}
	for _, c := range w.clients {
		for i := range c.hands {
			h := &c.hands[i]
			if h.request == 0 {
				continue
			}
			busy = true
			if wait := o.waiting(h.asked); !h.holds && wait > w.times.bound+4*int64(w.Settings.Renew) {
				w.broken(Waits, "%s: %s has waited for %d ms at %s", w.names[h.lock], w.Name(c.id), wait/ms, w.Name(c.node().id))
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

// noise judges a packet that is sent when all should be silent.
func (o *oracle) noise(q *proc, b []byte) {
	o.w.broken(Silence, "m%d sends %d bytes to another member, and nobody has asked for anything for long", q.no, len(b))
}
