package views

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// ErrNotLeader means that the request must go to another voter.
var ErrNotLeader = errors.New("this voter is not the leader: ask the leader")

// A request is answered when a majority has confirmed that this voter still leads. It
// is a renewal, or a request for the record.
type request struct {
	from   string
	inc    uint64 // 0 for a request for the record
	number uint64
	read   uint64
}

// maxRequests bounds the waiting requests: members are few, and ask again.
const maxRequests = 1024

// renew handles a renewal. The sender's lease counts from now at the latest, so the
// leader waits for it from now, whether it is acknowledged or not. A member whose
// eviction is in flight gets no answer: the change says how long its lease still runs,
// and may be applied at any time.
func (w *Leader) renew(from string, m *Message) {
	s := w.standing(m.Inc)
	if s.leaves || w.doomed(m.Inc) || m.Number < s.number {
		return
	}
	s.number = m.Number
	s.heard = w.now
	s.until = max(s.until, w.now+w.patience())
	w.forget = w.forget || m.Forget
	if m.Epoch < w.record.Epoch {
		w.push(from)
	} else {
		w.complaints(m.Inc, m.Who)
	}
	w.read(request{from: from, inc: m.Inc, number: m.Number})
}

// read has a request answered after the next read.
func (w *Leader) read(x request) {
	if len(w.waiting) < maxRequests {
		w.waiting = append(w.waiting, x)
	}
}

// doomed reports whether a member's eviction, or its leave, is in flight.
func (w *Leader) doomed(inc uint64) bool {
	return w.flying != nil && (slices.Contains(w.flying.Drop, inc) || slices.Contains(w.flying.Left, inc))
}

// round begins a read for everything that has arrived since the last one began.
func (w *Leader) round() {
	if len(w.waiting) == 0 {
		return
	}
	w.reads++
	for _, x := range w.waiting {
		x.read = w.reads
		w.asked = append(w.asked, x)
	}
	w.waiting = w.waiting[:0]
	if over := len(w.asked) - maxRequests; over > 0 {
		w.asked = slices.Delete(w.asked, 0, over)
	}
	w.Out.Read = w.reads
}

// Confirmed reports that a majority has recognized this voter as the leader after a
// read began. That confirms the reads that began before it, too.
func (w *Leader) Confirmed(now member.Instant, read uint64) {
	w.hear(now)
	if !w.leads {
		return
	}
	w.asked = slices.DeleteFunc(w.asked, func(x request) bool {
		if x.read > read {
			return false
		}
		w.answer(&x)
		return true
	})
}

// answer answers a request, unless its sender may no longer be renewed.
func (w *Leader) answer(x *request) {
	if x.inc == 0 {
		w.send(x.from, &Message{Kind: State, Cluster: w.record.Cluster, Number: x.number, Record: w.open()})
		return
	}
	s := w.standing(x.inc)
	if s == nil || s.leaves || w.doomed(x.inc) {
		return
	}
	s.proven = true
	w.send(x.from, &Message{Kind: Renewed, Cluster: w.record.Cluster, Inc: x.inc, Number: x.number, Epoch: w.record.Epoch})
}
