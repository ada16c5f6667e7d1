package views

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// boot begins another process.
func (n *node) boot() {
	w := n.w
	w.nonces++
	q := &proc{n: n, nonce: w.nonces, sent: map[uint64]int64{}}
	c := MembershipConfig{Name: n.address, Address: n.address, Nonce: q.nonce, Retry: 10 * member.Millisecond}
	for i := range n.cuts {
		c.Voters = append(c.Voters, fmt.Sprintf("p%d", i))
	}
	if n.voter != nil {
		c.Voter = n.voter.id
	}
	q.p, _ = NewMembership(c)
	n.proc = q
	w.after(w.below(5*ms)+1, func() { q.p.Join(n.clock()); q.take() })
	q.renew()
}

func (q *proc) renew() {
	if q.dead {
		return
	}
	n := q.n
	n.on(func() {
		if q.p.Inc() != 0 && !q.leaves && !q.dead {
			q.number++
			q.sent[q.number] = n.w.now
			q.p.Renew(n.clock(), q.number, false, q.unreached())
			q.take()
		}
	})
	n.w.after(n.lasts(member.Instant(n.w.settings.Renew)), q.renew)
}

// unreached are the members that it has not exchanged anything with for long.
func (q *proc) unreached() []uint64 {
	var all []uint64
	w := q.n.w
	for _, m := range q.p.Record().Members {
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == m.Address })
		for _, since := range []int64{q.n.cuts[i], w.nodes[i].cuts[q.n.i]} {
			if since != 0 && w.now-since > 25*ms && !slices.Contains(all, m.Inc) {
				all = append(all, m.Inc)
			}
		}
	}
	return all
}

// take carries out what a membership wants done.
func (q *proc) take() {
	n, w, out := q.n, q.n.w, q.p.Out
	q.p.Out = MembershipOut{Wake: out.Wake}
	for _, l := range out.Send {
		w.deliver(n, l)
	}
	inc := q.p.Inc()
	if out.View {
		if q.since == 0 {
			q.since = w.now
		}
		if !bytes.Equal(w.views[q.p.Record().Epoch], q.p.Record().AppendTo(nil)) {
			w.fail("%s has another view of epoch %d than was committed", n.address, q.p.Record().Epoch)
		}
	}
	for _, number := range out.Renewed {
		q.renewed(inc, number)
	}
	q.wake(out.Wake)
	if out.Ending != Running {
		r := w.last()
		if out.Ending == Evicted && inc != 0 && r.Rank(inc) >= 0 {
			w.fail("%s is told that %d is gone, and it is a member", n.address, inc)
		}
		q.stop()
	}
}

// wake wakes a membership when it wants to be.
func (q *proc) wake(at member.Instant) {
	n := q.n
	if at == member.Never {
		return
	}
	n.w.after(max(ms/10, n.lasts(at-n.clock())), func() {
		n.on(func() {
			switch {
			case q.dead || q.p.Out.Wake != at:
			case n.clock() < at:
				q.wake(at)
			default:
				q.p.Wake(n.clock())
				q.take()
			}
		})
	})
}

func (q *proc) renewed(inc, number uint64) {
	w := q.n.w
	if q.leaves {
		return
	}
	end := q.sent[number] + q.n.lasts(member.Instant(w.settings.Lease))
	w.ends[inc] = max(w.ends[inc], end)
	if at, out := w.outAt[inc]; out && q.sent[number] > at {
		w.fail("%d is out since %d ms, and what it sent at %d ms was confirmed", inc, at/ms, q.sent[number]/ms)
	}
	w.lease(inc)
}

// stop ends the process; another one comes some time later.
func (q *proc) stop() {
	if q.dead {
		return
	}
	q.dead = true
	d := ms + q.n.w.below(60*ms)
	q.n.w.after(d, q.n.boot)
}
