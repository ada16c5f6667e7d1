package document

import (
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
)

// Whose turn it is when no process has to answer.

// first returns the first process in the queue of requests that p knows of, if that is
// another one; otherwise None.
func (o *room) first(p algorithm.ID) algorithm.ID {
	best, oldest := algorithm.None, uint64(0)
	for seat, w := range strings.Fields(o.field(p, o.spec.Shape.Stamps)) {
		if t, err := strconv.ParseUint(w, 10, 64); err == nil && t > 0 && (best == algorithm.None || t < oldest) {
			best, oldest = algorithm.ID(seat), t
		}
	}
	if q := o.proc(best); q != p {
		return q
	}
	return algorithm.None
}

// whyOlder says that another request is older.
func (o *room) whyOlder(p, q algorithm.ID) string {
	release := o.spec.Shape.Release
	s := "waits for " + release + " from " + o.who(q)
	if o.rewriter.short {
		return s
	}
	if o.reasons(p) == "" {
		s += "; " + q.String() + "'s request is older"
	}
	if _, ok := o.between(q, p, release); ok {
		s += ", and " + release + " is in flight"
	}
	return s
}

// whyFlag says which process has to move before it is p's turn. A process sees only its
// predecessor in the ring.
func (o *room) whyFlag(p algorithm.ID) string {
	n, me := o.size(), o.place(p)
	before := func(i int) algorithm.ID { return o.proc(algorithm.ID((me - i + n) % n)) }
	answer := o.spec.Shape.Answer
	s := "waits for " + answer + " from " + o.who(before(1))
	if o.rewriter.short || o.is(before(1)) == Crashed {
		return s
	}
	for i := 1; i < n; i++ {
		q, next := before(i), before(i-1)
		if _, ok := o.between(q, next, answer); ok {
			return s + "; " + answer + " is in flight from " + o.aside(q) + " to " + next.String()
		}
		if i > 1 && o.is(q) == Inside {
			return s + "; " + q.String() + " is inside"
		}
		if o.is(q) == Crashed || o.is(q) == Inside {
			break
		}
	}
	return s
}

// whyStopped says which process must get a stopped lock going again after a crash or a
// restart.
func (o *room) whyStopped(p algorithm.ID) string {
	const s = "waits for the next view, which the lock needs to go on"
	switch q, ok := o.one(o.field(p, o.spec.Shape.Maker)); {
	case !ok:
		return s + ": " + p.String() + " does not know yet which process makes it"
	case q == p:
		return s + ": " + p.String() + " must make it"
	default:
		return s + ": " + o.aside(q) + " must make it"
	}
}

// whyElse says what can be said for any algorithm.
func (o *room) whyElse(p algorithm.ID) string {
	asked := o.phase(p).askedAt
	s := "has been waiting since " + scenario.FormatTime(asked)
	if o.sc.Steps {
		s = "has been waiting since step " + strconv.FormatInt(asked, 10)
	}
	if o.rewriter.short {
		return s
	}
	if in := o.insider(); in != algorithm.None {
		return s + "; " + in.String() + " is inside"
	}
	switch len(o.wire.messages) {
	case 0:
		return s + "; no process is inside, and no message is in flight"
	case 1:
		return s + "; no process is inside, and one message is in flight"
	}
	return s + "; no process is inside, and " + itoa(len(o.wire.messages)) + " messages are in flight"
}
